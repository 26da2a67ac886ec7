package fisher

import (
	"fmt"
	"math"
	"slices"
)

// EffectiveRank is how many weights carry the information: the exponential of the
// entropy of its shares,
//
//	exp(- sum_i q_i ln q_i),   q_i = F_i / sum_j F_j
//
// between 1, one weight has it all, and the number of weights, all have as much.
// Over that number it is the paper's ratio. A dead weight counts in the number.
func EffectiveRank(d Diagonal) (float64, error) {
	if err := d.Check(); err != nil {
		return 0, err
	}
	sum := 0.0
	for _, t := range d.Tensors {
		for _, v := range t.Values {
			sum += v
		}
	}
	if sum == 0 {
		return 0, errDead
	}
	entropy := 0.0
	for _, t := range d.Tensors {
		for _, v := range t.Values {
			if q := v / sum; q > 0 {
				entropy -= float64(q * math.Log(q))
			}
		}
	}
	return math.Exp(entropy), nil
}

// TopShared is the share of a's largest entries that are among b's largest, where
// the largest are a share of all weights, rounded down and at least one; of equal
// entries the first count. Null: share itself, for entries in random order. Higher
// is more overlap, 1 at most.
func TopShared(a, b Diagonal, share float64) (float64, error) {
	if err := alike(a, b); err != nil {
		return 0, err
	}
	if !(share > 0 && share <= 1) {
		return 0, fmt.Errorf("fisher: the largest %v of the weights; want a share above 0, at most 1", share)
	}
	k := max(1, int(share*float64(a.Size())))
	x, y := largest(a, k), largest(b, k)
	both := 0
	for i := range x {
		if x[i] && y[i] {
			both++
		}
	}
	return float64(both) / float64(k), nil
}

// largest marks the k largest entries.
func largest(d Diagonal, k int) []bool {
	var all []float64
	for _, t := range d.Tensors {
		all = append(all, t.Values...)
	}
	sorted := slices.Clone(all)
	slices.Sort(sorted)
	bar := sorted[len(sorted)-k]
	above := len(sorted) - firstAbove(sorted, bar)
	marked, equal := make([]bool, len(all)), k-above
	for i, v := range all {
		switch {
		case v > bar:
			marked[i] = true
		case v == bar && equal > 0:
			marked[i] = true
			equal--
		}
	}
	return marked
}

// firstAbove is the place of the first value above bar.
func firstAbove(sorted []float64, bar float64) int {
	at, _ := slices.BinarySearchFunc(sorted, bar, func(v, bar float64) int {
		if v > bar {
			return 1
		}
		return -1
	})
	return at
}
