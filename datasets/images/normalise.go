// Normalisation of image channels, and the order of pixels.

package images

import (
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/array"
)

// CIFAR10Normalisation returns the normalisation that unlearning programs use for CIFAR-10
// (OPTML-Group's Unlearn-Saliency and Unlearn-Sparse), measured on its training images.
func CIFAR10Normalisation() datasets.Normalisation {
	return datasets.Normalisation{Mean: []float64{0.4914, 0.4822, 0.4465}, SD: []float64{0.2470, 0.2435, 0.2616}}
}

// MeasureChannels returns the mean and the standard deviation (divisor n) of every channel over
// all images of x, in float64.
func MeasureChannels(x array.Matrix[float32], shape [3]int) (datasets.Normalisation, error) {
	c, plane := shape[0], shape[1]*shape[2]
	if x.Rows == 0 {
		return datasets.Normalisation{}, fmt.Errorf("images: there are no images to measure")
	}
	if err := fitsShape(shape, x.Row(0)); err != nil {
		return datasets.Normalisation{}, err
	}
	n := datasets.Normalisation{Mean: make([]float64, c), SD: make([]float64, c)}
	each := func(channel int, f func(float64)) {
		for i := range x.Rows {
			for _, v := range x.Row(i)[channel*plane : (channel+1)*plane] {
				f(float64(v))
			}
		}
	}
	count := float64(x.Rows * plane)
	for ch := range c {
		var sum, squares float64
		each(ch, func(v float64) { sum += v })
		n.Mean[ch] = sum / count
		each(ch, func(v float64) { d := v - n.Mean[ch]; squares += float64(d * d) })
		n.SD[ch] = math.Sqrt(squares / count)
	}
	return n, nil
}

// Normalise writes the normalised image src into dst, which may be the same slice.
func Normalise(n datasets.Normalisation, dst, src []float32, shape [3]int) error {
	if err := fitsShape(shape, dst, src); err != nil {
		return err
	}
	if err := checkNorm(n, shape[0]); err != nil {
		return err
	}
	plane := shape[1] * shape[2]
	for k, v := range src {
		ch := k / plane
		dst[k] = float32((float64(v) - n.Mean[ch]) / n.SD[ch])
	}
	return nil
}

func checkNorm(n datasets.Normalisation, channels int) error {
	if len(n.Mean) != channels || len(n.SD) != channels {
		return fmt.Errorf("images: %d means and %d standard deviations for %d channels", len(n.Mean), len(n.SD), channels)
	}
	for ch := range channels {
		if m, s := n.Mean[ch], n.SD[ch]; math.IsNaN(m) || math.IsInf(m, 0) || !(s > 0) || math.IsInf(s, 0) {
			return fmt.Errorf("images: channel %d: mean %v, standard deviation %v", ch, m, s)
		}
	}
	return nil
}

// Interleave returns the images as height x width x channels, the channels of a pixel side by
// side.
func Interleave(x array.Matrix[float32], shape [3]int) (array.Matrix[float32], error) {
	out := array.New[float32](x.Rows, x.Cols)
	c, plane := shape[0], shape[1]*shape[2]
	for i := range x.Rows {
		from, to := x.Row(i), out.Row(i)
		if err := fitsShape(shape, from); err != nil {
			return out, err
		}
		for k, v := range from {
			to[k%plane*c+k/plane] = v
		}
	}
	return out, nil
}
