package workers

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestEveryPieceIsDoneOnceAndBeforeRunReturns(t *testing.T) {
	for _, workers := range []int{-1, 0, 1, 2, 3, 8} {
		for _, n := range []int{0, 1, 2, 7, 100} {
			done := make([]int32, n)
			for range 50 {
				Run(workers, n, func(i int) { atomic.AddInt32(&done[i], 1) })
			}
			for i, k := range done {
				if k != 50 {
					t.Fatalf("%d workers: piece %d of %d was done %d times in 50 runs", workers, i, n, k)
				}
			}
		}
	}
}

// A piece may take longer than spinTime, on the caller's goroutine or on another.
func TestRunWaitsForASlowPiece(t *testing.T) {
	for k := range 20 {
		var both sync.WaitGroup
		both.Add(2)
		var done atomic.Int64
		Run(2, 2, func(i int) {
			both.Done()
			both.Wait() // the other piece is on another goroutine
			if i == k%2 {
				time.Sleep(10 * spinTime)
			}
			done.Add(1)
		})
		if done.Load() != 2 {
			t.Fatalf("%d of 2 pieces were done", done.Load())
		}
	}
}

// Many callers share the workers, and a piece of work may call Run.
func TestCallersAndPiecesMayBeSideBySide(t *testing.T) {
	var sum atomic.Int64
	var callers sync.WaitGroup
	for range 8 {
		callers.Go(func() {
			for range 200 {
				Run(3, 4, func(i int) { Run(2, 3, func(k int) { sum.Add(int64(10*i + k)) }) })
			}
		})
	}
	callers.Wait()
	if want := int64(8 * 200 * (3*10*(0+1+2+3) + 4*(0+1+2))); sum.Load() != want {
		t.Errorf("%d, want %d", sum.Load(), want)
	}
}

func TestNoMoreThanTheWorkersAreAtWork(t *testing.T) {
	var now, most atomic.Int64
	Run(3, 60, func(int) {
		if n := now.Add(1); n > most.Load() {
			most.Store(n)
		}
		time.Sleep(100 * time.Microsecond)
		now.Add(-1)
	})
	if most.Load() > 3 {
		t.Errorf("%d at once", most.Load())
	}
}

// An idle worker ends: after a moment no goroutine is left.
func TestIdleWorkersEnd(t *testing.T) {
	left := func() int { // workers of other tests may be idle too
		idle.Lock()
		defer idle.Unlock()
		return len(idle.workers)
	}
	before := runtime.NumGoroutine()
	Run(8, 64, func(int) { runtime.Gosched() })
	for end := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before || left() > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d goroutines, %d before; %d workers never end", runtime.NumGoroutine(), before, left())
		}
	}
}

func BenchmarkRun(b *testing.B) {
	for b.Loop() {
		Run(2, 2, func(int) {})
	}
}
