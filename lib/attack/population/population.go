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
)

// Attack is an attack from non-members alone.
type Attack = attack.Attack[Evidence]

// All returns every attack at its zero value, in alphabetical order.
func All() []Attack { return []Attack{Percentile{}, QuantileRegression{}} }

// Records holds the target's scores of records, and the records' features.
type Records struct {
	Scores []float64 // higher for records that a model was trained on: shadow.ScaledConfidences, or a log-likelihood
	// Features are a record's features, the same for all roles, and what else is known about it,
	// such as a 1 in the column of its label. Attacks that use scores alone need none.
	Features array.Matrix[float64]
}

// Evidence is the input of an attack: two sets that have no record in common. Records that are
// learned from are not scored.
type Evidence struct {
	Known Records // non-members that the attack learns from
	Asked Records // the records under attack
}

// Check returns an error that names the role of records without scores, with scores that are not
// finite and, for an attack that uses features, with features that do not fit.
func (e Evidence) Check(features bool) error {
	for _, side := range []struct {
		role string
		of   Records
	}{{"known non-members", e.Known}, {"records under attack", e.Asked}} {
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
	if features && e.Known.Features.Cols != e.Asked.Features.Cols {
		return errors.New("known non-members and records under attack have different numbers of features")
	}
	return nil
}
