package kernels

import "math"

// SplitMix64 returns the finaliser of the generator SplitMix64 at z: 64 pseudo-random bits.
func SplitMix64(z uint64) uint64 { return finalise(z + golden) }

// golden is the odd integer closest to 2^64 divided by the golden ratio.
const golden = 0x9E3779B97F4A7C15

func finalise(z uint64) uint64 {
	z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9
	z = (z ^ (z >> 27)) * 0x94D049BB133111EB
	return z ^ (z >> 31)
}

// Dropout fills dst with a dropout mask for the indices first, first+1, ... Element i is 0
// with probability rate, rounded to 1/65536, and 1/(1-rate) otherwise. It depends on key and
// i only: it is 0 if 16 bits of SplitMix64(key + i/4) are below 65536 rate, the lowest bits
// for the first of four indices.
func Dropout(dst []float32, key uint64, first int, rate float64) {
	dropoutAt(best, dst, key, first, rate)
}

func dropoutAt(l Level, dst []float32, key uint64, first int, rate float64) {
	threshold, keep := uint32(math.Round(rate*65536)), math.Float32bits(float32(1/(1-rate)))
	i := min(len(dst), -first&3) // up to the next group of four
	dropoutSingly(dst[:i], key, first, threshold, keep)
	i += dropoutGroups(l, dst[i:], key+uint64((first+i)>>2), threshold, keep)
	dropoutSingly(dst[i:], key, first+i, threshold, keep)
}

// dropoutSingly computes one element at a time. It is the reference of the groups.
func dropoutSingly(dst []float32, key uint64, first int, threshold, keep uint32) {
	for i := range dst {
		at := first + i
		v := uint32(SplitMix64(key+uint64(at>>2))>>(16*(at&3))) & 0xFFFF
		dst[i] = math.Float32frombits(keep &^ uint32(int32(v-threshold)>>31)) // without a branch
	}
}
