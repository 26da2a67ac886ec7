// The goal of information bottlenecks.

package lab

import (
	"fmt"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/train"
)

// Compression is the goal of an information bottleneck (BlindU, equation 2): the
// cross-entropy of a classifier and, with the weight Beta, the divergence of the codes from
// a standard normal,
//
//	mean over records of ( -log p(y | z) + Beta/d sum_k 1/2 (mu_k^2 + sigma_k^2 - log sigma_k^2 - 1) )
//
// with d latent variables. The second term is an upper bound on the information that a code
// has about its record. The zero value has the paper's Beta for MNIST and Adult, 1e-3; for
// CIFAR-10 it is 1e-2.
//
// Difference from the paper: the term is the mean over the latent variables, as in the
// program. With the paper's sum (option Sum) the same Beta is d times stronger.
type Compression struct {
	Beta *float64 `json:"beta,omitempty" default:"1e-3"` // new(0.0): none
	Sum  bool     `json:"sum,omitempty"`                 // over the latent variables, instead of their mean
}

var _ PerRecordLoss = Compression{}

// Name implements Goal.
func (Compression) Name() string { return "compression" }

// Objective implements Goal.
func (g Compression) Objective(p *Problem, rows []int) (train.Objective, error) {
	g = defaults.Fill(g)
	weight, err := g.divergenceWeight(p.Arch)
	if err != nil {
		return nil, err
	}
	part := p.Train.Gather(rows)
	targets := []train.Target{train.CrossEntropy(part.Y, p.Classes(), 1)}
	if weight != 0 {
		targets = append(targets, train.Target{Loss: loss.LatentDivergence{}, Weight: weight})
	}
	return train.Objective{{Name: "training", X: part.X, IDs: rows, Targets: targets}}, nil
}

// divergenceWeight returns the weight of the divergence summed over the latent variables.
func (g Compression) divergenceWeight(a model.Architecture) (float64, error) {
	latent := model.OutputWidths(a)[loss.LatentMean]
	switch {
	case latent == 0:
		return 0, fmt.Errorf("the network %s has no codes to compress", a.Name())
	case *g.Beta == 0:
		return 0, nil
	case g.Sum:
		return *g.Beta, nil
	}
	return *g.Beta / float64(latent), nil
}

// RecordLosses implements PerRecordLoss: the cross-entropy of each record at the mean of
// its code.
func (Compression) RecordLosses(p *model.Prediction, records datasets.Part) ([]float64, error) {
	return train.Losses(p.Logits(), records.Y), nil
}
