// Package generative holds membership attacks on generative models that need no training: a score
// is computed from the model's outputs for a record. Everything is on plain arrays.
package generative

import (
	"fmt"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/attack"
)

// Attack is an attack on a generative model without training.
type Attack = attack.Attack[Evidence]

// View holds one model's outputs for n records; an attack needs some of them.
type View struct {
	// Recon holds reconstruction losses. The caller decides whether the decoder has the library
	// size and whether genes are summed or averaged. The program of "Fishing for Privacy" gives
	// none and averages, so that its Recon is negligible beside KL.
	Recon []float64
	KL    []float64  // divergence of the posterior from the prior, summed over the latent axes
	Codes array.Rows // latent means, a row per record
}

// Evidence is the input of an attack.
type Evidence struct {
	Model     View       // by the model under attack
	Member    []bool     // which records it was trained on, for Neighbours
	Reference *View      // by another model, for the likelihood ratio
	Retained  array.Rows // codes, by the model under attack, of other members that the attacker knows
}

// All returns every attack at its zero value, in alphabetical order.
func All() []Attack {
	return []Attack{ELBO{}, KL{}, LikelihoodRatio{}, Neighbours{}, CodedNeighbours(), Recon{}}
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
