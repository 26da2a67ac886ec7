package cells

// UMAP layout of a neighbour graph.

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/progress"
	"gonum.org/v1/gonum/mat"
)

// UMAP lays out a neighbour graph in the plane, for viewing (McInnes, Healy and Melville 2018,
// section 3.2 and algorithm 5). The points y minimise by stochastic gradient descent the
// cross-entropy between the weights w_ij of the graph, Neighbours.Connectivities, and
//
//	v_ij = 1 / (1 + a |y_i - y_j|^(2b))
//
// where a and b fit v to 1 up to MinDist and exp(-(d - MinDist)/Spread) beyond. An edge is used
// in proportion to its weight, and each time a cell is pushed away from Negatives random others.
// Distances between groups in the picture mean little, and sizes of groups nothing: no measure
// of this library uses it.
//
// The zero value is scanpy's. The same rng gives the same picture on one kind of processor; time
// is linear in edges and epochs.
//
// Differences from umap-learn 0.5.12: (1) it starts from the given positions, for example two
// components, and not from eigenvectors of the graph; (2) float64 and another generator; (3) one
// thread.
type UMAP struct {
	MinDist   float64 `json:"min_dist,omitempty"`  // 0: 0.5; umap-learn's own is 0.1
	Spread    float64 `json:"spread,omitempty"`    // 0: 1
	Epochs    int     `json:"epochs,omitempty"`    // 0: 500 of up to 10,000 cells, 200 of more
	Negatives int     `json:"negatives,omitempty"` // 0: 5
	Rate      float64 `json:"rate,omitempty"`      // of the first epoch, decreasing to 0; 0: 1
}

// WithDefaults replaces zeros by the defaults for the given number of cells.
func (u UMAP) WithDefaults(cells int) UMAP {
	u.MinDist, u.Spread, u.Negatives, u.Rate = cmp.Or(u.MinDist, 0.5), cmp.Or(u.Spread, 1), cmp.Or(u.Negatives, 5), cmp.Or(u.Rate, 1)
	if u.Epochs == 0 {
		u.Epochs = 500
		if cells > 10_000 {
			u.Epochs = 200
		}
	}
	return u
}

func (u UMAP) check() error {
	if !(u.MinDist > 0 && u.Spread > 0 && u.Rate > 0 && u.MinDist <= u.Spread) || u.Epochs < 1 || u.Negatives < 0 {
		return fmt.Errorf("cells.UMAP: min dist %v up to spread %v, rate %v, %d epochs, %d negatives", u.MinDist, u.Spread, u.Rate, u.Epochs, u.Negatives)
	}
	return nil
}

// Layout returns the positions of the cells in the plane, a row each, starting from the first
// two columns of begin. It refuses a graph that Leiden refuses, other numbers of rows, positions
// that are not finite or are all equal in a column, and a nil generator.
func (u UMAP) Layout(graph array.Sparse[float64], begin array.Matrix[float64], rng *rand.Rand) (array.Matrix[float64], error) {
	var none array.Matrix[float64]
	u = u.WithDefaults(graph.Rows)
	if err := errors.Join(u.check(), checkGraph("UMAP", graph)); err != nil {
		return none, err
	}
	if rng == nil {
		return none, errors.New("cells.UMAP: rng is nil")
	}
	y, err := initialPositions(begin, graph.Rows)
	if err != nil {
		return none, err
	}
	a, b := u.curve()
	l := layout{y: y, a: a, b: b, negatives: u.Negatives, rng: rng, springs: springs(graph, u.Epochs)}
	task := progress.Begin("UMAP", u.Epochs)
	defer task.Done()
	for epoch := range u.Epochs {
		task.Add(1)
		l.epoch(float64(epoch), u.Rate*(1-float64(epoch)/float64(u.Epochs)))
	}
	return y, nil
}

// initialPositions are the first two columns, scaled to 0 ... 10.
func initialPositions(places array.Matrix[float64], rows int) (array.Matrix[float64], error) {
	y := array.New[float64](rows, 2)
	if places.Rows != rows || places.Cols < 2 {
		return y, fmt.Errorf("cells.UMAP: positions of %d cells in %d dimensions, the graph has %d cells", places.Rows, places.Cols, rows)
	}
	if err := places.Check("places"); err != nil {
		return y, fmt.Errorf("cells.UMAP: %w", err)
	}
	for c := range 2 {
		low, high := math.Inf(1), math.Inf(-1)
		for i := range rows {
			low, high = min(low, places.Row(i)[c]), max(high, places.Row(i)[c])
		}
		if !(high > low) {
			return y, fmt.Errorf("cells.UMAP: all positions are equal in column %d", c)
		}
		for i := range rows {
			y.Row(i)[c] = (places.Row(i)[c]/2 - low/2) / (high/2 - low/2) * 10
		}
	}
	return y, nil
}

