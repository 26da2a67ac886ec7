//go:build amd64 || arm64

package kernels

// width returns the width of the panels of a level.
func (t *tile[T]) width(cols int) int {
	if t.kernel == nil {
		return cols
	}
	return 2 * t.lanes
}

// multiplyFactors sets c to the product of a and columns j and following of matrix e, or adds
// the product to c.
func multiplyFactors(t *tile[float32], c, a Matrix[float32], f factors, e, j int, add bool) {
	if t.kernel == nil {
		multiplyFactorsScalar(c, a, f, e, j, add)
		return
	}
	s := t.scratch.Get().(*scratch[float32])
	for first := 0; first < c.Cols; first += t.blockCols {
		last := min(c.Cols, first+t.blockCols)
		for p := 0; p < a.Cols; p += blockK {
			k := min(a.Cols-p, blockK)
			b := f.data[e*f.size+(j+first)/f.width*f.step+p*f.width:]
			bp := panels[float32]{data: b, step: f.step, stride: f.width, restStride: f.width, full: (last - first) / f.width, left: (last - first) % f.width}
			if bp.left > 0 {
				bp.rest = b[bp.full*f.step:]
			}
			t.groups(s, bp, c.part(0, c.Rows, first, last), a.part(0, a.Rows, p, p+k), add || p > 0)
		}
	}
	t.scratch.Put(s)
}
