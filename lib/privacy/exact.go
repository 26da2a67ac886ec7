package privacy

import (
	"fmt"
	"math"
)

// mostExact bounds the features of which all subsets are looked at.
const mostExact = 16

// SmallestDelta is the least delta with
//
//	P(mask of x in S) <= exp(epsilon) P(mask of y in S) + delta  for every set S of masked records,
//
// and the same with x and y exchanged, for k draws from either record, computed over
// all subsets of its features (at most 16), where whoever looks can tell a masked
// feature from one in clear. It is what (epsilon, delta)-differential privacy asks of
// a pair of neighbours; a claim holds where no pair of neighbours has more than the
// claimed delta. The paper's neighbours are y = x with its last feature removed, k
// being the same; the usual ones have as many features and differ in the value of
// one. Rate is not used.
//
// What comes out, and why: a record that lacks the feature u cannot give what shows
// u, and of what does not show u it gives everything at least as often up to the
// factor exp(epsilon). Hence, for uniform draws and either relation,
//
//	delta = P(u is drawn),  at every epsilon from the claimed one to infinity, and at 0 too
//
// which is the claimed delta. Both claims hold, then, and nothing is wrong with the
// inequality; but its epsilon is idle ((0, delta) holds as well), and its delta is
// the whole of what happens: with so much chance (0.60, or 0.45 with replacement) the
// feature is sent as it is. That the scheme with replacement has the smaller delta
// says that it sends fewer features. Two records that differ in everything have
// delta 1.
//
// With Exponential weights the claims fail: which features are drawn speaks of the
// values. Three draws from six features of which one is 0 here and 1 there need a
// delta of 0.656 (claimed: 0.500), with replacement 0.575 (claimed: 0.421), the chance
// of the bright feature to be drawn.
func (m Masking) SmallestDelta(x, y []float32, k int, epsilon float64) (float64, error) {
	m = m.Resolved()
	if err := m.check(); err != nil {
		return 0, err
	}
	if m.Channels != 1 {
		return 0, fmt.Errorf("privacy: exact masking has features of one column, %d channels are asked for", m.Channels)
	}
	if !(epsilon >= 0) {
		return 0, fmt.Errorf("privacy: epsilon is %v", epsilon)
	}
	for what, v := range map[string][]float32{"x": x, "y": y} {
		if len(v) < 1 || len(v) > mostExact || k < 1 || !m.Replacement && k > len(v) {
			return 0, fmt.Errorf("privacy: exact masking draws %d of the %d features of %s; at most %d features can be looked at", k, len(v), what, mostExact)
		}
	}
	of, other := m.law(m.weights(x), k), m.law(m.weights(y), k)
	same := agree(x, y)
	return max(excess(of, other, same, epsilon), excess(other, of, same, epsilon)), nil
}

// law is the probability of every set of features, as bits, to be what is in clear
// after k draws.
func (m Masking) law(weights []float64, k int) []float64 {
	now := make([]float64, 1<<len(weights))
	now[0] = 1
	for range k {
		next := make([]float64, len(now))
		for set, p := range now {
			if p == 0 {
				continue
			}
			left := 0.0
			for j, w := range weights {
				if m.Replacement || set>>j&1 == 0 {
					left += w
				}
			}
			for j, w := range weights {
				if m.Replacement || set>>j&1 == 0 {
					next[set|1<<j] += float64(p * w / left)
				}
			}
		}
		now = next
	}
	return now
}

// agree are the features, as bits, that both have with the same value.
func agree(x, y []float32) (same int) {
	for j := range min(len(x), len(y)) {
		if x[j] == y[j] {
			same |= 1 << j
		}
	}
	return same
}

// excess is the sum of what one law has above exp(epsilon) times the other. A set
// that shows where the records differ has probability 0 in the other.
func excess(of, other []float64, same int, epsilon float64) float64 {
	sum := 0.0
	for set, p := range of {
		if set&^same == 0 && other[set] > 0 {
			p -= float64(math.Exp(epsilon) * other[set])
		}
		sum += max(0, p)
	}
	return sum
}
