// Scaling of square images.

package images

import "math"

// ScaleChannel returns one channel of a square image with another side, line by line, in the units
// of its pixels; old is the side that it has. Every pixel is a mean of those around it, weighted by
// a triangle of the width of a new pixel, or of an old one if that is wider: the filter of Pillow's
// BILINEAR. Channel has old*old pixels, and both sides are at least 1.
func ScaleChannel[T byte | uint16 | float32](channel []T, old, side int) []float64 {
	weights := triangles(old, side)
	rows := make([]float64, old*side) // scaled in width only
	for y := range old {
		for x, w := range weights {
			rows[y*side+x] = w.sum(func(k int) float64 { return float64(channel[y*old+k]) })
		}
	}
	out := make([]float64, side*side)
	for y, w := range weights {
		for x := range side {
			out[y*side+x] = w.sum(func(k int) float64 { return rows[k*side+x] })
		}
	}
	return out
}

// roundToByte returns the nearest byte.
func roundToByte(v float64) byte { return byte(math.Round(min(max(v, 0), 255))) }

// weighting are the weights of consecutive old pixels in a new one.
type weighting struct {
	first   int
	weights []float64
}

// sum is rounded after every product and sum, so that it is the same on every processor.
func (w weighting) sum(value func(k int) float64) float64 {
	var total float64
	for i, weight := range w.weights {
		total += float64(weight * value(w.first+i))
	}
	return total
}

// triangles returns the weights of every new pixel of a line.
func triangles(from, to int) []weighting {
	scale := float64(from) / float64(to)
	width := max(scale, 1)
	out := make([]weighting, to)
	for i := range out {
		centre := float64((float64(i) + 0.5) * scale)
		first, last := max(0, int(centre-width+0.5)), min(from, int(centre+width+0.5))
		out[i].first = first
		var total float64
		for k := first; k < last; k++ {
			weight := max(0, 1-math.Abs(float64(k)+0.5-centre)/width)
			out[i].weights = append(out[i].weights, weight)
			total += weight
		}
		for k := range out[i].weights {
			out[i].weights[k] /= total
		}
	}
	return out
}
