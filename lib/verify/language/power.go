// How much memory a test would miss.

package language

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/lethe-ml/lethe/lib/stats"
)

// Detector is a test of an unlearned model against a retrained one, which returns a p-value.
type Detector func(e PairedEvidence, rng *rand.Rand) (p float64, err error)

// PairedDetector is the sign-flip test of PairedQuality.
func PairedDetector(e PairedEvidence, rng *rand.Rand) (float64, error) {
	diff, err := e.differences()
	if err != nil {
		return 0, err
	}
	r, err := stats.SignFlip(diff, e.Group, 999, rng)
	return r.P, err
}

// PublishedDetector is the Kolmogorov-Smirnov test of ForgetQuality, which ignores pairs and groups.
func PublishedDetector(e PairedEvidence, _ *rand.Rand) (float64, error) {
	_, p, err := stats.KSTwoSample(e.Unlearned, e.Retrained)
	return p, err
}

// PowerEvidence holds ln R of the forgotten questions under the original model, under a retrained
// model that a share of it is mixed into, and under the retrained model that the mixture is compared
// with. Other and Retrained are two models; with one model in both roles the differences are the
// planted ones alone, and every share above 0 is found.
type PowerEvidence struct {
	Original  []float64
	Other     []float64 // a retrained model: becomes the unlearned one by mixing
	Retrained []float64 // another retrained model: the reference of the test
	Group     []int
}

// Power says how much memory a test would miss. What stands for an unlearned model is
//
//	ln R = (1 - s) ln R of a retrained model + s ln R of the original
//
// with a share s of memory. Groups are drawn with replacement, and the power at s is the share of
// draws in which the test rejects.
//
// At s = 0 a rejection is a false alarm. There are more than Alpha of them where the two retrained
// models differ, and also where they do not: a draw moves their observed difference once more, so
// that a test at 5 % that is valid rejects in about 17 % of draws, on average over pairs of models.
// What would be found without any memory is not found by memory: the power is therefore adjusted for
// size. If more than Alpha of the draws at s = 0 have p <= Alpha, a draw counts as a rejection if its p is
// below Threshold, which at most Alpha of those have. Numbers are mixed here, not models, the draws
// are of questions, not of trainings, and two retrained models say little of how far others differ
// (Calibrate).
type Power struct {
	Alpha  float64   // 0: 0.05
	Target float64   // power that is asked for, 0: 0.8
	Shares []float64 // ascending, of [0, 1]; nil: 0 to 0.10 by 0.01, then to 0.5 by 0.05; 0 is always among them
	Draws  int       // of groups, 0: 200
}

// PowerPoint is the power at a share, with Wilson's interval over draws.
type PowerPoint struct {
	Share float64        `json:"share"`
	Power stats.Estimate `json:"power"`
}

// PowerCurve is the power at every share, from 0. Smallest is the smallest share above 0 from which
// on all shares have at least the target. Found is false, and Smallest 0, if there is none.
type PowerCurve struct {
	FalseAlarms stats.Estimate `json:"false_alarms"` // share of draws at s = 0 with p <= Alpha
	Threshold   float64        `json:"threshold"`    // of p: Alpha, or less where false alarms are more than Alpha
	Points      []PowerPoint   `json:"points"`
	Smallest    float64        `json:"smallest"`
	Found       bool           `json:"found"`
}

// Curve measures the power of a test. All shares see the same draws of groups.
func (p Power) Curve(e PowerEvidence, test Detector, rng *rand.Rand) (PowerCurve, error) {
	p = p.withDefaults()
	if err := errors.Join(p.check(test, rng), e.check()); err != nil {
		return PowerCurve{}, fmt.Errorf("power: %w", err)
	}
	if p.Shares[0] != 0 {
		p.Shares = append([]float64{0}, p.Shares...)
	}
	members, values := membersOf(e.Group, len(e.Original)), make([][]float64, len(p.Shares))
	for range p.Draws {
		drawn := e.draw(members, rng)
		for k, s := range p.Shares {
			v, err := test(drawn.mixed(s), rng)
			if err != nil {
				return PowerCurve{}, fmt.Errorf("power at a share of %v: %w", s, err)
			}
			if !(v >= 0 && v <= 1) {
				return PowerCurve{}, fmt.Errorf("power at a share of %v: the test returns %v, which is no p-value", s, v)
			}
			values[k] = append(values[k], v)
		}
	}
	return p.curve(values), nil
}

