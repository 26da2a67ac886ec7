package backend

import (
	"strings"
	"testing"
	"time"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
)

// roomOf makes the backend believe for the time of a test that so many bytes are free. Memory of 4 KiB
// and more is checked.
func roomOf(t *testing.T, free int64) *room {
	r := newRoom(func() (int64, bool) { return free, true }, func() {})
	r.large = 1 << 12
	before := ownRoom
	ownRoom = r
	freeMemoryPool.drop() // of earlier tests
	t.Cleanup(func() { ownRoom = before })
	return r
}

// squares compiles a computation that needs memory between its steps: the product of x with itself,
// n x n, and its transpose, added up.
func squares(t *testing.T, n int) (*Backend, compute.Executable) {
	t.Helper()
	b := Open(1)
	w := b.Builder("squares")
	f := w.Main()
	x := must(f.Parameter("x", shapes.Make(dtypes.Float32, n, n), nil))
	y := must(f.DotGeneral(x, []int{1}, nil, x, []int{0}, nil, compute.DotGeneralConfig{}))
	z := must(f.DotGeneral(y, []int{1}, nil, y, []int{1}, nil, compute.DotGeneralConfig{}))
	if err := f.Return([]compute.Value{z}, nil); err != nil {
		t.Fatal(err)
	}
	return b, must(w.Compile())
}

// A computation that needs more memory than is free is refused before it takes any.
func TestAStepThatIsTooLargeIsRefused(t *testing.T) {
	b, e := squares(t, 64)
	in := must(b.BufferFromFlatData(0, make([]float32, 64*64), shapes.Make(dtypes.Float32, 64, 64)))
	need := int64(e.(*executable).size + 4*64*64)
	roomOf(t, need-1)
	_, err := e.Execute([]compute.Buffer{in}, []bool{false}, 0)
	if err == nil || !strings.HasPrefix(err.Error(), "one step on 64 records needs about 0 MB, and 0 MB are free: use a batch of fewer records, smaller images or") {
		t.Errorf("%d bytes of %d: %v", need, need-1, err)
	}
	roomOf(t, need+1<<11) // sizes are rounded to classes
	out, err := e.Execute([]compute.Buffer{in}, []bool{false}, 0)
	if err != nil {
		t.Fatalf("what fits is refused: %v", err)
	}
	if err := out[0].Finalize(); err != nil {
		t.Fatal(err)
	}
	roomOf(t, 1<<40).free = func() (int64, bool) { return 0, false }
	if _, err := e.Execute([]compute.Buffer{in}, []bool{false}, 0); err != nil {
		t.Errorf("a system that does not say what is free: %v", err)
	}
}

// Memory that was taken once is not asked for again, so that a step costs nothing more.
func TestMemoryIsCheckedOnce(t *testing.T) {
	b, e := squares(t, 64)
	in := must(b.BufferFromFlatData(0, make([]float32, 64*64), shapes.Make(dtypes.Float32, 64, 64)))
	looks := 0
	roomOf(t, 0).free = func() (int64, bool) { looks++; return 1 << 30, true }
	for range 5 {
		out, err := e.Execute([]compute.Buffer{in}, []bool{false}, 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := out[0].Finalize(); err != nil {
			t.Fatal(err)
		}
	}
	if looks == 0 || looks > 2 {
		t.Errorf("%d looks at the free memory for 5 executions, expected one for the arena and one for the output", looks)
	}
}

func TestATensorThatIsTooLargeIsRefused(t *testing.T) {
	roomOf(t, 1<<12)
	b := Open(1)
	if _, _, err := b.Alloc(64, 64); err == nil || err.Error() != "backend lethe: a tensor of (Float32)[64, 64]: about 0 MB are needed, and 0 MB are free" {
		t.Errorf("%v", err)
	}
	if _, _, err := b.Alloc(8, 8); err != nil {
		t.Errorf("what is small is checked: %v", err)
	}
}

// Garbage counts as free: it is collected before anything is refused.
func TestGarbageIsCollectedFirst(t *testing.T) {
	free := int64(0)
	r := newRoom(func() (int64, bool) { return free, true }, func() { free = 1 << 20 })
	if err := r.check(1 << 20); err != nil {
		t.Error(err)
	}
	if err := r.check(1<<20 + 1); err == nil || *err.(*memoryError) != (memoryError{1<<20 + 1, 1 << 20}) {
		t.Errorf("%v", err)
	}
}

// Two executions of which only one fits run one after the other.
func TestAnExecutionWaitsForMemory(t *testing.T) {
	const n = 1 << 16
	r := roomOf(t, n+1)
	r.free = func() (int64, bool) { return map[int]int64{0: n + 1}[r.arenas], true }
	first, err := r.arena(n, 0)
	if err != nil {
		t.Fatal(err)
	}
	second := make(chan error)
	go func() {
		_, err := r.arena(n+n/2, 0) // of another class, so that it cannot have the first's memory
		second <- err
	}()
	select {
	case err := <-second:
		t.Fatalf("it did not wait: %v", err)
	case <-time.After(20 * time.Millisecond):
	}
	r.mu.Lock()
	r.free = func() (int64, bool) { return 2 * n, true }
	r.mu.Unlock()
	r.release(first)
	if err := <-second; err != nil {
		t.Error(err)
	}
}

func TestSizesAreWrittenInTwoDigits(t *testing.T) {
	for n, want := range map[int64]string{15_400_000_000: "15 GB", 7_180_000_000: "7.2 GB", 9_960_000_000: "10 GB", 949_000_000: "949 MB", 12_000_000: "12 MB", 0: "0 MB"} {
		if got := gigabytes(n); got != want {
			t.Errorf("%d bytes: %q, want %q", n, got, want)
		}
	}
}

// The records of a step are the columns of its last matrix, or the rows of what is called records.
func TestAStepKnowsItsRecords(t *testing.T) {
	for want, params := range map[int][]*node{
		7: {{shape: shapes.Make(dtypes.Float32, 3, 4)}, {shape: shapes.Make(dtypes.Float32, 5, 7)}, {shape: shapes.Make(dtypes.Float32)}},
		5: {{shape: shapes.Make(dtypes.Float32, 5, 4, 2)}, {shape: shapes.Make(dtypes.Float32, 3, 4)}},
		0: {{shape: shapes.Make(dtypes.Float32, 9)}},
	} {
		f := &function{params: params, names: []string{"x", "y", "z"}}
		if want == 5 {
			f.names[0] = "records"
		}
		if got := f.records(); got != want {
			t.Errorf("%d records, want %d", got, want)
		}
	}
}

// What is promised to one caller is kept from the next, which waits until it is taken.
func TestPromisedMemoryIsKeptFromOthers(t *testing.T) {
	r := roomOf(t, 100)
	taken, err := r.reserve(60)
	if err != nil {
		t.Fatal(err)
	}
	second := make(chan error)
	go func() {
		_, err := r.reserve(50)
		second <- err
	}()
	select {
	case err := <-second:
		t.Fatalf("it did not wait: %v", err)
	case <-time.After(20 * time.Millisecond):
	}
	taken()
	taken() // a second time does nothing
	if err := <-second; err != nil || r.promised != 50 {
		t.Errorf("%d bytes are promised, %v", r.promised, err)
	}
	roomOf(t, checkedBytes)
	if _, err := Reserve(checkedBytes + 1); err == nil || !strings.HasSuffix(err.Error(), "use smaller images or a smaller network") {
		t.Errorf("%v", err)
	}
}
