package fisher

import (
	"fmt"
	"math"
	"slices"
)

// EffectiveRank is the effective number of weights that carry the information: the exponential of
// the entropy of its shares,
//
//	exp(- sum_i q_i ln q_i),   q_i = F_i / sum_j F_j
//
// between 1 (one weight has it all) and the number of weights (all have the same). Divided by that
// number it is the paper's ratio. A dead weight counts in the number.
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

// TopShared is the share of a's largest entries that are among b's largest. The largest are a share
// of all weights, rounded down and at least one; of equal entries the first count. Null: share
// itself, for entries in random order. Higher is more overlap, 1 at most.
func TopShared(a, b Diagonal, share float64) (float64, error) {
	if err := checkSameTensors(a, b); err != nil {
		return 0, err
	}
	if !(share > 0 && share <= 1) {
		return 0, fmt.Errorf("fisher: the largest %v of the weights; want a share above 0, at most 1", share)
	}
	k := max(1, int(share*float64(a.Size())))
	x, y := markLargest(a, k), markLargest(b, k)
	both := 0
	for i := range x {
		if x[i] && y[i] {
			both++
		}
	}
	return float64(both) / float64(k), nil
}

// TopShares holds the shares of the largest entries that two diagonals have in common.
type TopShares struct {
	One float64 `json:"one"` // of the largest 1 %; null 0.01
	Ten float64 `json:"ten"` // of the largest 10 %; null 0.1
}

// TopSharesByCategory returns TopShared of 1 % and of 10 %, by category and for all tensors.
// Tensors that are dead in both are left out, unless dead says that they count among the weights.
func TopSharesByCategory(a, b Diagonal, category func(tensor string) string, dead bool) (map[string]TopShares, error) {
	if err := checkSameTensors(a, b); err != nil {
		return nil, err
	}
	gone, names := map[string]bool{}, map[string]bool{Global: true}
	if !dead {
		gone = deadTensors(a, b)
	}
	for _, t := range a.Tensors {
		if name := category(t.Name); name != "" {
			names[name] = true
		}
	}
	out := map[string]TopShares{}
	for name := range names {
		is := func(t string) bool { return !gone[t] && (name == Global || category(t) == name) }
		x, y := a.Filter(is), b.Filter(is)
		if len(x.Tensors) == 0 {
			continue
		}
		var t TopShares
		var err error
		if t.One, err = TopShared(x, y, 0.01); err == nil {
			t.Ten, err = TopShared(x, y, 0.1)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out[name] = t
	}
	return out, nil
}

// markLargest marks the k largest entries.
func markLargest(d Diagonal, k int) []bool {
	bar, above := kthLargest(d, k)
	marked, equal := make([]bool, 0, d.Size()), k-above
	for _, t := range d.Tensors {
		for _, v := range t.Values {
			is := v > bar
			if v == bar && equal > 0 {
				is = true
				equal--
			}
			marked = append(marked, is)
		}
	}
	return marked
}

// kthLargest returns the k-th largest entry, and how many are larger. Entries are not negative, so
// that they are ordered as their bits are: the leading bits assign each entry to one of 2^16 bins,
// and only one bin is sorted.
func kthLargest(d Diagonal, k int) (bar float64, above int) {
	const low = 48
	bin := func(v float64) uint64 { return math.Float64bits(v+0) >> low } // -0 is 0
	counts := make([]int, 1<<(64-low))
	for _, t := range d.Tensors {
		for _, v := range t.Values {
			counts[bin(v)]++
		}
	}
	at := uint64(len(counts) - 1)
	for above+counts[at] < k {
		above += counts[at]
		at--
	}
	var in []float64
	for _, t := range d.Tensors {
		for _, v := range t.Values {
			if bin(v) == at {
				in = append(in, v)
			}
		}
	}
	slices.Sort(in)
	bar = in[len(in)-(k-above)]
	return bar, above + len(in) - firstAbove(in, bar)
}

// firstAbove returns the index of the first value above bar.
func firstAbove(sorted []float64, bar float64) int {
	at, _ := slices.BinarySearchFunc(sorted, bar, func(v, bar float64) int {
		if v > bar {
			return 1
		}
		return -1
	})
	return at
}
