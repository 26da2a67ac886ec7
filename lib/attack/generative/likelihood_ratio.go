package generative

import (
	"errors"
	"fmt"

	"github.com/lethe-ml/lethe/lib/attack"
)

// LikelihoodRatio scores a record by how much better the model under attack fits it than a
// reference does.
//
//	score = ELBO of the model - ELBO of the reference
//
// Null: AUC 0.5, if the reference is a model of the same recipe that was trained on neither members
// nor non-members, or for an independent retraining compared with another.
//
// The score is antisymmetric: if model and reference are exchanged, every score changes its sign,
// the AUC becomes 1 - AUC and the unsigned advantage stays. The published program attacks the
// original with the retrained model as reference and the retrained model with the original as
// reference. That both have an advantage of 0.839 is this identity and no evidence.
type LikelihoodRatio struct{}

var _ Attack = LikelihoodRatio{}

// Name implements Attack.
func (LikelihoodRatio) Name() string { return "likelihood-ratio" }

// About implements Attack.
func (LikelihoodRatio) About() string { return "evidence lower bound less that of a reference model" }

// Scores implements Attack.
func (LikelihoodRatio) Scores(e Evidence) (attack.Samples, error) {
	if e.Reference == nil {
		return attack.Samples{}, errors.New("there is no reference model")
	}
	of := func(v View) ([]float64, error) { return v.weightedLoss(-1, -1) }
	model, err := e.Model.score(of)
	if err != nil {
		return model, err
	}
	reference, err := e.Reference.score(of)
	if err != nil {
		return model, fmt.Errorf("reference: %w", err)
	}
	if len(model.Members) != len(reference.Members) || len(model.Nonmembers) != len(reference.Nonmembers) {
		return model, fmt.Errorf("%d members and %d non-members, by the reference %d and %d",
			len(model.Members), len(model.Nonmembers), len(reference.Members), len(reference.Nonmembers))
	}
	return attack.Samples{
		Members: subtract(model.Members, reference.Members), Nonmembers: subtract(model.Nonmembers, reference.Nonmembers),
	}, nil
}

func subtract(a, b []float64) []float64 {
	out := make([]float64, len(a))
	for i := range a {
		out[i] = a[i] - b[i]
	}
	return out
}
