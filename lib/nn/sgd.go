// Stochastic gradient descent with momentum and weight decay, as torch.optim.SGD.

package nn

import (
	"fmt"
	"math"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/engine/kernels"
)

// SGD is stochastic gradient descent with momentum and weight decay, as torch.optim.SGD
// without Nesterov and dampening. LR has no default: Check returns an error unless it is
// positive.
type SGD struct {
	LR          float64 `json:"lr"`
	Momentum    float64 `json:"momentum,omitempty"`
	WeightDecay float64 `json:"weight_decay,omitempty"`
}

var _ kernelOptimizer = SGD{}

// Name implements Optimizer.
func (SGD) Name() string { return "sgd" }

// WithDefaults implements Optimizer.
func (o SGD) WithDefaults() Optimizer { return o }

// MarshalJSON returns the name and the fields.
func (o SGD) MarshalJSON() ([]byte, error) {
	type fields SGD
	return namedJSON(o, fields(o))
}

// Check implements Optimizer.
func (o SGD) Check() error {
	switch {
	case !(o.LR > 0) || math.IsInf(o.LR, 1):
		return fmt.Errorf("sgd: learning rate %v is not a positive number", o.LR)
	case !(o.Momentum >= 0 && o.Momentum < 1):
		return fmt.Errorf("sgd: momentum %v is not between 0 and 1", o.Momentum)
	case !(o.WeightDecay >= 0) || math.IsInf(o.WeightDecay, 1):
		return fmt.Errorf("sgd: weight decay %v is not 0 or a positive number", o.WeightDecay)
	}
	return nil
}

// Slots implements Optimizer: the momentum.
func (SGD) Slots() []string { return []string{"m"} }

// Step implements Optimizer:
//
//	g = gradient + decay p,  m = momentum m + g,  p = p - lr m
//
// Weight decay applies to every weight, including biases and gains of normalisations, as in
// PyTorch without parameter groups.
func (o SGD) Step(p Params, grads [][]float64, s *OptimizerState, rates []float64) error {
	return stepByKernel(o, p, grads, s, rates)
}

// StepFloat32 implements Float32Optimizer.
func (o SGD) StepFloat32(p Params, grads [][]float32, s *OptimizerState, rates []float64) error {
	return stepByKernel(o, p, grads, s, rates)
}

// StepParams implements GraphOptimizer: the rate of the step.
func (o SGD) StepParams(_ int, factor float64) []float32 { return []float32{float32(o.LR * factor)} }

func (o SGD) kernel(params []float32) kernels.Rule {
	return kernels.SGD{Rate: params[0], Momentum: float32(o.Momentum), Decay: float32(o.WeightDecay)}
}

func (o SGD) decays() bool { return o.WeightDecay != 0 }

// GraphStep implements GraphOptimizer.
func (o SGD) GraphStep(w, grad *Node, slots, rule []*Node) (*Node, []*Node) {
	m := Add(MulScalar(slots[0], o.Momentum), Add(grad, MulScalar(w, o.WeightDecay)))
	return Sub(w, Mul(rule[0], m)), []*Node{m}
}
