// Pixels of an image channel by channel: colours, the middle square, scaling.

package own

import (
	"image"
	"image/color"
	"math"

	"github.com/lethe-ml/lethe/datasets/images"
)

// sample is a value of a channel, in 8 or in 16 bits. The greatest one is white.
type sample interface{ byte | uint16 }

// planes are the pixels of an image: channels x height x width.
type planes[T sample] struct {
	channels, height, width int
	data                    []T
}

// isGrey reports whether an image has no colours, by its format.
func isGrey(c image.Config) bool {
	return c.ColorModel == color.GrayModel || c.ColorModel == color.Gray16Model
}

// isDeep reports whether an image has 16 bits per channel, by its format.
func isDeep(c image.Config) bool {
	return c.ColorModel == color.Gray16Model || c.ColorModel == color.RGBA64Model || c.ColorModel == color.NRGBA64Model
}

// newPlanes returns an image in grey (one channel) or in colour (three), upright. Transparency is
// ignored, as by Pillow's convert("RGB"); grey is its 0.299 R + 0.587 G + 0.114 B.
func newPlanes[T sample](m image.Image, channels int, o orientation) planes[T] {
	b := m.Bounds()
	width, height := o.size(b.Dx(), b.Dy())
	plane := width * height
	p := planes[T]{channels, height, width, make([]T, channels*plane)}
	at := colours(m)
	if ^T(0) > math.MaxUint8 {
		at = deepColours(m)
	}
	for y := range height {
		for x := range width {
			fromX, fromY := o.stored(x, y, b.Dx(), b.Dy())
			red, green, blue := at(b.Min.X+fromX, b.Min.Y+fromY)
			k := y*width + x
			if channels == 1 {
				p.data[k] = T(luminance(red, green, blue))
				continue
			}
			p.data[k], p.data[plane+k], p.data[2*plane+k] = T(red), T(green), T(blue)
		}
	}
	return p
}

// luminance is Pillow's, in fixed point; equal colours stay as they are.
func luminance(red, green, blue uint16) uint16 {
	return uint16((19595*uint32(red) + 38470*uint32(green) + 7471*uint32(blue) + 1<<15) >> 16)
}

// colours returns a function that returns the colour of a pixel without its transparency, 0 to 255.
func colours(m image.Image) func(x, y int) (red, green, blue uint16) {
	wide := func(red, green, blue byte) (uint16, uint16, uint16) { return uint16(red), uint16(green), uint16(blue) }
	switch m := m.(type) {
	case *image.Gray:
		return func(x, y int) (uint16, uint16, uint16) { v := m.GrayAt(x, y).Y; return wide(v, v, v) }
	case *image.YCbCr: // image/color rounds its other conversion differently
		return func(x, y int) (uint16, uint16, uint16) {
			v := m.YCbCrAt(x, y)
			return wide(color.YCbCrToRGB(v.Y, v.Cb, v.Cr))
		}
	case *image.NRGBA:
		return func(x, y int) (uint16, uint16, uint16) { v := m.NRGBAAt(x, y); return wide(v.R, v.G, v.B) }
	}
	return func(x, y int) (uint16, uint16, uint16) {
		v := color.NRGBAModel.Convert(m.At(x, y)).(color.NRGBA)
		return wide(v.R, v.G, v.B)
	}
}

// deepColours is colours with 0 to 65535. An image of 8 bits gets the values that the same picture has
// in a file of 16: white is white in both.
func deepColours(m image.Image) func(x, y int) (red, green, blue uint16) {
	switch m := m.(type) {
	case *image.Gray16:
		return func(x, y int) (uint16, uint16, uint16) { v := m.Gray16At(x, y).Y; return v, v, v }
	case *image.RGBA64: // the decoder gives it to images without transparency only
		return func(x, y int) (uint16, uint16, uint16) { v := m.RGBA64At(x, y); return v.R, v.G, v.B }
	case *image.NRGBA64:
		return func(x, y int) (uint16, uint16, uint16) { v := m.NRGBA64At(x, y); return v.R, v.G, v.B }
	}
	at := colours(m)
	return func(x, y int) (uint16, uint16, uint16) {
		const white = math.MaxUint16 / math.MaxUint8
		red, green, blue := at(x, y)
		return white * red, white * green, white * blue
	}
}

// isOpaque reports whether an image has no transparent pixel.
func isOpaque(m image.Image) bool {
	o, knows := m.(interface{ Opaque() bool })
	return !knows || o.Opaque()
}

// middle returns the middle square.
func (p planes[T]) middle() planes[T] {
	if p.height == p.width {
		return p
	}
	side := min(p.height, p.width)
	top, left := (p.height-side)/2, (p.width-side)/2
	out := planes[T]{p.channels, side, side, make([]T, 0, p.channels*side*side)}
	for ch := range p.channels {
		for y := range side {
			start := (ch*p.height+top+y)*p.width + left
			out.data = append(out.data, p.data[start:start+side]...)
		}
	}
	return out
}

// scaled returns a square image with another side (images.ScaleChannel).
func (p planes[T]) scaled(side int) planes[T] {
	if side == p.width {
		return p
	}
	out := planes[T]{p.channels, side, side, make([]T, 0, p.channels*side*side)}
	plane := p.height * p.width
	white := float64(^T(0))
	for ch := range p.channels {
		for _, v := range images.ScaleChannel(p.data[ch*plane:(ch+1)*plane], p.width, side) {
			out.data = append(out.data, T(math.Round(min(max(v, 0), white))))
		}
	}
	return out
}
