// The variational autoencoder of single cells.

package vae

import (
	"fmt"
	"slices"
	"strings"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
)

// Dispersion says where the log dispersion of a network of cells comes from.
type Dispersion string

// The kinds of dispersion.
const (
	PerCell Dispersion = "cell" // a head of the decoder: one value per cell and gene
	PerGene Dispersion = "gene" // a weight per gene, the same for every cell
)

// Cells is the variational autoencoder of single cells of "Fishing for Privacy" (section 3,
// appendix A). A block is drop(relu(norm(W x + b))), with layer normalisation. For a cell's
// expression x of every gene,
//
//	h     = encoder blocks of 1024, 512 and 128 units on x
//	mu    = W h + b,  s = W' h + b',  32 latent variables
//	z     = mu + exp(s/2) eps,  eps standard normal in training and 0 in inference
//	g     = decoder blocks of 128, 512 and 1024 units on z
//	p     = softmax over genes of W g + b
//	log d = W g + b, or a weight per gene
//
// p are the proportions of the genes in the cell. The library size by which they are
// multiplied is an input of the loss, not of the network. With ZeroInflated there is a
// third head, the logits of a gene's dropout. The embedding is mu.
//
// With Clusters it is the paper's conditional network: a record is a cell's genes followed
// by its cluster, one-hot (all zero if it has none). Only the head of the proportions sees
// the cluster, after g.
//
// The zero value is the paper's network of 7,349,984 weights.
//
// Differences: (1) from the published program: the exponential of the dispersion is taken
// by the loss, which is finite where the exponential is not. (2) The paper's likelihood is
// negative binomial; the program's is a squared error, which leaves the dispersion head of
// 2,050,000 weights untrained. Package loss has both: LibrarySquaredError and
// NegativeBinomial. (3) PyTorch's random numbers are not reproduced, only the distribution
// of the initial weights.
type Cells struct {
	Genes        int        `json:"genes,omitempty" default:"2000"`
	Hidden       []int      `json:"hidden,omitempty"`                // units of the encoder's blocks, the decoder's in reverse; nil: 1024, 512, 128
	Latent       int        `json:"latent,omitempty" default:"32"`   // variables
	Dropout      *float64   `json:"dropout,omitempty" default:"0.1"` // new(0.0): none
	Clusters     int        `json:"clusters,omitempty"`              // of the conditional network
	Dispersion   Dispersion `json:"dispersion,omitempty" default:"cell"`
	ZeroInflated bool       `json:"zero_inflated,omitempty"`
}

var (
	_ model.Architecture   = Cells{}
	_ model.StateDictNamer = Cells{}
)

// SetDefaults implements defaults.Setter.
func (m *Cells) SetDefaults() {
	if len(m.Hidden) == 0 {
		m.Hidden = []int{1024, 512, 128}
	}
}

// Name implements model.Architecture.
func (Cells) Name() string { return "cells-vae" }

// Inputs implements model.Architecture: the genes and, if any, the clusters.
func (m Cells) Inputs() int { return defaults.Fill(m).Genes + m.Clusters }

// Returns implements model.Architecture.
func (m Cells) Returns() []model.Output {
	m = defaults.Fill(m)
	out := []model.Output{
		{Name: loss.Proportion, Width: m.Genes}, {Name: loss.LogDispersion, Width: m.Genes},
		{Name: loss.LatentMean, Width: m.Latent}, {Name: loss.LatentLogVar, Width: m.Latent},
	}
	if m.ZeroInflated {
		out = append(out, model.Output{Name: loss.DropoutLogits, Width: m.Genes})
	}
	return out
}

// Check implements model.Architecture.
func (m Cells) Check() error {
	m = defaults.Fill(m)
	if m.Genes < 1 || m.Latent < 1 || m.Clusters < 0 {
		return fmt.Errorf("%s: %d genes, %d latent variables and %d clusters", m.Name(), m.Genes, m.Latent, m.Clusters)
	}
	for i, units := range m.Hidden {
		if units < 1 {
			return fmt.Errorf("%s: %d units in block %d", m.Name(), units, i)
		}
	}
	if !(*m.Dropout >= 0 && *m.Dropout < 1) {
		return fmt.Errorf("%s: dropout %g is not between 0 and 1", m.Name(), *m.Dropout)
	}
	if m.Dispersion != PerCell && m.Dispersion != PerGene {
		return fmt.Errorf("%s: the dispersion %q is neither %q nor %q", m.Name(), m.Dispersion, PerCell, PerGene)
	}
	return nil
}

