// Tiles of float32 similarities; only candidates for the maximum are recomputed in float64.

package ruler

import (
	"fmt"
	"math"
	"slices"

	"github.com/lethe-ml/lethe/lib/engine/kernels"
)

// tile is one block of float32 similarities between rows i, i+1, ... of a and rows j, j+1, ... of
// b.
//
// Products s within e of the float64 similarities can raise a record's best similarity only if the
// largest of them reaches best - e, and then only those at max(best, max s - e) - e or above can be
// the new best. Only these are computed again in float64, so that the result is exactly the maximum
// of the float64 values, whatever the tiling.
type tile struct {
	a, b       cloud
	i, j       int
	rows, cols int
	s          []float32 // rows x cols
	bound      float64   // e
	scratch    *scratch

	rowTop, colTop []float32 // what scan found
}

// newTile sets up a tile in scratch memory that the next tile of the same goroutine reuses.
func newTile(a, b cloud, at tileOrigin, bound float64, buffer *scratch) *tile {
	t := &tile{a: a, b: b, i: at.i, j: at.j, bound: bound, scratch: buffer,
		rows: min(tileSize, a.len()-at.i), cols: min(tileSize, b.len()-at.j)}
	if n := t.rows * t.cols; cap(buffer.s) < n {
		buffer.s = make([]float32, n)
	}
	t.s = buffer.s[:t.rows*t.cols]
	return t
}

// dropDiagonal removes each record's similarity to itself from a tile on the
// diagonal of a symmetric problem.
func (t *tile) dropDiagonal() {
	for r := range min(t.rows, t.cols) {
		t.s[r*t.cols+r] = float32(math.Inf(-1))
	}
}

// scan finds the largest similarity of every row and, if asked, column.
func (t *tile) scan(columns bool) {
	t.rowTop = make([]float32, t.rows)
	if columns {
		t.colTop = slices.Clone(t.row(0))
	}
	for r := range t.rowTop {
		t.rowTop[r] = kernels.Largest(t.row(r))
		if columns {
			kernels.Max(t.colTop, t.colTop, t.row(r))
		}
	}
}

func (t *tile) row(r int) []float32 { return t.s[r*t.cols : (r+1)*t.cols] }

// raiseRows raises best[r] to the largest similarity in row r.
func (t *tile) raiseRows(best []float64) error {
	for r, top := range t.rowTop {
		if t.cannotImprove(best[r], top) {
			continue
		}
		limit := t.limit(best[r], top)
		for c, s := range t.row(r) {
			if s < limit {
				continue
			}
			if err := t.raise(&best[r], r, c, s); err != nil {
				return err
			}
			limit = t.limit(best[r], top)
		}
	}
	return nil
}

// raiseColumns raises best[c] to the largest similarity in column c. It runs along the rows and
// skips columns that cannot improve.
func (t *tile) raiseColumns(best []float64) error {
	var hopes []int
	limits := make([]float32, t.cols)
	for c, top := range t.colTop {
		if !t.cannotImprove(best[c], top) {
			hopes = append(hopes, c)
			limits[c] = t.limit(best[c], top)
		}
	}
	for r := range t.rows {
		row := t.row(r)
		for _, c := range hopes {
			if row[c] < limits[c] {
				continue
			}
			if err := t.raise(&best[c], r, c, row[c]); err != nil {
				return err
			}
			limits[c] = t.limit(best[c], t.colTop[c])
		}
	}
	return nil
}

// cannotImprove reports that nothing at or below top can raise best; a cosine is at most 1.
func (t *tile) cannotImprove(best float64, top float32) bool {
	return best >= 1 || float64(top)+t.bound < best
}

// limit returns the smallest float32 product whose float64 value may be the maximum, rounded down.
func (t *tile) limit(best float64, top float32) float32 {
	x := max(best, float64(top)-t.bound) - t.bound
	y := float32(x)
	if float64(y) > x {
		y = math.Nextafter32(y, float32(math.Inf(-1)))
	}
	return y
}

// raise computes one similarity in float64 and checks that the float32 product is within its bound.
func (t *tile) raise(best *float64, r, c int, s float32) error {
	exact := kernels.Dot(t.a.unit(t.scratch.x, t.i+r), t.b.unit(t.scratch.y, t.j+c))
	if !(math.Abs(float64(s)-exact) <= t.bound) {
		return fmt.Errorf("ruler: the float32 product is %v where the inner product is %v: float32 arithmetic allows %.2g", s, exact, t.bound)
	}
	*best = max(*best, exact)
	return nil
}
