package fisher

import (
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/lib/stats"
)

// LogPearson is the product-moment correlation of ln a and ln b over weights, in [-1, 1]. Null: 0,
// a weight's information about one set says nothing about the other. What all weights of a layer
// share, such as the scale of its activations, correlates in any two sets.
//
// With dead = true it is as coded: every weight counts. Weights that are dead in both are copies of
// one point, ln Damping, far from the others, which brings the value near 1. A weight that is 0 has
// no logarithm and is an error. With dead = false, which is ours, weights that are dead in either
// set are left out, and n is the number of weights left.
func LogPearson(a, b Diagonal, dead bool) (r float64, n int, err error) {
	if err := checkSameTensors(a, b); err != nil {
		return 0, 0, err
	}
	var x, y []float64
	eachPair(a, b, func(v, w float64) {
		if dead || v > a.Damping && w > b.Damping {
			x, y = append(x, math.Log(v)), append(y, math.Log(w))
		}
	})
	if dead && (a.Damping == 0 || b.Damping == 0) {
		return 0, 0, fmt.Errorf("fisher: dead weights have no logarithm without damping")
	}
	r, err = stats.Pearson(x, y)
	return r, len(x), err
}
