package train

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
)

// result is what comes out of a step, behind the summed loss.
type result string

const (
	resultGradient result = "gradient" // of the sum
	resultClipped  result = "clipped"  // the sum of the records' gradients, none longer than the last input
	resultSquares  result = "squares"  // the sum of the records' squared gradients
	resultLengths  result = "lengths"  // of the records' gradients
	resultValue    result = "value"    // nothing
)

// program is what a step is compiled from. It knows nothing of the training that asks for
// it, so that all trainings of a network share what is compiled: on XLA a program takes a
// second, as long as many a small training.
//
// Inputs: weights, x, draws, then per target its inputs in the order of their names and the
// records' weights; last, where records are clipped, the longest gradient of a record.
// Outputs: the summed loss, then per tensor its gradient or, for state, what the
// batch says of it.
type program struct {
	runner   *model.Runner
	training bool // as opposed to inference
	random   bool // whether draws are inputs
	result   result
	still    []bool // tensors by which no gradient is formed; nil: by all
	losses   []loss.Loss
	inputs   [][]string // of the losses
}

// flags name everything that a program depends on beside its network, of which draws are a
// part, and its losses.
func (p *program) flags() string {
	return fmt.Sprintf("%s, training %t, still %v", p.result, p.training, p.still)
}

// signature identifies the losses of a term.
func (t Term) signature() (string, error) {
	var out strings.Builder
	for _, g := range t.Targets {
		key, err := loss.Key(g.Loss)
		if err != nil {
			return "", err
		}
		out.WriteString(key)
	}
	return out.String(), nil
}

// inputs are the names of every target's inputs.
func (t Term) inputs(a model.Architecture) ([][]string, error) {
	out := make([][]string, len(t.Targets))
	for k, g := range t.Targets {
		widths, err := g.Loss.Inputs(model.Widths(a))
		if err != nil {
			return nil, err
		}
		out[k] = slices.Sorted(maps.Keys(widths))
	}
	return out, nil
}

// build puts the program on a graph.
func (p *program) build(in []*graph.Node) []*graph.Node {
	arch, like := p.runner.Arch, p.runner.Like()
	w, x, rest := in[:len(like)], in[len(like)], in[len(like)+1:]
	var draws []*graph.Node
	if p.random {
		n := len(arch.Draws())
		draws, rest = rest[:n], rest[n:]
	}
	t := &nn.Tape{Training: p.training}
	total, from, rest := p.objective(arch.Forward(t, w, x, draws), rest)
	sum := engine.Sum(total)
	switch p.result {
	case resultValue:
		return []*graph.Node{sum}
	case resultLengths:
		model.CheckExamples(arch, t, w, like)
		return []*graph.Node{sum, t.PerExampleNorms(from)}
	case resultSquares:
		model.CheckExamples(arch, t, w, like)
		return append([]*graph.Node{sum}, t.PerExampleSquares(from, graph.OnesLike(total), w)...)
	case resultClipped:
		model.CheckExamples(arch, t, w, like)
		factor := graph.MinScalar(graph.Div(rest[0], t.PerExampleNorms(from)), 1)
		for node, d := range from {
			from[node] = graph.Mul(d, factor)
		}
	}
	grads := t.Gradients(from, w)
	for i, v := range like {
		switch {
		case v.State && p.training:
			grads[i] = statistic(t, w[i], v.Name)
		case v.State && grads[i] == nil:
			grads[i] = graph.ZerosLike(w[i])
		case grads[i] == nil, p.still != nil && p.still[i]:
			grads[i] = graph.Scalar(total.Graph(), total.DType(), 0) // and the way there is not computed
		}
	}
	return append([]*graph.Node{sum}, grads...)
}

// objective is what the losses of a batch come to, weighted, and how it hangs on what the
// network returns; with the inputs that follow those of the losses.
func (p *program) objective(tr model.Trace, in []*graph.Node) (total *graph.Node, from nn.Adjoints, rest []*graph.Node) {
	from, rest = nn.Adjoints{}, in
	for k, l := range p.losses {
		given := loss.Given{Outputs: tr.Outputs, Inputs: map[string]*graph.Node{}}
		for i, name := range p.inputs[k] {
			given.Inputs[name] = rest[i]
		}
		weight := rest[len(p.inputs[k])]
		rest = rest[len(p.inputs[k])+1:]
		v := loss.On(l, given)
		total = plus(total, graph.Mul(v.Losses, weight))
		for node, d := range tr.From(v, weight) {
			from[node] = plus(from[node], d)
		}
	}
	return total, from, rest
}

// plus is a + b, where a may be nothing yet.
func plus(a, b *graph.Node) *graph.Node {
	if a == nil {
		return b
	}
	return graph.Add(a, b)
}

func statistic(t *nn.Tape, p *graph.Node, name string) *graph.Node {
	s := t.Statistic(p)
	if s == nil {
		panic(fmt.Errorf("no layer reports a statistic for %s", name))
	}
	return s
}
