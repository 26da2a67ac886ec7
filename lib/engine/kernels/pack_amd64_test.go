package kernels

import "testing"

// The groups of rows of every level, of which a processor runs its own in products.
func TestGroupsOfRowsArePackedWhole(t *testing.T) {
	if best < AVX2 {
		t.Skip("this processor has no AVX2")
	}
	for _, c := range []struct {
		width int // float32s
		pack  packer
	}{{6, pack24_avx2}, {12, pack48_avx2}, {24, pack96_avx2}} {
		const groups, columns, gap = 3, 5, 7
		stride, step := groups*c.width+gap, columns*c.width+gap
		src, dst := make([]float32, columns*stride), make([]float32, groups*step)
		for i := range src {
			src[i] = float32(i + 1)
		}
		c.pack(ptr(dst), 4*step, ptr(src), 4*stride, groups, columns)
		for i, got := range dst {
			g, at := i/step, i%step
			want := float32(0) // between groups nothing is written
			if p := at / c.width; p < columns {
				want = src[p*stride+g*c.width+at%c.width]
			}
			if got != want {
				t.Fatalf("groups of %d rows: number %d is %v, want %v", c.width, i, got, want)
			}
		}
	}
}
