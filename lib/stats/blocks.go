package stats

import "slices"

// block is one distinct score with its numbers of positives and negatives. A sequence of blocks
// determines the ROC curve.
type block struct {
	value    float64
	pos, neg int
}

// blocks pools two samples and returns their distinct scores in ascending order;
// O(n log n).
func blocks(pos, neg []float64) []block {
	p, q := slices.Sorted(slices.Values(pos)), slices.Sorted(slices.Values(neg))
	out := make([]block, 0, len(p)+len(q))
	for len(p) > 0 || len(q) > 0 {
		b := block{value: smaller(p, q)}
		b.pos, p = takeEqual(p, b.value)
		b.neg, q = takeEqual(q, b.value)
		out = append(out, b)
	}
	return out
}

// smaller returns the smallest value at the head of two sorted slices, of which
// at most one is empty.
func smaller(p, q []float64) float64 {
	if len(q) == 0 || (len(p) > 0 && p[0] <= q[0]) {
		return p[0]
	}
	return q[0]
}

// takeEqual counts the leading values equal to v and returns what follows them.
func takeEqual(s []float64, v float64) (int, []float64) {
	n := 0
	for n < len(s) && s[n] == v {
		n++
	}
	return n, s[n:]
}

// twiceU returns 2U, where U is the number of (positive, negative) pairs in which the positive has
// the higher score, a tie counting one half. 2U is an integer, so the result is exact.
func twiceU(bs []block) int64 {
	var total, below int64
	for _, b := range bs {
		total += int64(b.pos) * (2*below + int64(b.neg))
		below += int64(b.neg)
	}
	return total
}

// aucOf turns 2U into the area under the ROC curve.
func aucOf(twiceU int64, nPos, nNeg int) float64 {
	return float64(twiceU) / (2 * float64(nPos) * float64(nNeg))
}
