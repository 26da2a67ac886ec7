// Package workers runs work on a pool of goroutines. Idle workers spin for a short time
// before they end, because a training step is a sequence of many short pieces of work and
// waking a sleeping processor takes about as long as one of them.
package workers

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// spinTime is how long an idle worker spins before it ends, and how long Run spins before it
// blocks. It is longer than the time between two pieces of work of a training step.
const spinTime = 100 * time.Microsecond

// Run calls f(0), f(1), ... f(n-1) once each, on the caller's goroutine and at most workers-1
// others, and returns when all calls have returned. The assignment of calls to goroutines is
// arbitrary, so what f(i) writes must depend on i only. A panic in f is not caught.
func Run(workers, n int, f func(i int)) {
	helpers := min(workers, n) - 1
	if helpers < 1 {
		for i := range n {
			f(i)
		}
		return
	}
	j := &job{f: f, n: int64(n)}
	j.busy.Store(int32(helpers))
	j.pending.Add(helpers)
	for range helpers {
		submit(j)
	}
	j.work()
	spin(func() bool { return j.busy.Load() == 0 })
	j.pending.Wait()
}

// job is the work of one Run.
type job struct {
	f       func(i int)
	n       int64
	next    atomic.Int64
	busy    atomic.Int32 // workers that are not done
	pending sync.WaitGroup
}

func (j *job) work() {
	for i := j.next.Add(1) - 1; i < j.n; i = j.next.Add(1) - 1 {
		j.f(int(i))
	}
}

// worker is a goroutine of the pool.
type worker struct{ job atomic.Pointer[job] }

// idle has the workers that spin without work.
var idle struct {
	sync.Mutex
	workers []*worker
}

// submit gives a job to an idle worker, or to a new one.
func submit(j *job) {
	idle.Lock()
	defer idle.Unlock()
	if last := len(idle.workers) - 1; last >= 0 {
		idle.workers[last].job.Store(j)
		idle.workers = idle.workers[:last]
		return
	}
	go new(worker).serve(j)
}

// serve runs jobs until none comes within spinTime.
func (w *worker) serve(j *job) {
	for ; j != nil; j = w.nextJob() {
		j.work()
		j.busy.Add(-1)
		j.pending.Done()
	}
}

// nextJob returns the next job, or nil if none comes within spinTime.
func (w *worker) nextJob() *job {
	w.job.Store(nil)
	idle.Lock()
	idle.workers = append(idle.workers, w)
	idle.Unlock()
	spin(func() bool { return w.job.Load() != nil })
	idle.Lock()
	defer idle.Unlock()
	if i := slices.Index(idle.workers, w); i >= 0 {
		idle.workers = slices.Delete(idle.workers, i, i+1)
	}
	return w.job.Load()
}

// spin waits until come returns true, for at most spinTime, and yields to other goroutines.
func spin(come func() bool) {
	for begin := time.Now(); !come() && time.Since(begin) < spinTime; {
		runtime.Gosched()
	}
}