// NameStateDict implements model.StateDictNamer: a block is a module with a linear layer
// and a norm.
func (m Cells) NameStateDict(d *nn.StateDict) {
	for i := range defaults.Fill(m).Hidden {
		for _, half := range []string{"encoder", "decoder"} {
			name := fmt.Sprintf("%s.%d", half, i)
			d.Module(name, name+".linear")
		}
	}
}

// Part returns the part of the network that a weight belongs to, by the weight's name:
// "encoder", "bottleneck" (the heads of mean and variance), "decoder" or "output" (the
// heads of the decoder). They are the categories of the paper's tables.
func (Cells) Part(weight string) string {
	switch part, _, _ := strings.Cut(weight, "."); part {
	case "encoder", "decoder":
		return part
	case "mean", "log_variance":
		return "bottleneck"
	}
	return "output"
}

// Build implements model.Architecture. A log dispersion per gene starts at 0.
func (m Cells) Build(b *nn.Builder, x *Node) model.Trace {
	m = defaults.Fill(m)
	mu, s, cluster, layers := m.encode(b, x)
	outputs, decoder := m.decode(b, reparameterise(b, mu, s), cluster)
	outputs[loss.LatentMean], outputs[loss.LatentLogVar] = mu, s
	layers = append(append(layers, decoder...), model.Layer{Name: "mean", Value: mu}, model.Layer{Name: "proportion", Value: outputs[loss.Proportion]})
	return model.Trace{Outputs: outputs, Embedding: mu, Layers: layers}
}

// encode builds the mean and the log variance of the latent variables, and the encoder's blocks.
func (m Cells) encode(b *nn.Builder, x *Node) (mu, s, cluster *Node, layers []model.Layer) {
	genes, cluster := m.splitCluster(x, m.Genes)
	h, layers := m.blocks(b, "encoder", genes, m.Hidden)
	return b.Dense("mean", h, m.Latent), b.Dense("log_variance", h, m.Latent), cluster, layers
}

// splitCluster returns the first values of a record and the cluster that follows them, nil if there
// are no clusters.
func (m Cells) splitCluster(x *Node, first int) (values, cluster *Node) {
	if m.Clusters == 0 {
		return x, nil
	}
	return Slice(x, AxisRange(0, first)), Slice(x, AxisRange(first))
}

// decode builds the decoder's outputs and its blocks for codes z; cluster may be nil.
func (m Cells) decode(b *nn.Builder, z, cluster *Node) (outputs map[string]*Node, layers []model.Layer) {
	up := slices.Clone(m.Hidden)
	slices.Reverse(up)
	g, layers := m.blocks(b, "decoder", z, up)
	seen := g
	if cluster != nil {
		seen = b.Block([]*Node{g}, func(in []*Node) *Node { return Concatenate([]*Node{in[0], cluster}, 0) })
	}
	outputs = map[string]*Node{loss.Proportion: nn.SoftmaxFeatures(b.Tape, b.Dense("proportion", seen, m.Genes))}
	if m.Dispersion == PerGene {
		outputs[loss.LogDispersion] = nn.Constant(b.Tape, b.Weight("dispersion", nil, m.Genes), b.Records)
	} else {
		outputs[loss.LogDispersion] = b.Dense("dispersion", g, m.Genes)
	}
	if m.ZeroInflated {
		outputs[loss.DropoutLogits] = b.Dense("dropout", g, m.Genes)
	}
	return outputs, layers
}

// blocks builds the blocks of one half on x, with so many units each.
func (m Cells) blocks(b *nn.Builder, half string, x *Node, units []int) (h *Node, layers []model.Layer) {
	h = x
	for i, n := range units {
		name := fmt.Sprintf("%s.%d", half, i)
		h = b.LayerNorm(name+".norm", b.Dense(name, h, n), nn.LayerNormEps)
		h = b.ReLUDropout(name, h, *m.Dropout)
		layers = append(layers, model.Layer{Name: name, Value: h})
	}
	return h, layers
}

// reparameterise returns mu + exp(s/2) eps, and mu in inference.
func reparameterise(b *nn.Builder, mu, s *Node) *Node {
	eps := b.Random(nn.RandomInput{Name: "eps", Distribution: nn.Normal, Units: mu.Shape().Dimensions[0]})
	if eps == nil {
		return mu
	}
	return b.Block([]*Node{mu, s}, func(in []*Node) *Node { return Add(in[0], Mul(Exp(MulScalar(in[1], 0.5)), eps)) })
}
