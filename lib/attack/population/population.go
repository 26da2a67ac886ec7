// Package population holds membership attacks that learn from non-members alone: from
// what the model under attack says of records that it never met they learn what it
// would say of any stranger, and a record is suspected by how far it lies above that.
// They need no other model. Everything is on plain arrays.
package population

import (
	"errors"
	"fmt"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/attack"
)

// Attack scores records. One file holds one attack, and its zero value is the setting
// that its comment names.
type Attack interface {
	// Name is the attack's short name, such as "population".
	Name() string
	// About says in one line what the score is.
	About() string
	// Scores are one per record asked, higher for members if the model remembers them.
	Scores(known, asked Records) ([]float64, error)
}

// All returns every attack at its zero value, in alphabetical order.
func All() []Attack { return []Attack{Percentile{}, QuantileRegression{}} }

// Records are what the model under attack says of records, and what can be seen of the
// records themselves.
type Records struct {
	Scores []float64 // higher for what a model was trained on: shadow.ScaledConfidences, or a log-likelihood
	// Features are a record's features, the same for all roles, and what else is known of
	// it, such as a 1 in the column of its label. An attack that looks at scores alone
	// needs none.
	Features array.Matrix[float64]
}

// Evidence is what attacks look at: three sets that have no record in common.
type Evidence struct {
	Known      Records // non-members that the attack learns from
	Members    Records // the members in question
	Nonmembers Records // those that they are to be told from
}

// Run attacks and reports, with 95 % intervals over records. What was learned from is
// not judged.
func Run(a Attack, e Evidence) (*attack.ScoreReport, error) {
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

// checkRecords refuses records without scores, and of an attack that looks at features those
// whose features do not fit.
func checkRecords(known, asked Records, features bool) error {
	for _, side := range []struct {
		role string
		of   Records
	}{{"known non-members", known}, {"records asked", asked}} {
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
		return errors.New("known non-members and records asked have another number of features")
	}
	return nil
}
