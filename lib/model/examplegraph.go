package model

import (
	"fmt"
	"sync"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/lethe-ml/lethe/lib/nn"
)

// exampleGraph is one of the graphs that a runner compiles when it first
// needs them.
type exampleGraph int

const (
	graphNorms exampleGraph = iota
	graphClipped
	graphFisher
	graphEmpirical
	exampleGraphs
)

type exampleExecs struct {
	mu    sync.Mutex
	execs [exampleGraphs]*Exec
}

func (e *exampleExecs) get(r *Runner, kind exampleGraph) (*Exec, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.execs[kind] != nil {
		return e.execs[kind], nil
	}
	exec, err := r.compile(func(in []*Node) []*Node { return r.buildExamples(kind, in) })
	e.execs[kind] = exec
	return exec, err
}

// buildExamples builds a graph that takes weights, x, one-hot targets, a row
// with 1 for a record and 0 for padding, and the clipping norm.
func (r *Runner) buildExamples(kind exampleGraph, in []*Node) []*Node {
	last := len(in) - 4
	p, x, targets, exists, clip := in[:last], in[last], in[last+1], in[last+2], in[last+3]
	t := &nn.Tape{}
	logits := r.Arch.Forward(t, p, x, nil).Logits
	for _, i := range t.Unaccounted(p) {
		panic(fmt.Errorf("no layer of %s says how %s enters a record's own gradient, or more than one does", r.Arch.Name(), r.like[i].Name))
	}
	probs := Softmax(logits, 0)
	adjoint := Mul(Sub(probs, targets), exists)
	switch kind {
	case graphNorms:
		return []*Node{t.PerExampleNorms(logits, adjoint)}
	case graphClipped:
		norms := t.PerExampleNorms(logits, adjoint)
		factor := MinScalar(Div(clip, norms), 1)
		return append([]*Node{norms}, t.Backward(logits, Mul(adjoint, factor), p)...)
	case graphEmpirical:
		return t.PerExampleSquares(logits, adjoint, exists, p)
	}
	var sums []*Node
	for c := range r.Arch.Classes() {
		prob := Slice(probs, AxisElem(c), AxisRange())
		class := oneHotRow(probs, c)
		part := t.PerExampleSquares(logits, Sub(class, probs), Mul(prob, exists), p)
		for i := range part {
			if c > 0 {
				part[i] = Add(sums[i], part[i])
			}
		}
		sums = part
	}
	return sums
}

// oneHotRow is a [C, n] node of zeros with ones in row c.
func oneHotRow(like *Node, c int) *Node {
	d := like.Shape().Dimensions
	column := make([]float32, d[0])
	column[c] = 1
	return BroadcastToDims(Const(like.Graph(), tensors.FromFlatDataAndDimensions(column, d[0], 1)), d...)
}
