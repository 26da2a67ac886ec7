package sde

import "math/rand/v2"

// ordersPerTask is the number of permutations of a task.
const ordersPerTask = 50

// permutations draws t orders of 0 ... n-1.
func permutations(n, t int, rng *rand.Rand) [][]uint32 {
	out := make([][]uint32, t)
	for k := range out {
		p := identityOrder(n)
		rng.Shuffle(n, func(i, j int) { p[i], p[j] = p[j], p[i] })
		out[k] = p
	}
	return out
}

func identityOrder(n int) []uint32 {
	p := make([]uint32, n)
	for i := range p {
		p[i] = uint32(i)
	}
	return p
}

// permuted returns sum_ij a_ij b_pi(i)pi(j) for every permutation. Both matrices are symmetric, so
// that half of the terms suffice. The sum over j < i is one chain of additions for every row i, and
// the rows are added in their order.
func permuted(a, b *Matrix, orders [][]uint32, workers int) []float64 {
	out := make([]float64, len(orders))
	forEach(blockStarts(len(orders), ordersPerTask), workers, func(k int) {
		end := min(k+ordersPerTask, len(orders))
		addPermuted(a, b, orders[k:end], out[k:end])
	})
	return out
}

// addPermuted processes four rows of a at a time for all orders.
func addPermuted(a, b *Matrix, orders [][]uint32, out []float64) {
	onA, onB := diagonal(a), diagonal(b)
	var x [4][]float64
	var s [4]float64
	for i := 0; i < a.Rows; i += len(x) {
		rows := min(len(x), a.Rows-i)
		for r := range rows {
			x[r] = a.Row(i + r)
		}
		for k, order := range orders {
			if rows == len(x) {
				fourRows(&x, b, order, i, &s)
			} else {
				fewRows(x[:rows], b, order, i, s[:rows])
			}
			for r, v := range s[:rows] {
				out[k] += 2*v + float64(onA[i+r]*onB[order[i+r]])
			}
		}
	}
}

// fourRows computes the chains of rows i ... i+3 at the same time: an index is loaded once for all,
// and additions of different chains overlap.
func fourRows(x *[4][]float64, b *Matrix, order []uint32, i int, s *[4]float64) {
	n := b.Cols
	x0, x1, x2, x3 := x[0][:n], x[1][:n], x[2][:n], x[3][:n]
	y0, y1, y2, y3 := b.Row(int(order[i]))[:n], b.Row(int(order[i+1]))[:n], b.Row(int(order[i+2]))[:n], b.Row(int(order[i+3]))[:n]
	var s0, s1, s2, s3 float64
	for j, c := range order[:i] {
		if j >= n || int(c) >= n { // never: one check in place of eight
			break
		}
		s0 += float64(x0[j] * y0[c])
		s1 += float64(x1[j] * y1[c])
		s2 += float64(x2[j] * y2[c])
		s3 += float64(x3[j] * y3[c])
	}
	s[0] = s0
	s[1] = addTerms(s1, x1, y1, order, i, i+1)
	s[2] = addTerms(s2, x2, y2, order, i, i+2)
	s[3] = addTerms(s3, x3, y3, order, i, i+3)
}

// fewRows is fourRows for the remaining rows.
func fewRows(x [][]float64, b *Matrix, order []uint32, i int, s []float64) {
	for r := range x {
		s[r] = addTerms(0, x[r], b.Row(int(order[i+r])), order, 0, i+r)
	}
}

// addTerms adds the terms from ... to of a row to s.
func addTerms(s float64, x, y []float64, order []uint32, from, to int) float64 {
	for j := from; j < to; j++ {
		s += float64(x[j] * y[order[j]])
	}
	return s
}
