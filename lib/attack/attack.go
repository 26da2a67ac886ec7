// Package attack holds membership inference attacks: which records were in a model's training set?
// It takes plain arrays of losses or scores, so that it works on any model, and keeps the score of
// every example beside the aggregates.
//
// A forgotten record should look like a record that was never trained on. All aggregates are
// signed: a value below chance is a finding too, because over-unlearned records stand out.
package attack

import (
	"fmt"
	"math"
)

// Attack is a membership attack on losses. One file holds one attack, and its zero value is the
// setting of the paper named there.
type Attack interface {
	// Name is the attack's short name, such as "loss-threshold".
	Name() string
	// About says in one line what the attack reports.
	About() string
	// Run attacks a model from its losses.
	Run(l Losses) (*Result, error)
}

// Losses holds one model's losses on records in three roles: finite, lower for a record that the
// model fits better.
type Losses struct {
	Retained  []float64 // known members, from which the attack may learn
	Forgotten []float64 // the members under attack
	HeldOut   []float64 // non-members: some to learn from, the others to score
}

// All returns every attack at its zero value, in alphabetical order.
func All() []Attack { return []Attack{LossThreshold{}} }

// Example is one record under attack.
type Example struct {
	Record    int     `json:"record"`    // position in Losses.Forgotten or Losses.HeldOut
	Member    bool    `json:"member"`    // truth: a forget record
	Score     float64 `json:"score"`     // higher means member
	Called    bool    `json:"called"`    // the attack calls it a member
	Evaluated bool    `json:"evaluated"` // it counts in the balanced accuracy
}

// Scores holds the score of every example: all forgotten records, and the held-out records that the
// attack did not learn from, in the order given.
type Scores struct {
	Members    []Example `json:"members"`
	Nonmembers []Example `json:"nonmembers"`
}

func (s Scores) samples() (out Samples) {
	for _, e := range s.Members {
		out.Members = append(out.Members, e.Score)
	}
	for _, e := range s.Nonmembers {
		out.Nonmembers = append(out.Nonmembers, e.Score)
	}
	return out
}

func checkFinite(name string, x []float64) error {
	for i, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("attack: %s[%d] is %v", name, i, v)
		}
	}
	return nil
}
