package attack

import (
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/lib/stats"
)

// SignalThreshold calls a record a member if its signal exceeds a threshold that was learned on
// records whose membership is known: of the same model (the *population* setting: retained records
// and a part of the held-out ones) or of a *shadow* model trained by the attacker.
//
//	tau = the candidate with the best balanced accuracy on the known records
//
// with a threshold per class if PerClass is set (Song and Mittal 2021). The zero value attacks by
// confidence with one threshold.
//
// Differences from programs in the unlearning literature: (1) the threshold is learned and scored
// on different records (Records); (2) the threshold maximises balanced accuracy, so that unequal
// numbers do not move it; (3) both directions of the success rate are reported, because papers
// print either under the same name; (4) intervals.
type SignalThreshold struct {
	Signal   Signal  // nil: Confidence
	PerClass bool    // a threshold for each class that has known members and non-members
	Level    float64 // coverage of the intervals; 0: 0.95
}

// Records holds one model's outputs on records in four roles. If the known records come from a
// shadow model, its outputs on them.
type Records struct {
	Members, Nonmembers Outputs // known: the threshold is learned on them
	Forgotten, HeldOut  Outputs // scored by the threshold
}

// ASR is the result of a threshold attack on the forgotten records (attack success rates).
type ASR struct {
	Signal string `json:"signal"`
	// MemberRate is the share of the forgotten records called members; a model
	// that forgot shows the HeldOutRate.
	MemberRate stats.Estimate `json:"member_rate"`
	// NonmemberRate is 1 - MemberRate, what the literature calls MIA efficacy.
	NonmemberRate stats.Estimate `json:"nonmember_rate"`
	// HeldOutRate is the share of held-out records called members: the false positives, with which
	// both rates are to be compared.
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
func (a SignalThreshold) Run(records Records) (*ASR, error) {
	s := a.Signal
	if s == nil {
		s = Confidence{}
	}
	level := a.Level
	if level == 0 {
		level = defaultLevel
	}
	if !(level > 0 && level < 1) {
		return nil, fmt.Errorf("attack: level %v is not inside (0, 1)", level)
	}
	of, err := records.applySignal(s)
	if err != nil {
		return nil, err
	}
	t := a.learnThresholds(of)
	r := &ASR{Signal: s.Name(), Thresholds: t}
	r.Fitted = (of.members.shareCalled(t) + (1 - of.nonmembers.shareCalled(t))) / 2
	forgotten := of.forgotten.shareCalled(t)
	r.MemberRate = stats.Wilson(forgotten, len(of.forgotten.scores), level)
	r.NonmemberRate = stats.Wilson(1-forgotten, len(of.forgotten.scores), level)
	r.HeldOutRate = stats.Wilson(of.heldOut.shareCalled(t), len(of.heldOut.scores), level)
	r.Balanced = balancedEstimate(r.MemberRate, r.HeldOutRate)
	r.Scores, err = Score(Samples{Members: of.forgotten.scores, Nonmembers: of.heldOut.scores}, level)
	return r, err
}

// roleScores holds the signals of the records in one role, with their labels.
type roleScores struct {
	scores []float64
	y      []int
}

// scoredRecords are Records with the signal in place of the outputs.
type scoredRecords struct {
	classes                                 int
	members, nonmembers, forgotten, heldOut roleScores
}

func (r Records) applySignal(s Signal) (*scoredRecords, error) {
	out := &scoredRecords{classes: r.Members.P.Cols}
	for _, part := range []struct {
		name string
		from Outputs
		to   *roleScores
	}{
		{"members", r.Members, &out.members}, {"non-members", r.Nonmembers, &out.nonmembers},
		{"forgotten records", r.Forgotten, &out.forgotten}, {"held-out records", r.HeldOut, &out.heldOut},
	} {
		if part.from.P.Rows == 0 {
			return nil, fmt.Errorf("attack: there are no %s", part.name)
		}
		if part.from.P.Cols != out.classes {
			return nil, fmt.Errorf("attack: %s have %d classes, the members %d", part.name, part.from.P.Cols, out.classes)
		}
		scores, err := SignalScores(s, part.from)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", part.name, err)
		}
		*part.to = roleScores{scores, part.from.Y}
	}
	return out, nil
}

// balancedEstimate is the balanced accuracy (1 + member rate - false-positive rate)/2, with
// Newcombe's interval, which combines the two Wilson intervals.
func balancedEstimate(forget, out stats.Estimate) stats.Estimate {
	d := forget.Value - out.Value
	low := d - math.Hypot(forget.Value-forget.Low, out.High-out.Value)
	high := d + math.Hypot(forget.High-forget.Value, out.Value-out.Low)
	e := stats.Estimate{Value: (1 + d) / 2, Low: (1 + low) / 2, High: (1 + high) / 2, Level: forget.Level, Over: "records", N: forget.N + out.N}
	return e.WithNull(0.5, stats.NearNull)
}

// learnThresholds returns one threshold, or one per class. A class without known members or
// non-members takes the common one.
func (a SignalThreshold) learnThresholds(of *scoredRecords) []float64 {
	common := learnThreshold(of.members.scores, of.nonmembers.scores)
	if !a.PerClass {
		return []float64{common}
	}
	t := make([]float64, of.classes)
	for c := range t {
		t[c] = common
		in, out := of.members.ofClass(c), of.nonmembers.ofClass(c)
		if len(in) > 0 && len(out) > 0 {
			t[c] = learnThreshold(in, out)
		}
	}
	return t
}

// learnThreshold returns the best threshold on scores that are higher for members.
func learnThreshold(members, nonmembers []float64) float64 {
	tau, _ := bestThreshold(Samples{Members: negated(members), Nonmembers: negated(nonmembers)}, paperCandidates)
	return -clampFinite(tau)
}

func negated(x []float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = -v
	}
	return out
}

func (s roleScores) ofClass(class int) []float64 {
	var out []float64
	for i, v := range s.scores {
		if s.y[i] == class {
			out = append(out, v)
		}
	}
	return out
}

// shareCalled returns the share of records above their threshold.
func (s roleScores) shareCalled(t []float64) float64 {
	n := 0
	for i, v := range s.scores {
		tau := t[0]
		if len(t) > 1 {
			tau = t[s.y[i]]
		}
		if v > tau {
			n++
		}
	}
	return float64(n) / float64(len(s.scores))
}
