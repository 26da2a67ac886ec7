// The loss-threshold attack of RULER (section 4.3): a record with a loss below a
// learned threshold is a member.

package attack

import (
	"errors"
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/stats/nprand"
)

const (
	paperSeed       = 42
	paperCandidates = 512
	defaultLevel    = 0.95
)

// LossThreshold calls a record a member if its loss is below a threshold that was learned on other
// records. The zero value is RULER's protocol (section 4.3):
//
//	permute the test records, cut them into halves A and B (A one longer if odd)
//	n = min(|Dr|, |A|):  n drawn retain losses against the first n of A
//	tau = the candidate with the best balanced accuracy there, the smallest if tied
//	m = min(|Df|, |B|):  m drawn forget losses against the first m of B
//	accuracy = ( share of the m forget losses < tau + share of the m test losses >= tau ) / 2
//
// All draws come from one NumPy RandomState in the order permutation, retain, forget. Candidates
// lie midway between neighbouring distinct losses, with one below and one above all of them. If
// there are more than 512 distinct losses, 512 equally spaced quantiles take their place.
//
// Dr, Df and the test records are Losses.Retained, Forgotten and HeldOut. Inputs are not changed.
// It refuses no retained or no forgotten records, fewer than 4 held-out ones, and a loss that is
// not finite.
//
// Null: accuracy 0.5. Direction: nearest to the null. The paper accepts a mean over seeds inside
// 0.5 -+ 0.05.
//
// Differs from the paper and the program in
//
//  1. reporting intervals, the chance floor, the signed AUC over all forgotten records and the whole of B,
//     and the score of each example;
//  2. refusing input for which the program returns NaN;
//  3. clusters of held-out records, where they are given, which are not parted between A and B.
type LossThreshold struct {
	Seed       uint32  // 0: the paper's 42
	Candidates int     // quantiles that replace more distinct losses than this; 0: 512
	Level      float64 // coverage of the intervals; 0: 0.95
}

var _ LossAttack = LossThreshold{}

// Result is the result of an attack.
type Result struct {
	// ScoreReport holds the signed AUC and the advantage of the losses
	// themselves, with no threshold, over all members and non-members.
	ScoreReport
	// BalancedAccuracy is the mean of the two recalls over 2 m records, with
	// Wilson's interval for 2 m trials.
	BalancedAccuracy stats.Estimate `json:"balanced_accuracy"`
	// Chance is the floor of |accuracy - 0.5| without any signal.
	Chance stats.Floor `json:"chance"`
	// Threshold is the loss below which a record is called a member. The
	// largest float64 stands for "every record", its negative for "none".
	Threshold float64 `json:"threshold"`
	// Fitted is the balanced accuracy on the records that the threshold was learned on.
	Fitted float64 `json:"fitted"`
	// Evaluated is m, the number of members and of non-members behind the
	// balanced accuracy.
	Evaluated int    `json:"evaluated"`
	Scores    Scores `json:"-"`
}

// Name returns "loss-threshold".
func (LossThreshold) Name() string { return "loss-threshold" }

// About implements LossAttack.
func (LossThreshold) About() string {
	return "loss-threshold membership attack: balanced accuracy, AUC, per-example scores"
}

// Run attacks as the type describes.
func (a LossThreshold) Run(l Losses) (*Result, error) {
	if err := a.check(l); err != nil {
		return nil, err
	}
	d := a.drawSplit(l)
	known := Samples{Members: valuesAt(l.Retained, d.retained), Nonmembers: valuesAt(l.HeldOut, d.learn[:len(d.retained)])}
	judged := Samples{Members: valuesAt(l.Forgotten, d.forgotten), Nonmembers: valuesAt(l.HeldOut, d.judge[:len(d.forgotten)])}
	tau, fitted := bestThreshold(known, a.candidates())
	r := &Result{Threshold: clampFinite(tau), Fitted: fitted, Evaluated: len(d.forgotten)}
	r.Scores = scoreExamples(l, d, tau)
	r.BalancedAccuracy = stats.Wilson(balancedAccuracy(judged, tau), 2*r.Evaluated, a.level()).WithNull(0.5, stats.NearNull)
	r.Chance = stats.ChanceFloorBalanced(r.Evaluated)
	report, err := Score(r.Scores.samples(), a.level())
	if err != nil {
		return nil, err
	}
	r.ScoreReport = *report
	return r, nil
}

