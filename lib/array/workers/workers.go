// Package workers does work on several goroutines at once. Those that help stay awake for a
// moment when they have nothing to do, because a training step is a hundred pieces of work
// close behind each other and waking a processor that sleeps takes, in a virtual machine,
// as long as a small piece.
package workers

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// spinTime is how long a hand without work stays awake, and how long a caller waits for
// hands before he sleeps: longer than what lies between two pieces of work of a step.
const spinTime = 100 * time.Microsecond

// Run calls f(0), f(1), ... f(n-1) once each, on the caller's goroutine and at most
// workers-1 others, and returns when all of them are done. They are taken as goroutines get
// free; f must write what depends on i only, so that no bit depends on who took it. A panic
// in f is not caught.
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
	busy    atomic.Int32 // hands that have not left
	pending sync.WaitGroup
}

func (j *job) work() {
	for i := j.next.Add(1) - 1; i < j.n; i = j.next.Add(1) - 1 {
		j.f(int(i))
	}
}

// worker is a goroutine that helps.
type worker struct{ job atomic.Pointer[job] }

// idle are the hands that are awake without work.
var idle struct {
	sync.Mutex
	hands []*worker
}

// submit gives a job to a hand that is awake, or to a new one.
func submit(j *job) {
	idle.Lock()
	defer idle.Unlock()
	if last := len(idle.hands) - 1; last >= 0 {
		idle.hands[last].job.Store(j)
		idle.hands = idle.hands[:last]
		return
	}
	go new(worker).serve(j)
}

// serve works until no job comes for a while.
func (h *worker) serve(j *job) {
	for ; j != nil; j = h.nextJob() {
		j.work()
		j.busy.Add(-1)
		j.pending.Done()
	}
}

// nextJob returns the next job, nil where none comes.
func (h *worker) nextJob() *job {
	h.job.Store(nil)
	idle.Lock()
	idle.hands = append(idle.hands, h)
	idle.Unlock()
	spin(func() bool { return h.job.Load() != nil })
	idle.Lock()
	defer idle.Unlock()
	if i := slices.Index(idle.hands, h); i >= 0 {
		idle.hands = slices.Delete(idle.hands, i, i+1)
	}
	return h.job.Load()
}

// spin waits for something, as long as patience lasts. Whoever else has work goes first.
func spin(come func() bool) {
	for begin := time.Now(); !come() && time.Since(begin) < spinTime; {
		runtime.Gosched()
	}
}
