package audit

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/attack/shadow"
	"github.com/lethe-ml/lethe/lib/model"
)

// RMIA asks an adversary who has one model of his own that never had the records: by how
// much more does the model raise the likelihood of forgotten records than that of
// held-out ones? It is the offline form of the robust membership inference attack
// (Zarifzadeh, Liu and Shokri 2024), shadow.RMIA, whose ratio
//
//	R(x) = p(x | model) / ( ((1 + A) p(x | reference) + 1 - A) / 2 )
//	AUC  = P( R(forgotten) > R(held out) ) + P( equal ) / 2
//
// takes out a part of how hard a record is for anybody, which Outputs cannot: all
// forgotten and all held-out records, with DeLong's interval over them. The reference is
// a model retrained from another seed, as Case.SecondOracle says, and for that model itself
// the oracle.
//
// Null: 0.5, if forgotten and held-out records were drawn alike. Above it the forgotten
// records look like members (memory), below it they are fitted worse. Records that
// contradict the others are far below it in every model that never had them, as they are
// for Outputs: there the oracle, and not the null, says where one stands. With A = 1 all
// that a reference knows of a record's difficulty is taken out; but then two retrained
// models that differ by their seed may be anywhere, because such records move together
// (0.97 and 0.03 on the island in the moons, where the original has 0.97).
//
// Differences from the paper: (1) one reference model, the fewest that it tries. (2) The
// score of a record is R(x) and not the share of a population with a smaller R, which has
// the same AUC but for ties. (3) Networks that are no classifiers have densities, for
// which only A = 1 is meant: the difference of the two losses.
type RMIA struct {
	A float64 // 0: 0.3, the paper's, of classifiers, and 1 of other networks
}

var _ Lens = RMIA{}

// Name implements Lens.
func (RMIA) Name() string { return "rmia" }

// About implements Lens.
func (RMIA) About() string {
	return "signed AUC of how far the likelihood is raised above a retrained model's, forgotten against held-out records"
}

// Read implements Lens.
func (l RMIA) Read(c *Case, m *Model) (*Reading, error) {
	reference, err := c.reference(m)
	if err != nil {
		return nil, err
	}
	target, n, err := c.logLikelihoods(m)
	if err != nil {
		return nil, err
	}
	theirs, _, err := c.logLikelihoods(reference)
	if err != nil {
		return nil, err
	}
	a := cmp.Or(l.A, 0.3)
	if _, ok := c.Problem.Arch.(model.Classifier); !ok {
		a = cmp.Or(l.A, 1)
	}
	ratios, err := shadow.RMIA{Offline: true, A: a}.Ratios(shadow.Evidence{Target: target, Shadows: shadow.Shadows{
		Scores: array.Matrix[float64]{Rows: 1, Cols: len(theirs), Data: theirs}, In: [][]bool{make([]bool, len(theirs))},
	}})
	if err != nil {
		return nil, fmt.Errorf("audit: the lens %q: %w", l.Name(), err)
	}
	r, err := aucReading(l, m, ratios[:n], ratios[n:])
	if err == nil {
		r.NoEvidence = firstReason(r.NoEvidence, TiedScores(target[:n], target[n:]), TiedScores(theirs[:n], theirs[n:]))
	}
	return r, err
}

// logLikelihoods are the log-likelihoods of the n forgotten records and, behind them, of the
// held-out ones.
func (c *Case) logLikelihoods(m *Model) (of []float64, n int, err error) {
	losses, err := c.Losses(m)
	if err != nil {
		return nil, 0, err
	}
	of = slices.Concat(losses.Forgotten, losses.HeldOut)
	for i := range of {
		of[i] = -of[i]
	}
	return of, len(losses.Forgotten), nil
}

// reference is a model that never had the records and is not m.
func (c *Case) reference(m *Model) (*Model, error) {
	another := c.SecondOracle
	if another == nil {
		var err error
		if another, err = c.Variant(context.Background(), secondOracle); err != nil {
			return nil, err
		}
	}
	if another.Weights.Hash() == m.Weights.Hash() {
		return c.Oracle, nil
	}
	return another, nil
}
