package unlearn

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/attack/features"
	"github.com/lethe-ml/lethe/lib/attack/learned"
	"github.com/lethe-ml/lethe/lib/internal/resolved"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
)

// criticised is a variational autoencoder together with critics that look at what it
// says of a record: one network, whose players own disjoint weights, so that a
// critic's answer has a derivative by the autoencoder's weights. A record is the
// autoencoder's and behind it what its reconstruction is compared with, in the order
// of names. Beside the autoencoder's outputs there are
//
//	features = [recon, KL, recon + KL, mu, s, ||mu||, ||s||]   (package features)
//	logits_k = critic k of the first columns of (features - view.mean) view.factor
//
// The weights are the autoencoder's, the view's, which nobody moves, and the critics'.
// Critics have no dropout here: they have it where they learn on their own.
type criticised struct {
	Of      model.Architecture
	Tensors int       // that the autoencoder has
	Recon   loss.Loss // its inputs stand behind a record
	Critics []learned.Network
}

// watched is the output with the features.
const watched = "features"

var _ model.Architecture = criticised{}

// Name implements model.Architecture.
func (m criticised) Name() string { return "criticised-" + m.Of.Name() }

// behind lists what stands behind a record, and how wide it is.
func (m criticised) behind() (names []string, widths map[string]int) {
	widths, _ = m.Recon.Inputs(model.Widths(m.Of)) // Check has refused what has none
	return slices.Sorted(maps.Keys(widths)), widths
}

// Inputs implements model.Architecture.
func (m criticised) Inputs() int {
	n := m.Of.Inputs()
	_, widths := m.behind()
	for _, w := range widths {
		n += w
	}
	return n
}

// features is their number.
func (m criticised) features() int {
	full, _, _ := features.Counts(model.Widths(m.Of)[loss.LatentMean])
	return full
}

// Returns implements model.Architecture.
func (m criticised) Returns() []model.Output {
	out := append(slices.Clone(m.Of.Returns()), model.Output{Name: watched, Width: m.features()})
	if len(m.Critics) > 0 {
		out = append(out, model.Output{Name: nn.Logits, Width: len(m.Critics)})
	}
	return out
}

// Resolved implements model.Architecture.
func (m criticised) Resolved() model.Architecture {
	m.Of = resolved.Of(m.Of, m.Of.Resolved())
	return m
}

// Check implements model.Architecture.
func (m criticised) Check() error {
	if err := m.Of.Check(); err != nil {
		return err
	}
	if model.IsCoupled(m.Of) {
		return fmt.Errorf("%s mixes the records of a batch", m.Of.Name())
	}
	for _, l := range []loss.Loss{m.Recon, loss.LatentDivergence{}} {
		if _, err := l.Inputs(model.Widths(m.Of)); err != nil {
			return fmt.Errorf("needs a variational autoencoder: %w", err)
		}
	}
	return nil
}

// Init implements model.Architecture, with a view that changes nothing.
func (m criticised) Init(rng *rand.Rand) nn.Params {
	p := m.Of.Init(rng)
	mean, factor := nn.NewParam("view.mean", m.features(), 1), nn.NewParam("view.factor", m.features(), 1)
	for i := range factor.Data {
		factor.Data[i] = 1
	}
	p = append(p, mean, factor)
	for k, c := range m.Critics {
		p = append(p, ofCritic(k, c.Init(rng))...)
	}
	return p
}

// critics is the prefix of their weights' names.
const critics = "critic"

// ofCritic gives a critic's weights their names in the whole.
func ofCritic(k int, p nn.Params) nn.Params {
	out := p.Clone()
	for i := range out {
		out[i].Name = fmt.Sprintf("%s%d.%s", critics, k+1, p[i].Name)
	}
	return out
}

// Draws implements model.Architecture.
func (m criticised) Draws() []nn.Draw { return m.Of.Draws() }

// Forward implements model.Architecture.
func (m criticised) Forward(t *nn.Tape, p []*Node, x *Node, draws []*Node) model.Trace {
	own, at := m.Tensors, m.Of.Inputs()
	tr := m.Of.Forward(t, p[:own], Slice(x, AxisRange(0, at)), draws)
	given := loss.Given{Outputs: tr.Outputs, Inputs: map[string]*Node{}}
	names, widths := m.behind()
	for _, name := range names {
		given.Inputs[name] = Slice(x, AxisRange(at, at+widths[name]))
		at += widths[name]
	}
	outputs := maps.Clone(tr.Outputs)
	outputs[watched] = features.Nodes{
		Recon: onTape(t, m.Recon, given), KL: onTape(t, loss.LatentDivergence{}, given),
		Mu: tr.Outputs[loss.LatentMean], LogVar: tr.Outputs[loss.LatentLogVar],
	}.Full(t)
	if len(m.Critics) > 0 {
		outputs[nn.Logits] = m.ask(t, outputs[watched], p[own], p[own+1], p[own+2:])
	}
	tr.Outputs = outputs
	return tr
}

// ask puts the features before every critic.
func (m criticised) ask(t *nn.Tape, f, mean, factor *Node, p []*Node) *Node {
	f = t.Block([]*Node{f}, func(in []*Node) *Node { return Mul(Sub(in[0], mean), factor) })
	var logits []*Node
	for _, c := range m.Critics {
		n := c.Tensors()
		seen := t.Block([]*Node{f}, func(in []*Node) *Node { return Slice(in[0], AxisRange(0, c.Features)) })
		logits = append(logits, c.Forward(t, p[:n], seen, nil).Outputs[nn.Logits])
		p = p[n:]
	}
	return t.Block(logits, func(in []*Node) *Node { return Concatenate(in, 0) })
}

// onTape is a loss as a layer: its derivative goes on to the outputs.
func onTape(t *nn.Tape, l loss.Loss, g loss.Given) *Node {
	v := loss.On(l, g)
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
