package sde

import "math/rand/v2"

// freshDraws returns, for t random splits of a set into ordered halves, the sum over ij of K_ij
// L_ij of the two centred kernel matrices. e is the kernel matrix of the whole set. It is centred
// as a whole first, which changes no half's centred matrix and keeps the means that are subtracted
// small.
func freshDraws(e *Matrix, t int, rng *rand.Rand) []float64 {
	centre(e)
	n := e.Rows / 2
	order := identityOrder(e.Rows)
	k, l := Matrix{Rows: n, Cols: n, Data: make([]float64, n*n)}, Matrix{Rows: n, Cols: n, Data: make([]float64, n*n)}
	out := make([]float64, t)
	for i := range out {
		rng.Shuffle(len(order), func(a, b int) { order[a], order[b] = order[b], order[a] })
		copySubmatrix(&k, e, order[:n])
		copySubmatrix(&l, e, order[n:2*n])
		out[i] = centredPairwise(&k, &l)
	}
	return out
}

// copySubmatrix copies the given rows and columns of a symmetric matrix into the lower triangle of
// dst and mirrors it.
func copySubmatrix(dst, from *Matrix, rows []uint32) {
	for i, r := range rows {
		src, row := from.Row(int(r)), dst.Row(i)
		for j, c := range rows[:i+1] {
			row[j] = src[c]
		}
	}
	mirror(dst, 1)
}

// centredPairwise is the sum of the products of two matrices after centring,
// with the centring done on the sums:
//
//	sum K_ij L_ij - 2n sum_i k_i l_i + n^2 k l,
//
// k_i, l_i the row means, k and l the means of all.
func centredPairwise(k, l *Matrix) float64 {
	n := float64(k.Rows)
	rk, rl := rowMeans(k), rowMeans(l)
	cross := 0.0
	for i, v := range rk {
		cross += float64(v * rl[i])
	}
	return pairwise(k, l) - float64(2*n*cross) + float64(sum(rk)*sum(rl))
}

// freshMean returns the mean of the split-half statistic over all splits of N
// rows into ordered halves of n and pairings. Given the halves it is
// tr K tr L/(n-1)^3, and tr K = -sum e_ij/n over pairs in the half, e the kernel
// less one. Of the N(N-1)(N-2)(N-3) ordered choices of four records a share
// n^2(n-1)^2 falls two and two into the halves, so
//
//	E = (n-1)^2/(N(N-1)(N-2)(N-3)) (s^2 - 4 sum_i r_i^2 + 2 sum_ij e_ij^2) / (n-1)^3
//
// with the row sums r_i and their sum s; the bracket is the sum of e_ij e_kl
// over four different records.
func freshMean(e *Matrix) float64 {
	n, all := float64(e.Rows/2), float64(e.Rows)
	total, rows := 0.0, 0.0
	for i := range e.Rows {
		r := sum(e.Row(i))
		total += r
		rows += float64(r * r)
	}
	bracket := float64(total*total) - 4*rows + 2*pairwise(e, e)
	return bracket / (all * (all - 1) * (all - 2) * (all - 3) * (n - 1))
}
