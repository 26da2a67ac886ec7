package datasets_test

import (
	"math"
	"slices"
	"testing"
)

func TestOneLabelInFiveContradictsTheLinearRule(t *testing.T) {
	table := load(t, "linear_flips")
	flipped := table.Planted["flipped"]
	n := table.X.Rows
	if n != 10000 || table.X.Cols != 10 || math.Abs(float64(len(flipped))-2000) > 3*40 {
		t.Fatalf("%d x %d, %d flipped", n, table.X.Cols, len(flipped))
	}
	// The direction of the rule: the mean of x where the rule says yes, less that
	// where it says no.
	w := make([]float64, table.X.Cols)
	rule := slices.Clone(table.Y)
	for _, i := range flipped {
		rule[i] = 1 - rule[i]
	}
	for i, y := range rule {
		for j, v := range table.X.Row(i) {
			w[j] += float64(2*y-1) * v
		}
	}
	agree := func(y []int) float64 {
		hits := 0
		for i := range n {
			score := 0.0
			for j, v := range table.X.Row(i) {
				score += w[j] * v
			}
			if (score > 0) == (y[i] == 1) {
				hits++
			}
		}
		return float64(hits) / float64(n)
	}
	// Noise of 0.5 against a score with standard deviation |w| turns the sign in
	// atan(0.5/|w|)/pi of the cases, 5 % for |w| = 3.2.
	if before, after := agree(rule), agree(table.Y); before < 0.9 || before > 0.99 || math.Abs(after-(0.8*before+0.2*(1-before))) > 0.02 {
		t.Errorf("the rule explains %.3f of the labels before the flips and %.3f after", before, after)
	}
	for j := range table.X.Cols {
		var sum, squares float64
		for i := range n {
			v := table.X.Row(i)[j]
			sum, squares = sum+v, squares+v*v
		}
		if math.Abs(sum)/100 > 4 || math.Abs(squares/float64(n)-1) > 0.06 {
			t.Errorf("feature %d: mean %.3f, mean square %.3f", j, sum/float64(n), squares/float64(n))
		}
	}
}
