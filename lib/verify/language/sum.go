// Means of values that were checked before.

package language

import "github.com/lethe-ml/lethe/lib/stats"

// mean returns the compensated mean of finite values, of which there is at least one.
func mean(x []float64) float64 {
	m, _ := stats.Mean(x) // it refuses only what callers have refused
	return m
}
