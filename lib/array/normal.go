package array

import "math/rand/v2"

// Normal returns a matrix of independent normal numbers with mean 0 and standard deviation
// sd, drawn row by row.
func Normal(rng *rand.Rand, rows, cols int, sd float64) Matrix[float64] {
	m := New[float64](rows, cols)
	for i := range m.Data {
		m.Data[i] = sd * rng.NormFloat64()
	}
	return m
}
