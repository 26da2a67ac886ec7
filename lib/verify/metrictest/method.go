// The conformance suite of methods that compare a set of records with two references.

package metrictest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/internal/conform"
	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/verify/sde"
)

// setSize is the number of records in a target and in a reference, subsets the number of targets
// from one pool.
const setSize, subsets = 60, 12

// trainedSpread is the standard deviation of activations of records that a model was trained on;
// that of others is 1.
const trainedSpread = 1.5

// references draws references with these standard deviations.
func references(rng *rand.Rand, in, out float64) sde.References {
	a, b := gaussian(rng, setSize, in), gaussian(rng, setSize, out)
	return sde.References{In: &a, Out: &b}
}

func targets(t *testing.T, rng *rand.Rand, spread float64) sde.Targets {
	t.Helper()
	m := gaussian(rng, 4*setSize, spread)
	pool, err := sde.NewPool("forgotten", &m)
	if err != nil {
		t.Fatal(err)
	}
	drawn, err := sde.DrawSubsets(m.Rows, setSize, subsets, rng)
	if err != nil {
		t.Fatal(err)
	}
	return sde.Targets{Pool: pool, Subsets: drawn}
}

// RunMethod runs the suite on a method that compares sets with two references.
func RunMethod(t *testing.T, m sde.Method) {
	t.Helper()
	t.Run("has a name", func(t *testing.T) { conform.CheckName(t, m.Name(), m.About()) })
	t.Run("reads a memory in the original and none in the oracle", func(t *testing.T) {
		refs := references(random(21), trainedSpread, 1)
		checkVerdicts(t, sde.In, judge(t, m, targets(t, random(22), trainedSpread), refs))
		checkVerdicts(t, sde.Out, judge(t, m, targets(t, random(23), 1), refs))
	})
	t.Run("exchanged roles flip the answer", func(t *testing.T) {
		refs := references(random(24), trainedSpread, 1)
		refs.In, refs.Out = refs.Out, refs.In
		checkVerdicts(t, sde.Out, judge(t, m, targets(t, random(25), trainedSpread), refs))
		checkVerdicts(t, sde.In, judge(t, m, targets(t, random(26), 1), refs))
	})
	t.Run("is a coin without a difference", func(t *testing.T) {
		in := 0.0
		for k := range simulations {
			rng := random(uint64(3000 + k))
			target := gaussian(rng, setSize, 1)
			d, err := sde.JudgeBy(m, &target, references(rng, 1, 1), sde.Options{Seed: uint64(k), Permutations: 50})
			if err != nil {
				t.Fatal(err)
			}
			in += map[sde.Verdict]float64{sde.In: 1, sde.Undecided: 0.5}[d.Verdict()]
		}
		if e := stats.Wilson(in/simulations, simulations, 0.999); e.Low > 0.5 || e.High < 0.5 {
			t.Errorf("%.3f of the sets are judged in, [%.3f, %.3f]", e.Value, e.Low, e.High)
		}
	})
	t.Run("leaves the references alone", func(t *testing.T) {
		refs := references(random(27), trainedSpread, 1)
		before := fmt.Sprint(*refs.In, *refs.Out)
		first := judge(t, m, targets(t, random(28), trainedSpread), refs)
		if fmt.Sprint(*refs.In, *refs.Out) != before {
			t.Error("the method wrote to the references")
		}
		again := judge(t, m, targets(t, random(28), trainedSpread), refs)
		if fmt.Sprint(again.Distances) != fmt.Sprint(first.Distances) {
			t.Error("the same sets give other distances the second time")
		}
	})
	t.Run("refuses nonsense", func(t *testing.T) {
		goal := targets(t, random(29), trainedSpread)
		narrow := array.New[float64](setSize, width-1)
		for what, c := range map[string]struct {
			corrupt func(t *sde.Targets, r *sde.References)
			words   []string
		}{
			"no pool":      {func(t *sde.Targets, r *sde.References) { t.Pool = nil }, []string{"pool of targets is missing"}},
			"no reference": {func(t *sde.Targets, r *sde.References) { r.In = nil }, []string{"in-training", "missing"}},
			"NaN": {func(t *sde.Targets, r *sde.References) { r.Out.Row(2)[0] = math.NaN() },
				[]string{"out-of-training", "row 2, column 0 is NaN"}},
			"another layer":    {func(t *sde.Targets, r *sde.References) { r.Out = &narrow }, []string{"out-of-training", "one layer"}},
			"another size":     {func(t *sde.Targets, r *sde.References) { t.Subsets = [][]int{{1, 2, 3, 4}} }, []string{"subset 0", "same"}},
			"nothing to judge": {func(t *sde.Targets, r *sde.References) { t.Subsets = nil }, []string{"no subsets"}},
		} {
			g, refs := goal, references(random(30), trainedSpread, 1)
			c.corrupt(&g, &refs)
			_, err := sde.JudgeSubsets(m, g, refs, sde.Options{})
			conform.CheckRefused(t, what, err, c.words...)
		}
	})
}

func judge(t *testing.T, m sde.Method, goal sde.Targets, refs sde.References) *sde.SubsetVerdicts {
	t.Helper()
	j, err := sde.JudgeSubsets(m, goal, refs, sde.Options{Permutations: 50})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range j.Distances {
		if !(d.In >= 0 && d.Out >= 0) {
			t.Errorf("distances %+v", d)
		}
	}
	return j
}

// checkVerdicts checks that the verdicts are the wanted one. A few may be undecided, if the
// divergence from both references is the largest possible; none may be opposite.
func checkVerdicts(t *testing.T, want sde.Verdict, j *sde.SubsetVerdicts) {
	t.Helper()
	open := 0
	for k, v := range j.Verdicts {
		switch v {
		case want:
		case sde.Undecided:
			open++
		default:
			t.Errorf("subset %d is judged %s at %+v, expected %s", k, v, j.Distances[k], want)
		}
	}
	if open > subsets/4 {
		t.Errorf("%d of %d subsets are judged neither in nor out", open, subsets)
	}
}
