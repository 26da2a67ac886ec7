// k-means clustering.

package utility

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/progress"
)

// KMeans partitions records into K clusters with a small inertia,
//
//	sum_i ||x_i - c_(l_i)||^2
//
// with c_l the mean of the records of cluster l: Lloyd's algorithm from centres drawn by
// k-means++, the best of several starts. The defaults of Restarts and Steps are scikit-learn's.
//
// Differences from scikit-learn's KMeans: (1) it stops when no record changes its cluster, not
// when the centres move less than 1e-4 of the variance; (2) the random numbers differ, so the
// partition is the same only if both find the best one.
type KMeans struct {
	K        int
	Restarts int // 0: 10
	Steps    int // at most, per start; 0: 300
}

// Partition returns a number below K per record, and the inertia. It refuses fewer records than
// clusters and values that are not finite.
func (m KMeans) Partition(x array.Matrix[float64], rng *rand.Rand) (labels []int, inertia float64, err error) {
	if err := x.Check("records"); err != nil {
		return nil, 0, fmt.Errorf("utility.KMeans: %w", err)
	}
	m.Restarts, m.Steps = cmp.Or(m.Restarts, 10), cmp.Or(m.Steps, 300)
	if m.K < 1 || m.K > x.Rows || m.Restarts < 0 || m.Steps < 0 || rng == nil {
		return nil, 0, fmt.Errorf("utility.KMeans: %d groups of %d records, %d starts of %d steps, generator %v",
			m.K, x.Rows, m.Restarts, m.Steps, rng != nil)
	}
	inertia = math.Inf(1)
	task := progress.Begin("k-means", m.Restarts)
	defer task.Done()
	for range m.Restarts {
		if l, sum := m.lloyd(x, kMeansPlusPlus(x, m.K, rng)); sum < inertia {
			labels, inertia = l, sum
		}
		task.Add(1)
	}
	return labels, inertia, nil
}

// kMeansPlusPlus returns the initial centres of k-means++: each is drawn in proportion to its
// squared distance from the centres before; of 2 + log K draws the one with the smallest remaining
// sum is taken, as in scikit-learn.
func kMeansPlusPlus(x array.Matrix[float64], k int, rng *rand.Rand) array.Matrix[float64] {
	picked := []int{rng.IntN(x.Rows)}
	left := withCentre(x, picked[0], slices.Repeat([]float64{math.Inf(1)}, x.Rows))
	for len(picked) < k {
		best, bestLeft, bestSum := 0, left, math.Inf(1)
		for range 2 + int(math.Log(float64(k))) {
			i := weightedIndex(left, rng)
			now := withCentre(x, i, left)
			if s := sum(now); s < bestSum {
				best, bestLeft, bestSum = i, now, s
			}
		}
		picked, left = append(picked, best), bestLeft
	}
	return x.Gather(picked)
}

// withCentre returns the squared distances to the nearest centre after adding row i as a centre.
func withCentre(x array.Matrix[float64], i int, before []float64) []float64 {
	out := make([]float64, x.Rows)
	for r := range out {
		out[r] = min(before[r], squaredDistance(x.Row(r), x.Row(i)))
	}
	return out
}

// weightedIndex draws an index in proportion to its weight, uniformly if all weights are 0.
func weightedIndex(weights []float64, rng *rand.Rand) int {
	at := rng.Float64() * sum(weights)
	for i, w := range weights {
		if at -= w; at < 0 {
			return i
		}
	}
	return rng.IntN(len(weights))
}

func sum(v []float64) (total float64) {
	for _, x := range v {
		total += x
	}
	return total
}

func squaredDistance(a, b []float64) (total float64) {
	for j, v := range a {
		d := v - b[j]
		total += float64(d * d)
	}
	return total
}

// lloyd assigns records to the nearest centre and moves centres to the mean of their records until
// no record changes.
func (m KMeans) lloyd(x, centres array.Matrix[float64]) ([]int, float64) {
	labels, distance := make([]int, x.Rows), make([]float64, x.Rows)
	for step := range m.Steps {
		moved := step == 0
		for i := range labels {
			best, least := 0, math.Inf(1)
			for l := range m.K {
				if d := squaredDistance(x.Row(i), centres.Row(l)); d < least {
					best, least = l, d
				}
			}
			moved = moved || best != labels[i]
			labels[i], distance[i] = best, least
		}
		if !moved {
			break
		}
		centres = means(x, labels, distance, m.K)
	}
	return labels, sum(distance)
}

// means returns the means of the clusters. An empty cluster restarts at the record that is
// farthest from its centre.
func means(x array.Matrix[float64], labels []int, distance []float64, k int) array.Matrix[float64] {
	out, size := array.New[float64](k, x.Cols), make([]float64, k)
	for i, l := range labels {
		size[l]++
		for j, v := range x.Row(i) {
			out.Row(l)[j] += v
		}
	}
	far := slices.Clone(distance)
	for l := range k {
		if size[l] == 0 {
			i := slices.Index(far, slices.Max(far))
			copy(out.Row(l), x.Row(i))
			far[i], size[l] = 0, 1
		}
		for j := range out.Row(l) {
			out.Row(l)[j] /= size[l]
		}
	}
	return out
}
