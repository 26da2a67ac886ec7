// AdamW: Adam with decoupled weight decay (Loshchilov and Hutter 2019), as torch.optim.AdamW.

package nn

import (
	"cmp"
	"fmt"
	"math"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/engine/kernels"
)

// AdamW is Adam with decoupled weight decay (Loshchilov and Hutter 2019): every
// weight is multiplied by 1 - lr WeightDecay before Adam's step, and the decay does not
// enter the moments. The zero value is torch.optim.AdamW.
type AdamW struct {
	LR          float64 `json:"lr,omitempty"`           // learning rate, 0: 1e-3
	Beta1       float64 `json:"beta1,omitempty"`        // 0: 0.9
	Beta2       float64 `json:"beta2,omitempty"`        // 0: 0.999
	Eps         float64 `json:"eps,omitempty"`          // 0: 1e-8
	WeightDecay float64 `json:"weight_decay,omitempty"` // 0: 1e-2; for no decay use Adam
}

var _ kernelOptimizer = AdamW{}

// Name implements Optimizer.
func (AdamW) Name() string { return "adamw" }

// WithDefaults implements Optimizer.
func (a AdamW) WithDefaults() Optimizer { return a.withDefaults() }

func (a AdamW) withDefaults() AdamW {
	m := a.adam().withDefaults()
	return AdamW{LR: m.LR, Beta1: m.Beta1, Beta2: m.Beta2, Eps: m.Eps, WeightDecay: cmp.Or(a.WeightDecay, 1e-2)}
}

func (a AdamW) adam() Adam { return Adam{LR: a.LR, Beta1: a.Beta1, Beta2: a.Beta2, Eps: a.Eps} }

// MarshalJSON returns the name and the fields.
func (a AdamW) MarshalJSON() ([]byte, error) {
	type fields AdamW
	return namedJSON(a, fields(a))
}

// Check implements Optimizer.
func (a AdamW) Check() error {
	if !(a.WeightDecay >= 0) || math.IsInf(a.WeightDecay, 1) {
		return fmt.Errorf("adamw: weight decay %v is not 0 or a positive number", a.WeightDecay)
	}
	return a.adam().Check()
}

// Slots implements Optimizer: the first and second moments.
func (AdamW) Slots() []string { return Adam{}.Slots() }

// Step implements Optimizer: p = (1 - lr decay) p, then Adam's step.
func (a AdamW) Step(p Params, grads [][]float64, s *OptimizerState, rates []float64) error {
	return stepByKernel(a, p, grads, s, rates)
}

// StepFloat32 implements Float32Optimizer.
func (a AdamW) StepFloat32(p Params, grads [][]float32, s *OptimizerState, rates []float64) error {
	return stepByKernel(a, p, grads, s, rates)
}

// StepParams implements GraphOptimizer: those of Adam, with the factor of weight decay.
func (a AdamW) StepParams(t int, factor float64) []float32 {
	return a.adam().stepParams(t, factor, a.withDefaults().WeightDecay)
}

func (a AdamW) kernel(params []float32) kernels.Rule { return a.adam().kernel(params) }

func (a AdamW) decays() bool { return a.withDefaults().WeightDecay != 0 }

// GraphStep implements GraphOptimizer.
func (a AdamW) GraphStep(w, grad *Node, slots, rule []*Node) (*Node, []*Node) {
	return a.adam().GraphStep(w, grad, slots, rule)
}
