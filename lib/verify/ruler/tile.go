package ruler

import (
	"fmt"
	"math"
)

// tile is one block of float32 similarities between rows i, i+1, ... of a and
// rows j, j+1, ... of b.
type tile struct {
	a, b       cloud
	i, j       int
	rows, cols int
	s          []float32 // rows x cols
	bound      float64
}

// dropDiagonal removes each record's similarity to itself from a tile on the
// diagonal of a symmetric problem.
func (t *tile) dropDiagonal() {
	for r := range min(t.rows, t.cols) {
		t.s[r*t.cols+r] = float32(math.Inf(-1))
	}
}

// raiseRows lifts best[i+r] to the largest similarity in row r.
func (t *tile) raiseRows(best []float64) error {
	return strips(t.rows, func(lo, hi int) error {
		for r := lo; r < hi; r++ {
			row := t.s[r*t.cols : (r+1)*t.cols]
			if err := t.raiseRow(&best[t.i+r], r, row, maximum(row)); err != nil {
				return err
			}
		}
		return nil
	})
}

func (t *tile) raiseRow(best *float64, r int, row []float32, top float32) error {
	if t.hopeless(*best, top) {
		return nil
	}
	limit := t.limit(*best, top)
	for c, s := range row {
		if s < limit {
			continue
		}
		if err := t.raise(best, r, c, s); err != nil {
			return err
		}
		limit = max(limit, t.limit(*best, top))
	}
	return nil
}

// raiseColumns lifts best[j+c] to the largest similarity in column c.
func (t *tile) raiseColumns(best []float64) error {
	return strips(t.cols, func(lo, hi int) error {
		tops := t.columnMaxima(lo, hi)
		for c := lo; c < hi; c++ {
			if err := t.raiseColumn(&best[t.j+c], c, tops[c-lo]); err != nil {
				return err
			}
		}
		return nil
	})
}

func (t *tile) columnMaxima(lo, hi int) []float32 {
	tops := make([]float32, hi-lo)
	copy(tops, t.s[lo:hi])
	for r := 1; r < t.rows; r++ {
		raiseAll(tops, t.s[r*t.cols+lo:r*t.cols+hi])
	}
	return tops
}

func (t *tile) raiseColumn(best *float64, c int, top float32) error {
	if t.hopeless(*best, top) {
		return nil
	}
	limit := t.limit(*best, top)
	for r := range t.rows {
		s := t.s[r*t.cols+c]
		if s < limit {
			continue
		}
		if err := t.raise(best, r, c, s); err != nil {
			return err
		}
		limit = max(limit, t.limit(*best, top))
	}
	return nil
}

// hopeless reports that nothing at or below top can lift best; 1 is the most a
// cosine can be.
func (t *tile) hopeless(best float64, top float32) bool {
	return best >= 1 || float64(top)+t.bound < best
}

// limit is the smallest float32 product that may hide the float64 maximum,
// rounded down.
func (t *tile) limit(best float64, top float32) float32 {
	x := max(best, float64(top)-t.bound) - t.bound
	y := float32(x)
	if float64(y) > x {
		y = math.Nextafter32(y, float32(math.Inf(-1)))
	}
	return y
}

// raise computes one similarity in float64 and checks that the fast product
// kept its promise.
func (t *tile) raise(best *float64, r, c int, s float32) error {
	exact := dot(t.a.exact.Row(t.i+r), t.b.exact.Row(t.j+c))
	if !(math.Abs(float64(s)-exact) <= t.bound) {
		return fmt.Errorf("ruler: the multiplier returned %v for an inner product of %v, further off than float32 arithmetic allows (%.2g)", s, exact, t.bound)
	}
	*best = max(*best, exact)
	return nil
}
