package train

import (
	"context"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/tabular"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
)

// unrecorded is a network of one hidden layer whose activation is not recorded. Its second output, the
// probabilities, is not recorded either: a loss that does not use it has all its gradients.
type unrecorded struct {
	tabular.MLP
	Hidden func(b *nn.Builder, h *graph.Node) *graph.Node
	Second bool
}

func (m unrecorded) Returns() []model.Output {
	out := m.MLP.Returns()
	if m.Second {
		out = append(out, model.Output{Name: nn.Output, Width: m.Outputs})
	}
	return out
}

func (m unrecorded) Build(b *nn.Builder, x *graph.Node) model.Trace {
	h := m.Hidden(b, b.Dense("in", x, 8))
	z := b.Dense("head", h, m.Outputs)
	tr := model.ClassifierTrace(z, h)
	if m.Second {
		tr.Outputs[nn.Output] = graph.Softmax(z, 0)
	}
	return tr
}

// derived is a loss without derivatives of its own, so that it has some, zeros, for outputs that it
// does not use.
type derived struct{ loss.Loss }

func (l derived) Graph(g loss.Batch) loss.Value { return loss.Value{Losses: l.Loss.Graph(g).Losses} }

// A network with a gradient that is lost is not trained, nor are its gradients of any kind computed; the
// error names the weights and says what to do. Its answers can be had.
func TestANetworkThatLosesAGradientIsNotTrained(t *testing.T) {
	ctx, words := context.Background(), "the gradient of in.bias, in.weight is lost at the operation "
	for op, hidden := range map[string]func(b *nn.Builder, h *graph.Node) *graph.Node{
		"Tanh": func(b *nn.Builder, h *graph.Node) *graph.Node { return graph.Tanh(h) },
		"Add":  func(b *nn.Builder, h *graph.Node) *graph.Node { return graph.Add(h, b.ReLU(h)) },
		"Mul":  func(b *nn.Builder, h *graph.Node) *graph.Node { return graph.MulScalar(h, 0.5) },
	} {
		arch := unrecorded{MLP: small, Hidden: hidden}
		r := openRunner(t, arch, 32)
		p := model.InitialWeights(arch, engine.Root(1).Stream(engine.StreamInit))
		o := pair(0, 1)
		_, _, fit := Fit(ctx, r, p, o, Config{Epochs: 1, Batch: 8, Seed: 1}, Hooks{})
		_, gradient := Gradient(ctx, r, p, o, 0, Mode{})
		_, squares := SquaredGradients(ctx, r, p, o, Mode{})
		_, norms := GradientNorms(ctx, r, p, o, Mode{})
		for what, err := range map[string]error{"fit": fit, "gradient": gradient, "squares": squares, "norms": norms} {
			if err == nil || !strings.HasPrefix(err.Error(), "train tabular-mlp: "+words+op) || !strings.Contains(err.Error(), "b.Block") {
				t.Errorf("%s, %s: %v", op, what, err)
			}
		}
		if _, err := r.Predict(p, o[0].X); err != nil {
			t.Errorf("%s: %v", op, err)
		}
	}
	for name, arch := range map[string]model.Architecture{
		"a Block": unrecorded{MLP: small, Hidden: func(b *nn.Builder, h *graph.Node) *graph.Node {
			return b.Block([]*graph.Node{h}, func(in []*graph.Node) *graph.Node { return graph.Tanh(in[0]) })
		}},
		"an output that no loss uses": unrecorded{MLP: small, Hidden: (*nn.Builder).Tanh, Second: true},
	} {
		r := openRunner(t, arch, 32)
		before := model.InitialWeights(arch, engine.Root(1).Stream(engine.StreamInit))
		o := pair(0, 1)
		o[0].Targets = o[0].Targets[:1]
		o[0].Targets[0].Loss = derived{o[0].Targets[0].Loss}
		after, _, err := Fit(ctx, r, before, o, Config{Epochs: 2, Batch: 8, Seed: 1}, Hooks{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for i, v := range before {
			if after[i].Data[0] == v.Data[0] {
				t.Errorf("%s: %s does not learn", name, v.Name)
			}
		}
	}
}
