package backend

import (
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"
)

// gather against element by element, with axes that repeat outside and inside, from any place on.
func TestGatherEqualsElementByElement(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	from := make([]uint32, 4096)
	for i := range from {
		from[i] = uint32(i)
	}
	for range 2000 {
		dims, strides := make([]int, 1+r.IntN(4)), make([]int, 0, 4)
		for i := range dims {
			dims[i] = 1 + r.IntN(7)
			strides = append(strides, r.IntN(4)*r.IntN(90)) // 0 repeats
		}
		size := product(dims)
		begin := r.IntN(size)
		got := make([]uint32, 1+r.IntN(size-begin))
		gather(got, unsafe.Pointer(&from[0]), dims, strides, begin)
		want := make([]uint32, len(got))
		for i := range want {
			rest, at := begin+i, 0
			for k := len(dims) - 1; k >= 0; k-- {
				at, rest = at+rest%dims[k]*strides[k], rest/dims[k]
			}
			want[i] = from[at]
		}
		if !slices.Equal(got, want) {
			t.Fatalf("dims %v, strides %v, from %d: %v, want %v", dims, strides, begin, got, want)
		}
	}
}
