package generative

import (
	"errors"
	"fmt"
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
func (LikelihoodRatio) Scores(e Evidence) ([]float64, error) {
	if e.Reference == nil {
		return nil, errors.New("there is no reference model")
	}
	model, err := e.Model.weightedLoss(-1, -1)
	if err != nil {
		return nil, err
	}
	reference, err := e.Reference.weightedLoss(-1, -1)
	if err != nil {
		return nil, fmt.Errorf("reference: %w", err)
	}
	if len(model) != len(reference) {
		return nil, fmt.Errorf("%d records, by the reference %d", len(model), len(reference))
	}
	return subtract(model, reference), nil
}

func subtract(a, b []float64) []float64 {
	out := make([]float64, len(a))
	for i := range a {
		out[i] = a[i] - b[i]
	}
	return out
}
