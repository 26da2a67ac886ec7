package lab

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
)

// Do does what is to be done of a list of jobs (see wanted), side by side: each when
// what it needs is there, of those that can begin the dearest first, as many at a time
// as there are workers, 0: as the engine has cores. A small network keeps one core
// busy: two are trained in the time of one. What is computed does not depend on it.
// The first error stops the others too; what they have done is in the store.
func (l *Lab) Do(ctx context.Context, workers int, jobs []Job) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	q := newQueue(jobs)
	var wg sync.WaitGroup
	for range min(len(jobs), cmp.Or(workers, l.Engine.Cores())) {
		wg.Go(func() {
			for j := q.next(ctx); j != nil; j = q.next(ctx) {
				if _, err := j.Work(ctx); err != nil {
					stop(fmt.Errorf("%s: %w", j.ID, err))
				}
				q.finish(j)
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

// queue holds the jobs that nobody has begun.
type queue struct {
	mu      sync.Mutex
	changed *sync.Cond
	waiting []*blockedJob // the dearest first
	running int
}

// blockedJob is a job and how many of those that it needs are not done.
type blockedJob struct {
	Job
	openNeeds int
}

func newQueue(jobs []Job) *queue {
	q, todo := &queue{}, pendingJobs(jobs)
	q.changed = sync.NewCond(&q.mu)
	for _, j := range Dedup(jobs) {
		if !todo[j.ID] {
			continue
		}
		w := &blockedJob{Job: j}
		for _, need := range j.Needs {
			if todo[need] {
				w.openNeeds++
			}
		}
		q.waiting = append(q.waiting, w)
	}
	slices.SortStableFunc(q.waiting, func(a, b *blockedJob) int { return cmp.Compare(b.Cost, a.Cost) })
	return q
}

// next waits for a job that can begin and takes it; nil: there will be none.
func (q *queue) next(ctx context.Context) *blockedJob {
	q.mu.Lock()
	defer q.mu.Unlock()
	for ctx.Err() == nil {
		i := slices.IndexFunc(q.waiting, func(w *blockedJob) bool { return w.openNeeds == 0 })
		if i >= 0 {
			w := q.waiting[i]
			q.waiting = slices.Delete(q.waiting, i, i+1)
			q.running++
			return w
		}
		if q.running == 0 {
			return nil
		}
		q.changed.Wait()
	}
	return nil
}

// finish lets those begin that have waited for the job alone.
func (q *queue) finish(done *blockedJob) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.running--
	for _, w := range q.waiting {
		if slices.Contains(w.Needs, done.ID) {
			w.openNeeds--
		}
	}
	q.changed.Broadcast()
}
