// A pool of free memory in size classes, which drops blocks that stay unused.

package backend

import (
	"math/bits"
	"runtime"
	"slices"
	"sync"
	"unsafe"
)

// freeMemoryPool keeps released memory for reuse. If large blocks were left to the garbage
// collector, the heap would double before it runs. (A sync.Pool would keep one arena per
// processor.)
var freeMemoryPool = newMemoryPool()

// keptCollections is the number of garbage collections after which unused memory is dropped.
const keptCollections = 5

type memoryPool struct {
	mu          sync.Mutex
	free        map[int][]block // by size class, the youngest last
	collections int
}

// block is free memory, with the number of the garbage collection since which it is free.
type block struct {
	bytes []byte
	since int
}

func newMemoryPool() *memoryPool {
	s := &memoryPool{free: map[int][]block{}}
	s.watch()
	return s
}

// watch calls afterCollection after each garbage collection.
func (s *memoryPool) watch() {
	type sentinel struct{ *memoryPool }
	runtime.SetFinalizer(&sentinel{s}, func(*sentinel) {
		s.afterCollection()
		s.watch()
	})
}

func (s *memoryPool) afterCollection() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.collections++
	for class, blocks := range s.free {
		s.free[class] = slices.DeleteFunc(blocks, func(b block) bool { return s.collections-b.since > keptCollections })
	}
}

// get returns memory of a size class, or nil.
func (s *memoryPool) get(class int) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	blocks := s.free[class]
	n := len(blocks) - 1
	if n < 0 {
		return nil
	}
	m := blocks[n].bytes
	blocks[n] = block{}
	s.free[class] = blocks[:n]
	return m
}

func (s *memoryPool) put(class int, m []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free[class] = append(s.free[class], block{m, s.collections})
}

// sizeClass returns the smallest size class of at least n bytes and its number. From 64
// bytes on there are eight classes per power of two, so at most 1/9 of a block is unused.
func sizeClass(n int) (number, size int) {
	n = max(n, 64)
	power := bits.Len(uint(n)) - 1
	eighths := (n - 1<<power + 1<<(power-3) - 1) >> (power - 3)
	return 8*power + eighths, 1<<power + eighths<<(power-3)
}

// drop gives up all free memory.
func (s *memoryPool) drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.free)
}

// allocate returns at least n bytes with arbitrary values, or an error where the process cannot have
// as many.
func allocate(n int) ([]byte, error) {
	number, size := sizeClass(n)
	if m := freeMemoryPool.get(number); m != nil {
		return m, nil
	}
	return ownRoom.allocate(size)
}

// newMemory returns memory of a class's size.
func newMemory(size int) []byte {
	// Words, so that every type is aligned.
	words := make([]uint64, size/8)
	return unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), size)
}

func release(m []byte) {
	if m != nil {
		number, _ := sizeClass(len(m))
		freeMemoryPool.put(number, m)
	}
}
