//go:build amd64 || arm64

package kernels

// convolve multiplies the patches of outputs first ... last-1 by b and writes the products to
// the target.
func (w window) convolve(t *tile[float32], to target, x []float32, b Matrix[float32], first, last int) {
	switch {
	case first == last || b.Cols == 0:
		return
	case t.kernel == nil || b.Rows == 0:
		convolveScalar(w, to, x, b, first, last)
		return
	}
	s := t.scratch.Get().(*scratch[float32])
	even := to.evenlySpaced(w)
	for j := 0; j < b.Cols; j += t.blockCols {
		j2 := min(b.Cols, j+t.blockCols)
		for p := 0; p < b.Rows; p += blockK {
			k := min(b.Rows-p, blockK)
			bp := t.arrange(s, b.part(p, p+k, j, j2), last-first)
			for i := first; i < last; {
				at, rows := w.place(i), min(t.rows, last-i)
				if !even {
					rows = min(rows, w.across-at.j)
				}
				out := to.data[to.index(at)+j:]
				w.patches(s.a, rowA, x, at, rows, p, k)
				t.strip(s, bp, Matrix[float32]{s.a, rows, k, rowA, 1}, Matrix[float32]{}, out, to.step, p > 0)
				i += rows
			}
		}
	}
	t.scratch.Put(s)
}

// patchTerms is the number of terms of patches in memory at a time, for blockK outputs that
// are patchLine elements apart.
const (
	patchTerms = 192
	patchLine  = patchTerms + 16
)

// weights multiplies the transposed patches of all outputs, terms first ...
// first+c.Rows-1, by v into c.
func (w window) weights(t *tile[float32], c Matrix[float32], x []float32, v Matrix[float32], first int) {
	if t.kernel == nil {
		weightsScalar(w, c, x, v, first)
		return
	}
	s := t.scratch.Get().(*scratch[float32])
	if s.patches == nil {
		s.patches = make([]float32, blockK*patchLine)
	}
	// The outer loop is over blocks of pixels, so that these are read once; c is smaller.
	for p := 0; p < v.Rows; p += blockK {
		k := min(v.Rows-p, blockK)
		for j := 0; j < c.Cols; j += t.blockCols {
			j2 := min(c.Cols, j+t.blockCols)
			bp := t.arrange(s, v.part(p, p+k, j, j2), c.Rows)
			for i := 0; i < c.Rows; i += patchTerms {
				terms := min(patchTerms, c.Rows-i)
				w.patches(s.patches, patchLine, x, w.place(p), k, first+i, terms)
				t.groups(s, bp, c.part(i, i+terms, j, j2), Matrix[float32]{s.patches, terms, k, 1, patchLine}, p > 0)
			}
		}
	}
	t.scratch.Put(s)
}
