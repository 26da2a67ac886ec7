package lab

import (
	"cmp"
	"sync"
)

// RunParallel runs tasks that do not need one another side by side, as many at a
// time as the engine has cores, and returns the first error in their order. A
// small network keeps one core busy: two are trained in the time of one. What is
// computed does not depend on it.
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
