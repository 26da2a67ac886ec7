package attack

import (
	"math"
	"slices"
	"sort"
)

// bestThreshold returns the candidate with the highest balanced accuracy, the smallest of them if
// tied, and that accuracy. It sorts once and takes two binary searches per candidate.
func bestThreshold(s Samples, limit int) (tau, accuracy float64) {
	in, out := slices.Sorted(slices.Values(s.Members)), slices.Sorted(slices.Values(s.Nonmembers))
	accuracy = -1
	for _, t := range candidates(slices.Concat(in, out), limit) {
		acc := recallMean(sort.SearchFloat64s(in, t), len(in), len(out)-sort.SearchFloat64s(out, t), len(out))
		if acc > accuracy {
			tau, accuracy = t, acc
		}
	}
	return tau, accuracy
}

// balancedAccuracy is the mean of the share of members below tau and the share
// of non-members not below it.
func balancedAccuracy(s Samples, tau float64) float64 {
	hits, rejected := 0, 0
	for _, l := range s.Members {
		if l < tau {
			hits++
		}
	}
	for _, l := range s.Nonmembers {
		if !(l < tau) {
			rejected++
		}
	}
	return recallMean(hits, len(s.Members), rejected, len(s.Nonmembers))
}

// recallMean divides before it adds, so that equal accuracies of different thresholds tie exactly
// as in the published program.
func recallMean(hits, members, rejected, nonmembers int) float64 {
	return (float64(rejected)/float64(nonmembers) + float64(hits)/float64(members)) / 2
}

// candidates returns the thresholds to try, in ascending order. If there are many distinct losses
// they lie between quantiles, which keeps frequent losses frequent.
func candidates(losses []float64, limit int) []float64 {
	slices.Sort(losses)
	levels := slices.Compact(slices.Clone(losses))
	if len(levels) > limit {
		levels = quantiles(losses, limit)
	}
	out := []float64{math.Inf(-1)}
	for k := 1; k < len(levels); k++ {
		out = append(out, (levels[k-1]+levels[k])/2)
	}
	return append(out, math.Inf(1))
}

// quantiles returns count equally spaced quantiles of sorted values with NumPy's
// default interpolation, from the nearer end.
func quantiles(sorted []float64, count int) []float64 {
	out := make([]float64, count)
	last := len(sorted) - 1
	step := 1 / float64(count-1)
	for k := range out {
		at := float64(float64(last) * float64(float64(k)*step))
		i := int(at)
		if k == count-1 || i >= last {
			out[k] = sorted[last]
			continue
		}
		t, gap := at-float64(i), sorted[i+1]-sorted[i]
		if t < 0.5 {
			out[k] = sorted[i] + float64(gap*t)
		} else {
			out[k] = sorted[i+1] - float64(gap*(1-t))
		}
	}
	return out
}
