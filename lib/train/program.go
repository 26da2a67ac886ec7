// The compiled graph of a chunk: the summed loss with a gradient, squares or norms.

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

// result is the kind of output of a step, after the summed loss.
type result string

const (
	resultGradient result = "gradient" // gradient of the summed loss
	resultClipped  result = "clipped"  // sum of the records' gradients, clipped to the norm in the last input
	resultSquares  result = "squares"  // sum of the records' squared gradients
	resultNorms    result = "lengths"  // norms of the records' gradients
	resultValue    result = "value"    // loss only
)

// program is the source of a compiled step. It does not depend on the training, so all
// trainings of a network share compiled steps.
//
// Inputs: weights, x, random inputs, then for each target its inputs in the order of their
// names and the records' weights; last, with clipping, the maximal norm. Outputs: the
// summed loss, then for each tensor its gradient or, for state, the batch's statistic.
type program struct {
	runner   *model.Runner
	training bool // as opposed to inference
	random   bool // whether there are random inputs
	result   result
	frozen   []bool // tensors without a gradient; nil: none
	losses   []loss.Loss
	inputs   [][]string // of the losses
}

// flags returns a text with everything that the program depends on, except the network and
// the losses.
func (p *program) flags() string {
	return fmt.Sprintf("%s, training %t, still %v", p.result, p.training, p.frozen)
}

// lossKey returns a text that identifies the losses.
func (p *program) lossKey() (string, error) { return lossKey(p.losses) }

func lossKey(losses []loss.Loss) (string, error) {
	var out strings.Builder
	for _, l := range losses {
		key, err := loss.Key(l)
		if err != nil {
			return "", err
		}
		out.WriteString(key)
	}
	return out.String(), nil
}

// losses returns the losses of the targets.
func (t Term) losses() (out []loss.Loss) {
	for _, g := range t.Targets {
		out = append(out, g.Loss)
	}
	return out
}

// inputs returns the names of the inputs of every target.
func (t Term) inputs(a model.Architecture) ([][]string, error) {
	out := make([][]string, len(t.Targets))
	for k, g := range t.Targets {
		widths, err := g.Loss.Inputs(model.OutputWidths(a))
		if err != nil {
			return nil, err
		}
		out[k] = slices.Sorted(maps.Keys(widths))
	}
	return out, nil
}

// build builds the graph of the program.
func (p *program) build(in []*graph.Node) []*graph.Node {
	arch, like := p.runner.Arch, p.runner.WeightShapes()
	w, x, rest := in[:len(like)], in[len(like)], in[len(like)+1:]
	var draws []*graph.Node
	if p.random {
		n := len(p.runner.RandomInputs())
		draws, rest = rest[:n], rest[n:]
	}
	t := &nn.Tape{Training: p.training}
	tr := p.runner.Forward(t, w, x, draws)
	total, from, rest := p.objective(tr, rest)
	sum := engine.Sum(total)
	if p.result != resultValue {
		if err := t.CheckRecorded(usedOutputs(tr, from, total), w, like, p.frozen); err != nil {
			panic(err)
		}
	}
	switch p.result {
	case resultValue:
		return []*graph.Node{sum}
	case resultNorms:
		model.CheckPerRecord(arch, t, w, like)
		return []*graph.Node{sum, t.PerExampleNorms(from)}
	case resultSquares:
		model.CheckPerRecord(arch, t, w, like)
		return append([]*graph.Node{sum}, t.PerExampleSquares(from, graph.OnesLike(total), w)...)
	case resultClipped:
		model.CheckPerRecord(arch, t, w, like)
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
		case grads[i] == nil, p.frozen != nil && p.frozen[i]:
			grads[i] = graph.Scalar(total.Graph(), total.DType(), 0) // its computation is dropped
		}
	}
	return append([]*graph.Node{sum}, grads...)
}

// objective returns the weighted sum of the losses per record, its derivatives by the
// network's outputs, and the inputs that follow those of the losses.
func (p *program) objective(tr model.Trace, in []*graph.Node) (total *graph.Node, from nn.Adjoints, rest []*graph.Node) {
	from, rest = nn.Adjoints{}, in
	for k, l := range p.losses {
		given := loss.Batch{Outputs: tr.Outputs, Inputs: map[string]*graph.Node{}}
		for i, name := range p.inputs[k] {
			given.Inputs[name] = rest[i]
		}
		weight := rest[len(p.inputs[k])]
		rest = rest[len(p.inputs[k])+1:]
		v := loss.Build(l, given)
		total = addNodes(total, graph.Mul(v.Losses, weight))
		for node, d := range tr.Adjoints(v, weight) {
			from[node] = addNodes(from[node], d)
		}
	}
	return total, from, rest
}

// usedOutputs returns the outputs with derivatives that an objective depends on. The derivatives by
// others, which GoMLX makes, are zeros.
func usedOutputs(tr model.Trace, from nn.Adjoints, total *graph.Node) (used []*graph.Node) {
	outputs, seen := map[*graph.Node]bool{}, map[*graph.Node]bool{}
	for _, out := range tr.Outputs {
		outputs[out] = true
	}
	var walk func(n *graph.Node)
	walk = func(n *graph.Node) {
		if seen[n] || n.StopGradient() {
			return
		}
		seen[n] = true
		if outputs[n] {
			if from[n] != nil {
				used = append(used, n)
			}
			return
		}
		for _, in := range n.Inputs() {
			walk(in)
		}
	}
	walk(total)
	return used
}

// addNodes returns a + b, or b if a is nil.
func addNodes(a, b *graph.Node) *graph.Node {
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
