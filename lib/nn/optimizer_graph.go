package nn

import (
	"math"

	. "github.com/gomlx/gomlx/core/graph"
)

// GraphOptimizer is an optimiser whose step can be put on a graph, so that weights and what is
// remembered of them stay where the gradient is computed. It has the value of Step, to
// rounding, and refuses nothing: whoever steps looks whether the gradient is finite.
type GraphOptimizer interface {
	Optimizer
	// StepParams is what step t = 1, 2, ... takes beside the gradient, for a tensor whose rate is
	// so many times the optimiser's own: always as many numbers.
	StepParams(t int, factor float64) []float32
	// GraphStep is a tensor, and its slots, after a step by a rule's numbers.
	GraphStep(w, grad *Node, slots, rule []*Node) (moved *Node, remembered []*Node)
}

var (
	_ GraphOptimizer = Adam{}
	_ GraphOptimizer = AdamW{}
	_ GraphOptimizer = SGD{}
)

// StepParams implements Graphed.
func (a Adam) StepParams(t int, factor float64) []float32 {
	return a.withDefaults().stepParams(t, factor, 0)
}

// GraphStep implements Graphed.
func (a Adam) GraphStep(w, grad *Node, slots, rule []*Node) (*Node, []*Node) {
	return a.withDefaults().graphStep(w, grad, slots, rule)
}

// StepParams implements Graphed.
func (a AdamW) StepParams(t int, factor float64) []float32 {
	a = a.withDefaults()
	return a.adam().stepParams(t, factor, a.WeightDecay)
}

// GraphStep implements Graphed.
func (a AdamW) GraphStep(w, grad *Node, slots, rule []*Node) (*Node, []*Node) {
	return a.adam().withDefaults().graphStep(w, grad, slots, rule)
}

// stepParams is the step's rate, what a weight shrinks to, and the correction of the second
// moment's root.
func (a Adam) stepParams(t int, factor, decay float64) []float32 {
	lr := a.LR * factor
	first, second := 1-math.Pow(a.Beta1, float64(t)), 1-math.Pow(a.Beta2, float64(t))
	return []float32{float32(lr / first), float32(1 - float64(lr*decay)), float32(math.Sqrt(second))}
}

func (a Adam) graphStep(w, grad *Node, slots, rule []*Node) (*Node, []*Node) {
	rate, shrink, root := rule[0], rule[1], rule[2]
	m := Add(MulScalar(slots[0], a.Beta1), MulScalar(grad, 1-a.Beta1))
	v := Add(MulScalar(slots[1], a.Beta2), MulScalar(Square(grad), 1-a.Beta2))
	way := Div(m, AddScalar(Div(Sqrt(v), root), a.Eps))
	return Sub(Mul(w, shrink), Mul(rate, way)), []*Node{m, v}
}

// StepParams implements Graphed: the step's rate.
func (o SGD) StepParams(_ int, factor float64) []float32 { return []float32{float32(o.LR * factor)} }

// GraphStep implements Graphed.
func (o SGD) GraphStep(w, grad *Node, slots, rule []*Node) (*Node, []*Node) {
	m := Add(MulScalar(slots[0], o.Momentum), Add(grad, MulScalar(w, o.WeightDecay)))
	return Sub(w, Mul(rule[0], m)), []*Node{m}
}
