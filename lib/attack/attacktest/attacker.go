// The suite of trained attackers: members shifted in one feature are found, and
// none without a shift.

package attacktest

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/attack/learned"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/engine/enginetest"
	"github.com/lethe-ml/lethe/lib/internal/conform"
)

// features draws four features of members and non-members; members are shifted in one of them.
func features(rng *rand.Rand, apart float64) learned.Records {
	draw := func(n int, apart float64) array.Matrix[float64] {
		m := array.New[float64](n, 4)
		for k := range m.Data {
			m.Data[k] = rng.NormFloat64()
		}
		for i := range n {
			m.Row(i)[2] += apart
		}
		return m
	}
	return learned.Records{Members: draw(24, apart), Nonmembers: draw(40, 0)}
}

// oracles is the number of cases without a memory in which an attacker is trained. Of so many
// nominal intervals more than two miss 0.5 once in a thousand times.
const oracles = 5

// RunAttacker runs the suite on a trained attacker, through the cross-fitted protocol.
func RunAttacker(t *testing.T, a learned.Attacker) {
	t.Helper()
	e, err := enginetest.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	judge := func(t *testing.T, r learned.Records) *learned.Report {
		t.Helper()
		p := learned.CrossFitted(a)
		p.Folds = 2
		out, err := p.Run(context.Background(), e, learned.Target{Model: r}, 1)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	t.Run("has a name", func(t *testing.T) { conform.CheckName(t, a.Name(), a.About()) })
	t.Run("finds a memory", func(t *testing.T) {
		r := judge(t, features(random(41), 3))
		checkAbove(t, "AUC", scoreReport{&r.ScoreReport}.auc())
		for _, c := range r.Scores {
			if c.Trained {
				t.Errorf("%+v is scored by an attacker that was trained on it", c)
			}
		}
	})
	t.Run("finds none in an oracle", func(t *testing.T) {
		missed := 0
		for k := range oracles {
			r := judge(t, features(random(uint64(5000+k)), 0))
			if r.AUC.Low > 0.5 || r.AUC.High < 0.5 {
				missed++
			}
		}
		if missed > 2 {
			t.Errorf("%d of %d intervals do not hold 0.5", missed, oracles)
		}
	})
	t.Run("exchanged roles flip the answer", func(t *testing.T) {
		known, probe := features(random(42), 3), features(random(43), 3)
		score, err := learned.Fit(context.Background(), e, a, learned.Records{Members: known.Nonmembers, Nonmembers: known.Members}, 1)
		if err != nil {
			t.Fatal(err)
		}
		of := func(m array.Matrix[float64]) (mean float64) {
			scores, err := score(m)
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range scores {
				mean += v / float64(len(scores))
			}
			return mean
		}
		if in, out := of(probe.Members), of(probe.Nonmembers); !(in < out) {
			t.Errorf("taught the wrong way round, it scores members %v and others %v", in, out)
		}
	})
	t.Run("leaves the features alone", func(t *testing.T) {
		r := features(random(44), 1)
		before := toJSON(t, r)
		first := toJSON(t, judge(t, r))
		if _, err := learned.Fit(context.Background(), e, a, r, 1); err != nil { // not a copy, as a protocol gives it
			t.Fatal(err)
		}
		if toJSON(t, r) != before || toJSON(t, judge(t, r)) != first {
			t.Error("the attacker writes to the features, or answers anew the second time")
		}
	})
	t.Run("its scorer leaves the features alone", func(t *testing.T) { checkScorer(t, e, a) })
	t.Run("refuses nonsense", func(t *testing.T) {
		for what, c := range map[string]struct {
			corrupt func(r *learned.Records)
			words   []string
		}{
			"no members":            {func(r *learned.Records) { r.Members = array.Matrix[float64]{} }, []string{"members"}},
			"no non-members":        {func(r *learned.Records) { r.Nonmembers = array.Matrix[float64]{} }, []string{"non-members"}},
			"NaN of a member":       {func(r *learned.Records) { r.Members.Data[5] = math.NaN() }, []string{"members", "row 1"}},
			"infinite non-member":   {func(r *learned.Records) { r.Nonmembers.Data[5] = math.Inf(1) }, []string{"non-members", "row 1"}},
			"other features in one": {func(r *learned.Records) { r.Nonmembers = array.New[float64](6, 3) }, []string{"4", "3"}},
		} {
			r := features(random(45), 1)
			c.corrupt(&r)
			_, err := learned.Fit(context.Background(), e, a, r, 1)
			conform.CheckRefused(t, what, err, c.words...)
		}
		score, err := learned.Fit(context.Background(), e, a, features(random(45), 1), 1)
		if err != nil {
			t.Fatal(err)
		}
		_, err = score(array.New[float64](3, 5))
		conform.CheckRefused(t, "five features, taught on four", err, "5")
	})
}

// checkScorer scores records together and by themselves. A scorer changes nothing, and the score of
// a record depends on that record only.
func checkScorer(t *testing.T, e *engine.Engine, a learned.Attacker) {
	score, err := learned.Fit(context.Background(), e, a, features(random(46), 2), 1)
	if err != nil {
		t.Fatal(err)
	}
	scores := func(x array.Matrix[float64]) []float64 {
		out, err := score(x)
		if err != nil || len(out) != x.Rows {
			t.Fatalf("%d scores of %d records: %v", len(out), x.Rows, err)
		}
		return out
	}
	probe := features(random(47), 2).Nonmembers
	before := toJSON(t, probe)
	together := scores(probe)
	if toJSON(t, probe) != before {
		t.Errorf("the scorer of %s writes to the features that it scores", a.Name())
	}
	some := scores(probe.Gather([]int{7, 3}))
	for k, i := range []int{7, 3} {
		if math.Abs(some[k]-together[i]) > 1e-6*(1+math.Abs(together[i])) {
			t.Errorf("record %d scores %v among %d records and %v among two: the score depends on other records", i, together[i], probe.Rows, some[k])
		}
	}
}
