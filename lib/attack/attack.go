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
	"slices"

	"github.com/lethe-ml/lethe/lib/internal/panics"
	"github.com/lethe-ml/lethe/lib/progress"
	"github.com/lethe-ml/lethe/lib/stats"
)

// Attack scores records by what an attacker knows of a model, E: its outputs (package generative),
// its scores of known non-members (population), or the scores of shadow models (shadow). One file
// holds one attack, and its zero value is the setting of the paper named there.
type Attack[E any] interface {
	// Name is the attack's short name, such as "lira-online".
	Name() string
	// About says in one line what the score is.
	About() string
	// Scores are one per record under attack, in the order of the evidence, higher for members if
	// the model remembers them. They are signed: an attack that finds members on the other side has
	// an AUC below 0.5, which is a finding too.
	Scores(e E) ([]float64, error)
}

// Run attacks one model and reports with 95 % intervals; member says which of the records under
// attack it was trained on. An attack that panics is an error that names it.
func Run[E any](a Attack[E], e E, member []bool) (*ScoreReport, error) {
	defer progress.Begin(a.Name(), 0).Done()
	var scores []float64
	err := panics.Catch("Scores", func() (err error) {
		scores, err = a.Scores(e)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a.Name(), err)
	}
	s, err := SplitByMembership(scores, member)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a.Name(), err)
	}
	return Score(s, defaultLevel)
}

// SplitByMembership returns the values of members and of non-members.
func SplitByMembership(values []float64, member []bool) (s Samples, err error) {
	if len(member) != len(values) {
		return s, fmt.Errorf("membership of %d records, scores of %d", len(member), len(values))
	}
	for i, v := range values {
		if member[i] {
			s.Members = append(s.Members, v)
		} else {
			s.Nonmembers = append(s.Nonmembers, v)
		}
	}
	return s, nil
}

// Joined is the inverse of SplitByMembership: members before non-members.
func (s Samples) Joined() (values []float64, member []bool) {
	values = slices.Concat(s.Members, s.Nonmembers)
	member = make([]bool, len(values))
	for i := range s.Members {
		member[i] = true
	}
	return values, member
}

// LossAttack is an attack on losses that calls records members. One file holds one attack, and its
// zero value is the setting of the paper named there.
type LossAttack interface {
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
	// HeldOutClusters are the clusters of HeldOut: an attack does not score records of clusters that it
	// learned from. nil: every record is its own. The intervals of a Result are over records all the
	// same, because the clusters of forgotten records are not known; a lens of package audit gives the
	// AUC an interval over clusters.
	HeldOutClusters stats.Clusters
}

// All returns every attack on losses at its zero value, in alphabetical order.
func All() []LossAttack { return []LossAttack{LossThreshold{}} }

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
