// Tasks that run in parallel, or whose trainings run side by side.

package lab

import (
	"cmp"
	"context"
	"sync"

	"github.com/lethe-ml/lethe/lib/internal/panics"
	"github.com/lethe-ml/lethe/lib/train"
)

// modelsOnDevice is the number of models that train side by side on a device.
const modelsOnDevice = 64

// workers returns the number of tasks that run at a time: one per core of the engine. On a device
// more do, and their trainings run side by side.
func (l *Lab) workers() int {
	if l.Engine.SeparateMemory() {
		return modelsOnDevice
	}
	return max(1, l.Engine.Cores())
}

// RunParallel runs independent tasks in parallel and returns the first error in the order of the
// tasks. On an engine in the host's memory as many run at a time as it has cores, and results do
// not depend on it. On a device the trainings of up to 64 tasks run side by side (see train.Group),
// which changes results by rounding. Tasks train with the context that they get.
func (l *Lab) RunParallel(ctx context.Context, tasks ...func(ctx context.Context) error) error {
	errs, next := make([]error, len(tasks)), make(chan int)
	workers := min(len(tasks), l.workers())
	group := train.NewGroup(workers)
	var wg sync.WaitGroup
	for k := range workers {
		wg.Go(func() {
			defer group.Leave(k)
			for i := range next {
				errs[i] = panics.Catch("a task", func() error { return tasks[i](group.Join(ctx, k)) })
			}
		})
	}
	for i := range tasks {
		next <- i
	}
	close(next)
	wg.Wait()
	return cmp.Or(errs...)
}
