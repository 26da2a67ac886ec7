package backend

import (
	"math/bits"
	"runtime"
	"slices"
	"sync"
	"unsafe"
)

// freeMemory is memory that is free again: what is large is not left to the collector, who
// would have as much again allocated before he looks. (A sync.Pool has a place for each
// processor, out of which the others cannot take; of an arena one is enough.)
var freeMemory = newMemoryPool()

// keptCollections is how many collections memory stays free before it is left to the collector.
const keptCollections = 5

type memoryPool struct {
	mu          sync.Mutex
	free        map[int][]block // by class, the youngest last
	collections int
}

// block is memory that is free since a collection.
type block struct {
	bytes []byte
	since int
}

func newMemoryPool() *memoryPool {
	s := &memoryPool{free: map[int][]block{}}
	s.watch()
	return s
}

// watch looks after the memory after each collection.
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

// get returns memory of a class, or nil.
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

// sizeClass is the smallest size of memory that holds n bytes, and its number: from 64
// bytes on there are eight sizes from one power of two to the next, so that at most a
// ninth is never used.
func sizeClass(n int) (number, size int) {
	n = max(n, 64)
	power := bits.Len(uint(n)) - 1
	eighths := (n - 1<<power + 1<<(power-3) - 1) >> (power - 3)
	return 8*power + eighths, 1<<power + eighths<<(power-3)
}

// allocate returns at least n bytes that hold anything.
func allocate(n int) []byte {
	number, size := sizeClass(n)
	if m := freeMemory.get(number); m != nil {
		return m
	}
	// Words, so that every type is aligned.
	words := make([]uint64, size/8)
	return unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), size)
}

func release(m []byte) {
	if m != nil {
		number, _ := sizeClass(len(m))
		freeMemory.put(number, m)
	}
}
