package nn

import (
	"errors"
	"math"

	"github.com/lethe-ml/lethe/lib/array"
)

// Adam is Kingma and Ba's optimiser with PyTorch's defaults; the zero value is
// torch.optim.Adam(lr=1e-3). Its epsilon is added after the bias correction
// of the square root, as PyTorch does; GoMLX's default epsilon is 1e-7.
type Adam struct {
	LR    float64 `json:"lr,omitempty"`    // learning rate, 0: 1e-3
	Beta1 float64 `json:"beta1,omitempty"` // 0: 0.9
	Beta2 float64 `json:"beta2,omitempty"` // 0: 0.999
	Eps   float64 `json:"eps,omitempty"`   // 0: 1e-8
}

// WithDefaults returns the optimiser with every zero replaced by its meaning.
func (a Adam) WithDefaults() Adam {
	return Adam{LR: or(a.LR, 1e-3), Beta1: or(a.Beta1, 0.9), Beta2: or(a.Beta2, 0.999), Eps: or(a.Eps, 1e-8)}
}

func or(v, def float64) float64 {
	if v == 0 {
		return def
	}
	return v
}

// AdamState is an optimiser's memory: first and second moments and the number of
// steps taken. SGD's has its momentum in M and no V.
type AdamState struct {
	M, V Params
	T    int
}

// Clone returns a deep copy.
func (s *AdamState) Clone() *AdamState {
	out := &AdamState{M: s.M.Clone(), T: s.T}
	if s.V != nil {
		out.V = s.V.Clone()
	}
	return out
}

// NewAdamState returns the state before the first step.
func NewAdamState(p Params) *AdamState {
	s := &AdamState{M: p.Clone(), V: p.Clone()}
	for i := range p {
		clear(s.M[i].Data)
		clear(s.V[i].Data)
	}
	return s
}

// Step moves the weights p against the gradient, given as one float64 slice
// per parameter:
//
//	m = b1 m + (1-b1) g,  v = b2 v + (1-b2) g^2
//	p = p - lr / (1-b1^t) * m / (sqrt(v) / sqrt(1-b2^t) + eps)
//
// A gradient that is not finite is an error naming the tensor, and leaves
// weights and state as they were.
func (a Adam) Step(p Params, grads [][]float64, s *AdamState) error {
	if err := finite("adam", p, grads, s.T+1); err != nil {
		return err
	}
	if s.V == nil {
		return errors.New("adam: the state is SGD's")
	}
	a = a.WithDefaults()
	s.T++
	rate := float32(a.LR / (1 - math.Pow(a.Beta1, float64(s.T))))
	root := float32(math.Sqrt(1 - math.Pow(a.Beta2, float64(s.T))))
	b1, b2, eps := float32(a.Beta1), float32(a.Beta2), float32(a.Eps)
	// 1-b is rounded once, as PyTorch does: 1-float32(0.999) is 1.3e-5 off.
	c1, c2 := float32(1-a.Beta1), float32(1-a.Beta2)
	for i := range p {
		if p[i].State {
			continue
		}
		w, m, v, grad := p[i].Data, s.M[i].Data, s.V[i].Data, grads[i]
		array.Split(len(grad), func(from, to int) {
			for j := from; j < to; j++ {
				g := float32(grad[j])
				m[j] = float32(b1*m[j]) + float32(c1*g)
				v[j] = float32(b2*v[j]) + float32(float32(c2*g)*g)
				w[j] -= float32(rate * m[j] / (float32(math.Sqrt(float64(v[j])))/root + eps))
			}
		})
	}
	return nil
}