// curve makes the curve of the p-values at every share, of which the first is 0.
func (p Power) curve(values [][]float64) PowerCurve {
	alarm := func(v float64) bool { return v <= p.Alpha }
	out := PowerCurve{FalseAlarms: stats.Share(values[0], "draws", alarm), Threshold: p.Alpha}
	if allowed := int(p.Alpha * float64(p.Draws)); out.FalseAlarms.Value > p.Alpha {
		out.Threshold = slices.Sorted(slices.Values(values[0]))[allowed]
		alarm = func(v float64) bool { return v < out.Threshold }
	}
	for k, s := range p.Shares {
		out.Points = append(out.Points, PowerPoint{Share: s, Power: stats.Share(values[k], "draws", alarm)})
	}
	for _, at := range slices.Backward(out.Points[1:]) {
		if at.Power.Value < p.Target {
			break
		}
		out.Smallest, out.Found = at.Share, true
	}
	return out
}

func (p Power) withDefaults() Power {
	if p.Alpha == 0 {
		p.Alpha = 0.05
	}
	if p.Target == 0 {
		p.Target = 0.8
	}
	if p.Draws == 0 {
		p.Draws = 200
	}
	if len(p.Shares) == 0 {
		for s := range 10 {
			p.Shares = append(p.Shares, float64(s)/100)
		}
		for s := 2; s <= 10; s++ {
			p.Shares = append(p.Shares, float64(s)/20)
		}
	}
	return p
}

func (p Power) check(test Detector, rng *rand.Rand) error {
	if test == nil {
		return errors.New("the test is missing")
	}
	if !(p.Alpha > 0 && p.Alpha < 1 && p.Target > 0 && p.Target < 1) || p.Draws < 1 || rng == nil {
		return fmt.Errorf("alpha %v and target %v must be within 0 and 1, %d draws at least 1, with a generator", p.Alpha, p.Target, p.Draws)
	}
	for k, s := range p.Shares {
		if !(s >= 0 && s <= 1) || k > 0 && !(s > p.Shares[k-1]) {
			return fmt.Errorf("share %d is %v: shares ascend from 0 to 1", k, s)
		}
	}
	return nil
}

func (e PowerEvidence) check() error {
	if _, err := (PairedEvidence{Unlearned: e.Original, Retrained: e.Retrained, Group: e.Group}).differences(); err != nil {
		return fmt.Errorf("original (unlearned) against retrained: %w", err)
	}
	if _, err := (PairedEvidence{Unlearned: e.Other, Retrained: e.Retrained, Group: e.Group}).differences(); err != nil {
		return fmt.Errorf("other retrained (unlearned) against retrained: %w", err)
	}
	return nil
}

// membersOf returns the questions of every group, in the order in which groups appear.
func membersOf(group []int, n int) (members [][]int) {
	at := map[int]int{}
	for q := range n {
		k, known := len(members), false
		if group != nil {
			if c, ok := at[group[q]]; ok {
				k, known = c, true
			} else {
				at[group[q]] = k
			}
		}
		if !known {
			members = append(members, nil)
		}
		members[k] = append(members[k], q)
	}
	return members
}

// draw draws as many groups as there are, with replacement. A group that is drawn twice becomes two.
func (e PowerEvidence) draw(members [][]int, rng *rand.Rand) PowerEvidence {
	var out PowerEvidence
	for k := range members {
		for _, q := range members[rng.IntN(len(members))] {
			out.Original, out.Other = append(out.Original, e.Original[q]), append(out.Other, e.Other[q])
			out.Retrained, out.Group = append(out.Retrained, e.Retrained[q]), append(out.Group, k)
		}
	}
	return out
}

// mixed returns the evidence with a share of memory.
func (e PowerEvidence) mixed(s float64) PairedEvidence {
	u := make([]float64, len(e.Other))
	for q, v := range e.Other {
		u[q] = float64((1-s)*v) + float64(s*e.Original[q])
	}
	return PairedEvidence{Unlearned: u, Retrained: e.Retrained, Group: e.Group}
}
