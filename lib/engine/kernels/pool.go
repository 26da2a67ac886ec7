package kernels

import "github.com/lethe-ml/lethe/lib/array/workers"

// Pool is the number of goroutines that a kernel may use. The zero value is one, the
// caller's.
type Pool struct{ Workers int }

// Run cuts 0, 1, ... n-1 into ranges of at least grain (the last may be shorter), calls f for
// each of them, and returns when all calls have returned. The assignment of ranges to
// goroutines is arbitrary, so what f writes must depend on its range only. A panic in f is
// not caught.
func (p Pool) Run(n, grain int, f func(from, to int)) {
	if n <= 0 {
		return
	}
	grain = max(grain, 1)
	if p.Workers <= 1 || n <= grain {
		f(0, n)
		return
	}
	// More ranges than workers, so that an interrupted worker causes little delay.
	size := max(grain, (n+4*p.Workers-1)/(4*p.Workers))
	runs := (n + size - 1) / size
	workers.Run(p.Workers, runs, func(i int) { f(i*size, min(n, (i+1)*size)) })
}
