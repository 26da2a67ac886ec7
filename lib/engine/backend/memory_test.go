package backend

import (
	"runtime"
	"testing"
	"time"
)

// Released memory is reused by any goroutine, and dropped if it is not used for some garbage
// collections.
func TestFreeMemoryIsFoundAndForgotten(t *testing.T) {
	s := &memoryPool{free: map[int][]block{}}
	first, second := make([]byte, 64), make([]byte, 64)
	s.put(3, first)
	s.afterCollection()
	s.put(3, second)
	if s.get(4) != nil {
		t.Error("memory of another class")
	}
	if m := s.get(3); &m[0] != &second[0] {
		t.Error("the youngest is not taken first")
	}
	done := make(chan []byte)
	go func() { done <- s.get(3) }()
	if m := <-done; m == nil || &m[0] != &first[0] {
		t.Error("another goroutine does not find what is free")
	}
	s.put(3, first)
	for range keptCollections {
		s.afterCollection()
	}
	if len(s.free[3]) != 1 {
		t.Errorf("memory is forgotten after %d collections", keptCollections)
	}
	s.afterCollection()
	if s.get(3) != nil {
		t.Errorf("memory is kept for more than %d collections", keptCollections)
	}
}

func TestCollectionsAreNoticed(t *testing.T) {
	s := newMemoryPool()
	count := func() int {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.collections
	}
	for range 2 {
		before := count()
		for try := 0; count() == before; try++ {
			if try > 1000 {
				t.Fatal("a collection was not noticed")
			}
			runtime.GC()
			time.Sleep(time.Millisecond)
		}
	}
}
