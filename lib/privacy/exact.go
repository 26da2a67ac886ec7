package privacy

import (
	"errors"
	"fmt"
	"math"
)

const (
	// maxExactFeatures bounds the features of which all subsets are looked at.
	maxExactFeatures = 16
	// maxExactSteps bounds the draws times the subsets times the features: some seconds.
	maxExactSteps = 1 << 30
)

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
	m = m.WithDefaults()
	if err := m.check(); err != nil {
		return 0, err
	}
	if m.Channels != 1 {
		return 0, fmt.Errorf("privacy: exact masking has features of one column, %d channels are asked for", m.Channels)
	}
	if !(epsilon >= 0) {
		return 0, fmt.Errorf("privacy: epsilon is %v", epsilon)
	}
	if err := errors.Join(m.checkExact("x", x, k), m.checkExact("y", y, k)); err != nil {
		return 0, err
	}
	of, other := m.subsetProbabilities(m.logWeights(x), k), m.subsetProbabilities(m.logWeights(y), k)
	same := equalFeatures(x, y)
	return min(1, max(hockeyStick(of, other, same, epsilon), hockeyStick(other, of, same, epsilon))), nil
}

func (m Masking) checkExact(what string, x []float32, k int) error {
	n := len(x)
	if n < 1 || n > maxExactFeatures || k < 1 || !m.Replacement && k > n {
		return fmt.Errorf("privacy: exact masking draws %d of the %d features of %s; at most %d features can be looked at", k, n, what, maxExactFeatures)
	}
	if k > maxExactSteps>>n/n {
		return fmt.Errorf("privacy: exact masking: %d draws from %d features take too long", k, n)
	}
	for j, v := range x {
		if v-v != 0 {
			return fmt.Errorf("privacy: exact masking: %s[%d] is %v", what, j, v)
		}
	}
	return nil
}

// subsetProbabilities is the probability of every set of features, as bits, to be what is in clear
// after k draws. Weights are taken relative to the largest that is left, so that those
// of features that are hardly ever drawn first do not vanish.
func (m Masking) subsetProbabilities(logWeights []float64, k int) []float64 {
	now := make([]float64, 1<<len(logWeights))
	now[0] = 1
	for range k {
		next := make([]float64, len(now))
		for set, p := range now {
			if p == 0 {
				continue
			}
			weights, all := m.remainingWeights(logWeights, set)
			for j, w := range weights {
				next[set|1<<j] += float64(p * w / all)
			}
		}
		now = next
	}
	return now
}

// remainingWeights are the weights of the features that can be drawn where a set of them is, and
// their sum; 0 of those that cannot.
func (m Masking) remainingWeights(logWeights []float64, set int) (weights []float64, all float64) {
	most := math.Inf(-1)
	for j, w := range logWeights {
		if m.Replacement || set>>j&1 == 0 {
			most = max(most, w)
		}
	}
	weights = make([]float64, len(logWeights))
	for j, w := range logWeights {
		if m.Replacement || set>>j&1 == 0 {
			weights[j] = math.Exp(w - most)
			all += weights[j]
		}
	}
	return weights, all
}

// equalFeatures are the features, as bits, that both have with the same value.
func equalFeatures(x, y []float32) (same int) {
	for j := range min(len(x), len(y)) {
		if x[j] == y[j] {
			same |= 1 << j
		}
	}
	return same
}

// hockeyStick is the sum of what one law has above exp(epsilon) times the other. A set
// that shows where the records differ has probability 0 in the other.
func hockeyStick(of, other []float64, same int, epsilon float64) float64 {
	sum := 0.0
	for set, p := range of {
		if set&^same == 0 && other[set] > 0 {
			p -= float64(math.Exp(epsilon) * other[set])
		}
		sum += max(0, p)
	}
	return sum
}
