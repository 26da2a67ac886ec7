// Large memory is taken only where the process can have it.

package backend

import (
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/lethe-ml/lethe/lib/memory"
)

// checkedBytes is the size from which new memory is compared with what is free. To write it the first
// time takes a hundred times as long as to look.
const checkedBytes = 64 << 20

// room hands out large memory. An execution that finds too little waits for one that ends.
type room struct {
	mu       sync.Mutex
	ended    sync.Cond
	arenas   int                  // large arenas of running executions
	large    int                  // bytes from which memory is checked
	promised int64                // bytes of Reserve that may not be taken yet
	free     func() (int64, bool) // bytes that the process can still take
	tidy     func()               // gives back what is not in use
}

var ownRoom = newRoom(memory.Free, func() {
	freeMemoryPool.drop()
	debug.FreeOSMemory()
})

func newRoom(free func() (int64, bool), tidy func()) *room {
	r := &room{large: checkedBytes, free: free, tidy: tidy}
	r.ended.L = &r.mu
	return r
}

// memoryError says that memory is too small.
type memoryError struct{ need, free int64 }

// Error implements error.
func (e *memoryError) Error() string {
	return fmt.Sprintf("about %s are needed, and %s are free", gigabytes(e.need), gigabytes(e.free))
}

// gigabytes returns a number of bytes in two digits.
func gigabytes(n int64) string {
	switch gb := float64(n) / 1e9; {
	case gb >= 9.95:
		return fmt.Sprintf("%.0f GB", gb)
	case gb >= 0.95:
		return fmt.Sprintf("%.1f GB", gb)
	}
	return fmt.Sprintf("%.0f MB", float64(n)/1e6)
}

// check returns an error if need bytes of new memory are more than the process can have. r.mu is held.
func (r *room) check(need int64) error {
	free, ok := r.free()
	if !ok || need <= free {
		return nil
	}
	r.tidy()
	if free, ok = r.free(); !ok || need <= free {
		return nil
	}
	return &memoryError{need, free}
}

// allocate returns new memory of n bytes.
func (r *room) allocate(n int) ([]byte, error) {
	if n < r.large {
		return newMemory(n), nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.check(int64(n)); err != nil {
		return nil, err
	}
	return newMemory(n), nil
}

// arena returns the memory of an execution whose outputs take further bytes; release takes it back.
// Where it is too much beside the running executions, it waits until one of them ends.
func (r *room) arena(n, outputs int) ([]byte, error) {
	class, size := sizeClass(n)
	if size < r.large {
		return allocate(n)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		m := freeMemoryPool.get(class)
		if m == nil {
			err := r.check(int64(size) + int64(outputs))
			if err != nil && r.arenas > 0 {
				r.ended.Wait()
				continue
			}
			if err != nil {
				return nil, err
			}
			m = newMemory(size)
		}
		r.arenas++
		return m, nil
	}
}

// release takes back the memory of an execution.
func (r *room) release(arena []byte) {
	release(arena)
	if len(arena) < r.large {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.arenas--
	r.ended.Broadcast()
}

// reserve returns when n bytes are free beside what is promised already, and promises them until the
// caller calls taken. Where they are too much beside other promises, it waits until those are kept.
func (r *room) reserve(n int64) (taken func(), err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		err := r.check(n + r.promised)
		if err == nil {
			r.promised += n
			return sync.OnceFunc(func() {
				r.mu.Lock()
				defer r.mu.Unlock()
				r.promised -= n
				r.ended.Broadcast()
			}), nil
		}
		if r.promised == 0 {
			return nil, err
		}
		r.ended.Wait()
	}
}

// Reserve checks that the process can take n bytes of memory that the caller is about to take, and
// keeps them from other callers of Reserve until taken is called.
func Reserve(n int64) (taken func(), err error) {
	if n < checkedBytes {
		return func() {}, nil
	}
	if taken, err = ownRoom.reserve(n); err != nil {
		return nil, fmt.Errorf("a training's weights, gradients and optimiser: %w: use smaller images or a smaller network", err)
	}
	return taken, nil
}
