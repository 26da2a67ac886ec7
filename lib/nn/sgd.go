package nn

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"github.com/lethe-ml/lethe/lib/array"
)

// SGD is stochastic gradient descent with momentum and weight decay, with the
// meaning that torch.optim.SGD gives them, without Nesterov's variant and
// without dampening.
type SGD struct {
	LR          float64 `json:"lr"`
	Momentum    float64 `json:"momentum,omitempty"`
	WeightDecay float64 `json:"weight_decay,omitempty"`
}

// Check reports a setting that cannot be used.
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

// NewSGDState returns the state before the first step. It has no second moments.
func NewSGDState(p Params) *AdamState {
	s := &AdamState{M: p.Clone()}
	for i := range p {
		clear(s.M[i].Data)
	}
	return s
}

// Step moves the weights p against the gradient, given as one float64 slice per
// parameter:
//
//	g = gradient + decay p,  m = momentum m + g,  p = p - lr m
//
// with m in s.M. Every weight decays, biases and gains of normalisations too, as
// in PyTorch without parameter groups; state does not. A gradient that is not
// finite is an error naming the tensor, and leaves weights and state as they were.
func (o SGD) Step(p Params, grads [][]float64, s *AdamState) error {
	if s.V != nil {
		return errors.New("sgd: the state is Adam's")
	}
	if err := finite("sgd", p, grads, s.T+1); err != nil {
		return err
	}
	s.T++
	lr, momentum, decay := float32(o.LR), float32(o.Momentum), float32(o.WeightDecay)
	for i := range p {
		if p[i].State {
			continue
		}
		w, m, grad := p[i].Data, s.M[i].Data, grads[i]
		array.Split(len(grad), func(from, to int) {
			for j := from; j < to; j++ {
				g := float32(grad[j]) + float32(decay*w[j])
				m[j] = float32(momentum*m[j]) + g
				w[j] -= float32(lr * m[j])
			}
		})
	}
	return nil
}

// finite reports the first element of a gradient that is not.
func finite(method string, p Params, grads [][]float64, step int) error {
	for i, g := range grads {
		var bad atomic.Bool
		array.Split(len(g), func(from, to int) {
			if slices.ContainsFunc(g[from:to], notFinite) {
				bad.Store(true)
			}
		})
		if bad.Load() {
			j := slices.IndexFunc(g, notFinite)
			return fmt.Errorf("%s: the gradient of %s is %v at element %d in step %d", method, p[i].Name, g[j], j, step)
		}
	}
	return nil
}

func notFinite(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) }
