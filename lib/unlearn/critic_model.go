// An autoencoder and its critics as one network.

package unlearn

import (
	"fmt"
	"maps"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/attack/features"
	"github.com/lethe-ml/lethe/lib/attack/learned"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
)

// criticModel is a variational autoencoder together with critics of its outputs. They are
// one network whose players own disjoint weights, so that a critic's score has a derivative
// with respect to the autoencoder's weights. A record is the autoencoder's, followed by the
// inputs of its reconstruction loss in the order of their names. Besides the autoencoder's
// outputs there are
//
//	features = [recon, KL, recon + KL, mu, s, ||mu||, ||s||]   (package features)
//	logits_k = critic k of the first columns of (features - view.mean) view.factor
//
// The weights are the autoencoder's, the constant view's, and the critics'. Here critics
// have no dropout; they have it while they are trained on their own.
type criticModel struct {
	Of      model.Architecture
	Recon   loss.Loss // its inputs follow a record's features
	Critics []learned.Network
}

// featuresOutput is the name of the output with the features.
const featuresOutput = "features"

var _ model.Architecture = criticModel{}

// Name implements model.Architecture.
func (m criticModel) Name() string { return "criticised-" + m.Of.Name() }

// extraInputs returns the names and widths of what follows a record's own features.
func (m criticModel) extraInputs() (names []string, widths map[string]int) {
	widths, _ = m.Recon.Inputs(model.OutputWidths(m.Of)) // Check has ruled out an error
	return slices.Sorted(maps.Keys(widths)), widths
}

// Inputs implements model.Architecture.
func (m criticModel) Inputs() int {
	n := m.Of.Inputs()
	_, widths := m.extraInputs()
	for _, w := range widths {
		n += w
	}
	return n
}

// features returns the number of features.
func (m criticModel) features() int {
	full, _, _ := features.Counts(model.OutputWidths(m.Of)[loss.LatentMean])
	return full
}

// Returns implements model.Architecture.
func (m criticModel) Returns() []model.Output {
	out := append(slices.Clone(m.Of.Returns()), model.Output{Name: featuresOutput, Width: m.features()})
	if len(m.Critics) > 0 {
		out = append(out, model.Output{Name: nn.Logits, Width: len(m.Critics)})
	}
	return out
}

// Check implements model.Architecture.
func (m criticModel) Check() error {
	if err := m.Of.Check(); err != nil {
		return err
	}
	if model.HasBatchStats(m.Of) {
		return fmt.Errorf("%s mixes the records of a batch", m.Of.Name())
	}
	for _, l := range []loss.Loss{m.Recon, loss.LatentDivergence{}} {
		if _, err := l.Inputs(model.OutputWidths(m.Of)); err != nil {
			return fmt.Errorf("needs a variational autoencoder: %w", err)
		}
	}
	return nil
}

// criticsPrefix begins the names of the critics' weights.
const criticsPrefix = "critic"

// criticParams renames the weights of a critic as in the whole network.
func criticParams(k int, p nn.Params) nn.Params {
	out := p.Clone()
	for i := range out {
		out[i].Name = criticPrefixAt(k) + p[i].Name
	}
	return out
}

// criticPrefixAt begins the names of critic k's weights.
func criticPrefixAt(k int) string { return fmt.Sprintf("%s%d.", criticsPrefix, k+1) }

// Build implements model.Architecture. The view begins as one that changes nothing.
func (m criticModel) Build(b *nn.Builder, x *Node) model.Trace {
	at := m.Of.Inputs()
	tr := m.Of.Build(b, Slice(x, AxisRange(0, at)))
	given := loss.Batch{Outputs: tr.Outputs, Inputs: map[string]*Node{}}
	names, widths := m.extraInputs()
	for _, name := range names {
		given.Inputs[name] = Slice(x, AxisRange(at, at+widths[name]))
		at += widths[name]
	}
	outputs := maps.Clone(tr.Outputs)
	outputs[featuresOutput] = features.Nodes{
		Recon: lossNode(b.Tape, m.Recon, given), KL: lossNode(b.Tape, loss.LatentDivergence{}, given),
		Mu: tr.Outputs[loss.LatentMean], LogVar: tr.Outputs[loss.LatentLogVar],
	}.Full(b.Tape)
	mean := b.Weight("view.mean", nil, m.features(), 1)
	factor := b.Weight("view.factor", nn.FillOnes, m.features(), 1)
	if len(m.Critics) > 0 {
		f := outputs[featuresOutput]
		// The view is constant: it is no input of the layer, so that it has no gradient.
		f = b.Op(Mul(Sub(f, mean), factor), []*Node{f}, func(v *Node) []*Node { return []*Node{Mul(v, factor)} })
		outputs[nn.Logits] = m.criticLogits(b, f)
	}
	tr.Outputs = outputs
	return tr
}

// criticLogits returns the logits of every critic on the features f of its view.
func (m criticModel) criticLogits(b *nn.Builder, f *Node) *Node {
	var logits []*Node
	for k, c := range m.Critics {
		seen := b.Block([]*Node{f}, func(in []*Node) *Node { return Slice(in[0], AxisRange(0, c.Features)) })
		logits = append(logits, c.Build(b.Sub(criticPrefixAt(k)).WithoutRandomInputs(), seen).Outputs[nn.Logits])
	}
	return b.Block(logits, func(in []*Node) *Node { return Concatenate(in, 0) })
}

// lossNode returns a loss as a layer: its derivative goes on to the outputs.
func lossNode(t *nn.Tape, l loss.Loss, g loss.Batch) *Node {
	v := loss.Build(l, g)
	names := slices.Sorted(maps.Keys(v.Adjoints))
	from := make([]*Node, len(names))
	for i, name := range names {
		from[i] = g.Outputs[name]
	}
	return t.Op(v.Losses, from, func(d *Node) []*Node {
		out := make([]*Node, len(names))
		for i, name := range names {
			out[i] = Mul(v.Adjoints[name], d)
		}
		return out
	})
}