// spring is a directed edge that acts once in a number of epochs.
type spring struct {
	from, to    int
	every, next float64
}

// springs are the edges, without those too light to act within the given number of epochs.
func springs(graph array.Sparse[float64], epochs int) []spring {
	heaviest := 0.0
	for _, w := range graph.Values {
		heaviest = max(heaviest, w)
	}
	var out []spring
	for i := range graph.Rows {
		columns, weights := graph.Row(i)
		for k, w := range weights {
			if every := heaviest / w; w > 0 && every <= float64(epochs) && int(columns[k]) != i {
				out = append(out, spring{from: i, to: int(columns[k]), every: every, next: every})
			}
		}
	}
	return out
}

// layout is the state of the optimisation.
type layout struct {
	y         array.Matrix[float64]
	a, b      float64
	negatives int
	rng       *rand.Rand
	springs   []spring
}

// epoch moves both ends of the springs that are due towards each other, and the first end away
// from random cells.
func (l *layout) epoch(epoch, rate float64) {
	for k := range l.springs {
		s := &l.springs[k]
		if s.next > epoch {
			continue
		}
		from, to := l.y.Row(s.from), l.y.Row(s.to)
		pull := l.pull(square(from, to))
		for c := range from {
			d := rate * clip(pull*(from[c]-to[c]))
			from[c] += d
			to[c] -= d
		}
		s.next += s.every
		for range l.negatives {
			other := l.rng.IntN(l.y.Rows)
			if other == s.from {
				continue
			}
			away := l.y.Row(other)
			push := l.push(square(from, away))
			for c := range from {
				from[c] += rate * clip(push*(from[c]-away[c]))
			}
		}
	}
}

func square(p, q []float64) float64 {
	dx, dy := p[0]-q[0], p[1]-q[1]
	return float64(dx*dx) + float64(dy*dy)
}

// pull is the gradient of log v by the difference of two points; 0 if they coincide.
func (l *layout) pull(square float64) float64 {
	if square == 0 {
		return 0
	}
	p := math.Pow(square, l.b)
	return -2 * l.a * l.b * p / square / (1 + l.a*p)
}

// push is the gradient of log(1 - v), without its pole.
func (l *layout) push(square float64) float64 {
	return 2 * l.b / ((0.001 + square) * (1 + l.a*math.Pow(square, l.b)))
}

// clip limits a step.
func clip(v float64) float64 { return max(-4, min(4, v)) }

// curve fits a and b by Gauss-Newton on 300 distances up to three spreads, with step halving.
func (u UMAP) curve() (a, b float64) {
	a, b = 1, 1
	loss, step := u.curveLoss(a, b)
	for range 100 {
		da, db := step[0], step[1]
		for range 40 {
			next, further := u.curveLoss(a+da, b+db)
			if a+da > 0 && b+db > 0 && next < loss {
				a, b, loss, step = a+da, b+db, next, further
				break
			}
			da, db = da/2, db/2
		}
		if math.Abs(da)+math.Abs(db) < 1e-12 {
			break
		}
	}
	return a, b
}

// curveLoss is the sum of squares at a and b, and the Gauss-Newton step.
func (u UMAP) curveLoss(a, b float64) (loss float64, step [2]float64) {
	var h [3]float64 // of the normal equations: aa, ab, bb
	var g [2]float64
	const points = 300
	for i := range points {
		x, want := 3*u.Spread*float64(i)/(points-1), 1.0
		if x >= u.MinDist {
			want = math.Exp(-(x - u.MinDist) / u.Spread)
		}
		p := math.Pow(x, 2*b)
		v := 1 / (1 + a*p)
		r, da, db := want-v, -float64(v*v)*p, 0.0
		if x > 0 {
			db = 2 * a * da * math.Log(x)
		}
		loss += float64(r * r)
		h[0], h[1], h[2] = h[0]+da*da, h[1]+da*db, h[2]+db*db
		g[0], g[1] = g[0]+da*r, g[1]+db*r
	}
	var out mat.VecDense
	if out.SolveVec(mat.NewSymDense(2, []float64{h[0], h[1], h[1], h[2]}), mat.NewVecDense(2, g[:])) == nil {
		step = [2]float64{out.AtVec(0), out.AtVec(1)}
	}
	return loss, step
}
