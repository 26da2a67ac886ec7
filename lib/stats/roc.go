package stats

import (
	"fmt"
	"math"
	"slices"
)

// ROC returns the receiver operating characteristic of scores where higher means positive: for
// each threshold t, in descending order, the share of negatives and of positives with score >= t.
// The first point is (0, 0) with threshold +Inf, the last is (1, 1). There is one point per
// distinct score; no point is dropped. It refuses an empty sample and NaN.
func ROC(pos, neg []float64) (fpr, tpr, thresholds []float64, err error) {
	if err := checkScores("ROC", pos, neg); err != nil {
		return nil, nil, nil, err
	}
	bs := blocks(pos, neg)
	fpr, tpr, thresholds = []float64{0}, []float64{0}, []float64{math.Inf(1)}
	p, n := 0, 0
	for _, b := range slices.Backward(bs) {
		p, n = p+b.pos, n+b.neg
		fpr = append(fpr, float64(n)/float64(len(neg)))
		tpr = append(tpr, float64(p)/float64(len(pos)))
		thresholds = append(thresholds, b.value)
	}
	return fpr, tpr, thresholds, nil
}

// TPRAtFPR returns the largest true positive rate of a threshold whose false positive rate is at
// most fpr. It is conservative: it does not interpolate between points, and records with equal
// scores are called together. Under the null it is at most fpr on average. It refuses an empty
// sample, NaN, and an fpr outside [0, 1].
func TPRAtFPR(pos, neg []float64, fpr float64) (float64, error) {
	if err := checkScores("TPRAtFPR", pos, neg); err != nil {
		return 0, err
	}
	if !(fpr >= 0 && fpr <= 1) {
		return 0, fmt.Errorf("stats.TPRAtFPR: fpr is %v, want 0 <= fpr <= 1", fpr)
	}
	called, falsely := 0, 0
	for _, b := range slices.Backward(blocks(pos, neg)) {
		falsely += b.neg
		if float64(falsely)/float64(len(neg)) > fpr {
			break
		}
		called += b.pos
	}
	return float64(called) / float64(len(pos)), nil
}
