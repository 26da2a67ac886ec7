// Package generative holds membership attacks on generative models that need no training: a score
// is computed from the model's outputs for a record. Everything is on plain arrays.
package generative

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
	// Name is the attack's short name, such as "likelihood-ratio".
	Name() string
	// About says in one line what the score is.
	About() string
	// Scores are higher for members if the model remembers them. They are signed: an attack that
	// finds members on the other side has an AUC below 0.5, which is a finding too.
	Scores(e Evidence) (attack.Samples, error)
}

// View holds one model's outputs for n records; an attack needs some of them.
type View struct {
	// Recon holds reconstruction losses. The caller decides whether the decoder has the library
	// size and whether genes are summed or averaged. The program of "Fishing for Privacy" gives
	// none and averages, so that its Recon is negligible beside KL.
	Recon []float64
	KL    []float64  // divergence of the posterior from the prior, summed over the latent axes
	Codes array.Rows // latent means, a row per record
}

// Views holds the views of members and of non-members.
type Views struct{ Members, Nonmembers View }

// Evidence is the input of an attack.
type Evidence struct {
	Model     Views      // the model under attack
	Reference *Views     // another model on the same records in the same order, for the likelihood ratio
	Retained  array.Rows // codes, by the model under attack, of other members that the attacker knows
}

// All returns every attack at its zero value, in alphabetical order.
func All() []Attack {
	return []Attack{ELBO{}, KL{}, LikelihoodRatio{}, Neighbours{}, CodedNeighbours(), Recon{}}
}

// Run attacks a model and reports with 95 % intervals.
func Run(a Attack, e Evidence) (*attack.ScoreReport, error) {
	defer progress.Begin(a.Name(), 0).Done()
	s, err := a.Scores(e)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a.Name(), err)
	}
	return attack.Score(s, 0.95)
}

// score applies a score to both views.
func (b Views) score(score func(v View) ([]float64, error)) (out attack.Samples, err error) {
	if out.Members, err = score(b.Members); err != nil {
		return out, fmt.Errorf("members: %w", err)
	}
	if out.Nonmembers, err = score(b.Nonmembers); err != nil {
		return out, fmt.Errorf("non-members: %w", err)
	}
	return out, nil
}

// weightedLoss returns recon + kl of every record, with weights.
func (v View) weightedLoss(recon, kl float64) ([]float64, error) {
	n := max(len(v.Recon), len(v.KL))
	out := make([]float64, n)
	for _, part := range []struct {
		name   string
		values []float64
		weight float64
	}{{"reconstruction losses", v.Recon, recon}, {"divergences", v.KL, kl}} {
		if part.weight == 0 {
			continue
		}
		if len(part.values) == 0 || len(part.values) != n {
			return nil, fmt.Errorf("%d %s of %d records", len(part.values), part.name, n)
		}
		column := array.Matrix[float64]{Rows: n, Cols: 1, Data: part.values}
		if err := column.Check(part.name); err != nil {
			return nil, err
		}
		for i, x := range part.values {
			out[i] += float64(part.weight * x)
		}
	}
	return out, nil
}

var errNoCodes = errors.New("there are no codes")
