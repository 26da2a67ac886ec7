// Readings of models without a memory: how often their intervals hold the null, and how wide they are.

package lenstest

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/stats"
)

// The bounds of the check. Draws share records, so that intervals over them cover less. A 95 % interval reaches 1.96
// standard deviations of its value to either side; over groups some are wider on purpose, such as those of a jackknife.
const (
	leastHeld, leastHeldByDraws = 0.85, 0.5
	widest, widestOverGroups    = 3, 4
)

// nullReadings are readings of models without a memory, about their null or about the reading of a second model.
type nullReadings struct {
	last         audit.Reading
	pairs        bool
	held, beyond int
	values       []float64
	halves       []float64 // of the intervals
}

// add adds a reading by a lens with a null.
func (n *nullReadings) add(r audit.Reading) {
	n.last = r
	n.held += count(r.LikeNull())
	n.beyond += count(!r.WithinChance())
	n.values = append(n.values, r.Value)
	n.halves = append(n.halves, (r.High-r.Low)/2)
}

// addPair adds the readings of two models by a lens without one.
func (n *nullReadings) addPair(r, other audit.Reading) {
	n.last, n.pairs = r, true
	n.held += count(audit.Alike(r, other))
	n.beyond += count(!r.WithinChance())
	n.values = append(n.values, r.Value)
	n.halves = append(n.halves, (r.High-r.Low)/2)
}

// check requires that intervals hold the null as often as they say and are not much wider than that takes, and that a known
// floor is passed sometimes, and seldom.
func (n *nullReadings) check(t *testing.T, of audit.Info) {
	t.Helper()
	cases := len(n.values)
	if known := !math.IsNaN(n.last.Floor.P95); known && (n.beyond == 0 || n.beyond > cases/6) {
		t.Errorf("%d of %d readings are beyond the 95th percentile of the floor", n.beyond, cases)
	}
	if share := float64(n.held) / float64(cases); share < n.least(of) {
		t.Errorf("%.3f of the 95 %% intervals over %s hold the null, at least %v must", share, n.last.Over, n.least(of))
	}
	n.checkWidth(t, widest)
	if n.pairs {
		return
	}
	if e := stats.MeanInterval(n.values, 0.999, "simulations"); e.Low > *n.last.Null || e.High < *n.last.Null {
		t.Errorf("without a memory it reads %v on average, [%v, %v], the null is %v", e.Value, e.Low, e.High, *n.last.Null)
	}
}

// checkWidth refuses intervals that reach more than so many standard deviations to either side: values vary from case to
// case.
func (n *nullReadings) checkWidth(t *testing.T, most float64) {
	t.Helper()
	sd, err := stats.SD(n.values)
	half, err1 := stats.Mean(n.halves)
	if err := cmp.Or(err, err1); err != nil {
		t.Error(err)
	} else if sd > 0 && half > most*sd {
		t.Errorf("the intervals reach %.3f to either side, %.1f standard deviations of their values: so wide an interval is like everything", half, half/sd)
	}
}

// least is the smallest share of intervals that must hold the null. That of a lens on other records than those of the sets, which
// needs a case, is one of all models only: a random model answers them in a way of its own, so that its mean alone is checked.
func (n *nullReadings) least(of audit.Info) float64 {
	switch {
	case of.Needs.Case && of.Null == audit.Nominal && n.last.Over != "records" && overRecords(&n.last):
		return 0
	case slices.Contains([]string{stats.OverDraws, stats.OverSubsets}, n.last.Over):
		return leastHeldByDraws
	}
	return leastHeld
}
