// How much memory this process can still take, on Linux.

package memory

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path"
	"runtime/metrics"
	"strconv"
	"strings"
	"syscall"
)

// Free returns the bytes of memory that this process can still take: the smallest of what
// the machine, its control groups and its address space leave. ok is false where none is known.
func Free() (bytes int64, ok bool) {
	limit := int64(math.MaxInt64)
	var r syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_AS, &r); err == nil && r.Cur < math.MaxInt64 {
		limit = int64(r.Cur)
	}
	return memorySystem{read: os.ReadFile, page: int64(os.Getpagesize()), addresses: limit, heap: goHeap()}.free()
}

// memorySystem is what the free memory is computed from. Tests have their own.
type memorySystem struct {
	read      func(file string) ([]byte, error)
	page      int64 // bytes
	addresses int64 // the limit on the address space; math.MaxInt64: none
	heap      heapMemory
}

// heapMemory is the memory of Go's runtime in bytes: what is in use, touched or not, what is idle,
// and what went back to the system and kept its addresses.
type heapMemory struct{ used, idle, released int64 }

func goHeap() heapMemory {
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/free:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(s)
	h := heapMemory{idle: int64(s[1].Value.Uint64()), released: int64(s[2].Value.Uint64())}
	h.used = int64(s[0].Value.Uint64()) - h.idle - h.released
	return h
}

// addressSlack are addresses that the process needs beside its memory: stacks of threads, and heaps
// are mapped in pieces of 64 MiB.
const addressSlack = 128 << 20

func (s memorySystem) free() (int64, bool) {
	var size, resident int64
	statm, err := s.read("/proc/self/statm")
	if _, scanErr := fmt.Sscan(string(statm), &size, &resident); err != nil || scanErr != nil {
		return 0, false
	}
	// Memory that is in use and was never touched is not yet missing in what the system calls
	// available; idle memory is missing already.
	spare := min(resident*s.page-s.heap.used, s.heap.idle)
	least := int64(math.MaxInt64)
	if available, ok := s.available(); ok {
		least = available + spare
	}
	for _, dir := range s.controlGroups() {
		if left, ok := s.leftIn(dir); ok {
			least = min(least, left+spare)
		}
	}
	if s.addresses != math.MaxInt64 {
		least = min(least, s.addresses-size*s.page+s.heap.idle+s.heap.released-addressSlack)
	}
	return max(least, 0), least != math.MaxInt64
}

// available is the memory that the machine has for new programs.
func (s memorySystem) available() (int64, bool) {
	b, _ := s.read("/proc/meminfo")
	kB, ok := numberAfter(b, "MemAvailable:")
	return kB << 10, ok
}

// controlGroups returns the folders of this process's groups of memory and of those around them. A
// container may see the outermost one only.
func (s memorySystem) controlGroups() (dirs []string) {
	b, _ := s.read("/proc/self/cgroup")
	for line := range strings.Lines(string(b)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		root := "/sys/fs/cgroup"
		if parts[1] == "memory" { // version 1
			root += "/memory"
		} else if parts[1] != "" {
			continue
		}
		for at := path.Clean("/" + parts[2]); ; at = path.Dir(at) {
			dirs = append(dirs, path.Join(root, at))
			if at == "/" {
				break
			}
		}
	}
	return dirs
}

// leftIn returns what a control group leaves. Files that were read lately count as its memory; those
// that nobody reads any more can go.
func (s memorySystem) leftIn(dir string) (int64, bool) {
	limit, current, files := "/memory.max", "/memory.current", "inactive_file "
	if _, err := s.read(dir + limit); err != nil {
		limit, current, files = "/memory.limit_in_bytes", "/memory.usage_in_bytes", "total_inactive_file "
	}
	most, hasLimit := s.number(dir + limit)
	now, known := s.number(dir + current)
	if !hasLimit || !known || most > 1<<60 { // version 1 writes a huge number for none
		return 0, false
	}
	stat, _ := s.read(dir + "/memory.stat")
	old, _ := numberAfter(stat, files)
	return most - now + old, true
}

// number reads a file that holds one number.
func (s memorySystem) number(file string) (int64, bool) {
	b, err := s.read(file)
	if err != nil {
		return 0, false
	}
	return numberAfter(b, "")
}

// numberAfter returns the number that follows a name at the start of a line.
func numberAfter(text []byte, name string) (int64, bool) {
	for line := range bytes.Lines(text) {
		if rest, ok := bytes.CutPrefix(line, []byte(name)); ok {
			field, _, _ := strings.Cut(strings.TrimSpace(string(rest)), " ")
			n, err := strconv.ParseInt(field, 10, 64)
			return n, err == nil && n >= 0
		}
	}
	return 0, false
}
