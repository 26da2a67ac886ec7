// Adam (Kingma and Ba), as torch.optim.Adam.

package nn

import (
	"cmp"
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/lib/array"
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

var _ Float32Optimizer = Adam{}

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
	return adamStep(a, a, 0, kernels.Adam.Step, p, grads, s, rates)
}

// StepFloat32 implements Float32Optimizer.
func (a Adam) StepFloat32(p Params, grads [][]float32, s *OptimizerState, rates []float64) error {
	return adamStep(a, a, 0, kernels.Adam.Step32, p, grads, s, rates)
}

// adamStep makes a step of the optimiser o by Adam's rule. Every weight is first multiplied
// by 1 - lr decay (AdamW).
func adamStep[T float32 | float64](o Optimizer, a Adam, decay float64, step func(rule kernels.Adam, w, m, v []float32, grad []T),
	p Params, grads [][]T, s *OptimizerState, rates []float64) error {
	moves, err := beginStep(o, decay, p, grads, s, rates)
	if err != nil {
		return err
	}
	a = a.withDefaults()
	b1, b2, eps := float32(a.Beta1), float32(a.Beta2), float32(a.Eps)
	// 1-b is rounded once, as PyTorch does: 1-float32(0.999) is 1.3e-5 off.
	c1, c2 := float32(1-a.Beta1), float32(1-a.Beta2)
	for _, i := range moves {
		now := a.stepParams(s.T, rateFactor(rates, i), decay)
		rate, shrink, root := now[0], now[1], now[2]
		w, m, v, grad := p[i].Data, s.Slots[0][i].Data, s.Slots[1][i].Data, grads[i]
		rule := kernels.Adam{B1: b1, B2: b2, C1: c1, C2: c2, Root: root, Eps: eps, Rate: rate, Shrink: shrink}
		array.Split(len(grad), func(from, to int) { step(rule, w[from:to], m[from:to], v[from:to], grad[from:to]) })
	}
	return nil
}
