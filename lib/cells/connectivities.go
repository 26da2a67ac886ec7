package cells

import (
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/lib/array"
)

// Connectivities returns the weighted neighbour graph of UMAP (McInnes, Healy and Melville 2018,
// section 3.1), which scanpy's neighbors keeps. The lists are those of NearestOthers, k with the
// cell itself. For cell i with distances d_ij
//
//	rho_i = the smallest distance above 0
//	w_ij = exp(-max(0, d_ij - rho_i) / sigma_i), with sigma_i so that sum over j of w_ij = log2 k
//	a_ij = w_ij + w_ji - w_ij w_ji
//
// The result is symmetric, n x n, with weights in (0, 1] and no diagonal. sigma_i is at least
// 0.001 of the mean distance of i (of all cells, where rho_i is 0).
//
// Difference from umap-learn 0.5.12, which computes in float32: float64.
func (n *Neighbours) Connectivities() (array.Sparse[float64], error) {
	if n.K < 2 {
		return array.Sparse[float64]{}, fmt.Errorf("cells.Connectivities: %d neighbours with the cell itself, want at least 2", n.K)
	}
	all := 0.0
	for _, d := range n.Distance {
		all += d
	}
	all /= float64(len(n.Distance))
	directed := array.Sparse[float64]{Rows: n.Rows, Cols: n.Rows, Starts: make([]int, 1, n.Rows+1)}
	for i := range n.Rows {
		index, distance := n.Row(i)
		if index[0] != i {
			return directed, fmt.Errorf("cells.Connectivities: row %d is not the first of its own neighbours", i)
		}
		w := membership(distance, all)
		for _, e := range ascending(index[1:]) {
			directed.Columns = append(directed.Columns, int32(index[e+1]))
			directed.Values = append(directed.Values, w[e+1])
		}
		directed.Starts = append(directed.Starts, len(directed.Columns))
	}
	return union(directed, directed.Transpose()), nil
}

// membership returns the weights of one list of neighbours; the weight of the cell itself is not
// used.
func membership(distance []float64, all float64) []float64 {
	rho, mean := 0.0, 0.0
	for _, d := range distance {
		mean += d / float64(len(distance))
		if rho == 0 {
			rho = d
		}
	}
	if rho == 0 {
		mean = all
	}
	sigma := max(bandwidth(distance[1:], rho, math.Log2(float64(len(distance)))), 1e-3*mean)
	out := make([]float64, len(distance))
	for k, d := range distance {
		out[k] = 1
		if d > rho && sigma > 0 {
			out[k] = math.Exp(-(d - rho) / sigma)
		}
	}
	return out
}

// bandwidth finds sigma with sum exp(-max(0, d - rho)/sigma) = target by halving,
// in umap-learn's 64 steps.
func bandwidth(distance []float64, rho, target float64) float64 {
	low, high, sigma := 0.0, math.Inf(1), 1.0
	for range 64 {
		sum := 0.0
		for _, d := range distance {
			sum += math.Exp(-max(0, d-rho) / sigma)
		}
		if math.Abs(sum-target) < 1e-5 {
			break
		}
		if sum > target {
			high = sigma
		} else {
			low = sigma
		}
		if math.IsInf(high, 1) {
			sigma *= 2
		} else {
			sigma = (low + high) / 2
		}
	}
	return sigma
}

// union returns a + b - a b element by element.
func union(a, b array.Sparse[float64]) array.Sparse[float64] {
	out := array.Sparse[float64]{Rows: a.Rows, Cols: a.Cols, Starts: make([]int, 1, a.Rows+1)}
	put := func(j int32, v float64) {
		if v > 0 {
			out.Columns, out.Values = append(out.Columns, j), append(out.Values, v)
		}
	}
	for i := range a.Rows {
		ca, va := a.Row(i)
		cb, vb := b.Row(i)
		for len(ca) > 0 || len(cb) > 0 {
			switch {
			case len(cb) == 0 || len(ca) > 0 && ca[0] < cb[0]:
				put(ca[0], va[0])
				ca, va = ca[1:], va[1:]
			case len(ca) == 0 || cb[0] < ca[0]:
				put(cb[0], vb[0])
				cb, vb = cb[1:], vb[1:]
			default:
				put(ca[0], va[0]+vb[0]-float64(va[0]*vb[0]))
				ca, va, cb, vb = ca[1:], va[1:], cb[1:], vb[1:]
			}
		}
		out.Starts = append(out.Starts, len(out.Columns))
	}
	return out
}
