package sde

import (
	"fmt"
	"sync"

	"github.com/lethe-ml/lethe/lib/array"
)

// mostCached is the number of records up to which a pool caches all of its distances: 512 MiB.
const mostCached = 8192

// Pool is a set of activations from which many subsets are judged. It caches the kernel values of
// all pairs where that saves time, so that a subset costs no products of activations and no
// exponentials. A Pool may be used by several goroutines.
type Pool struct {
	name  string
	cloud cloud

	lock  sync.Mutex
	work  int     // pairs that the announced subsets need
	all   *Matrix // all pairs, once computed
	sigma float64 // what all is: kernel values minus one of this bandwidth, or with 0 squared distances
}

// NewPool checks the activations; name is their name in errors. They must have at least 4 rows and
// finite values. The matrix is not kept.
func NewPool(name string, m *Matrix) (*Pool, error) {
	if err := check(name, m, 4); err != nil {
		return nil, err
	}
	return &Pool{name: name, cloud: newCloud(m)}, nil
}

// Len returns the number of records.
func (p *Pool) Len() int { return p.cloud.m.Rows }

// expect announces subsets, so that the pool can decide whether to cache.
func (p *Pool) expect(subsets [][]int) {
	p.lock.Lock()
	defer p.lock.Unlock()
	for _, s := range subsets {
		p.work += len(s) * len(s) / 2
	}
}

// allPairs returns the kernel values minus one of all pairs, or their squared distances, which hold
// for every bandwidth. It returns nil if computing them is more work than computing those of the
// announced subsets, or takes too much memory. With the second bandwidth a pool returns to
// distances.
func (p *Pool) allPairs(sigma float64) (all *Matrix, kernel bool) {
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.all != nil && (p.sigma == 0 || p.sigma == sigma) {
		return p.all, p.sigma != 0
	}
	n := p.Len()
	if n > mostCached || n*n > p.work {
		return nil, false
	}
	d := p.cloud.distances(0)
	if p.all == nil {
		p.sigma = sigma
		gaussianWithin(&d, sigma, 0)
	} else {
		p.sigma = 0
		mirror(&d, 0)
	}
	p.all = &d
	return p.all, p.sigma != 0
}

// kernel returns the kernel values minus one among the given records; the result is the caller's.
// The cache does not change a bit of it.
func (p *Pool) kernel(rows []int, sigma float64, workers int) Matrix {
	all, done := p.allPairs(sigma)
	if all == nil {
		part := cloud{m: p.cloud.m.Gather(rows)}
		return part.kernel(sigma, workers)
	}
	out := array.New[float64](len(rows), len(rows))
	for i, r := range rows {
		from, to := all.Row(r), out.Row(i)[:i+1]
		for j := range to {
			to[j] = from[rows[j]]
		}
	}
	if done {
		mirror(&out, workers)
	} else {
		gaussianWithin(&out, sigma, workers)
	}
	return out
}

// halfKernels returns the kernel values for the split of the given records.
func (p *Pool) halfKernels(rows []int, sigma float64, whole bool, workers int) halfKernels {
	n := len(rows) / 2
	out := halfKernels{first: p.kernel(rows[:n], sigma, workers), second: p.kernel(rows[n:2*n], sigma, workers)}
	if whole {
		d := p.kernel(rows, sigma, workers)
		out.whole = &d
	}
	return out
}

// checkRows refuses subsets of the wrong size, rows outside the pool and rows named twice.
func (p *Pool) checkRows(subsets [][]int, size int) error {
	seen := make([]int, p.Len())
	for k, rows := range subsets {
		if len(rows) != size {
			return fmt.Errorf("sde: subset %d of the %s pool has %d records, the references %d; the statistic depends on the number, "+
				"so all sets must have the same", k, p.name, len(rows), size)
		}
		for _, r := range rows {
			if r < 0 || r >= len(seen) {
				return fmt.Errorf("sde: subset %d of the %s pool names row %d of %d", k, p.name, r, len(seen))
			}
			if seen[r] == k+1 {
				return fmt.Errorf("sde: subset %d of the %s pool names row %d twice", k, p.name, r)
			}
			seen[r] = k + 1
		}
	}
	return nil
}
