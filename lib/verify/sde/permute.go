package sde

import "math/rand/v2"

// abreast is the number of permutations that are summed together: a kernel
// value is loaded once for all, and four rows of 1,000 records fit the first
// cache.
const abreast = 4

// permutations draws t orders of 0 ... n-1, filled up with the natural order to
// a multiple of abreast.
func permutations(n, t int, rng *rand.Rand) [][]uint32 {
	out := make([][]uint32, (t+abreast-1)/abreast*abreast)
	for k := range out {
		out[k] = natural(n)
		if k < t {
			rng.Shuffle(n, func(i, j int) { out[k][i], out[k][j] = out[k][j], out[k][i] })
		}
	}
	return out
}

func natural(n int) []uint32 {
	p := make([]uint32, n)
	for i := range p {
		p[i] = uint32(i)
	}
	return p
}

// permuted returns sum_ij a_ij b_pi(i)pi(j) for every permutation; their number
// is a multiple of abreast. Both matrices are symmetric, so that half of the
// terms suffice.
func permuted(a, b *Matrix, orders [][]uint32, workers int) []float64 {
	out := make([]float64, len(orders))
	var starts []int
	for k := 0; k < len(orders); k += abreast {
		starts = append(starts, k)
	}
	each(starts, workers, func(k int) {
		fourPermuted(a, b, (*[abreast][]uint32)(orders[k:]), (*[abreast]float64)(out[k:]))
	})
	return out
}

func fourPermuted(a, b *Matrix, orders *[abreast][]uint32, out *[abreast]float64) {
	p0, p1, p2, p3 := orders[0], orders[1], orders[2], orders[3]
	for i := range a.Rows {
		x := a.Row(i)
		r0, r1, r2, r3 := b.Row(int(p0[i])), b.Row(int(p1[i])), b.Row(int(p2[i])), b.Row(int(p3[i]))
		d := x[i]
		x = x[:i]
		q0, q1, q2, q3 := p0[:len(x)], p1[:len(x)], p2[:len(x)], p3[:len(x)]
		var s0, s1, s2, s3 float64
		for j, v := range x {
			s0 += float64(v * r0[q0[j]])
			s1 += float64(v * r1[q1[j]])
			s2 += float64(v * r2[q2[j]])
			s3 += float64(v * r3[q3[j]])
		}
		out[0] += 2*s0 + float64(d*r0[p0[i]])
		out[1] += 2*s1 + float64(d*r1[p1[i]])
		out[2] += 2*s2 + float64(d*r2[p2[i]])
		out[3] += 2*s3 + float64(d*r3[p3[i]])
	}
}
