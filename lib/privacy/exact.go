// The smallest delta of random masking for two records, by enumeration of all sets of features.

package privacy

import (
	"errors"
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/lib/defaults"
)

const (
	// maxExactFeatures bounds the number of features whose subsets are all enumerated.
	maxExactFeatures = 16
	// maxExactSteps bounds draws x subsets x features, so that it takes seconds.
	maxExactSteps = 1 << 30
)

// SmallestDelta is the smallest delta with
//
//	P(mask of x in S) <= exp(epsilon) P(mask of y in S) + delta  for every set S of masked records,
//
// and the same with x and y exchanged, for k draws from either record. It is computed over all
// subsets of the features (at most 16). The observer can tell a masked feature from an unmasked
// one. This is the condition of (epsilon, delta)-differential privacy for one pair of
// neighbours; a claim holds if no pair of neighbours needs more than the claimed delta. The
// paper's neighbours are y = x without its last feature, with the same k. The usual neighbours
// have as many features and differ in one value. Rate is not used.
//
// Result: a record without the feature u cannot produce an output that shows u. It produces
// every other output at least as often, up to the factor exp(epsilon). Hence, for uniform draws
// and either relation,
//
//	delta = P(u is drawn),  at every epsilon from the claimed one to infinity, and at 0 too
//
// which is the claimed delta. Both claims hold. But epsilon plays no part, because (0, delta)
// holds as well, and delta is large: with that probability (0.60, or 0.45 with replacement) the
// feature is sent as it is. The scheme with replacement has the smaller delta because it sends
// fewer features. Two records that differ in every feature have delta 1.
//
// With Exponential weights the claims fail, because the choice of features depends on their
// values. Three draws from six features, one of which is 0 in x and 1 in y, need a delta of
// 0.656 (claimed: 0.500), with replacement 0.575 (claimed: 0.421). That is the probability that
// the bright feature is drawn.
func (m Masking) SmallestDelta(x, y []float32, k int, epsilon float64) (float64, error) {
	m = defaults.Fill(m)
	if err := m.check(); err != nil {
		return 0, err
	}
	if m.Channels != 1 {
		return 0, fmt.Errorf("privacy: exact masking needs one channel, not %d", m.Channels)
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
		return fmt.Errorf("privacy: exact masking draws %d of the %d features of %s; at most %d features are possible", k, n, what, maxExactFeatures)
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

// subsetProbabilities is the probability of every set of features, as bits, to be the drawn set
// after k draws. Weights are relative to the largest remaining one, so that those of unlikely
// features do not underflow.
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

// remainingWeights are the weights of the features that can still be drawn after a set of them,
// and their sum. Features that cannot be drawn have weight 0.
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

// equalFeatures are the features, as bits, that have the same value in both records.
func equalFeatures(x, y []float32) (same int) {
	for j := range min(len(x), len(y)) {
		if x[j] == y[j] {
			same |= 1 << j
		}
	}
	return same
}

// hockeyStick is the sum over sets of max(0, p - exp(epsilon) q). A set that shows a feature in
// which the records differ has probability 0 under the other.
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
