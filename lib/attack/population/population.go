// Package population holds membership attacks that learn from non-members alone (population
// attacks). From the target's scores of records that it was not trained on they learn the scores of
// other non-members; a record is suspected by how far its score lies above these. They need no
// other model. Everything is on plain arrays.
package population

import (
	"errors"
	"fmt"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/attack"
	"github.com/lethe-ml/lethe/lib/progress"
)

// Attack scores records. One file holds one attack, and its zero value is the setting named in its
// comment.
type Attack interface {
	// Name is the attack's short name, such as "population".
	Name() string
	// About says in one line what the score is.
	About() string
	// Scores are one per record in asked, higher for members if the model remembers them.
	Scores(known, asked Records) ([]float64, error)
}

// All returns every attack at its zero value, in alphabetical order.
func All() []Attack { return []Attack{Percentile{}, QuantileRegression{}} }

// Records holds the target's scores of records, and the records' features.
type Records struct {
	Scores []float64 // higher for records that a model was trained on: shadow.ScaledConfidences, or a log-likelihood
	// Features are a record's features, the same for all roles, and what else is known about it,
	// such as a 1 in the column of its label. Attacks that use scores alone need none.
	Features array.Matrix[float64]
}

// Evidence is the input of an attack: three sets that have no record in common.
type Evidence struct {
	Known      Records // non-members that the attack learns from
	Members    Records // the members under attack
	Nonmembers Records // the non-members to compare with
}

// Run attacks and reports with 95 % intervals over records. Records that were learned from are not
// scored.
func Run(a Attack, e Evidence) (*attack.ScoreReport, error) {
	defer progress.Begin(a.Name(), 0).Done()
	var s attack.Samples
	for _, side := range []struct {
		role string
		of   Records
		to   *[]float64
	}{{"members", e.Members, &s.Members}, {"non-members", e.Nonmembers, &s.Nonmembers}} {
		scores, err := a.Scores(e.Known, side.of)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", a.Name(), side.role, err)
		}
		*side.to = scores
	}
	return attack.Score(s, 0.95)
}

// checkRecords refuses records without scores and, for an attack that uses features, features that
// do not fit.
func checkRecords(known, asked Records, features bool) error {
	for _, side := range []struct {
		role string
		of   Records
	}{{"known non-members", known}, {"records under attack", asked}} {
		n := len(side.of.Scores)
		if n == 0 {
			return fmt.Errorf("there are no %s", side.role)
		}
		column := array.Matrix[float64]{Rows: n, Cols: 1, Data: side.of.Scores}
		if err := column.Check("scores of " + side.role); err != nil {
			return err
		}
		if !features {
			continue
		}
		if side.of.Features.Rows != n || side.of.Features.Cols == 0 {
			return fmt.Errorf("features of %d %s, scores of %d", side.of.Features.Rows, side.role, n)
		}
		if err := side.of.Features.Check("features of " + side.role); err != nil {
			return err
		}
	}
	if features && known.Features.Cols != asked.Features.Cols {
		return errors.New("known non-members and records under attack have different numbers of features")
	}
	return nil
}
