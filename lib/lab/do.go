// Running lists of jobs in parallel.

package lab

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/lethe-ml/lethe/lib/internal/panics"
	"github.com/lethe-ml/lethe/lib/train"
)

// Do runs the pending jobs of a list in parallel, with the given number of workers (0: one
// per core of the engine, 64 on a device, where their trainings run side by side as those of
// RunParallel). A job starts when all jobs that it needs are done; among those that can start,
// the most expensive goes first. On an engine in the host's memory results do not depend on the
// number of workers. The first error stops the other jobs; what they have finished is in the
// store.
func (l *Lab) Do(ctx context.Context, workers int, jobs []Job) error {
	ctx, task := TrackJobs(ctx, "jobs", jobs)
	defer task.Done()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	q := newQueue(jobs)
	workers = min(len(jobs), cmp.Or(workers, l.workers()))
	group := train.NewGroup(workers)
	var wg sync.WaitGroup
	for k := range workers {
		wg.Go(func() {
			defer group.Leave(k)
			for j := q.next(ctx); j != nil; j = q.next(ctx) {
				err := panics.Catch("the job", func() error {
					_, err := j.Work(group.Join(ctx, k))
					return err
				})
				if err != nil {
					stop(fmt.Errorf("%s: %w", j.ID, err))
				}
				q.finish(j)
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

// queue holds the jobs that have not started.
type queue struct {
	mu      sync.Mutex
	changed *sync.Cond
	waiting []*blockedJob // most expensive first
	running int
}

// blockedJob is a job with the number of its prerequisites that are not done.
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

// next waits for a job that can start and removes it from the queue; nil: none is left.
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

// finish releases the jobs that waited for this job alone.
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
