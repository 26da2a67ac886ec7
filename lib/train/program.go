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

// result is what comes out of a step, behind the summed loss.
type result string

const (
	resultGradient result = "gradient" // of the sum
	resultClipped  result = "clipped"  // the sum of the records' gradients, none longer than the last input
	resultSquares  result = "squares"  // the sum of the records' squared gradients
	resultNorms    result = "lengths"  // of the records' gradients
	resultValue    result = "value"    // nothing
	resultStep     result = "step"     // what the optimiser makes of weights and of its memory
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
	frozen   []bool // tensors by which no gradient is formed; nil: by all
	losses   []loss.Loss
	inputs   [][]string // of the losses

	optimizer nn.GraphOptimizer // of a step
	trainable []bool            // tensors that it moves
}

// flags name everything that a program depends on beside its network, of which draws are a
// part, and its losses.
func (p *program) flags() string {
	return fmt.Sprintf("%s, training %t, still %v, by %s, of %v", p.result, p.training, p.frozen, store.ContentHash(p.optimizer), p.trainable)
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
		widths, err := g.Loss.Inputs(model.OutputWidths(a))
		if err != nil {
			return nil, err
		}
		out[k] = slices.Sorted(maps.Keys(widths))
	}
	return out, nil
}

// build puts the program on a graph.
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
			grads[i] = graph.Scalar(total.Graph(), total.DType(), 0) // and the way there is not computed
		}
	}
	if p.result == resultStep {
		return p.step(sum, w, grads, rest[0], rest[1:])
	}
	return append([]*graph.Node{sum}, grads...)
}

// step is the loss, and 1 beside it if the gradient is finite, in one piece; then what moves
// and what is state, and then the slots of what moves, slot by slot. A row of rule is a
// tensor's.
func (p *program) step(loss *graph.Node, w, grads []*graph.Node, rule *graph.Node, slots []*graph.Node) []*graph.Node {
	like, finite := p.runner.WeightShapes(), graph.ScalarOne(loss.Graph(), loss.DType())
	movers := 0
	for _, moves := range p.trainable {
		if moves {
			movers++
		}
	}
	kinds := len(slots) / movers
	weights, remembered := []*graph.Node{}, make([][]*graph.Node, kinds)
	for i, v := range like {
		switch {
		case v.State && v.Latest:
			weights = append(weights, grads[i])
		case v.State:
			weights = append(weights, nn.UpdatedRunning(w[i], grads[i]))
		case p.trainable[i]:
			if grads[i].Shape().Size() != w[i].Shape().Size() { // nothing is said of it
				grads[i] = graph.ZerosLike(w[i])
			}
			finite = graph.Min(finite, graph.ReduceAllMin(graph.ConvertDType(graph.IsFinite(grads[i]), loss.DType())))
			var own []*graph.Node
			for k := range kinds {
				own = append(own, slots[k*movers+len(remembered[k])])
			}
			moved, left := p.optimizer.GraphStep(w[i], graph.Reshape(grads[i], w[i].Shape().Dimensions...), own, rowScalars(rule, i))
			weights = append(weights, moved)
			for k, slot := range left {
				remembered[k] = append(remembered[k], slot)
			}
		}
	}
	out := append([]*graph.Node{graph.Stack([]*graph.Node{loss, finite}, 0)}, weights...)
	return append(out, slices.Concat(remembered...)...)
}

// rowScalars are those of a row, as scalars.
func rowScalars(rule *graph.Node, row int) (out []*graph.Node) {
	for k := range rule.Shape().Dimensions[1] {
		out = append(out, graph.Reshape(graph.Slice(rule, graph.AxisElem(row), graph.AxisElem(k))))
	}
	return out
}

// objective is what the losses of a batch come to, weighted, and how it hangs on what the
// network returns; with the inputs that follow those of the losses.
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

// addNodes is a + b, where a may be nothing yet.
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