func (a LossThreshold) check(losses Losses) error {
	switch {
	case len(losses.Retained) == 0:
		return errors.New("attack: there are no losses of retained records")
	case len(losses.Forgotten) == 0:
		return errors.New("attack: there are no losses of forgotten records")
	case len(losses.HeldOut) < 4:
		return fmt.Errorf("attack: %d losses of held-out records cannot be halved into two of two; at least 4 are needed", len(losses.HeldOut))
	case losses.HeldOutClusters != nil && len(losses.HeldOutClusters) != len(losses.HeldOut):
		return fmt.Errorf("attack: %d clusters of %d held-out records", len(losses.HeldOutClusters), len(losses.HeldOut))
	case !losses.HeldOutClusters.Trivial() && losses.HeldOutClusters.Count(len(losses.HeldOut)) < 2:
		return errors.New("attack: the held-out records are one cluster, which cannot be halved")
	case a.Candidates < 0 || a.Candidates == 1:
		return fmt.Errorf("attack: %d candidate thresholds, want at least 2", a.Candidates)
	}
	if l := a.level(); !(l > 0 && l < 1) {
		return fmt.Errorf("attack: level %v is not inside (0, 1)", l)
	}
	return errors.Join(checkFinite("Retained", losses.Retained), checkFinite("Forgotten", losses.Forgotten), checkFinite("HeldOut", losses.HeldOut))
}

func (a LossThreshold) candidates() int {
	if a.Candidates == 0 {
		return paperCandidates
	}
	return a.Candidates
}

func (a LossThreshold) level() float64 {
	if a.Level == 0 {
		return defaultLevel
	}
	return a.Level
}

// lossSplit holds positions in Losses: of the held-out records those to learn from and those to
// score.
type lossSplit struct{ learn, judge, retained, forgotten []int }

func (a LossThreshold) drawSplit(l Losses) lossSplit {
	seed := a.Seed
	if seed == 0 {
		seed = paperSeed
	}
	rs := nprand.New(seed)
	var d lossSplit
	d.learn, d.judge = l.HeldOutClusters.Halves(len(l.HeldOut), rs.Permutation)
	d.retained = rs.Choice(len(l.Retained), min(len(l.Retained), len(d.learn)))
	d.forgotten = rs.Choice(len(l.Forgotten), min(len(l.Forgotten), len(d.judge)))
	return d
}

func scoreExamples(l Losses, d lossSplit, tau float64) Scores {
	var s Scores
	evaluated := make([]bool, len(l.Forgotten))
	for _, i := range d.forgotten {
		evaluated[i] = true
	}
	for i, v := range l.Forgotten {
		s.Members = append(s.Members, Example{i, true, -v, v < tau, evaluated[i]})
	}
	for k, i := range d.judge {
		v := l.HeldOut[i]
		s.Nonmembers = append(s.Nonmembers, Example{i, false, -v, v < tau, k < len(d.forgotten)})
	}
	return s
}

func valuesAt(x []float64, rows []int) []float64 {
	out := make([]float64, len(rows))
	for k, i := range rows {
		out[k] = x[i]
	}
	return out
}

// clampFinite replaces an infinite threshold by the largest float64 of its sign, which divides
// finite losses in the same way and can be written as JSON.
func clampFinite(tau float64) float64 {
	return min(max(tau, -math.MaxFloat64), math.MaxFloat64)
}
