// Pixels of an image channel by channel: colours, the middle square, scaling.

package own

import (
	"image"
	"image/color"
	"math"

	"github.com/lethe-ml/lethe/datasets/images"
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

// scaled returns a square image with another side (images.ScaleChannel).
func (p planes) scaled(side int) planes {
	if side == p.width {
		return p
	}
	out := planes{p.channels, side, side, make([]byte, 0, p.channels*side*side)}
	plane := p.height * p.width
	for ch := range p.channels {
		for _, v := range images.ScaleChannel(p.data[ch*plane:(ch+1)*plane], p.width, side) {
			out.data = append(out.data, byte(math.Round(min(max(v, 0), 255))))
		}
	}
	return out
}
