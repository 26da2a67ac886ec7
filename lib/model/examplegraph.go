// Graphs of per-example gradients.

package model

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
)

// exampleGraph is a kind of per-example gradient graph that a runner compiles on first use.
type exampleGraph int

const (
	graphNorms exampleGraph = iota
	graphClipped
	graphFisher
	graphEmpirical
)

// exampleProgram returns the compiled graph of a kind of per-example gradients of a loss.
func (r *Runner) exampleProgram(kind exampleGraph, of Examples) (*Exec, error) {
	key, err := loss.Key(of.Loss)
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", r.Arch.Name(), err)
	}
	return r.Program(fmt.Sprintf("examples %d: %s", kind, key), func(in []*Node) []*Node { return r.buildExamples(kind, of.Loss, of.names(), in) })
}

// CheckExamples panics (as graph building does on errors) unless per-record gradients are
// defined for every weight. The error names the weight and says whether its layer mixes the
// records of a batch.
func CheckExamples(a Architecture, t *nn.Tape, p []*Node, like nn.Params) {
	for _, i := range t.WithoutPerExample(p) {
		switch {
		case like[i].State:
		case t.UsesBatchStats(p[i]):
			panic(fmt.Errorf("%s of %s belongs to a layer that mixes the records of a batch: there are no per-record gradients", like[i].Name, a.Name()))
		default:
			panic(fmt.Errorf("the per-record gradient of %[2]s in %[1]s is unknown: it belongs to no layer, or to several", a.Name(), like[i].Name))
		}
	}
}

// Adjoints turns a loss's derivatives with respect to outputs into derivatives with respect
// to nodes, each times the record's weight [1, n].
func (tr Trace) Adjoints(v loss.Value, weight *Node) nn.Adjoints {
	from := nn.Adjoints{}
	for name, d := range v.Adjoints {
		from[tr.Outputs[name]] = Mul(d, weight)
	}
	return from
}

// buildExamples builds a graph whose inputs are the weights, x, the loss's inputs in the
// order of their names, a row with 1 for a record and 0 for padding, and the clipping norm.
func (r *Runner) buildExamples(kind exampleGraph, l loss.Loss, names []string, in []*Node) []*Node {
	n := len(r.weightShapes)
	p, x, rest := in[:n], in[n], in[n+1:]
	exists, clip := rest[len(names)], rest[len(names)+1]
	t := &nn.Tape{}
	tr := r.Arch.Forward(t, p, x, nil)
	CheckExamples(r.Arch, t, p, r.weightShapes)
	if kind == graphFisher {
		return r.fisherNodes(t, tr, exists, p)
	}
	given := loss.Batch{Outputs: tr.Outputs, Inputs: map[string]*Node{}}
	for k, name := range names {
		given.Inputs[name] = rest[k]
	}
	v := loss.Build(l, given)
	from := tr.Adjoints(v, exists)
	switch kind {
	case graphNorms:
		return []*Node{t.PerExampleNorms(from)}
	case graphClipped:
		norms := t.PerExampleNorms(from)
		factor := MinScalar(Div(clip, norms), 1)
		return append([]*Node{norms}, t.Backward(tr.Adjoints(v, Mul(exists, factor)), p)...)
	}
	return t.PerExampleSquares(from, exists, p)
}

// fisherNodes adds up the squared gradients of a classifier's log probabilities, each
// weighted by its probability.
func (r *Runner) fisherNodes(t *nn.Tape, tr Trace, exists *Node, p []*Node) []*Node {
	logits := tr.Outputs[nn.Logits]
	probs := Softmax(logits, 0)
	var sums []*Node
	for c := range probs.Shape().Dimensions[0] {
		prob := Slice(probs, AxisElem(c), AxisRange())
		class := oneHotRow(probs, c)
		part := t.PerExampleSquares(nn.Adjoints{logits: Sub(class, probs)}, Mul(prob, exists), p)
		for i := range part {
			if c > 0 {
				part[i] = Add(sums[i], part[i])
			}
		}
		sums = part
	}
	return sums
}

// oneHotRow returns a [C, n] node of zeros with ones in row c.
func oneHotRow(like *Node, c int) *Node {
	d := like.Shape().Dimensions
	column := make([]float32, d[0])
	column[c] = 1
	return BroadcastToDims(Const(like.Graph(), tensors.FromFlatDataAndDimensions(column, d[0], 1)), d...)
}
