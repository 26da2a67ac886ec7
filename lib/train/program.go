// The compiled graph of a step: the summed loss with a gradient, squares, norms or updated weights.

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
	"github.com/lethe-ml/lethe/lib/store"
)

// result is the kind of output of a step, after the summed loss.
type result string

const (
	resultGradient result = "gradient" // gradient of the summed loss
	resultClipped  result = "clipped"  // sum of the records' gradients, clipped to the norm in the last input
	resultSquares  result = "squares"  // sum of the records' squared gradients
	resultNorms    result = "lengths"  // norms of the records' gradients
	resultValue    result = "value"    // loss only
	resultStep     result = "step"     // updated weights and optimiser state
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

	optimizer nn.GraphOptimizer // of a step
	trainable []bool            // tensors that the optimiser updates
}

// flags returns a text with everything that the program depends on, except the network and
// the losses.
func (p *program) flags() string {
	return fmt.Sprintf("%s, training %t, still %v, by %s, of %v", p.result, p.training, p.frozen, store.ContentHash(p.optimizer), p.trainable)
}

// signature returns a text that identifies the losses of a term.
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
		n := len(arch.RandomInputs())
		draws, rest = rest[:n], rest[n:]
	}
	t := &nn.Tape{Training: p.training}
	total, from, rest := p.objective(arch.Forward(t, w, x, draws), rest)
	sum := engine.Sum(total)
	switch p.result {
	case resultValue:
		return []*graph.Node{sum}
	case resultNorms:
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
		case grads[i] == nil, p.frozen != nil && p.frozen[i]:
			grads[i] = graph.Scalar(total.Graph(), total.DType(), 0) // its computation is dropped
		}
	}
	if p.result == resultStep {
		return p.step(sum, w, grads, rest[0], rest[1:])
	}
	return append([]*graph.Node{sum}, grads...)
}

// step returns the outputs of a step: a tensor with the loss and a 1 if the gradient is
// finite, then the updated trainable tensors and state, then the slots of the trainable
// tensors, slot by slot. rule has one row of step parameters per tensor.
func (p *program) step(loss *graph.Node, w, grads []*graph.Node, rule *graph.Node, slots []*graph.Node) []*graph.Node {
	like, finite := p.runner.WeightShapes(), graph.ScalarOne(loss.Graph(), loss.DType())
	trained := 0
	for _, moves := range p.trainable {
		if moves {
			trained++
		}
	}
	kinds := len(slots) / trained
	weights, newSlots := []*graph.Node{}, make([][]*graph.Node, kinds)
	for i, v := range like {
		switch {
		case v.State && v.Latest:
			weights = append(weights, grads[i])
		case v.State:
			weights = append(weights, nn.UpdatedRunning(w[i], grads[i]))
		case p.trainable[i]:
			if grads[i].Shape().Size() != w[i].Shape().Size() { // no gradient
				grads[i] = graph.ZerosLike(w[i])
			}
			finite = graph.Min(finite, graph.ReduceAllMin(graph.ConvertDType(graph.IsFinite(grads[i]), loss.DType())))
			var own []*graph.Node
			for k := range kinds {
				own = append(own, slots[k*trained+len(newSlots[k])])
			}
			moved, left := p.optimizer.GraphStep(w[i], graph.Reshape(grads[i], w[i].Shape().Dimensions...), own, rowScalars(rule, i))
			weights = append(weights, moved)
			for k, slot := range left {
				newSlots[k] = append(newSlots[k], slot)
			}
		}
	}
	out := append([]*graph.Node{graph.Stack([]*graph.Node{loss, finite}, 0)}, weights...)
	return append(out, slices.Concat(newSlots...)...)
}

// rowScalars returns the elements of a row as scalars.
func rowScalars(rule *graph.Node, row int) (out []*graph.Node) {
	for k := range rule.Shape().Dimensions[1] {
		out = append(out, graph.Reshape(graph.Slice(rule, graph.AxisElem(row), graph.AxisElem(k))))
	}
	return out
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
