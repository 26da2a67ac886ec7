package stats

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
)

// slowREML is the restricted log-likelihood from the full covariance matrix:
// -1/2 [(N-1) log 2 pi + log|V| + log 1'V^-1 1 + r'V^-1 r].
func slowREML(y []float64, group []int, null, between, within float64) float64 {
	n := len(y)
	v := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			c := 0.0
			if group[i] == group[j] {
				c += between
			}
			if i == j {
				c += within
			}
			v.SetSym(i, j, c)
		}
	}
	var chol mat.Cholesky
	if !chol.Factorize(v) {
		return math.Inf(-1)
	}
	ones, r := mat.NewVecDense(n, nil), mat.NewVecDense(n, nil)
	for i := range n {
		ones.SetVec(i, 1)
		r.SetVec(i, y[i]-null)
	}
	var solved mat.VecDense
	_ = chol.SolveVecTo(&solved, ones)
	info := mat.Dot(ones, &solved)
	r.AddScaledVec(r, -mat.Dot(r, &solved)/info, ones)
	_ = chol.SolveVecTo(&solved, r)
	return -0.5 * (float64(n-1)*math.Log(2*math.Pi) + chol.LogDet() + math.Log(info) + mat.Dot(r, &solved))
}

// simulateGroups draws k groups of n values around 0.
func simulateGroups(rng *rand.Rand, k, n int, sdBetween, sdWithin float64) ([]float64, []int) {
	var y []float64
	var g []int
	for i := range k {
		b := sdBetween * rng.NormFloat64()
		for range n {
			y, g = append(y, b+sdWithin*rng.NormFloat64()), append(g, i)
		}
	}
	return y, g
}
