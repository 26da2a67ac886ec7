// Package vae has variational autoencoders.
package vae

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
)

// Gaussian is a variational autoencoder with one hidden layer on either side (Kingma and
// Welling 2014, appendix C, with ReLU for tanh):
//
//	h = relu(W1 x + b1),  mu = W2 h + b2,  s = W3 h + b3
//	z = mu + exp(s/2) eps,  eps standard normal in training and 0 in inference
//	out = W5 relu(W4 z + b4) + b5
//
// It is trained on loss.GaussianELBO. The embedding is mu.
type Gaussian struct {
	Features int `json:"features"`
	Hidden   int `json:"hidden,omitempty" default:"128"` // units per hidden layer
	Latent   int `json:"latent,omitempty" default:"8"`   // variables
}

var _ model.Architecture = Gaussian{}

// Name implements model.Architecture.
func (Gaussian) Name() string { return "gaussian-vae" }

// Inputs implements model.Architecture.
func (m Gaussian) Inputs() int { return m.Features }

// Returns implements model.Architecture: the reconstruction, and the mean and log variance
// of the latent variables.
func (m Gaussian) Returns() []model.Output {
	m = defaults.Fill(m)
	return []model.Output{{Name: nn.Output, Width: m.Features}, {Name: loss.LatentMean, Width: m.Latent}, {Name: loss.LatentLogVar, Width: m.Latent}}
}

// Check implements model.Architecture.
func (m Gaussian) Check() error {
	if m = defaults.Fill(m); m.Features < 1 || m.Hidden < 1 || m.Latent < 1 {
		return fmt.Errorf("%s: %d features, %d hidden units and %d latent variables; each must be positive", m.Name(), m.Features, m.Hidden, m.Latent)
	}
	return nil
}

// Build implements model.Architecture.
func (m Gaussian) Build(b *nn.Builder, x *Node) model.Trace {
	m = defaults.Fill(m)
	h := b.ReLU(b.Dense("encoder", x, m.Hidden))
	mu, s := b.Dense("mean", h, m.Latent), b.Dense("log_variance", h, m.Latent)
	hidden := b.ReLU(b.Dense("decoder", reparameterise(b, mu, s), m.Hidden))
	out := b.Dense("output", hidden, m.Features)
	return model.Trace{
		Outputs:   map[string]*Node{nn.Output: out, loss.LatentMean: mu, loss.LatentLogVar: s},
		Embedding: mu,
		Layers:    []model.Layer{{Name: "encoder", Value: h}, {Name: "mean", Value: mu}, {Name: "decoder", Value: hidden}, {Name: "output", Value: out}},
	}
}
