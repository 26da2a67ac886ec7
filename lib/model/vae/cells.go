// The variational autoencoder of single cells.

package vae

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"strings"

	. "github.com/gomlx/gomlx/core/graph"

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
	Genes        int        `json:"genes,omitempty"`      // 0: 2000
	Hidden       []int      `json:"hidden,omitempty"`     // units of the encoder's blocks, the decoder's in reverse; nil: 1024, 512, 128
	Latent       int        `json:"latent,omitempty"`     // variables, 0: 32
	Dropout      float64    `json:"dropout,omitempty"`    // 0: 0.1, nn.Zero: none
	Clusters     int        `json:"clusters,omitempty"`   // of the conditional network
	Dispersion   Dispersion `json:"dispersion,omitempty"` // "": PerCell
	ZeroInflated bool       `json:"zero_inflated,omitempty"`
}

var (
	_ model.Architecture   = Cells{}
	_ model.StateDictNamer = Cells{}
)

func (m Cells) withDefaults() Cells {
	m.Genes, m.Latent, m.Dropout = cmp.Or(m.Genes, 2000), cmp.Or(m.Latent, 32), cmp.Or(m.Dropout, 0.1)
	m.Dispersion = cmp.Or(m.Dispersion, PerCell)
	if len(m.Hidden) == 0 {
		m.Hidden = []int{1024, 512, 128}
	}
	return m
}

// WithDefaults implements model.Architecture.
func (m Cells) WithDefaults() model.Architecture { return m.withDefaults() }

// Name implements model.Architecture.
func (Cells) Name() string { return "cells-vae" }

// Inputs implements model.Architecture: the genes and, if any, the clusters.
func (m Cells) Inputs() int { return m.withDefaults().Genes + m.Clusters }

// Returns implements model.Architecture.
func (m Cells) Returns() []model.Output {
	m = m.withDefaults()
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
	m = m.withDefaults()
	if m.Genes < 1 || m.Latent < 1 || m.Clusters < 0 {
		return fmt.Errorf("%s: %d genes, %d latent variables and %d clusters", m.Name(), m.Genes, m.Latent, m.Clusters)
	}
	for i, units := range m.Hidden {
		if units < 1 {
			return fmt.Errorf("%s: %d units in block %d", m.Name(), units, i)
		}
	}
	if !(m.Dropout >= 0 && m.Dropout < 1) {
		return fmt.Errorf("%s: dropout %g is not between 0 and 1", m.Name(), m.Dropout)
	}
	if m.Dispersion != PerCell && m.Dispersion != PerGene {
		return fmt.Errorf("%s: the dispersion %q is neither %q nor %q", m.Name(), m.Dispersion, PerCell, PerGene)
	}
	return nil
}

// layerWidths returns the widths from the genes down to the last block.
func (m Cells) layerWidths() []int { return append([]int{m.Genes}, m.Hidden...) }

// NameStateDict implements model.StateDictNamer: a block is a module with a linear layer
// and a norm.
func (m Cells) NameStateDict(d *nn.StateDict) {
	for i := range m.withDefaults().Hidden {
		for _, half := range []string{"encoder", "decoder"} {
			name := fmt.Sprintf("%s.%d", half, i)
			d.Module(name, name+".linear")
		}
	}
}

