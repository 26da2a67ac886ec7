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
// It is too short for few records and for an AUC near 1. Of 20,000 intervals of 95 %, of normal scores, these shares hold the AUC:
//
//	positives, negatives    AUC    DeLong    AUCOdds
//	2, 200                  0.5    0.68      0.88
//	2, 200                  0.8    0.63      0.86
//	5, 200                  0.5    0.88      0.95
//	5, 200                  0.8    0.81      0.93
//	5, 200                  0.9    0.75      0.89
//	10, 200                 0.5    0.92      0.96
//	10, 200                 0.8    0.89      0.94
//	10, 200                 0.95   0.78      0.89
//	20, 200                 0.95   0.85      0.92
//	20, 20                  0.98   0.86      0.98
//	50, 50                  0.98   0.86      0.94
//	100, 100                0.99   0.87      0.94
//
// Readings of lenses and attacks, which are in the store and in committed tables, are DeLong's all the same; a verdict
// on few records also needs a value beyond the chance floor.
//
// It refuses an empty sample, NaN, and a level outside (0, 1).
func DeLong(pos, neg []float64, level float64) (Estimate, error) {
	return recordsAUC("DeLong", pos, neg, level, delongInterval)
}

// AUCOdds returns the AUC with the interval of ClusterAUC for independent records: that of the logarithm of the odds,
// with DeLong's variance, its two terms a and b of the sum, and Student's t with Satterthwaite's degrees of freedom,
//
//	log(AUC/(1-AUC)) -+ t sqrt(a+b)/(AUC (1-AUC)),   freedom = (a+b)^2 / (a^2/(m-1) + b^2/(n-1))
//
// Where DeLong replaces its normal interval it is DeLong's. It covers better for few records and near 0 and 1; see the
// table of DeLong. It refuses what DeLong refuses.
func AUCOdds(pos, neg []float64, level float64) (Estimate, error) {
	return recordsAUC("AUCOdds", pos, neg, level, aucOddsInterval)
}

// aucInterval returns the interval of an AUC over independent records.
type aucInterval func(bs []block, auc float64, m, n int, level float64) (low, high float64)

// recordsAUC returns the AUC over independent records with an interval.
func recordsAUC(fn string, pos, neg []float64, level float64, interval aucInterval) (Estimate, error) {
	if err := checkScores(fn, pos, neg); err != nil {
		return Estimate{}, err
	}
	if err := checkLevel(fn, level); err != nil {
		return Estimate{}, err
	}
	bs, m, n := blocks(pos, neg), len(pos), len(neg)
	auc, null := aucOf(twiceU(bs), m, n), 0.5
	low, high := interval(bs, auc, m, n, level)
	return Estimate{Value: auc, Low: low, High: high, Level: level, Over: "records", Null: &null, N: m + n}, nil
}

// aucOddsInterval returns the interval of AUCOdds.
func aucOddsInterval(bs []block, auc float64, m, n int, level float64) (low, high float64) {
	a, b := delongVariances(bs, auc, m, n)
	if v := a + b; auc > 0 && auc < 1 && min(m, n) > 1 && v > 0 {
		return oddsInterval(auc, v, v*v/(a*a/float64(m-1)+b*b/float64(n-1)), level)
	}
	return delongInterval(bs, auc, m, n, level)
}

// oddsInterval returns the interval of the logarithm of the odds of an AUC between 0 and 1, with Student's t.
func oddsInterval(auc, v, freedom, level float64) (low, high float64) {
	at := math.Log(auc / (1 - auc))
	h := studentQuantile(0.5+level/2, freedom) * math.Sqrt(v) / (auc * (1 - auc))
	return 1 / (1 + math.Exp(h-at)), 1 / (1 + math.Exp(-h-at))
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
	ofPos, ofNeg := delongVariances(bs, auc, m, n)
	return ofPos + ofNeg
}

// delongVariances returns its two terms, of the positives and of the negatives.
func delongVariances(bs []block, auc float64, m, n int) (ofPos, ofNeg float64) {
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
	return s10.value() / float64(m-1) / float64(m), s01.value() / float64(n-1) / float64(n)
}
