//go:build amd64 && goexperiment.simd

package nn

import "simd/archsimd"

// octet is the number of weights moved at a time.
const octet = 8

// move is movePlain with AVX2.
func (a adamRule) move(w, m, v []float32, grad []float64) {
	j := 0
	if archsimd.X86.AVX2() {
		j = a.octets(w, m, v, grad)
	}
	a.movePlain(w[j:], m[j:], v[j:], grad[j:])
}

// octets moves as many whole octets as there are, and returns the number of weights.
func (a adamRule) octets(w, m, v []float32, grad []float64) int {
	b1, b2, c1, c2 := spread(a.b1), spread(a.b2), spread(a.c1), spread(a.c2)
	root, eps, rate, shrink := spread(a.root), spread(a.eps), spread(a.rate), spread(a.shrink)
	j := 0
	for ; j+octet <= len(grad); j += octet {
		to, first, second, from := (*[octet]float32)(w[j:]), (*[octet]float32)(m[j:]), (*[octet]float32)(v[j:]), (*[octet]float64)(grad[j:])
		var g archsimd.Float32x8
		g = g.SetLo(quartet(from[:4]).ConvertToFloat32()).SetHi(quartet(from[4:]).ConvertToFloat32())
		mean := b1.Mul(archsimd.LoadFloat32x8(first)).Add(c1.Mul(g))
		square := b2.Mul(archsimd.LoadFloat32x8(second)).Add(c2.Mul(g).Mul(g))
		mean.Store(first)
		square.Store(second)
		step := rate.Mul(mean).Div(square.Sqrt().Div(root).Add(eps))
		archsimd.LoadFloat32x8(to).Mul(shrink).Sub(step).Store(to)
	}
	archsimd.ClearAVXUpperBits()
	return j
}

func spread(x float32) archsimd.Float32x8 { return archsimd.BroadcastFloat32x8(x) }

func quartet(x []float64) archsimd.Float64x4 { return archsimd.LoadFloat64x4((*[4]float64)(x)) }

// allFinite is allFinitePlain with AVX2: what is not finite leaves NaN in the sum of
// all x - x.
func allFinite(x []float64) bool {
	if !archsimd.X86.AVX2() {
		return allFinitePlain(x)
	}
	var s0, s1 archsimd.Float64x4
	j := 0
	for ; j+octet <= len(x); j += octet {
		eight := (*[octet]float64)(x[j:])
		a, b := quartet(eight[:4]), quartet(eight[4:])
		s0, s1 = s0.Add(a.Sub(a)), s1.Add(b.Sub(b))
	}
	var sums [4]float64
	s0.Add(s1).Store(&sums)
	archsimd.ClearAVXUpperBits()
	return allFinitePlain(sums[:]) && allFinitePlain(x[j:])
}
