package kernels

import "github.com/lethe-ml/lethe/lib/array/workers"

// Pool says how many goroutines a kernel may use. The zero value is one: the caller's.
type Pool struct{ Workers int }

// Run cuts 0, 1, ... n-1 into runs of at least grain (the last may be shorter), calls
// f for each of them, and returns when all are done. Runs are taken as goroutines get
// free; f must write what depends on its run only, so that no bit depends on who took
// it. A panic in f is not caught.
func (p Pool) Run(n, grain int, f func(from, to int)) {
	if n <= 0 {
		return
	}
	grain = max(grain, 1)
	if p.Workers <= 1 || n <= grain {
		f(0, n)
		return
	}
	// More runs than workers, so that a worker that was interrupted holds up little.
	size := max(grain, (n+4*p.Workers-1)/(4*p.Workers))
	runs := (n + size - 1) / size
	workers.Run(p.Workers, runs, func(i int) { f(i*size, min(n, (i+1)*size)) })
}
