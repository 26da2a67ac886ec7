package stats

import "math"

// DeLong returns the AUC with the interval of DeLong, DeLong and Clarke-Pearson (1988) over
// records. With m positives, n negatives and the placements
//
//	V10(i) = share of negatives below positive i (ties one half),
//	V01(j) = share of positives above negative j (ties one half),
//	var    = Var(V10)/m + Var(V01)/n,
//
// the interval is AUC -+ z sqrt(var), cut to [0, 1]. The null value is 0.5.
//
// In three cases the variance is zero or unknown, and an interval without width would be wrong. In
// these cases the interval uses k = min(m, n) disjoint pairs, which are independent:
//
//   - AUC = 1 (or 0): all k pairs are in order with probability at most AUC^k, so the exact bound is
//     [(alpha/2)^(1/k), 1] (or its mirror image), alpha = 1 - level. It is conservative.
//   - every score is equal, or one sample has a single record: Wilson's interval for AUC as a proportion of k
//     trials, since var(AUC) <= AUC(1-AUC)/k.
//
// It refuses an empty sample, NaN, and a level outside (0, 1).
func DeLong(pos, neg []float64, level float64) (Estimate, error) {
	if err := checkScores("DeLong", pos, neg); err != nil {
		return Estimate{}, err
	}
	if err := checkLevel("DeLong", level); err != nil {
		return Estimate{}, err
	}
	bs, m, n := blocks(pos, neg), len(pos), len(neg)
	auc, null := aucOf(twiceU(bs), m, n), 0.5
	low, high := delongInterval(bs, auc, m, n, level)
	return Estimate{Value: auc, Low: low, High: high, Level: level, Over: "records", Null: &null, N: m + n}, nil
}

// delongInterval returns the normal interval, or its replacement in the cases above.
func delongInterval(bs []block, auc float64, m, n int, level float64) (low, high float64) {
	z := normalQuantile(0.5 + level/2)
	if auc == 0 || auc == 1 {
		width := 1 - math.Pow((1-level)/2, 1/float64(min(m, n)))
		return math.Max(0, auc-width), math.Min(1, auc+width)
	}
	v := delongVariance(bs, auc, m, n)
	if min(m, n) < 2 || v == 0 {
		return wilson(auc, float64(min(m, n)), z)
	}
	h := float64(z * math.Sqrt(v))
	return math.Max(0, auc-h), math.Min(1, auc+h)
}

// delongVariance returns DeLong's variance of the AUC; NaN or infinite where a
// sample has one record.
func delongVariance(bs []block, auc float64, m, n int) float64 {
	var s10, s01 accumulator
	negBelow, posAbove := 0, m
	for _, b := range bs {
		posAbove -= b.pos
		v10 := (float64(negBelow) + float64(b.neg)/2) / float64(n)
		v01 := (float64(posAbove) + float64(b.pos)/2) / float64(m)
		s10.add(float64(b.pos) * (v10 - auc) * (v10 - auc))
		s01.add(float64(b.neg) * (v01 - auc) * (v01 - auc))
		negBelow += b.neg
	}
	return s10.value()/float64(m-1)/float64(m) + s01.value()/float64(n-1)/float64(n)
}
