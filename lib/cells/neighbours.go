package cells

// Exact nearest neighbours.

import (
	"fmt"
	"math"
	"runtime"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/progress"
)

// Neighbours are the K nearest rows of a matrix for every row of another, the nearest first, by
// Euclidean distance. Of rows at the same distance the first comes first.
type Neighbours struct {
	Rows, K  int
	Index    []int     // Rows x K
	Distance []float64 // Rows x K
}

// Row returns the neighbours of row i and their distances.
func (n *Neighbours) Row(i int) (index []int, distance []float64) {
	a, b := i*n.K, (i+1)*n.K
	return n.Index[a:b:b], n.Distance[a:b:b]
}

// Nearest returns the k rows of among that are nearest to each row of x. It compares all pairs
// on all cores and stops a comparison as soon as the first columns show that the pair is too far
// apart; for principal components that saves most of the work. The result is exact, in float64.
// It refuses widths that differ, values that are not finite, and k outside 1 ... rows of among.
func Nearest(x, among array.Matrix[float64], k int) (*Neighbours, error) {
	if err := checkNearest(x, among, k, among.Rows); err != nil {
		return nil, err
	}
	return nearest(x, among, k, false), nil
}

// NearestOthers returns for each row of x the row itself, at distance 0, and the k-1 nearest
// other rows: k counts as scanpy's n_neighbors does. A row comes first in its own list even if
// another row equals it.
func NearestOthers(x array.Matrix[float64], k int) (*Neighbours, error) {
	if err := checkNearest(x, x, k, x.Rows); err != nil {
		return nil, err
	}
	return nearest(x, x, k, true), nil
}

func checkNearest(x, among array.Matrix[float64], k, most int) error {
	if err := x.Check("cells.Nearest"); err != nil {
		return err
	}
	if err := among.Check("cells.Nearest: among"); err != nil {
		return err
	}
	if x.Cols != among.Cols {
		return fmt.Errorf("cells.Nearest: rows of %d and of %d columns", x.Cols, among.Cols)
	}
	if k < 1 || k > most {
		return fmt.Errorf("cells.Nearest: %d neighbours among %d rows", k, most)
	}
	return nil
}

func nearest(x, among array.Matrix[float64], k int, self bool) *Neighbours {
	n := &Neighbours{Rows: x.Rows, K: k, Index: make([]int, x.Rows*k), Distance: make([]float64, x.Rows*k)}
	task := progress.Begin("nearest neighbours", x.Rows)
	defer task.Done()
	inParts(x.Rows, 4*runtime.GOMAXPROCS(0), func(_, from, to int) {
		for i := from; i < to; i++ {
			task.Add(1)
			if self {
				n.fill(i, func(best *shortlist) { best.search(x.Row(i), among, i) })
				continue
			}
			index, distance := n.Row(i)
			best := shortlist{index[:0], distance[:0], k}
			best.search(x.Row(i), among, -1)
			sqrtAll(distance)
		}
	})
	return n
}

// fill makes the list of row i: the row itself, then the result of search.
func (n *Neighbours) fill(i int, search func(best *shortlist)) {
	index, distance := n.Row(i)
	index[0] = i
	if n.K > 1 {
		search(&shortlist{index[1:1], distance[1:1], n.K - 1})
	}
	sqrtAll(distance)
}

func sqrtAll(squares []float64) {
	for e, d := range squares {
		squares[e] = math.Sqrt(d)
	}
}

// shortlist holds the nearest rows so far, by ascending square of the distance.
type shortlist struct {
	index  []int
	square []float64
	k      int
}

// search compares with all rows except own.
func (s *shortlist) search(row []float64, among array.Matrix[float64], own int) {
	for j := range among.Rows {
		if j != own {
			s.offer(j, row, among.Row(j))
		}
	}
}

// offer inserts row j if it is nearer than the last one.
func (s *shortlist) offer(j int, row, other []float64) {
	limit, full := math.Inf(1), len(s.index) == s.k
	if full {
		limit = s.square[s.k-1]
	}
	if d := squareBelow(row, other, limit); d < limit || !full {
		s.insert(j, d)
	}
}

func (s *shortlist) insert(j int, d float64) {
	if len(s.index) < s.k {
		s.index, s.square = append(s.index, j), append(s.square, d)
	}
	at := len(s.index) - 1
	for ; at > 0 && s.square[at-1] > d; at-- {
		s.index[at], s.square[at] = s.index[at-1], s.square[at-1]
	}
	s.index[at], s.square[at] = j, d
}

// squareBelow returns the squared distance, or some value of at least limit if it is not below
// limit.
func squareBelow(a, b []float64, limit float64) float64 {
	const block = 6
	sum := 0.0
	for len(a) > block {
		for e := range block {
			d := a[e] - b[e]
			sum += float64(d * d)
		}
		if sum >= limit {
			return sum
		}
		a, b = a[block:], b[block:]
	}
	for e, v := range a {
		d := v - b[e]
		sum += float64(d * d)
	}
	return sum
}
