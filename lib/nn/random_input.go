package nn

import (
	"math"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine/kernels"
)

// Distribution is the distribution of a random input.
type Distribution int

// The distributions.
const (
	// Dropout is 0 with probability Rate and 1/(1-Rate) otherwise.
	Dropout Distribution = iota
	// Normal is standard normal: the noise of a reparameterised sample or of diffusion.
	Normal
)

// RandomInput describes random numbers that enter a network in training: Units numbers per
// record. In inference there are none. See Builder.Random.
type RandomInput struct {
	Name         string
	Distribution Distribution
	Units        int
	Rate         float64 // of Dropout; unused for Normal
}

// Active reports whether the random input has an effect: a dropout of rate 0 has none.
func (d RandomInput) Active() bool { return d.Distribution == Normal || d.Rate > 0 }

// Fill writes the numbers for records first ... first+n-1 to dst, [Units, n] in row-major
// order. It is counter-based: entry (unit, record) depends on the key, the unit and the
// record only. It is therefore the same however a batch is cut into chunks, and there is no
// state to save.
func (d RandomInput) Fill(dst []float32, key uint64, first, n int) {
	work := n
	if d.Distribution == Normal {
		work *= 64 // a pair needs a logarithm, a root, a sine and a cosine
	}
	array.SplitRows(d.Units, work, func(from, to int) {
		for u := from; u < to; u++ {
			row, base := dst[u*n:(u+1)*n], key+uint64(u)*0x9E3779B97F4A7C15<<20
			if d.Distribution == Normal {
				fillNormal(row, base, first)
			} else {
				kernels.Dropout(row, base, first, d.Rate)
			}
		}
	})
}

// fillNormal writes normal numbers, two from each pair of uniform ones.
func fillNormal(row []float32, base uint64, first int) {
	at := uint64(first)
	if at&1 == 1 && len(row) > 0 {
		_, row[0] = boxMuller(base, at>>1)
		row, at = row[1:], at+1
	}
	for ; len(row) >= 2; row, at = row[2:], at+2 {
		row[0], row[1] = boxMuller(base, at>>1)
	}
	if len(row) == 1 {
		row[0], _ = boxMuller(base, at>>1)
	}
}

// boxMuller returns two normal numbers by the Box-Muller transform. u1 is above 0, so that
// its logarithm is finite.
func boxMuller(base, pair uint64) (even, odd float32) {
	u1 := (float64(kernels.SplitMix64(base+2*pair)>>11) + 0.5) / (1 << 53)
	u2 := float64(kernels.SplitMix64(base+2*pair+1)>>11) / (1 << 53)
	sin, cos := math.Sincos(2 * math.Pi * u2)
	r := math.Sqrt(-2 * math.Log(u1))
	return float32(r * cos), float32(r * sin)
}
