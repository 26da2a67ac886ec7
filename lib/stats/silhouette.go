package stats

import (
	"fmt"
	"math"
	"slices"
)

// Silhouette returns Rousseeuw's (1987) silhouette of n labelled records, and its mean over them.
// For record i, with a the mean distance to the other records of its label and b the smallest mean
// distance to the records of another label,
//
//	s_i = (b - a) / max(a, b)
//
// in [-1, 1]: near 1 inside its own cluster, 0 between two. A record that is alone with its label
// has 0. Labels that are unrelated to the distances have a mean near 0 or below. distance is
// called once for each i < j. It refuses labels that are all equal, and distances that are
// negative or not finite.
func Silhouette(labels []int, distance func(i, j int) float64) (mean float64, each []float64, err error) {
	names := slices.Clone(labels)
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) < 2 {
		return 0, nil, fmt.Errorf("stats.Silhouette: %d records have %d different labels, want at least 2", len(labels), len(names))
	}
	labelOf, size := make([]int, len(labels)), make([]float64, len(names))
	for i, l := range labels {
		labelOf[i], _ = slices.BinarySearch(names, l)
		size[labelOf[i]]++
	}
	sums := make([][]float64, len(labels)) // of the distances to the records of each label
	for i := range sums {
		sums[i] = make([]float64, len(names))
	}
	for i := range labels {
		for j := i + 1; j < len(labels); j++ {
			d := distance(i, j)
			if !(d >= 0) || math.IsInf(d, 0) {
				return 0, nil, fmt.Errorf("stats.Silhouette: the distance of records %d and %d is %v", i, j, d)
			}
			sums[i][labelOf[j]] += d
			sums[j][labelOf[i]] += d
		}
	}
	each = make([]float64, len(labels))
	for i, own := range labelOf {
		if size[own] > 1 {
			each[i] = silhouette(sums[i], size, own)
		}
	}
	return meanOf(each), each, nil
}

func silhouette(sums, size []float64, own int) float64 {
	a, b := sums[own]/(size[own]-1), math.Inf(1)
	for c, s := range sums {
		if c != own {
			b = min(b, s/size[c])
		}
	}
	if most := max(a, b); most > 0 {
		return (b - a) / most
	}
	return 0
}
