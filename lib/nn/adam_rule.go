package nn

import "math"

// adamRule is what a step of Adam does to every weight of a tensor, in float32 as
// PyTorch has it. Every operation is rounded on its own, so that eight at a time have
// the bits of one at a time.
type adamRule struct{ b1, b2, c1, c2, root, eps, rate, shrink float32 }

// movePlain takes the step of all weights w with the moments m and v.
func (a adamRule) movePlain(w, m, v []float32, grad []float64) {
	w, m, v = w[:len(grad)], m[:len(grad)], v[:len(grad)]
	for j := range grad {
		g := float32(grad[j])
		m[j] = float32(a.b1*m[j]) + float32(a.c1*g)
		v[j] = float32(a.b2*v[j]) + float32(float32(a.c2*g)*g)
		w[j] = float32(w[j]*a.shrink) - float32(a.rate*m[j]/(float32(math.Sqrt(float64(v[j])))/a.root+a.eps))
	}
}

// allFinitePlain tells whether no value is NaN or infinite: x - x is 0 for all others.
func allFinitePlain(x []float64) bool {
	for _, v := range x {
		if v-v != 0 {
			return false
		}
	}
	return true
}
