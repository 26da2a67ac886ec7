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
		// Four records share one draw; the ends that do not fill one go singly.
		i := 0
		for ; i < n && (first+i)&3 != 0; i++ {
			row[i] = entry(mix(base+uint64((first+i)>>2)), (first+i)&3, threshold, keep)
		}
		for block := uint64((first + i) >> 2); i+4 <= n; i, block = i+4, block+1 {
			bits := mix(base + block)
			four := row[i : i+4 : i+4]
			four[0] = entry(bits, 0, threshold, keep)
			four[1] = entry(bits, 1, threshold, keep)
			four[2] = entry(bits, 2, threshold, keep)
			four[3] = entry(bits, 3, threshold, keep)
		}
		for ; i < n; i++ {
			row[i] = entry(mix(base+uint64((first+i)>>2)), (first+i)&3, threshold, keep)
		}
	}
}

// entry is keep when the draw's 16 bits for the lane reach the threshold, and 0
// otherwise, without a branch.
func entry(bits uint64, lane int, threshold, keep uint32) float32 {
	v := uint32(bits>>(16*(lane&3))) & 0xFFFF
	return math.Float32frombits(keep &^ uint32(int32(v-threshold)>>31))
}

// mix is the finaliser of SplitMix64.
func mix(z uint64) uint64 {
	z += 0x9E3779B97F4A7C15
	z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9
	z = (z ^ (z >> 27)) * 0x94D049BB133111EB
	return z ^ (z >> 31)
}
