// Package learned holds trained membership attacks: an attacker learns on features of records whose
// membership is known, and scores others. Features are plain arrays, a row per record, so that any
// model can be attacked.
//
// A protocol says on which records of which model an attacker is trained and on which it is scored.
// The paper "Fishing for Privacy" uses six protocols under one name, whose numbers cannot be
// compared. They are here as PA to PF; CrossFitted is ours.
package learned

import (
	"context"
	"errors"
	"fmt"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/internal/panics"
)

// Records holds features of records in two roles, a row per record.
type Records struct{ Members, Nonmembers array.Matrix[float64] }

// Attacker learns to tell members from non-members. One file holds one attacker, and its zero value
// is the setting of the paper named there.
type Attacker interface {
	// Name is the attacker's short name, such as "mlp".
	Name() string
	// About says in one line what it is.
	About() string
	// Fit learns on records whose membership is known. All random numbers come from the seed.
	Fit(ctx context.Context, e *engine.Engine, known Records, seed engine.Root) (Scorer, error)
}

// Scorer scores records, a row each; higher means member.
type Scorer func(x array.Matrix[float64]) ([]float64, error)

// Fit teaches an attacker. An attacker or a scorer that panics, one that returns nothing, or scores of another number of
// records are errors that name the attacker.
func Fit(ctx context.Context, e *engine.Engine, a Attacker, known Records, seed engine.Root) (Scorer, error) {
	var score Scorer
	err := panics.Catch("Fit of "+a.Name(), func() (err error) {
		score, err = a.Fit(ctx, e, known, seed)
		return err
	})
	if err == nil && score == nil {
		err = fmt.Errorf("learned: Fit of %s returned no scorer and no error (nil, nil)", a.Name())
	}
	if err != nil {
		return nil, err
	}
	return func(x array.Matrix[float64]) (scores []float64, err error) {
		err = panics.Catch("the scorer of "+a.Name(), func() (err error) {
			scores, err = score(x)
			return err
		})
		if err == nil && len(scores) != x.Rows {
			err = fmt.Errorf("learned: the scorer of %s gave %d scores of %d records", a.Name(), len(scores), x.Rows)
		}
		return scores, err
	}, nil
}

// Attackers returns every attacker at its zero value, in alphabetical order.
func Attackers() []Attacker { return []Attacker{BoostedTrees{}, Logistic{}, MLP{}} }

// Check returns an error that names the role, and the row or the sizes, if an attacker cannot learn
// on the records: none of a role, features that are not finite, or of different numbers.
func (r Records) Check() error { return r.check("") }

func (r Records) check(name string) error {
	if r.Members.Rows == 0 || r.Nonmembers.Rows == 0 {
		return fmt.Errorf("learned: %d members and %d non-members%s, at least one of each is needed", r.Members.Rows, r.Nonmembers.Rows, name)
	}
	if r.Members.Cols != r.Nonmembers.Cols || r.Members.Cols == 0 {
		return fmt.Errorf("learned: members%s have %d features, non-members %d", name, r.Members.Cols, r.Nonmembers.Cols)
	}
	err := errors.Join(r.Members.Check("features of members"+name), r.Nonmembers.Check("features of non-members"+name))
	if err != nil {
		return fmt.Errorf("learned: %w", err)
	}
	return nil
}

// stacked returns the features of all records, members first.
func (r Records) stacked() array.Matrix[float64] {
	return array.Matrix[float64]{Rows: r.size(), Cols: r.Members.Cols, Data: append(append([]float64(nil), r.Members.Data...), r.Nonmembers.Data...)}
}

func (r Records) size() int { return r.Members.Rows + r.Nonmembers.Rows }

// gather returns the records at these positions of stacked.
func (r Records) gather(at []int) Records {
	var members, others []int
	for _, i := range at {
		if i < r.Members.Rows {
			members = append(members, i)
		} else {
			others = append(others, i-r.Members.Rows)
		}
	}
	return Records{r.Members.Gather(members), r.Nonmembers.Gather(others)}
}
