// Pixels of an image channel by channel: colours, the middle square, scaling.

package own

import (
	"image"
	"image/color"
	"math"
)

// planes are the pixels of an image: channels x height x width bytes.
type planes struct {
	channels, height, width int
	data                    []byte
}

// isGrey reports whether an image has no colours, by its format.
func isGrey(c image.Config) bool {
	return c.ColorModel == color.GrayModel || c.ColorModel == color.Gray16Model
}

// newPlanes returns an image in grey (one channel) or in colour (three). Transparency is ignored, as
// by Pillow's convert("RGB"); grey is its 0.299 R + 0.587 G + 0.114 B.
func newPlanes(m image.Image, channels int) planes {
	b := m.Bounds()
	p := planes{channels, b.Dy(), b.Dx(), make([]byte, channels*b.Dy()*b.Dx())}
	at, plane := colours(m), b.Dy()*b.Dx()
	for y := range p.height {
		for x := range p.width {
			red, green, blue := at(b.Min.X+x, b.Min.Y+y)
			k := y*p.width + x
			if channels == 1 {
				p.data[k] = luminance(red, green, blue)
				continue
			}
			p.data[k], p.data[plane+k], p.data[2*plane+k] = red, green, blue
		}
	}
	return p
}

// luminance is Pillow's, in fixed point; equal colours stay as they are.
func luminance(red, green, blue byte) byte {
	return byte((19595*uint32(red) + 38470*uint32(green) + 7471*uint32(blue) + 1<<15) >> 16)
}

// colours returns a function that returns the colour of a pixel without its transparency.
func colours(m image.Image) func(x, y int) (red, green, blue byte) {
	switch m := m.(type) {
	case *image.Gray:
		return func(x, y int) (byte, byte, byte) { v := m.GrayAt(x, y).Y; return v, v, v }
	case *image.YCbCr: // image/color rounds its other conversion differently
		return func(x, y int) (byte, byte, byte) { v := m.YCbCrAt(x, y); return color.YCbCrToRGB(v.Y, v.Cb, v.Cr) }
	case *image.NRGBA:
		return func(x, y int) (byte, byte, byte) { v := m.NRGBAAt(x, y); return v.R, v.G, v.B }
	}
	return func(x, y int) (byte, byte, byte) {
		v := color.NRGBAModel.Convert(m.At(x, y)).(color.NRGBA)
		return v.R, v.G, v.B
	}
}

// middle returns the middle square.
func (p planes) middle() planes {
	side := min(p.height, p.width)
	top, left := (p.height-side)/2, (p.width-side)/2
	out := planes{p.channels, side, side, make([]byte, 0, p.channels*side*side)}
	for ch := range p.channels {
		for y := range side {
			start := (ch*p.height+top+y)*p.width + left
			out.data = append(out.data, p.data[start:start+side]...)
		}
	}
	return out
}

// scaled returns a square image with another side. Every pixel is a mean of those around it,
// weighted by a triangle of the width of a new pixel, or of an old one if that is wider: the
// filter of Pillow's BILINEAR.
func (p planes) scaled(side int) planes {
	if side == p.width {
		return p
	}
	weights := triangles(p.width, side)
	out := planes{p.channels, side, side, make([]byte, p.channels*side*side)}
	rows := make([]float64, p.height*side) // scaled in width only
	for ch := range p.channels {
		from := p.data[ch*p.height*p.width:]
		for y := range p.height {
			for x, w := range weights {
				rows[y*side+x] = w.sum(func(k int) float64 { return float64(from[y*p.width+k]) })
			}
		}
		for y, w := range weights {
			for x := range side {
				v := w.sum(func(k int) float64 { return rows[k*side+x] })
				out.data[(ch*side+y)*side+x] = byte(math.Round(min(max(v, 0), 255)))
			}
		}
	}
	return out
}

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
