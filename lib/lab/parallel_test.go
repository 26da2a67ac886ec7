// Tests of parallel.go.

package lab

import (
	"errors"
	"sync/atomic"
	"testing"
)

func TestTasksRunTogetherAsManyAsThereAreCores(t *testing.T) {
	l := newLab(t)
	first, second := errors.New("first"), errors.New("second")
	var now, most, done atomic.Int64
	task := func(err error) func() error {
		return func() error {
			defer now.Add(-1)
			for n := now.Add(1); n > most.Load(); {
				most.Store(n)
			}
			done.Add(1)
			return err
		}
	}
	err := l.RunParallel(task(nil), task(first), task(second), task(nil), task(nil))
	if !errors.Is(err, first) || errors.Is(err, second) {
		t.Errorf("the error is %v, want the first one", err)
	}
	if done.Load() != 5 || most.Load() > int64(l.Engine.Cores()) {
		t.Errorf("%d of 5 tasks ran, %d at a time on %d cores", done.Load(), most.Load(), l.Engine.Cores())
	}
	if err := l.RunParallel(); err != nil {
		t.Errorf("nothing to do: %v", err)
	}
}
