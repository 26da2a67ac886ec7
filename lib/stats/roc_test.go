package stats

import (
	"math"
	"testing"
)

// scikit-learn 1.9.1, metrics.roc_curve(..., drop_intermediate=False).
func TestROCMatchesScikitLearn(t *testing.T) {
	fpr, tpr, th, err := ROC(goldenPos, goldenNeg)
	must(t, err)
	nearAll(t, "fpr", fpr, []float64{0, 0, 0.1, 0.1, 0.1, 0.2, 0.2, 0.4, 0.5, 0.6, 0.6, 0.7, 0.8, 0.9, 1}, 1e-15)
	nearAll(t, "tpr", tpr, []float64{0, 0.125, 0.125, 0.375, 0.5, 0.5, 0.625, 0.75, 0.75, 0.875, 1, 1, 1, 1, 1}, 1e-15)
	nearAll(t, "thresholds", th, []float64{math.Inf(1), 0.9, 0.85, 0.8, 0.7, 0.6, 0.55, 0.5, 0.45, 0.4, 0.35, 0.3, 0.2, 0.15, 0.1}, 0)
}

func TestAreaUnderTheROCIsTheAUC(t *testing.T) {
	rng := newRNG(11)
	for range 50 {
		pos, neg := tied(rng, 14, 7), tied(rng, 11, 7)
		fpr, tpr, _, err := ROC(pos, neg)
		must(t, err)
		area := 0.0
		for i := 1; i < len(fpr); i++ {
			area += (fpr[i] - fpr[i-1]) * (tpr[i] + tpr[i-1]) / 2
		}
		checkClose(t, "area", area, auc(t, pos, neg), 1e-14)
	}
}

func TestTPRAtFPRTakesTheBestThresholdThatKeepsTheLimit(t *testing.T) {
	rng := newRNG(12)
	for range 200 {
		pos, neg := tied(rng, 1+rng.IntN(15), 7), tied(rng, 1+rng.IntN(15), 7)
		limit := float64(rng.IntN(11)) / 10
		fpr, tpr, _, err := ROC(pos, neg)
		must(t, err)
		want := 0.0
		for i := range fpr {
			if fpr[i] <= limit {
				want = math.Max(want, tpr[i])
			}
		}
		got, err := TPRAtFPR(pos, neg, limit)
		must(t, err)
		if got != want {
			t.Errorf("TPR at FPR %v is %v, want %v", limit, got, want)
		}
	}
}

func TestTPRAtFPRDoesNotSplitATie(t *testing.T) {
	pos, neg := []float64{3, 2, 2, 2}, []float64{2, 1, 1, 1}
	for _, c := range []struct{ fpr, want float64 }{{0, 0.25}, {0.24, 0.25}, {0.25, 1}, {1, 1}} {
		got, err := TPRAtFPR(pos, neg, c.fpr)
		must(t, err)
		if got != c.want {
			t.Errorf("TPR at FPR %v is %v, want %v", c.fpr, got, c.want)
		}
	}
}

func TestTPRAtFPRIsAboutFPRUnderTheNull(t *testing.T) {
	rng := newRNG(13)
	sum := 0.0
	for range 500 {
		v, err := TPRAtFPR(normals(rng, 100, 0), normals(rng, 100, 0), 0.1)
		must(t, err)
		sum += v
	}
	// The expected value is 11/101 minus what the rule gives away at the edge; the
	// standard error of the mean of 500 is 0.002.
	checkClose(t, "mean TPR at FPR 0.1", sum/500, 0.1, 0.012)
}
