package kernels

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

func TestOptimisersAreTheirFormulas(t *testing.T) {
	g := rand.New(rand.NewPCG(19, 20))
	adam := Adam{0.9, 0.999, 0.1, 0.001, 0.7, 1e-8, 3e-3, 0.999}
	sgd := SGD{0.1, 0.9, 5e-4}
	for _, n := range lengths() {
		w, m, v, grad := some(g, n), some(g, n), some(g, n), make([]float64, n)
		single := make([]float32, n)
		for i := range grad {
			single[i] = float32(g.NormFloat64())
			grad[i] = float64(single[i]) * (1 + 1e-9) // which rounding takes away
			v.data[i] = float32(math.Abs(float64(v.data[i])))
		}
		wantW, wantM, wantV := make([]float32, n), make([]float32, n), make([]float32, n)
		sgdW, sgdM := make([]float32, n), make([]float32, n)
		for i := range n {
			x := float32(grad[i])
			wantM[i] = float32(adam.B1*m.data[i]) + float32(adam.C1*x)
			wantV[i] = float32(adam.B2*v.data[i]) + float32(float32(adam.C2*x)*x)
			below := float32(float32(math.Sqrt(float64(wantV[i])))/adam.Root) + adam.Eps
			wantW[i] = float32(w.data[i]*adam.Shrink) - float32(float32(adam.Rate*wantM[i])/below)
			x += float32(sgd.Decay * w.data[i])
			sgdM[i] = float32(sgd.Momentum*m.data[i]) + x
			sgdW[i] = w.data[i] - float32(sgd.Rate*sgdM[i])
		}
		copies := func() (a, b, c fenced[float32]) {
			a, b, c = newFenced[float32](n), newFenced[float32](n), newFenced[float32](n)
			copy(a.data, w.data)
			copy(b.data, m.data)
			copy(c.data, v.data)
			return a, b, c
		}
		for _, l := range levels() {
			a, b, c := copies()
			stepAt(l, adam, a.data, [][]float32{b.data, c.data}, grad)
			what := fmt.Sprintf("%v Adam of %d", l, n)
			checkElements(t, what, a, wantW)
			checkElements(t, what, b, wantM)
			checkElements(t, what, c, wantV)
			a, b, _ = copies()
			stepAt(l, sgd, a.data, [][]float32{b.data}, grad)
			checkElements(t, fmt.Sprintf("%v SGD of %d", l, n), a, sgdW)
			checkElements(t, fmt.Sprintf("%v SGD of %d", l, n), b, sgdM)
			a, b, c = copies()
			stepAt(l, adam, a.data, [][]float32{b.data, c.data}, single)
			checkElements(t, what+" in float32", a, wantW)
			checkElements(t, what+" in float32", b, wantM)
			checkElements(t, what+" in float32", c, wantV)
			a, b, _ = copies()
			stepAt(l, sgd, a.data, [][]float32{b.data}, single)
			checkElements(t, fmt.Sprintf("%v SGD of %d in float32", l, n), a, sgdW)
			checkElements(t, fmt.Sprintf("%v SGD of %d in float32", l, n), b, sgdM)
		}
		a, b, c := copies()
		Step(adam, a.data, [][]float32{b.data, c.data}, grad)
		checkElements(t, "a step of Adam", a, wantW)
		a, b, _ = copies()
		Step(sgd, a.data, [][]float32{b.data}, single)
		checkElements(t, "a step of SGD in float32", a, sgdW)
	}
}

func TestFinite(t *testing.T) {
	testFinite(t, math.MaxFloat64)
	testFinite(t, float32(math.MaxFloat32))
}

func testFinite[T float32 | float64](t *testing.T, large T) {
	for n := range 70 {
		x := make([]T, n)
		for i := range x {
			x[i] = large
		}
		for _, l := range levels() {
			if !finiteAt(l, x) {
				t.Errorf("%v: %d large numbers are not called finite", l, n)
			}
			for i := range x {
				for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
					x[i] = T(bad)
					if finiteAt(l, x) {
						t.Errorf("%v: %d numbers with %v at %d are called finite", l, n, bad, i)
					}
					x[i] = large
				}
			}
		}
	}
}
