package sde

import "math"

// multiplyPlain adds to block the products of two packed panels:
//
//	block[r][c] = fma(a_k[r], b_k[c], block[r][c]) for k = 0, 1, ...
//
// in squares of four, which is what fits the registers of a processor without
// vectors.
func multiplyPlain(a, b []float64, block *block) {
	for r := 0; r < panel; r += 4 {
		for c := 0; c < panel; c += 2 {
			multiplySquare(a[r:], b[c:], block[r*panel+c:])
		}
	}
}

// multiplySquare is multiplyPlain for four rows and two columns.
func multiplySquare(a, b, block []float64) {
	s00, s01 := block[0], block[1]
	s10, s11 := block[panel], block[panel+1]
	s20, s21 := block[2*panel], block[2*panel+1]
	s30, s31 := block[3*panel], block[3*panel+1]
	for len(a) >= 4 && len(b) >= 2 {
		x0, x1, x2, x3, y0, y1 := a[0], a[1], a[2], a[3], b[0], b[1]
		s00, s01 = math.FMA(x0, y0, s00), math.FMA(x0, y1, s01)
		s10, s11 = math.FMA(x1, y0, s10), math.FMA(x1, y1, s11)
		s20, s21 = math.FMA(x2, y0, s20), math.FMA(x2, y1, s21)
		s30, s31 = math.FMA(x3, y0, s30), math.FMA(x3, y1, s31)
		a, b = a[min(panel, len(a)):], b[min(panel, len(b)):]
	}
	block[0], block[1] = s00, s01
	block[panel], block[panel+1] = s10, s11
	block[2*panel], block[2*panel+1] = s20, s21
	block[3*panel], block[3*panel+1] = s30, s31
}
