package stats

import (
	"context"
	"math"
	"strings"
	"testing"
)

// Intercept and weights are scikit-learn's in the tests of package learned. Here: the
// gradient is zero at what is found, and an intercept alone is the log odds.
func TestLogisticIsAtItsMinimum(t *testing.T) {
	var x [][]float64
	var positive []bool
	for i := range 30 {
		x = append(x, []float64{math.Sin(1.3 * float64(i)), math.Cos(2.1 * float64(i))})
		positive = append(positive, x[i][0]+x[i][1]/2+math.Sin(9*float64(i)) > 0.2)
	}
	w, err := Logistic(context.Background(), x, positive, 0.7)
	if err != nil {
		t.Fatal(err)
	}
	gradient := []float64{0.7 * w[0], 0.7 * w[1], 0}
	for i, row := range x {
		p := 1 / (1 + math.Exp(-w.At(row)))
		if positive[i] {
			p--
		}
		gradient[0], gradient[1], gradient[2] = gradient[0]+p*row[0], gradient[1]+p*row[1], gradient[2]+p
	}
	for j, g := range gradient {
		if math.Abs(g) > 1e-7 {
			t.Errorf("derivative %d is %v", j, g)
		}
	}
	alone, err := Logistic(context.Background(), make([][]float64, 4), []bool{true, false, true, true}, 1)
	if err != nil || math.Abs(alone[0]-math.Log(3)) > 1e-9 {
		t.Errorf("%v, %v", alone, err)
	}
}

func TestLogisticRefusesNonsense(t *testing.T) {
	some := func(x [][]float64, positive []bool, ridge float64) error {
		_, err := Logistic(context.Background(), x, positive, ridge)
		return err
	}
	two := [][]float64{{1}, {2}}
	for want, err := range map[string]error{
		"the ridge 0":                    some(two, []bool{true, false}, 0),
		"the ridge NaN":                  some(two, []bool{true, false}, math.NaN()),
		"2 of 2 records are positive":    some(two, []bool{true, true}, 1),
		"0 of 0 records are positive":    some(nil, nil, 1),
		"record 1 has 2 features":        some([][]float64{{1}, {2, 3}}, []bool{true, false}, 1),
		"x[1][0] is NaN":                 some([][]float64{{1}, {math.NaN()}}, []bool{true, false}, 1),
		"x has 2 values, positive has 1": some(two, []bool{true}, 1),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}
