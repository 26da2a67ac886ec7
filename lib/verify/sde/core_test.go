package sde

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
)

func random(seed uint64, n, p int, scale float64) *Matrix {
	rng, m := rand.New(rand.NewPCG(seed, 9)), array.New[float64](n, p)
	for i := range m.Data {
		m.Data[i] = scale * rng.NormFloat64()
	}
	return &m
}

func near(t *testing.T, name string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s = %.17g, want %.17g", name, got, want)
	}
}

// everyOrder calls use with all n! orders.
func everyOrder(n int, use func(p []int)) {
	p := make([]int, n)
	used := make([]bool, n)
	var place func(k int)
	place = func(k int) {
		if k == n {
			use(p)
			return
		}
		for v := range n {
			if !used[v] {
				used[v], p[k] = true, v
				place(k + 1)
				used[v] = false
			}
		}
	}
	place(0)
}

func TestMomentsEqualTheEnumerationOfAllPermutations(t *testing.T) {
	for n := 2; n <= 7; n++ {
		a, b := centred(random(1, n, 3, 1), 1.5, 1), centred(random(2, n, 2, 2), 1, 1)
		var sum, squares, count float64
		everyOrder(n, func(p []int) {
			h := 0.0
			for i := range n {
				for j := range n {
					h += a.Data[i*n+j] * b.Data[p[i]*n+p[j]]
				}
			}
			h /= float64((n - 1) * (n - 1))
			sum, squares, count = sum+h, squares+h*h, count+1
		})
		mean, sd := moments(&a, &b)
		near(t, "mean", mean, sum/count, 1e-14)
		near(t, "variance", sd*sd, squares/count-sum/count*sum/count, 1e-14)
	}
}

func TestFreshMeanEqualsTheEnumerationOfAllSplits(t *testing.T) {
	for _, n := range []int{4, 5, 6, 7} {
		m := random(3, n, 2, 1)
		d := newCloud(m).distances(1)
		gaussianWithin(&d, 1)
		var sum, count float64
		everyOrder(n, func(p []int) {
			g := m.Gather(p)
			h, err := HSIC(ptr(cutRows(&g, 0, n/2)), ptr(cutRows(&g, n/2, n/2*2)), Fixed(1))
			if err != nil {
				t.Fatal(err)
			}
			sum, count = sum+h, count+1
		})
		near(t, "mean", freshMean(&d), sum/count, 1e-13)
	}
}

func ptr[T any](v T) *T { return &v }

func cutRows(m *Matrix, from, to int) Matrix {
	return Matrix{Rows: to - from, Cols: m.Cols, Data: m.Data[from*m.Cols : to*m.Cols]}
}
