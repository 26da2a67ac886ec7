// The checks of a metric's intervals: their coverage, their level, and groups of records.

package metrictest

import (
	"math"
	"slices"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/verify/ruler"
)

// independent returns evidence of three models that have nothing in common, in which all records
// have the same distribution.
func independent(seed uint64) ruler.Evidence {
	rng := random(seed)
	u, o, g := gaussian(rng, records, 1), gaussian(rng, records, 1), gaussian(rng, records, 1)
	forget, retain := split(rng)
	return ruler.Evidence{Unlearned: &u, Oracle: &o, Original: &g, Forget: forget, Retain: retain}
}

// checkNull measures independent models. Their 95 % intervals hold the null, or what the metric is
// on average where it has none.
func checkNull(t *testing.T, m ruler.Metric) {
	estimates, values := make([]stats.Estimate, simulations), make([]float64, simulations)
	for k := range simulations {
		estimates[k] = measure(t, m, independent(uint64(1000+k)))
		values[k] = estimates[k].Value
	}
	mean := stats.MeanInterval(values, 0.999, "simulations")
	truth, name := mean.Value, "what the metric is on average"
	if m.Null != nil {
		truth, name = *m.Null, "the null"
		if mean.Low > truth || mean.High < truth {
			t.Errorf("without a memory it is %v on average, [%v, %v], the null is %v", mean.Value, mean.Low, mean.High, truth)
		}
	}
	held := 0
	for _, e := range estimates {
		if e.Low <= truth && truth <= e.High {
			held++
		}
	}
	if share := float64(held) / simulations; share < 0.88 || share == 1 {
		t.Errorf("%.3f of the 95 %% intervals hold %s, %v", share, name, truth)
	}
}

// checkLevels measures the same evidence with intervals of several levels.
func checkLevels(t *testing.T, m ruler.Metric) {
	e := independent(2000)
	if got := measure(t, m, e); got.Level != 0.95 {
		t.Errorf("Level is %v without a level in the options, expected 0.95", got.Level)
	}
	width := 0.0
	for _, level := range []float64{0.5, 0.8, 0.95, 0.99} {
		got := measureWith(t, m, e, ruler.Options{Level: level})
		if got.Level != level {
			t.Errorf("Level is %v, the options ask for %v", got.Level, level)
		}
		if !(got.High-got.Low > width) {
			t.Errorf("the interval of level %v is %v wide, that of the level before %v: Options.Level changes nothing", level, got.High-got.Low, width)
		}
		width = got.High - got.Low
	}
}

// copiesPerGroup is the number of copies of a forget record in its group.
const copiesPerGroup = 5

// checkGroups copies every forget record; a record and its copies are a group. Intervals are over
// groups, so that copies are worth nothing.
func checkGroups(t *testing.T, m ruler.Metric) {
	e := independent(2001)
	once, copied := measure(t, m, e), measure(t, m, withCopies(e))
	if math.Abs(copied.Value-once.Value) > 1e-9 {
		t.Errorf("with %d copies of every forget record the value is %v, without %v", copiesPerGroup, copied.Value, once.Value)
	}
	if ratio := (copied.High - copied.Low) / (once.High - once.Low); !(ratio > 0.85 && ratio < 1.3) {
		t.Errorf("with %d copies of every forget record in its group (Evidence.Groups) the interval is [%v, %v], without copies [%v, %v]",
			copiesPerGroup, copied.Low, copied.High, once.Low, once.High)
	}
	if copied.Over != "people" || copied.N != forgotten {
		t.Errorf("the interval is over %d %q; the forget records are in %d groups, which GroupUnit calls %q", copied.N, copied.Over, forgotten, "people")
	}
	one := withCopies(e)
	for _, i := range one.Forget {
		one.Groups[i] = -1
	}
	if got := measure(t, m, one); got.HasInterval() {
		t.Errorf("the forget records are one group, which does not show how groups differ; the interval is [%v, %v], expected NaN", got.Low, got.High)
	}
}

// withCopies returns evidence with copies of the forget records below the others.
func withCopies(e ruler.Evidence) ruler.Evidence {
	rows := order(records)
	for range copiesPerGroup - 1 {
		rows = append(rows, e.Forget...)
	}
	e.Groups, e.GroupUnit = slices.Clone(rows), "people"
	e.Forget = slices.Clone(e.Forget)
	for i := records; i < len(rows); i++ {
		e.Forget = append(e.Forget, i)
	}
	for _, m := range []*array.Rows{&e.Unlearned, &e.Oracle, &e.Original} {
		copied := (*m).(*array.Matrix[float64]).Gather(rows)
		*m = &copied
	}
	return e
}
