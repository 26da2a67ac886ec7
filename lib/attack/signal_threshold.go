package attack

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/lib/stats"
)

// SignalThreshold calls a record a member when its signal reaches a threshold
// that was learned on records whose membership is known: of the same model (the
// *population* setting: retained records and a part of the held-out ones) or of
// a *shadow* model trained by the attacker.
//
//	tau = the candidate with the best balanced accuracy on the known records
//
// with a threshold per class where PerClass is set (Song and Mittal 2021). The
// zero value attacks by confidence with one threshold.
//
// Differs from the programs that the unlearning literature passed on: (1) the
// records that the threshold is learned on and those that it is judged on are
// kept apart by the caller's two pairs of arguments; (2) the threshold
// maximises balanced accuracy, so that unequal numbers do not move it; (3) both
// directions of the success rate are reported, because papers print either
// under the same name; (4) intervals.
type SignalThreshold struct {
	Signal   Signal  // nil: Confidence
	PerClass bool    // a threshold for each class that has known members and non-members
	Level    float64 // coverage of the intervals; 0: 0.95
}

// ASR is what a threshold attack says of the forgotten records.
type ASR struct {
	Signal string `json:"signal"`
	// MemberRate is the share of the forgotten records called members; a model
	// that forgot shows the HeldOutRate.
	MemberRate stats.Estimate `json:"member_rate"`
	// NonmemberRate is 1 - MemberRate, what the literature calls MIA efficacy.
	NonmemberRate stats.Estimate `json:"nonmember_rate"`
	// HeldOutRate is the share of held-out records called members: the attack's
	// false positives, and the value that both rates are to be read against.
	HeldOutRate stats.Estimate `json:"held_out_rate"`
	// Balanced is the balanced accuracy, forgotten against held-out records, with
	// null 0.5.
	Balanced stats.Estimate `json:"balanced_accuracy"`
	// Scores is the signal itself, without a threshold.
	Scores *ScoreReport `json:"scores"`
	// Fitted is the balanced accuracy on the known records.
	Fitted float64 `json:"fitted"`
	// Thresholds has one entry, or one per class.
	Thresholds []float64 `json:"thresholds"`
}

// Run learns the threshold on known members and non-members and applies it to
// the forgotten and the held-out records.
func (a SignalThreshold) Run(members, nonmembers, forgotten, heldOut Outputs) (*ASR, error) {
	s := a.Signal
	if s == nil {
		s = Confidence{}
	}
	level := a.Level
	level = cmp.Or(level, defaultLevel)
	var scores [4][]float64
	for i, part := range []struct {
		name string
		o    Outputs
	}{{"members", members}, {"non-members", nonmembers}, {"forgotten records", forgotten}, {"held-out records", heldOut}} {
		if part.o.P.Rows == 0 {
			return nil, fmt.Errorf("attack: there are no %s", part.name)
		}
		if part.o.P.Cols != members.P.Cols {
			return nil, fmt.Errorf("attack: %s have %d classes, the members %d", part.name, part.o.P.Cols, members.P.Cols)
		}
		var err error
		if scores[i], err = SignalScores(s, part.o); err != nil {
			return nil, fmt.Errorf("%s: %w", part.name, err)
		}
	}
	if !(level > 0 && level < 1) {
		return nil, errors.New("attack: the level is not inside (0, 1)")
	}
	t := a.learn(members, nonmembers, scores[0], scores[1])
	r := &ASR{Signal: s.Name(), Thresholds: t}
	tp, tn := called(scores[0], members.Y, t), 1-called(scores[1], nonmembers.Y, t)
	r.Fitted = (tp + tn) / 2
	forget, out := called(scores[2], forgotten.Y, t), called(scores[3], heldOut.Y, t)
	r.MemberRate = stats.Wilson(forget, len(scores[2]), level)
	r.NonmemberRate = stats.Wilson(1-forget, len(scores[2]), level)
	r.HeldOutRate = stats.Wilson(out, len(scores[3]), level)
	r.Balanced = difference(r.MemberRate, r.HeldOutRate)
	var err error
	r.Scores, err = Score(scores[2], scores[3], level)
	return r, err
}

// difference is the balanced accuracy (1 + member rate - false positive rate)/2,
// with Newcombe's interval, which joins the two Wilson intervals.
func difference(forget, out stats.Estimate) stats.Estimate {
	d := forget.Value - out.Value
	low := d - math.Hypot(forget.Value-forget.Low, out.High-out.Value)
	high := d + math.Hypot(forget.High-forget.Value, out.Value-out.Low)
	e := stats.Estimate{Value: (1 + d) / 2, Low: (1 + low) / 2, High: (1 + high) / 2, Level: forget.Level, Over: "records", N: forget.N + out.N}
	return e.Against(0.5, stats.NearNull)
}

// learn returns one threshold, or one per class. A class without known members
// or non-members takes the common one.
func (a SignalThreshold) learn(members, nonmembers Outputs, in, out []float64) []float64 {
	common := threshold(in, out)
	if !a.PerClass {
		return []float64{common}
	}
	t := make([]float64, members.P.Cols)
	for c := range t {
		t[c] = common
		ofIn, ofOut := ofClass(in, members.Y, c), ofClass(out, nonmembers.Y, c)
		if len(ofIn) > 0 && len(ofOut) > 0 {
			t[c] = threshold(ofIn, ofOut)
		}
	}
	return t
}

// threshold is the best one on scores that are higher for members.
func threshold(in, out []float64) float64 {
	tau, _ := bestThreshold(negated(in), negated(out), paperCandidates)
	return -finite(tau)
}

func negated(x []float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = -v
	}
	return out
}

func ofClass(scores []float64, y []int, class int) []float64 {
	var out []float64
	for i, v := range scores {
		if y[i] == class {
			out = append(out, v)
		}
	}
	return out
}

// called is the share of records above their threshold.
func called(scores []float64, y []int, t []float64) float64 {
	n := 0
	for i, v := range scores {
		tau := t[0]
		if len(t) > 1 {
			tau = t[y[i]]
		}
		if v > tau {
			n++
		}
	}
	return float64(n) / float64(len(scores))
}
