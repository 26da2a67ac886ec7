package kernels

import (
	"math"
	"math/big"
)

// maxFastAngle is the angle from which the kernels of sine and cosine are not precise enough,
// because they use pi in two float64.
const maxFastAngle = 1 << 40

// splitAngles calls near for angles below maxFastAngle, and bigSine for the others.
func splitAngles(l Level, dst, a []float32, near func(l Level, dst, a []float32), quarters int64) {
	for len(a) > 0 {
		n := 0
		for n < len(a) && !(math.Abs(float64(a[n])) >= maxFastAngle) {
			n++
		}
		if n == 0 {
			dst[0] = bigSine(a[0], quarters)
			n = 1
		} else {
			near(l, dst[:n], a[:n])
		}
		dst, a = dst[n:], a[n:]
	}
}

const (
	bigPrecision = 340 // bits: 128 before the binary point, and enough after it
	piDecimal    = "3.1415926535897932384626433832795028841971693993751058209749445923078164062862089986280348253421170679"
)

// bigSine returns sin(x + quarters pi/2) by its series, with enough bits for x mod 2 pi.
func bigSine(x float32, quarters int64) float32 {
	if math.IsInf(float64(x), 0) {
		return float32(math.NaN())
	}
	number := func() *big.Float { return new(big.Float).SetPrec(bigPrecision) }
	pi, _ := number().SetString(piDecimal)
	turn := number().Add(pi, pi)
	angle := number().SetFloat64(float64(x))
	whole, _ := number().Quo(angle, turn).Int(nil)
	angle.Sub(angle, number().Mul(number().SetInt(whole), turn))
	angle.Add(angle, number().Mul(number().SetInt64(quarters), number().Quo(pi, number().SetInt64(2))))
	square := number().Mul(angle, angle)
	sum, term := number().Set(angle), number().Set(angle)
	for k := int64(2); k < 80; k += 2 { // |angle| < 8: 8^81 / 81! is below 1e-47
		term.Mul(term, square).Quo(term, number().SetInt64(-k*(k+1)))
		sum.Add(sum, term)
	}
	y, _ := sum.Float32()
	return y
}
