package nn

import "math"

// Mask describes one dropout layer: how many units it has per record and the
// probability with which a unit is dropped.
type Mask struct {
	Units int
	Rate  float64
}

// Fill writes the mask for records first ... first+n-1 into dst, [Units, n] in
// row-major order: 0 for a dropped unit, 1/(1-Rate) for a kept one. The draw is
// counter-based: entry (unit, record) depends on the key and on its place
// alone, so it is the same however a batch is cut into chunks, and nothing has
// to be saved to resume. The rate is rounded to 1/65536.
func (m Mask) Fill(dst []float32, key uint64, first, n int) {
	threshold := uint32(math.Round(m.Rate * 65536))
	keep := math.Float32bits(float32(1 / (1 - m.Rate)))
	for u := range m.Units {
		row := dst[u*n : (u+1)*n]
		base := key + uint64(u)*0x9E3779B97F4A7C15<<20
		for i := 0; i < n; {
			pos := first + i
			bits := mix(base + uint64(pos>>2))
			for lane := pos & 3; lane < 4 && i < n; lane++ {
				v := uint32(bits>>(16*lane)) & 0xFFFF
				// All ones when v >= threshold, without a branch.
				kept := ^uint32(int32(v-threshold) >> 31)
				row[i] = math.Float32frombits(keep & kept)
				i++
			}
		}
	}
}

// mix is the finaliser of SplitMix64.
func mix(z uint64) uint64 {
	z += 0x9E3779B97F4A7C15
	z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9
	z = (z ^ (z >> 27)) * 0x94D049BB133111EB
	return z ^ (z >> 31)
}
