package nn

import (
	"math"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine/kernels"
)

// Distribution is the distribution of a draw.
type Distribution int

// The laws.
const (
	// Dropout is 0 with probability Rate and 1/(1-Rate) otherwise.
	Dropout Distribution = iota
	// Normal is standard normal: the noise of a reparameterised sample, of
	// diffusion, of anything that a network adds to what it computes.
	Normal
)

// RandomInput describes random numbers that enter a network in training: so many units
// per record of one law. A network lists its draws by name, in the order in which
// its Forward takes them; in inference there are none.
type RandomInput struct {
	Name         string
	Distribution Distribution
	Units        int
	Rate         float64 // of Dropout; none of Normal
}

// Active tells whether the draw changes anything: a dropout of rate 0 does not.
func (d RandomInput) Active() bool { return d.Distribution == Normal || d.Rate > 0 }

// Fill writes the draw for records first ... first+n-1 into dst, [Units, n] in
// row-major order. It is counter-based: entry (unit, record) depends on the key
// and on its place alone, so it is the same however a batch is cut into chunks,
// and nothing has to be saved to resume.
func (d RandomInput) Fill(dst []float32, key uint64, first, n int) {
	work := n
	if d.Distribution == Normal {
		work *= 64 // a logarithm, a root, a sine and a cosine for two of them
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

// fillNormal writes the records' numbers, two out of each pair of uniform ones.
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

// boxMuller are the two numbers of a pair, by Box and Muller's transform; u1 is above 0,
// so that its logarithm is finite.
func boxMuller(base, pair uint64) (even, odd float32) {
	u1 := (float64(kernels.SplitMix64(base+2*pair)>>11) + 0.5) / (1 << 53)
	u2 := float64(kernels.SplitMix64(base+2*pair+1)>>11) / (1 << 53)
	sin, cos := math.Sincos(2 * math.Pi * u2)
	r := math.Sqrt(-2 * math.Log(u1))
	return float32(r * cos), float32(r * sin)
}
