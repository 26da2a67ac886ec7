package toy

import (
	"math"
	"slices"

	"github.com/lethe-ml/lethe/lib/verify/sde"
)

// permutedMeans returns the mean exact H of the batches after each of n random permutations of
// their records into batches of the same size. If batches have no effect, the true batches are
// one more such permutation, so that their rank among the values is an exact test.
func (l *layerProbe) permutedMeans(n int) ([]float64, error) {
	rows := slices.Concat(l.sets.same...)
	d := newPermuter(l.act.Gather(rows))
	size := len(l.sets.same[0])
	out := make([]float64, n)
	for i := range out {
		if err := l.ctx.Err(); err != nil {
			return nil, err
		}
		out[i] = d.mean(l.stream(streamPermutation, l.layer, uint64(i)).Perm(len(rows)), size)
	}
	return out, nil
}

// permuter computes the exact mean of H from pairs: with k the Gaussian kernel, sigma^2 the
// number of columns, and n records in a half,
//
//	tr(Kc)/(n-1) = mean over pairs i < j of (1 - k(x_i, x_j)),
//	E[H] = tr(Kc) tr(Lc)/(n-1)^3 = spread of half 1 * spread of half 2/(n-1).
//
// So H of a set depends only on the distances of its records, in pairs within each half: a batch
// has a higher H than other sets only if its records are less similar than records of different
// batches.
type permuter struct {
	act     sde.Matrix
	squares []float64
}

func newPermuter(act sde.Matrix) *permuter {
	d := &permuter{act: act, squares: make([]float64, act.Rows)}
	for i := range d.squares {
		d.squares[i] = dot(act.Row(i), act.Row(i))
	}
	return d
}

// mean is the mean exact H over the sets that result from cutting an order of the rows into
// pieces of the given size.
func (d *permuter) mean(order []int, size int) float64 {
	var total float64
	sets, half := len(order)/size, size/2
	for k := range sets {
		set := order[k*size : (k+1)*size]
		total += d.spread(set[:half]) * d.spread(set[half:2*half]) / float64(half-1)
	}
	return total / float64(sets)
}

func (d *permuter) spread(rows []int) float64 {
	var sum float64
	scale := -1 / (2 * float64(d.act.Cols))
	for a, i := range rows {
		x := d.act.Row(i)
		for _, j := range rows[:a] {
			distance := d.squares[i] + d.squares[j] - float64(2*dot(x, d.act.Row(j)))
			sum -= math.Expm1(scale * max(0, distance))
		}
	}
	return sum / (float64(len(rows)) * float64(len(rows)-1) / 2)
}

// dot is the inner product in four partial sums, in a fixed order.
func dot(x, y []float64) float64 {
	var s0, s1, s2, s3 float64
	y = y[:len(x)]
	k := 0
	for ; k+4 <= len(x); k += 4 {
		s0 += float64(x[k] * y[k])
		s1 += float64(x[k+1] * y[k+1])
		s2 += float64(x[k+2] * y[k+2])
		s3 += float64(x[k+3] * y[k+3])
	}
	for ; k < len(x); k++ {
		s0 += float64(x[k] * y[k])
	}
	return s0 + s1 + (s2 + s3)
}
