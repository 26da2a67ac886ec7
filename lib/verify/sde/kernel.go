package sde

import "math"

// gaussian turns squared distances into the kernel minus one, in place:
//
//	k(x, y) - 1 = expm1(-|x - y|^2 / (2 sigma^2)).
//
// Everything in this package is the same for k and for k - 1, because centring removes constants.
// If sigma is large, all kernel values are close to 1 (sigma = 128 on ten logits leaves values of
// 1e-8), and k - 1 keeps the digits that k has lost.
func gaussian(d *Matrix, sigma float64) {
	scale := -1 / (2 * sigma * sigma)
	for i, v := range d.Data {
		d.Data[i] = math.Expm1(float64(v * scale))
	}
}

// gaussianWithin is gaussian on the symmetric matrix of distances within a set, of which only the
// lower triangle is read: each pair is computed once.
func gaussianWithin(d *Matrix, sigma float64, workers int) {
	scale := -1 / (2 * sigma * sigma)
	forEach(blockStarts(d.Rows, blockRows), workers, func(first int) {
		for i := first; i < min(first+blockRows, d.Rows); i++ {
			row := d.Row(i)[:i+1]
			for j, v := range row {
				row[j] = math.Expm1(float64(v * scale))
			}
		}
	})
	mirror(d, workers)
}

// kernel returns the kernel matrix minus one of the cloud.
func (c cloud) kernel(sigma float64, workers int) Matrix {
	k := c.distances(workers)
	gaussianWithin(&k, sigma, workers)
	return k
}

// centre replaces a symmetric kernel matrix K by H K H, H = I - 11'/n, in place:
// K_ij - mean of row i - mean of row j + mean of all.
func centre(k *Matrix) {
	means := rowMeans(k)
	all := sum(means) / float64(len(means))
	for i := range k.Rows {
		row, shift := k.Row(i), all-means[i]
		for j := range i + 1 {
			row[j] += shift - means[j]
		}
	}
	mirror(k, 1)
}

func rowMeans(k *Matrix) []float64 {
	means := make([]float64, k.Rows)
	for i := range means {
		means[i] = sum(k.Row(i)) / float64(k.Cols)
	}
	return means
}

// sum adds in four interleaved chains, in the same order on every platform.
func sum(x []float64) float64 {
	var s [4]float64
	for ; len(x) >= 4; x = x[4:] {
		s[0] += x[0]
		s[1] += x[1]
		s[2] += x[2]
		s[3] += x[3]
	}
	for k, v := range x {
		s[k] += v
	}
	return (s[0] + s[2]) + (s[1] + s[3])
}

func trace(m *Matrix) float64 { return sum(diagonal(m)) }

// centred returns the centred kernel matrix of the activations.
func centred(m *Matrix, sigma float64, workers int) Matrix {
	k := newCloud(m).kernel(sigma, workers)
	centre(&k)
	return k
}

// pairwise returns the sum of a_ij b_ij over two symmetric matrices.
func pairwise(a, b *Matrix) float64 {
	total := 0.0
	for i := range a.Rows {
		x, y := a.Row(i), b.Row(i)
		s := 0.0
		for j, v := range x[:i] {
			s += float64(v * y[j])
		}
		total += 2*s + float64(x[i]*y[i])
	}
	return total
}
