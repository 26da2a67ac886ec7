// The decoder of the autoencoder as a network of its own.

package vae

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
)

// Decoder is the second half of Cells as a network of its own: a record is a code z of
// Latent variables, followed by the cluster if there are clusters. Its outputs are those of
// Cells without mean and variance. It decodes any code, where Cells decodes the posterior's
// mean. Its weights are Cells.DecoderWeights. The embedding is z.
type Decoder struct {
	Of Cells `json:"of"`
}

var (
	_ model.Architecture   = Decoder{}
	_ model.StateDictNamer = Decoder{}
)

// Name implements model.Architecture.
func (Decoder) Name() string { return "cells-vae-decoder" }

// Inputs implements model.Architecture: the latent variables and the clusters.
func (m Decoder) Inputs() int { return defaults.Fill(m.Of).Latent + m.Of.Clusters }

// Returns implements model.Architecture.
func (m Decoder) Returns() []model.Output {
	var out []model.Output
	for _, o := range m.Of.Returns() {
		if o.Name != loss.LatentMean && o.Name != loss.LatentLogVar {
			out = append(out, o)
		}
	}
	return out
}

// Check implements model.Architecture.
func (m Decoder) Check() error { return m.Of.Check() }

// NameStateDict implements model.StateDictNamer, as in the autoencoder.
func (m Decoder) NameStateDict(d *nn.StateDict) { m.Of.NameStateDict(d) }

// Build implements model.Architecture.
func (m Decoder) Build(b *nn.Builder, x *Node) model.Trace {
	of := defaults.Fill(m.Of)
	// The encoder's weights are drawn first and dropped: a seed gives its autoencoder's decoder.
	nn.Declare(of.Inputs(), b.Rand(), func(b *nn.Builder, x *Node) { of.encode(b, x) })
	z, cluster := of.splitCluster(x, of.Latent)
	outputs, layers := of.decode(b, z, cluster)
	return model.Trace{Outputs: outputs, Embedding: z, Layers: layers}
}

// DecoderWeights returns the decoder's weights among those of Cells, in their order.
func (m Cells) DecoderWeights(p nn.Params) nn.Params {
	var out nn.Params
	for _, w := range p {
		if part := m.Part(w.Name); part == "decoder" || part == "output" {
			out = append(out, w)
		}
	}
	return out
}
