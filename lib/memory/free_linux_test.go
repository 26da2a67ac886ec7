package memory

import (
	"io/fs"
	"maps"
	"math"
	"os"
	"slices"
	"testing"
)

// systemOf is a system of these files with 4 KiB pages: a process of 3 GB of addresses, of which 1 GB
// are resident, in a machine with 10 GB available.
func systemOf(files map[string]string) memorySystem {
	all := map[string]string{"/proc/self/statm": "732422 244141 100 0 0 0 0\n", "/proc/meminfo": "MemTotal: 16000000 kB\nMemAvailable:    9765625 kB\n"}
	maps.Copy(all, files)
	return memorySystem{page: 4096, addresses: math.MaxInt64, heap: heapMemory{used: 1_000_000_000}, read: func(file string) ([]byte, error) {
		text, ok := all[file]
		if !ok {
			return nil, fs.ErrNotExist
		}
		return []byte(text), nil
	}}
}

const gb = 1_000_000_000

func TestFreeMemoryIsTheSmallestLimit(t *testing.T) {
	v2 := map[string]string{"/proc/self/cgroup": "0::/user/run\n", "/sys/fs/cgroup/user/memory.max": "5000000000\n",
		"/sys/fs/cgroup/user/memory.current": "2000000000\n", "/sys/fs/cgroup/user/memory.stat": "anon 9\ninactive_file 1000000000\n",
		"/sys/fs/cgroup/user/run/memory.max": "max\n", "/sys/fs/cgroup/user/run/memory.current": "1\n"}
	v1 := map[string]string{"/proc/self/cgroup": "9:cpu:/c\n4:memory:/docker/x\n", "/sys/fs/cgroup/memory/memory.limit_in_bytes": "3000000000",
		"/sys/fs/cgroup/memory/memory.usage_in_bytes": "2000000000", "/sys/fs/cgroup/memory/memory.stat": "inactive_file 5\ntotal_inactive_file 500000000\n"}
	none := maps.Clone(v1)
	none["/sys/fs/cgroup/memory/memory.limit_in_bytes"] = "9223372036854771712"
	for _, c := range []struct {
		what   string
		files  map[string]string
		change func(*memorySystem)
		want   float64 // GB
	}{
		{"the machine", nil, func(*memorySystem) {}, 10},
		{"idle memory of Go", nil, func(s *memorySystem) { s.heap.used, s.heap.idle = gb/2, gb }, 10.5},
		{"resident memory that is not Go's", nil, func(s *memorySystem) { s.heap.used, s.heap.idle = gb/2, gb/10 }, 10.1},
		{"memory that was not touched yet", nil, func(s *memorySystem) { s.heap.used = 4 * gb }, 7},
		{"a group around the process", v2, func(*memorySystem) {}, 4},
		{"a group of version 1 in a container", v1, func(*memorySystem) {}, 1.5},
		{"a group without a limit", none, func(*memorySystem) {}, 10},
		{"the address space", nil, func(s *memorySystem) { s.addresses = 8 * gb }, 5 - addressSlack/1e9},
		{"addresses that Go has", nil, func(s *memorySystem) { s.addresses, s.heap.released = 8*gb, gb }, 6 - addressSlack/1e9},
		{"nothing left", nil, func(s *memorySystem) { s.addresses = gb }, 0},
	} {
		s := systemOf(c.files)
		c.change(&s)
		if got, ok := s.free(); !ok || math.Abs(float64(got)/gb-c.want) > 0.001 {
			t.Errorf("%s: %d bytes, want %v GB (known: %v)", c.what, got, c.want, ok)
		}
	}
}

func TestFreeMemoryIsUnknownWithoutTheSystemsFiles(t *testing.T) {
	s := systemOf(map[string]string{"/proc/meminfo": ""})
	if got, ok := s.free(); ok {
		t.Errorf("%d bytes are free without a limit", got)
	}
	s = systemOf(map[string]string{"/proc/self/statm": ""})
	if got, ok := s.free(); ok {
		t.Errorf("%d bytes are free of a process of unknown size", got)
	}
}

// What this process can take falls by what it takes, whether it touches it or not.
func TestFreeMemoryOfThisProcess(t *testing.T) {
	before, ok := Free()
	if !ok {
		t.Skip("this system does not say")
	}
	if _, err := os.Stat("/proc/meminfo"); err != nil || before < 1<<30 {
		t.Skip("too little memory to see a change")
	}
	const size = 400 << 20
	kept := make([]byte, size)
	after, _ := Free()
	if fell := before - after; fell < size/2 || fell > 2*size {
		t.Errorf("%d bytes taken, %d fewer are free", size, fell)
	}
	if !slices.Contains(kept[:1], 0) {
		t.Error("not empty")
	}
}

func BenchmarkFreeMemory(b *testing.B) {
	for b.Loop() {
		Free()
	}
}