// Init implements model.Architecture, with PyTorch's defaults; a log dispersion per gene
// starts at 0.
func (m Cells) Init(rng *rand.Rand) nn.Params {
	m = m.withDefaults()
	down := m.layerWidths()
	last := len(down) - 1
	var p nn.Params
	dense := func(name string, in, out int) { p = append(p, nn.PyTorch.DenseInit(rng, name, in, out)...) }
	block := func(name string, in, out int) {
		dense(name, in, out)
		p = append(p, nn.LayerNormInit(name+".norm", out)...)
	}
	for i := range last {
		block(fmt.Sprintf("encoder.%d", i), down[i], down[i+1])
	}
	dense("mean", down[last], m.Latent)
	dense("log_variance", down[last], m.Latent)
	in := m.Latent
	for i := range last {
		block(fmt.Sprintf("decoder.%d", i), in, down[last-i])
		in = down[last-i]
	}
	dense("proportion", in+m.Clusters, m.Genes)
	if m.Dispersion == PerGene {
		p = append(p, nn.NewParam("dispersion", m.Genes))
	} else {
		dense("dispersion", in, m.Genes)
	}
	if m.ZeroInflated {
		dense("dropout", in, m.Genes)
	}
	return p
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

// RandomInputs implements model.Architecture.
func (m Cells) RandomInputs() []nn.RandomInput {
	m = m.withDefaults()
	rate := m.dropoutRate()
	var encoder, decoder []nn.RandomInput
	for i, units := range m.Hidden {
		encoder = append(encoder, nn.RandomInput{Name: fmt.Sprintf("encoder.%d", i), Units: units, Rate: rate})
	}
	for i := range m.Hidden {
		decoder = append(decoder, nn.RandomInput{Name: fmt.Sprintf("decoder.%d", i), Units: m.Hidden[len(m.Hidden)-1-i], Rate: rate})
	}
	return append(append(encoder, nn.RandomInput{Name: "eps", Distribution: nn.Normal, Units: m.Latent}), decoder...)
}

// dropoutRate returns the dropout rate, exactly 0 where it is off.
func (m Cells) dropoutRate() float64 {
	if m.Dropout == nn.Zero {
		return 0
	}
	return m.Dropout
}

// Forward implements model.Architecture.
func (m Cells) Forward(t *nn.Tape, p []*Node, x *Node, draws []*Node) model.Trace {
	m = m.withDefaults()
	b := builder{Tape: t, p: p, draws: draws, rate: m.dropoutRate()}
	h, cluster := x, (*Node)(nil)
	if m.Clusters > 0 {
		h, cluster = Slice(x, AxisRange(0, m.Genes)), Slice(x, AxisRange(m.Genes))
	}
	for i := range m.Hidden {
		h = b.block(fmt.Sprintf("encoder.%d", i), h)
	}
	mu, s := b.dense(h), b.dense(h)
	outputs := b.decode(m, reparameterise(t, mu, s, b.nextRandomInput()), cluster)
	outputs[loss.LatentMean], outputs[loss.LatentLogVar] = mu, s
	layers := append(b.layers, model.Layer{Name: "mean", Value: mu}, model.Layer{Name: "proportion", Value: outputs[loss.Proportion]})
	return model.Trace{Outputs: outputs, Embedding: mu, Layers: layers}
}

// decode builds the decoder's outputs for codes z, followed by the cluster if it is not
// nil.
func (b *builder) decode(m Cells, z, cluster *Node) map[string]*Node {
	g := z
	for i := range m.Hidden {
		g = b.block(fmt.Sprintf("decoder.%d", i), g)
	}
	seen := g
	if cluster != nil {
		seen = b.Block([]*Node{g}, func(in []*Node) *Node { return Concatenate([]*Node{in[0], cluster}, 0) })
	}
	outputs := map[string]*Node{loss.Proportion: nn.SoftmaxFeatures(b.Tape, b.dense(seen))}
	if m.Dispersion == PerGene {
		outputs[loss.LogDispersion] = nn.Constant(b.Tape, b.nextWeight(), z.Shape().Dimensions[1])
	} else {
		outputs[loss.LogDispersion] = b.dense(g)
	}
	if m.ZeroInflated {
		outputs[loss.DropoutLogits] = b.dense(g)
	}
	return outputs
}

// builder hands out weights and random inputs in order.
type builder struct {
	*nn.Tape
	p, draws []*Node
	rate     float64
	drawn    int
	layers   []model.Layer
}

func (b *builder) nextWeight() *Node {
	w := b.p[0]
	b.p = b.p[1:]
	return w
}

// nextRandomInput returns the next random input, nil in inference.
func (b *builder) nextRandomInput() *Node {
	b.drawn++
	return model.RandomInputAt(b.draws, b.drawn-1)
}

func (b *builder) dense(x *Node) *Node { return nn.Dense(b.Tape, x, b.nextWeight(), b.nextWeight()) }

func (b *builder) block(name string, x *Node) *Node {
	y := b.dense(x)
	y = nn.LayerNorm(b.Tape, y, b.nextWeight(), b.nextWeight(), nn.LayerNormEps, y.Shape().Dimensions[1])
	y = nn.ReLUDropout(b.Tape, y, b.nextRandomInput(), b.rate)
	b.layers = append(b.layers, model.Layer{Name: name, Value: y})
	return y
}

// reparameterise returns mu + exp(s/2) eps, and mu where eps is nil.
func reparameterise(t *nn.Tape, mu, s, eps *Node) *Node {
	if eps == nil {
		return mu
	}
	return t.Block([]*Node{mu, s}, func(in []*Node) *Node { return Add(in[0], Mul(Exp(MulScalar(in[1], 0.5)), eps)) })
}
