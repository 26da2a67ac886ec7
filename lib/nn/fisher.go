// A quasi-Newton optimiser with the diagonal of the empirical Fisher information (Liu et al. 2022).

package nn

import (
	"cmp"
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/lib/array"
)

// Fisher is a quasi-Newton method with the diagonal of the empirical Fisher information in
// place of the second derivative, as in the rapid retraining of Liu et al. (INFOCOM 2022):
//
//	m = b1 m + (1-b1) g,  f = b2 f + (1-b2) g^2
//	p = p - lr / (1-b1^t) * m / (f / (1-b2^t) + damping)
//
// where g is the gradient of a batch. It is Adam without the square root. If g^2 is small
// compared with the damping, it is gradient descent at the rate LR/Damping; for large g the
// step decreases as g grows.
type Fisher struct {
	LR      float64 `json:"lr,omitempty"`      // learning rate, 0: 1e-3
	Beta1   float64 `json:"beta1,omitempty"`   // 0: 0.9
	Beta2   float64 `json:"beta2,omitempty"`   // 0: 0.999
	Damping float64 `json:"damping,omitempty"` // 0: 1e-2
}

var _ Optimizer = Fisher{}

// Name implements Optimizer.
func (Fisher) Name() string { return "fisher" }

// WithDefaults implements Optimizer.
func (o Fisher) WithDefaults() Optimizer { return o.withDefaults() }

func (o Fisher) withDefaults() Fisher {
	return Fisher{LR: cmp.Or(o.LR, 1e-3), Beta1: cmp.Or(o.Beta1, 0.9), Beta2: cmp.Or(o.Beta2, 0.999), Damping: cmp.Or(o.Damping, 1e-2)}
}

// MarshalJSON returns the name and the fields.
func (o Fisher) MarshalJSON() ([]byte, error) {
	type fields Fisher
	return namedJSON(o, fields(o))
}

// Check implements Optimizer.
func (o Fisher) Check() error {
	o = o.withDefaults()
	switch {
	case !(o.LR > 0) || math.IsInf(o.LR, 1):
		return fmt.Errorf("fisher: learning rate %v is not a positive number", o.LR)
	case !(o.Beta1 >= 0 && o.Beta1 < 1) || !(o.Beta2 >= 0 && o.Beta2 < 1):
		return fmt.Errorf("fisher: betas %v and %v are not between 0 and 1", o.Beta1, o.Beta2)
	case !(o.Damping > 0) || math.IsInf(o.Damping, 1):
		return fmt.Errorf("fisher: damping %v is not a positive number", o.Damping)
	}
	return nil
}

// Slots implements Optimizer: the momentum and the information.
func (Fisher) Slots() []string { return []string{"m", "f"} }

// Step implements Optimizer.
func (o Fisher) Step(p Params, grads [][]float64, s *OptimizerState, rates []float64) error {
	moves, err := beginStep(o, false, p, grads, s, rates)
	if err != nil {
		return err
	}
	o = o.withDefaults()
	first, second := 1-math.Pow(o.Beta1, float64(s.T)), 1-math.Pow(o.Beta2, float64(s.T))
	for _, i := range moves {
		rate := o.LR * rateFactor(rates, i) / first
		w, m, f, grad := p[i].Data, s.Slots[0][i].Data, s.Slots[1][i].Data, grads[i]
		array.Split(len(grad), func(from, to int) {
			for j := from; j < to; j++ {
				g := grad[j]
				m[j] = float32(float64(o.Beta1*float64(m[j])) + float64((1-o.Beta1)*g))
				f[j] = float32(float64(o.Beta2*float64(f[j])) + float64((1-o.Beta2)*g*g))
				w[j] -= float32(rate * float64(m[j]) / (float64(f[j])/second + o.Damping))
			}
		})
	}
	return nil
}
