// The lens RMIA: the robust membership inference attack, offline, with one
// retrained model as reference.

package audit

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/attack/shadow"
	"github.com/lethe-ml/lethe/lib/model"
)

// RMIA is the offline form of the robust membership inference attack (Zarifzadeh, Liu and Shokri
// 2024), shadow.RMIA, for an attacker with one reference model that never had the records. It
// compares by how much the model raises the likelihood of forgotten records and of held-out
// records:
//
//	R(x) = p(x | model) / ( ((1 + A) p(x | reference) + 1 - A) / 2 )
//	AUC  = P( R(forgotten) > R(held out) ) + P( equal ) / 2
//
// over all forgotten and all held-out records, with DeLong's interval, or that of stats.ClusterAUC over groups. The ratio removes a part of
// how hard a record is for any model, which Outputs cannot. The reference is Case.SecondOracle, and
// for that model itself the oracle.
//
// Null: 0.5, if forgotten and held-out records have the same distribution. Above it the forgotten
// records look like members (memory), below it they are fitted worse. Records that contradict the
// others are far below the null in every model that never had them, as for Outputs: compare with
// the oracle, not with the null. With A = 1 all of the difficulty that the reference knows is
// removed; but then retrained models that differ only in their seed may be anywhere, because such
// records move together.
//
// Differences from the paper:
//
//  1. there is one reference model, the fewest that the paper tries;
//  2. the score of a record is R(x), not the share of a population with a smaller R; the AUC is the same
//     except for ties;
//  3. networks that are no classifiers have densities, for which only A = 1 is meant: the difference of
//     the two losses.
type RMIA struct {
	A float64 // 0: 0.3, the paper's, of classifiers, and 1 of other networks
}

var _ Lens = RMIA{}

// Name implements Lens.
func (RMIA) Name() string { return "rmia" }

// Info implements Lens.
func (RMIA) Info() Info {
	return Info{Needs: Needs{Case: true},
		Measures: "signed AUC of how far the likelihood is raised above a retrained model's, forgotten against held-out records", High: 1}
}

// Read implements Lens.
func (l RMIA) Read(e *Evidence, m *Arrays) (*Reading, error) {
	c := e.Case
	reference, err := c.reference(m.Model)
	if err != nil {
		return nil, err
	}
	target, n, err := c.logLikelihoods(m.Model)
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
	ratios, err := shadow.RMIA{Offline: true, A: new(a)}.Ratios(shadow.Evidence{Target: target, Shadows: shadow.Shadows{
		Scores: array.Matrix[float64]{Rows: 1, Cols: len(theirs), Data: theirs}, In: [][]bool{make([]bool, len(theirs))},
	}})
	if err != nil {
		return nil, fmt.Errorf("audit: the lens %q: %w", l.Name(), err)
	}
	r, err := e.signedAUC(l.Name(), m.Name, Scored{e.Forget, ratios[:n]}, Scored{e.HeldOut, ratios[n:]})
	if err == nil {
		r.NoEvidence = firstReason(r.NoEvidence, TiedScores(target[:n], target[n:]), TiedScores(theirs[:n], theirs[n:]))
	}
	return r, err
}

// logLikelihoods returns the log-likelihoods of the n forgotten records, followed by those of the
// held-out records.
func (c *Case) logLikelihoods(m *Model) (of []float64, n int, err error) {
	losses, err := c.Losses(m)
	if err != nil {
		return nil, 0, err
	}
	return negated(slices.Concat(losses.Forgotten, losses.HeldOut)), len(losses.Forgotten), nil
}

// reference returns a model that never had the records and is not m.
func (c *Case) reference(m *Model) (*Model, error) {
	another, err := c.secondOracle()
	if err != nil {
		return nil, err
	}
	if another.Weights.Hash() == m.Weights.Hash() {
		return c.Oracle, nil
	}
	return another, nil
}
