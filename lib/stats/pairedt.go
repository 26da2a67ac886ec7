package stats

import (
	"errors"
	"math"
)

// PairedTResult is the outcome of a two-sided paired t test.
type PairedTResult struct {
	Mean Estimate `json:"mean"` // of the differences, with Student's 95 % interval
	T    float64  `json:"t"`    // mean / (s/sqrt(n)), n-1 degrees of freedom
	P    float64  `json:"p"`
	N    int      `json:"n"`
}

// PairedT is the two-sided t test of differences that are normal with mean 0 under the null. over
// is their unit ("models"). P is below 0.05 exactly if the interval excludes 0. [Wilcoxon] does
// not need normality, but with few differences it cannot reject: with 5 its smallest P is 0.0625.
//
// It refuses fewer than two differences, values that are not finite, and differences that are all
// equal.
func PairedT(diff []float64, over string) (PairedTResult, error) {
	s, err := SD(diff)
	if err != nil {
		return PairedTResult{}, err
	}
	if s == 0 {
		return PairedTResult{}, errors.New("stats.PairedT: all differences are the same")
	}
	n := float64(len(diff))
	r := PairedTResult{Mean: MeanInterval(diff, 0.95, over), N: len(diff)}
	r.T = r.Mean.Value / (s / math.Sqrt(n))
	r.P = studentTwoSided(r.T, n-1)
	return r, nil
}
