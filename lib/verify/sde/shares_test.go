package sde

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
)

func TestSharesOfVerdicts(t *testing.T) {
	a, b := []Verdict{Out, In, Out, Undecided}, []Verdict{Out, Out, In, Undecided}
	if e := ShareOut(a, "sets"); e.Value != 0.75 || e.N != 4 || e.Over != "sets" || *e.Null != 0.5 {
		t.Errorf("two of four and a tie: %+v", e)
	}
	if e, err := Agreement(a, b, "sets"); err != nil || e.Value != 0.5 {
		t.Errorf("the first and the last agree: %+v, %v", e, err)
	}
	if _, err := Agreement(a, b[:3], "sets"); err == nil {
		t.Error("judges of different sets were compared")
	}
}

func TestTheGapCountsStandardErrors(t *testing.T) {
	m := array.Normal(rand.New(rand.NewPCG(1, 2)), 40, 3, 1)
	d, err := SplitHalf(&m, Options{Permutations: 50}, rand.New(rand.NewPCG(3, 4)))
	if err != nil {
		t.Fatal(err)
	}
	moved := *d
	moved.Mean += 2 * d.SD / math.Sqrt(50)
	if g := moved.MeanZScore() - d.MeanZScore(); math.Abs(g-2) > 1e-9 || math.Abs(d.MeanZScore()) > 4.5 {
		t.Errorf("the gap is %v; two standard errors more are %v", d.MeanZScore(), g)
	}
}
