package kernels

import "math"

// Largest is the largest element of a: NaN if one is, 0 rather than -0 if it is a zero, and
// -Inf of nothing.
func Largest(a []float32) float32 { return largestAt(best, a) }

func largestAt(l Level, a []float32) float32 {
	const side = 16
	top := float32(math.Inf(-1))
	if len(a) >= side {
		var tops [side]float32
		copy(tops[:], a)
		for len(a) >= side {
			n := min(len(a), atOnce) / side * side
			topsAt(l, &tops, a[:n])
			a = a[n:]
		}
		top = largestOf(top, tops[:])
	}
	if top = largestOf(top, a); top == 0 {
		return 0
	}
	return top
}

func largestOf(top float32, a []float32) float32 {
	for _, x := range a {
		top = max(top, x)
	}
	return top
}

// topsScalar raises the tops to what lies in a, sixteen by sixteen.
func topsScalar(tops *[16]float32, a []float32) {
	for ; len(a) >= len(tops); a = a[len(tops):] {
		for j, x := range a[:len(tops)] {
			tops[j] = max(tops[j], x)
		}
	}
}
