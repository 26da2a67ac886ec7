// Adam (Kingma and Ba), as torch.optim.Adam.

package nn

import (
	"cmp"
	"fmt"
	"math"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/engine/kernels"
)

// Adam is the optimiser of Kingma and Ba with PyTorch's defaults; the zero value is
// torch.optim.Adam(lr=1e-3). As in PyTorch, epsilon is added after the bias correction of
// the square root.
type Adam struct {
	LR    float64 `json:"lr,omitempty"`    // learning rate, 0: 1e-3
	Beta1 float64 `json:"beta1,omitempty"` // 0: 0.9
	Beta2 float64 `json:"beta2,omitempty"` // 0: 0.999
	Eps   float64 `json:"eps,omitempty"`   // 0: 1e-8
}

var _ kernelOptimizer = Adam{}

// Name implements Optimizer.
func (Adam) Name() string { return "adam" }

// WithDefaults implements Optimizer.
func (a Adam) WithDefaults() Optimizer { return a.withDefaults() }

func (a Adam) withDefaults() Adam {
	return Adam{LR: cmp.Or(a.LR, 1e-3), Beta1: cmp.Or(a.Beta1, 0.9), Beta2: cmp.Or(a.Beta2, 0.999), Eps: cmp.Or(a.Eps, 1e-8)}
}

// MarshalJSON returns the name and the fields.
func (a Adam) MarshalJSON() ([]byte, error) {
	type fields Adam
	return namedJSON(a, fields(a))
}

// Check implements Optimizer.
func (a Adam) Check() error {
	a = a.withDefaults()
	switch {
	case !(a.LR > 0) || math.IsInf(a.LR, 1):
		return fmt.Errorf("adam: learning rate %v is not a positive number", a.LR)
	case !(a.Beta1 >= 0 && a.Beta1 < 1) || !(a.Beta2 >= 0 && a.Beta2 < 1):
		return fmt.Errorf("adam: betas %v and %v are not between 0 and 1", a.Beta1, a.Beta2)
	case !(a.Eps > 0) || math.IsInf(a.Eps, 1):
		return fmt.Errorf("adam: epsilon %v is not a positive number", a.Eps)
	}
	return nil
}

// Slots implements Optimizer: the first and second moments.
func (Adam) Slots() []string { return []string{"m", "v"} }

// Step implements Optimizer:
//
//	m = b1 m + (1-b1) g,  v = b2 v + (1-b2) g^2
//	p = p - lr / (1-b1^t) * m / (sqrt(v) / sqrt(1-b2^t) + eps)
func (a Adam) Step(p Params, grads [][]float64, s *OptimizerState, rates []float64) error {
	return stepByKernel(a, p, grads, s, rates)
}

// StepFloat32 implements Float32Optimizer.
func (a Adam) StepFloat32(p Params, grads [][]float32, s *OptimizerState, rates []float64) error {
	return stepByKernel(a, p, grads, s, rates)
}

// StepParams implements GraphOptimizer: the rate of the step, the factor of decoupled weight
// decay, which is 1, and the bias correction of the second moment's root.
func (a Adam) StepParams(t int, factor float64) []float32 { return a.stepParams(t, factor, 0) }

// stepParams returns StepParams with a decoupled weight decay (AdamW).
func (a Adam) stepParams(t int, factor, decay float64) []float32 {
	a = a.withDefaults()
	lr := a.LR * factor
	first, second := 1-math.Pow(a.Beta1, float64(t)), 1-math.Pow(a.Beta2, float64(t))
	return []float32{float32(lr / first), float32(1 - float64(lr*decay)), float32(math.Sqrt(second))}
}

func (a Adam) kernel(params []float32) kernels.Rule {
	a = a.withDefaults()
	// 1-b is rounded once, as PyTorch does: 1-float32(0.999) is 1.3e-5 off.
	return kernels.Adam{
		B1: float32(a.Beta1), B2: float32(a.Beta2), C1: float32(1 - a.Beta1), C2: float32(1 - a.Beta2), Eps: float32(a.Eps),
		Rate: params[0], Shrink: params[1], Root: params[2],
	}
}

func (Adam) decays() bool { return false }

// GraphStep implements GraphOptimizer.
func (a Adam) GraphStep(w, grad *Node, slots, rule []*Node) (*Node, []*Node) {
	a = a.withDefaults()
	rate, shrink, root := rule[0], rule[1], rule[2]
	m := Add(MulScalar(slots[0], a.Beta1), MulScalar(grad, 1-a.Beta1))
	v := Add(MulScalar(slots[1], a.Beta2), MulScalar(Square(grad), 1-a.Beta2))
	way := Div(m, AddScalar(Div(Sqrt(v), root), a.Eps))
	return Sub(Mul(w, shrink), Mul(rate, way)), []*Node{m, v}
}
