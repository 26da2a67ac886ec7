package backend

import (
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/gomlx/compute/dtypes"
)

// A copy of any view into any other writes each element to its place and nothing beside,
// whatever the order of the axes and the number of workers.
func TestCopiesOfViews(t *testing.T) {
	g := rand.New(rand.NewPCG(33, 1))
	for range 300 {
		dims := make([]int, g.IntN(5))
		for i := range dims {
			dims[i] = 1 + g.IntN(7)
		}
		copiesOf(t, g, dims)
	}
	for _, dims := range [][]int{{700, 300}, {3, 400, 170}, {9, 130, 200}, {0, 4}, {130000}} {
		copiesOf(t, g, dims)
	}
}

func copiesOf(t *testing.T, g *rand.Rand, dims []int) {
	t.Helper()
	from, size := scattered(g, 0, dims)
	to, room := scattered(g, 1, dims)
	x, y, want := make([]uint32, size+1), make([]uint32, room+1), make([]uint32, room+1)
	for i := range x {
		x[i] = g.Uint32()
	}
	index := make([]int, len(dims))
	forEachIndex(dims, index, func() {
		a, b := from.start, to.start
		for i, k := range index {
			a, b = a+k*from.strides[i], b+k*to.strides[i]
		}
		want[b] = x[a]
	})
	for _, workers := range []int{1, 3} {
		clear(y)
		e := &execution{slots: []unsafe.Pointer{unsafe.Pointer(&x[0]), unsafe.Pointer(&y[0])}, workers: workers, failed: new(atomic.Pointer[error])}
		viewCopy{from, to}.run(e)
		if !slices.Equal(y, want) {
			t.Fatalf("%d workers: a copy of %v with strides %v to %v went astray", workers, dims, from.strides, to.strides)
		}
	}
}

// scattered is a view of those dims with the axes in any order in memory, with gaps and some
// of them backwards, and how many elements it reaches over.
func scattered(g *rand.Rand, slot int, dims []int) (view, int) {
	v := view{slot: slot, dtype: dtypes.Uint32, dims: dims, strides: make([]int, len(dims))}
	step := 1
	for _, i := range g.Perm(len(dims)) {
		v.strides[i] = step
		step *= dims[i]
		if g.IntN(3) == 0 {
			step += g.IntN(3)
		}
		if g.IntN(4) == 0 {
			v.start += (dims[i] - 1) * v.strides[i]
			v.strides[i] = -v.strides[i]
		}
	}
	return v, step
}
