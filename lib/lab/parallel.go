package lab

import (
	"cmp"
	"sync"
)

// RunParallel runs independent tasks in parallel, as many at a time as the engine has
// cores, and returns the first error in the order of the tasks. Results do not depend on
// it.
func (l *Lab) RunParallel(tasks ...func() error) error {
	errs := make([]error, len(tasks))
	free := make(chan struct{}, max(1, l.Engine.Cores()))
	var wg sync.WaitGroup
	for i, task := range tasks {
		free <- struct{}{}
		wg.Go(func() {
			defer func() { <-free }()
			errs[i] = task()
		})
	}
	wg.Wait()
	return cmp.Or(errs...)
}
