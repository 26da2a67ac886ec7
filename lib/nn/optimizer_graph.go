package nn

import (
	"math"

	. "github.com/gomlx/gomlx/core/graph"
)

// GraphOptimizer is an optimiser whose step can be part of a graph, so that weights and
// slots stay on the device. The result is that of Step, up to rounding. It checks nothing;
// the caller checks that the gradient is finite.
type GraphOptimizer interface {
	Optimizer
	// StepParams returns the parameters of step t = 1, 2, ... for a tensor whose rate is
	// factor times the optimiser's. Their number is always the same.
	StepParams(t int, factor float64) []float32
	// GraphStep returns a tensor and its slots after a step with the parameters rule.
	GraphStep(w, grad *Node, slots, rule []*Node) (updated *Node, newSlots []*Node)
}

var (
	_ GraphOptimizer = Adam{}
	_ GraphOptimizer = AdamW{}
	_ GraphOptimizer = SGD{}
)

// StepParams implements GraphOptimizer.
func (a Adam) StepParams(t int, factor float64) []float32 {
	return a.withDefaults().stepParams(t, factor, 0)
}

// GraphStep implements GraphOptimizer.
func (a Adam) GraphStep(w, grad *Node, slots, rule []*Node) (*Node, []*Node) {
	return a.withDefaults().graphStep(w, grad, slots, rule)
}

// StepParams implements GraphOptimizer.
func (a AdamW) StepParams(t int, factor float64) []float32 {
	a = a.withDefaults()
	return a.adam().stepParams(t, factor, a.WeightDecay)
}

// GraphStep implements GraphOptimizer.
func (a AdamW) GraphStep(w, grad *Node, slots, rule []*Node) (*Node, []*Node) {
	return a.adam().withDefaults().graphStep(w, grad, slots, rule)
}

// stepParams returns the rate of the step, the factor of decoupled weight decay, and the
// bias correction of the second moment's root.
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

// StepParams implements GraphOptimizer: the rate of the step.
func (o SGD) StepParams(_ int, factor float64) []float32 { return []float32{float32(o.LR * factor)} }

// GraphStep implements GraphOptimizer.
func (o SGD) GraphStep(w, grad *Node, slots, rule []*Node) (*Node, []*Node) {
	m := Add(MulScalar(slots[0], o.Momentum), Add(grad, MulScalar(w, o.WeightDecay)))
	return Sub(w, Mul(rule[0], m)), []*Node{m}
}
