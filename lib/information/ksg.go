// The nearest-neighbour estimator of Kraskov, Stögbauer and Grassberger.

package information

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/progress"
	"github.com/lethe-ml/lethe/lib/stats"
)

// KSG is the first estimator of Kraskov, Stögbauer and Grassberger (Phys. Rev. E 69,
// 066138, 2004, equation 8), from nearest neighbours:
//
//	I = psi(K) + psi(N) - mean over records of (psi(n_x + 1) + psi(n_y + 1))
//
// where n_x and n_y count the records that are closer in x, or in y, than the K-th
// neighbour is in both. The distance is the largest difference over the columns, in units
// of each column's standard deviation. K = 0 means 3. It trains no network; its time grows
// with the square of the number of records.
//
// In nats; null 0; lower means that less was found. It can be slightly below 0. In many
// dimensions it is too low, because the nearest of few records are far away. The interval
// is over records. Since neighbours depend on each other it is made of the estimates of
// three to ten random parts of the records, of 75 records each where there are enough,
// scaled to the whole (Holmes and Nemenman, Phys. Rev. E 100, 022404, 2019). The value
// depends neither on the seed nor on the order of the records.
//
// It needs distinct values: records that share x, or y, are an error. Jitter adds normal
// noise of that many standard deviations to all columns, drawn from the seed; the estimate
// is then that of the noisy values.
type KSG struct {
	K      int     `json:"k,omitempty"`      // neighbours; 0: 3
	Jitter float64 `json:"jitter,omitempty"` // in standard deviations; 0: none
}

var _ Estimator = KSG{}

// Name implements Estimator.
func (KSG) Name() string { return "ksg" }

// About implements Estimator.
func (KSG) About() string { return "counts of neighbours (Kraskov et al.), no network" }

// Estimate implements Estimator. It needs at least ten times K + 1 pairs.
func (m KSG) Estimate(ctx context.Context, _ *engine.Engine, p Pairs, seed engine.Root) (*Reading, error) {
	m.K = cmp.Or(m.K, 3)
	if m.K < 1 || !(m.Jitter >= 0) || math.IsInf(m.Jitter, 1) {
		return nil, fmt.Errorf("information: %s: %d neighbours, noise of %v deviations", m.Name(), m.K, m.Jitter)
	}
	if err := p.check(m, 10*(m.K+1)); err != nil {
		return nil, err
	}
	ctx, task := progress.Start(ctx, m.Name(), 2*p.X.Rows)
	defer task.Done()
	rng := seed.Stream(engine.StreamPairs)
	p = m.standardize(p, rng)
	value, err := m.value(ctx, p, task)
	if err != nil {
		return nil, fmt.Errorf("information: %s: %w", m.Name(), err)
	}
	order, each := rng.Perm(p.X.Rows), make([]float64, max(3, min(10, p.X.Rows/75)))
	for k := range each {
		part := p.gather(order[k*len(order)/len(each) : (k+1)*len(order)/len(each)])
		if each[k], err = m.value(ctx, part, task); err != nil {
			return nil, fmt.Errorf("information: %s: %w", m.Name(), err)
		}
	}
	out := newReading(stats.MeanInterval(each, 0.95, "records"))
	out.Low, out.High = out.Low+value-out.Value, out.High+value-out.Value
	out.Value, out.N = value, p.X.Rows
	return out, nil
}

// value returns the estimate without an interval. It counts every record in the task.
func (m KSG) value(ctx context.Context, p Pairs, task *progress.Task) (float64, error) {
	n, psi := p.X.Rows, digammas(p.X.Rows)
	each, same := make([]float64, n), make([]error, n)
	array.Split(n, func(from, to int) {
		for i := from; i < to && ctx.Err() == nil; i++ {
			nx, ny, err := m.countNearer(p, i)
			task.Add(1)
			each[i], same[i] = (psi[nx+1]+psi[ny+1])/float64(n), err
		}
	})
	if err := cmp.Or(slices.Insert(same, 0, ctx.Err())...); err != nil {
		return math.NaN(), err
	}
	slices.Sort(each) // so that the order of the records does not matter
	var sum float64
	for _, v := range each {
		sum += v
	}
	return psi[m.K] + psi[n] - sum, nil
}

// standardize returns the pairs with columns of standard deviation 1, with noise if Jitter
// is set.
func (m KSG) standardize(p Pairs, rng *rand.Rand) Pairs {
	all := make([]int, p.X.Rows)
	for i := range all {
		all[i] = i
	}
	p = p.gather(all)
	for _, side := range []array.Matrix[float64]{p.X, p.Y} {
		newStandardizer(side).apply(side)
		if m.Jitter == 0 {
			continue
		}
		for i := range side.Data {
			side.Data[i] += m.Jitter * rng.NormFloat64()
		}
	}
	return p
}

// countNearer counts the records that are closer to record i in x, and in y, than its K-th
// neighbour in both.
func (m KSG) countNearer(p Pairs, i int) (nx, ny int, err error) {
	dx, dy := distances(p.X, i), distances(p.Y, i)
	var nearest []float64 // the K smallest distances in both so far
	for j := range dx {
		if j == i {
			continue
		}
		if dx[j] == 0 || dy[j] == 0 {
			return 0, 0, m.tieError(i, j, dx[j] == 0)
		}
		both := max(dx[j], dy[j])
		if len(nearest) == m.K && both >= nearest[m.K-1] {
			continue
		}
		at, _ := slices.BinarySearch(nearest, both)
		nearest = slices.Insert(nearest, at, both)[:min(m.K, len(nearest)+1)]
	}
	radius := nearest[m.K-1]
	for j := range dx {
		if j != i && dx[j] < radius {
			nx++
		}
		if j != i && dy[j] < radius {
			ny++
		}
	}
	return nx, ny, nil
}

func (KSG) tieError(i, j int, inX bool) error {
	side := "y"
	if inX {
		side = "x"
	}
	return fmt.Errorf("rows %d and %d of %s are equal; KSG needs distinct values, which Jitter makes", i, j, side)
}

// distances returns the largest difference between row i and every row.
func distances(m array.Matrix[float64], i int) []float64 {
	out, from := make([]float64, m.Rows), m.Row(i)
	for j := range out {
		far := 0.0
		for c, v := range m.Row(j) {
			far = max(far, math.Abs(v-from[c]))
		}
		out[j] = far
	}
	return out
}

// digammas returns psi(1), ..., psi(n), indexed by their arguments.
func digammas(n int) []float64 {
	out := make([]float64, n+1)
	out[0], out[1] = math.Inf(-1), -0.57721566490153286
	for k := 2; k <= n; k++ {
		out[k] = out[k-1] + 1/float64(k-1)
	}
	return out
}
