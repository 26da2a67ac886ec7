// The conformance suite of distances between ensembles of unlearned and retrained models.

package metrictest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/internal/conform"
	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/verify/ensemble"
)

// The numbers of models in an ensemble, of records, of exchanges in a permutation test, and of
// cases without a memory.
const ensembleModels, ensembleRecords, exchanges, ensembleCases = 10, 12, 99, 400

// ensembles draws margins of models that vary with their seed, on records that are hard or easy;
// memory is added to the margins of unlearned models.
func ensembles(rng *rand.Rand, memory float64) ensemble.Evidence {
	hard := make([]float64, ensembleRecords)
	for k := range hard {
		hard[k] = rng.NormFloat64()
	}
	draw := func(memory float64) array.Matrix[float64] {
		m := array.New[float64](ensembleModels, ensembleRecords)
		for i := range m.Rows {
			own := 0.2 * rng.NormFloat64() // of the model, in all records alike
			for k := range hard {
				m.Row(i)[k] = hard[k] + own + 0.5*rng.NormFloat64() + memory
			}
		}
		return m
	}
	return ensemble.Evidence{Unlearned: draw(memory), Retrained: draw(0), Second: draw(0)}
}

// RunEnsemble runs the suite on a distance between ensembles.
func RunEnsemble(t *testing.T, d ensemble.Distance) {
	t.Helper()
	judge := func(t *testing.T, e ensemble.Evidence, seed uint64) *ensemble.Result {
		t.Helper()
		j, err := ensemble.Compare(d, e, ensemble.Options{Draws: exchanges, Rng: random(seed)})
		if err != nil {
			t.Fatal(err)
		}
		if len(j.Each) == 0 {
			t.Errorf("Between of %s returns no values of records behind its value %v", d.Name(), j.Value)
		}
		if j.Null == nil || !(j.Low <= j.Value && j.Value <= j.High) || j.N != ensembleModels || !(j.P > 0 && j.P <= 1) {
			t.Errorf("the value is not in its interval, or null, p or the number of models are wrong: %+v", *j)
		}
		return j
	}
	worse := 1.0
	switch d.Better() {
	case stats.HigherIsBetter:
		worse = -1
	case stats.LowerIsBetter:
	default:
		t.Fatalf("the better side is %q", d.Better())
	}
	t.Run("has a name", func(t *testing.T) { conform.CheckName(t, d.Name(), d.About()) })
	t.Run("finds a memory", func(t *testing.T) {
		j := judge(t, ensembles(random(51), 1), 1)
		if near := min(worse*j.Low, worse*j.High); near <= worse**j.Null || j.P > 0.02 {
			t.Errorf("%.3f [%.3f, %.3f], null %.3f, p = %.3f: no memory is found", j.Value, j.Low, j.High, *j.Null, j.P)
		}
	})
	t.Run("exchanged roles flip the answer", func(t *testing.T) {
		e := ensembles(random(51), 1)
		e.Unlearned, e.Second = e.Second, e.Unlearned
		j := judge(t, e, 1)
		if worse*j.Value >= worse**j.Null || j.P < 0.9 {
			t.Errorf("unlearned and second retrained models exchanged: %.3f, null %.3f, p = %.3f", j.Value, *j.Null, j.P)
		}
		e = ensembles(random(51), 1)
		e.Retrained, e.Second = e.Unlearned, e.Retrained
		if j := judge(t, e, 1); worse*j.Value >= worse**j.Null {
			t.Errorf("the unlearned models for reference: %.3f, null %.3f", j.Value, *j.Null)
		}
	})
	t.Run("has a null that holds", func(t *testing.T) {
		held, small := 0, 0
		for k := range ensembleCases {
			j := judge(t, ensembles(random(uint64(7000+k)), 0), uint64(k))
			if j.Low <= *j.Null && *j.Null <= j.High {
				held++
			}
			if j.P <= 0.05 {
				small++
			}
		}
		// Three standard errors of so many cases, and what ties of few values add.
		slack := 0.01 + 3*math.Sqrt(0.95*0.05/ensembleCases)
		if c := float64(held) / ensembleCases; math.Abs(c-0.95) > slack {
			t.Errorf("%.3f of the 95 %% intervals hold the null", c)
		}
		if s := float64(small) / ensembleCases; math.Abs(s-0.05) > slack {
			t.Errorf("%.3f of the p-values are at most 0.05", s)
		}
	})
	t.Run("leaves the evidence alone", func(t *testing.T) {
		e := ensembles(random(52), 1)
		before := fmt.Sprint(e)
		first := fmt.Sprint(judge(t, e, 2).Each)
		if fmt.Sprint(e) != before || fmt.Sprint(judge(t, e, 2).Each) != first {
			t.Error("the distance writes to the evidence, or answers anew the second time")
		}
	})
	t.Run("refuses nonsense", func(t *testing.T) {
		for words, corrupt := range map[string]func(e *ensemble.Evidence){
			"unlearned models: row 2, column 3 is NaN":  func(e *ensemble.Evidence) { e.Unlearned.Row(2)[3] = math.NaN() },
			"second retrained models: row 0, column 1":  func(e *ensemble.Evidence) { e.Second.Row(0)[1] = math.Inf(1) },
			"retrained models: 1 x 12":                  func(e *ensemble.Evidence) { e.Retrained = e.Retrained.Gather([]int{0}) },
			"10 unlearned models and 9 second":          func(e *ensemble.Evidence) { e.Second = e.Second.Gather([]int{0, 1, 2, 3, 4, 5, 6, 7, 8}) },
			"values of different numbers of records":    func(e *ensemble.Evidence) { e.Retrained = e.Retrained.FirstColumns(11) },
			"unlearned models: 0 x 0 values, at least ": func(e *ensemble.Evidence) { e.Unlearned = array.Matrix[float64]{} },
		} {
			e := ensembles(random(53), 1)
			corrupt(&e)
			_, err := ensemble.Compare(d, e, ensemble.Options{Draws: exchanges, Rng: random(3)})
			conform.CheckRefused(t, words, err, d.Name(), words)
		}
		_, err := ensemble.Compare(d, ensembles(random(53), 1), ensemble.Options{})
		conform.CheckRefused(t, "no generator", err, d.Name(), "generator")
	})
}
