package stats

import (
	"math"
	"slices"
)

// KSTwoSample compares two samples: d is the largest distance of their empirical distributions,
// pvalue its two-sided Kolmogorov-Smirnov probability under one continuous distribution for both.
//
// Up to a million pairs pvalue is exact, however small, from the paths of the merged sample that
// leave the band |i/n - j/m| < d; beyond, it is that of a single sample of n m/(n + m) values, as
// in SciPy's method "asymp". Ties make it conservative. It refuses an empty sample and values that
// are not finite.
func KSTwoSample(x, y []float64) (d, pvalue float64, err error) {
	for _, s := range []struct {
		name   string
		values []float64
	}{{"x", x}, {"y", y}} {
		if err := checkFinite("KSTwoSample", s.name, s.values); err != nil {
			return 0, 0, err
		}
	}
	d = ksDistance(slices.Sorted(slices.Values(x)), slices.Sorted(slices.Values(y)))
	n, m := len(x), len(y)
	if n > 1_000_000/m {
		return d, ksSurvival(int(math.Round(float64(n)/float64(n+m)*float64(m))), d), nil
	}
	return d, pathsOutside(n, m, d), nil
}

// ksDistance returns d of sorted samples.
func ksDistance(x, y []float64) (d float64) {
	n, m := float64(len(x)), float64(len(y))
	for i, j := 0, 0; i < len(x) && j < len(y); {
		at := min(x[i], y[j])
		for i < len(x) && x[i] == at {
			i++
		}
		for j < len(y) && y[j] == at {
			j++
		}
		d = max(d, math.Abs(float64(i)/n-float64(j)/m))
	}
	return d
}

// pathsOutside returns the share of the merged orders of n and m values whose distance reaches d.
// Of the paths to (i, j) a share of i/(i+j) comes from (i-1, j). Only shares are added, so a small
// result has full precision.
func pathsOutside(n, m int, d float64) float64 {
	bar := d - 1e-9/float64(n)/float64(m) // distances are multiples of 1/(n m)
	row := make([]float64, m+1)
	for i := range n + 1 {
		for j := range m + 1 {
			switch {
			case math.Abs(float64(i)/float64(n)-float64(j)/float64(m)) >= bar:
				row[j] = 1
			case i+j == 0:
				row[j] = 0
			default:
				both, left := float64(i+j), 0.0
				if j > 0 {
					left = row[j-1]
				}
				row[j] = float64(float64(i)/both*row[j]) + float64(float64(j)/both*left)
			}
		}
	}
	return row[m]
}
