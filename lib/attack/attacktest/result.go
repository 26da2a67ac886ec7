// The check of what an attack on losses reports: every field of its result is computed again from
// the scores of single records.

package attacktest

import (
	"fmt"
	"math"
	"reflect"
	"testing"

	"github.com/lethe-ml/lethe/lib/attack"
	"github.com/lethe-ml/lethe/lib/stats"
)

// checkResult checks that a result fits its own scores, and the losses that it is about.
func checkResult(t *testing.T, l attack.Losses, r *attack.Result) {
	t.Helper()
	checkExamples(t, "Scores.Members", r, r.Scores.Members, l.Forgotten, true)
	checkExamples(t, "Scores.Nonmembers", r, r.Scores.Nonmembers, l.HeldOut, false)
	if n := len(r.Scores.Members); n != len(l.Forgotten) {
		t.Errorf("Scores.Members has %d scores for %d forgotten records", n, len(l.Forgotten))
	}
	if n := len(r.Scores.Nonmembers); n == 0 {
		t.Error("Scores.Nonmembers is empty: it holds the held-out records that the attack did not learn from")
		return
	}
	checkScoreReport(t, r)
	checkAccuracy(t, r)
}

// checkExamples checks the examples of one role.
func checkExamples(t *testing.T, what string, r *attack.Result, examples []attack.Example, losses []float64, member bool) {
	t.Helper()
	seen, evaluated := map[int]bool{}, 0
	for k, e := range examples {
		at := fmt.Sprintf("%s[%d] = %+v", what, k, e)
		switch {
		case e.Record < 0 || e.Record >= len(losses) || seen[e.Record]:
			t.Errorf("%s: Record is no position in the losses, or there twice", at)
			return
		case e.Member != member:
			t.Errorf("%s: Member is %v, expected %v", at, e.Member, member)
			return
		case math.IsNaN(e.Score) || math.IsInf(e.Score, 0):
			t.Errorf("%s: Score is not finite", at)
			return
		case e.Called != (losses[e.Record] < r.Threshold):
			t.Errorf("%s: Called is %v for the loss %v and the Threshold %v", at, e.Called, losses[e.Record], r.Threshold)
			return
		}
		seen[e.Record] = true
		if e.Evaluated {
			evaluated++
		}
	}
	if evaluated != r.Evaluated || evaluated == 0 {
		t.Errorf("%d of %s have Evaluated set; the result's Evaluated is %d", evaluated, what, r.Evaluated)
	}
}

// checkScoreReport compares the report with attack.Score of the scores.
func checkScoreReport(t *testing.T, r *attack.Result) {
	t.Helper()
	var s attack.Samples
	for _, e := range r.Scores.Members {
		s.Members = append(s.Members, e.Score)
	}
	for _, e := range r.Scores.Nonmembers {
		s.Nonmembers = append(s.Nonmembers, e.Score)
	}
	want, err := attack.Score(s, 0.95)
	if err != nil {
		t.Errorf("the scores have no AUC: %v", err)
		return
	}
	a, b := r.Advantage, want.Advantage
	signed := stats.Estimate{Value: 2*r.AUC.Value - 1, Low: 2*r.AUC.Low - 1, High: 2*r.AUC.High - 1}.Unsigned()
	for _, c := range []struct {
		what      string
		got, want float64
	}{
		{"AUC.Value", r.AUC.Value, want.AUC.Value},
		{"Advantage.Signed", a.Signed, b.Signed},
		{"Advantage.Value", a.Value, b.Value},
		{"Advantage.Low, the image of the AUC's interval,", a.Low, signed.Low},
		{"Advantage.High, the image of the AUC's interval,", a.High, signed.High},
		{"Advantage.ChanceMean", a.ChanceMean, b.ChanceMean},
		{"Advantage.ChanceP95", a.ChanceP95, b.ChanceP95},
		{"NMembers", float64(r.NMembers), float64(want.NMembers)},
		{"NNonmembers", float64(r.NNonmembers), float64(want.NNonmembers)},
	} {
		checkNear(t, c.what, c.got, c.want)
	}
	if !reflect.DeepEqual(r.TPRAtFPR, want.TPRAtFPR) {
		t.Errorf("TPRAtFPR is %v, by the scores %v", r.TPRAtFPR, want.TPRAtFPR)
	}
}

// checkAccuracy compares the balanced accuracy with the calls, and its floor with that of as many
// records.
func checkAccuracy(t *testing.T, r *attack.Result) {
	t.Helper()
	right := 0.0
	for _, e := range append(append([]attack.Example(nil), r.Scores.Members...), r.Scores.Nonmembers...) {
		if e.Evaluated && e.Called == e.Member {
			right++
		}
	}
	b := r.BalancedAccuracy
	checkNear(t, "BalancedAccuracy.Value", b.Value, right/float64(2*r.Evaluated))
	checkNear(t, "BalancedAccuracy.N, two records a trial,", float64(b.N), float64(2*r.Evaluated))
	if b.Null == nil || *b.Null != 0.5 || b.Better != stats.NearNull || b.Level != 0.95 || b.Over == "" {
		t.Errorf("BalancedAccuracy is %+v: expected Null 0.5, Better %q, Level 0.95 and an Over", b, stats.NearNull)
	}
	if floor := stats.ChanceFloorBalanced(r.Evaluated); !math.IsNaN(r.Chance.P95) {
		checkNear(t, "Chance.Mean", r.Chance.Mean, floor.Mean)
		checkNear(t, "Chance.P95", r.Chance.P95, floor.P95)
	}
	if !(r.Fitted >= 0 && r.Fitted <= 1) {
		t.Errorf("Fitted is %v, a balanced accuracy is in [0, 1]", r.Fitted)
	}
}

func checkNear(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-9) {
		t.Errorf("%s is %v, by the scores of the records %v", what, got, want)
	}
}

// checkLearnsFromOthers changes the losses of the records that are scored: what the attack learned
// may not change.
func checkLearnsFromOthers(t *testing.T, a attack.LossAttack) {
	t.Helper()
	l := losses(random(8), memberLoss, memberLoss, nonmemberLoss)
	before := run(t, a, l)
	for _, e := range before.Scores.Nonmembers {
		l.HeldOut[e.Record] += 3
	}
	for i := range l.Forgotten {
		l.Forgotten[i] += 2
	}
	after := run(t, a, l)
	if after.Threshold != before.Threshold || after.Fitted != before.Fitted {
		t.Errorf("with other losses of the scored records Threshold and Fitted are %v and %v, before %v and %v: the attack learns from records that it scores",
			after.Threshold, after.Fitted, before.Threshold, before.Fitted)
	}
}

// perCluster is the number of held-out records in a cluster.
const perCluster = 8

// checkClusters gives the held-out records clusters. The records of a cluster are all scored or all
// learned from.
func checkClusters(t *testing.T, a attack.LossAttack) {
	t.Helper()
	l := losses(random(9), memberLoss, memberLoss, nonmemberLoss)
	for i := range l.HeldOut {
		l.HeldOutClusters = append(l.HeldOutClusters, i%(heldOut/perCluster))
	}
	r := run(t, a, l)
	checkResult(t, l, r)
	scored := map[int]int{}
	for _, e := range r.Scores.Nonmembers {
		scored[l.HeldOutClusters[e.Record]]++
	}
	for c, n := range scored {
		if n != perCluster {
			t.Errorf("%d of the %d held-out records of cluster %d (HeldOutClusters) are scored; the attack learned from the others", n, perCluster, c)
		}
	}
}
