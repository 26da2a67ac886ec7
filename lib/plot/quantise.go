package plot

import (
	"cmp"
	"image"
	"image/color"
	"image/png"
	"io"
	"slices"

	"gonum.org/v1/plot/vg/vgimg"
)

// A figure has few colours, and many shades at the edges of its letters. With a
// palette of 256 its PNG is a third of the size, which notebooks with many
// figures need. Pictures with more than maxShades colours keep them all.
const (
	paletteSize = 256
	maxShades   = 20000
)

// writePNG writes the canvas as PNG; the same picture gives the same bytes.
func writePNG(w io.Writer, c *vgimg.Canvas) error {
	enc := png.Encoder{CompressionLevel: png.BestCompression}
	img, ok := c.Image().(*image.RGBA)
	if !ok {
		return enc.Encode(w, c.Image())
	}
	if p := quantise(img); p != nil {
		return enc.Encode(w, p)
	}
	return enc.Encode(w, img)
}

// quantise gives the picture a palette of its most frequent colours; each other
// colour becomes the nearest of these. It returns nil where that would hurt.
func quantise(img *image.RGBA) *image.Paletted {
	counts := map[color.RGBA]int{}
	eachPixel(img, func(_ int, c color.RGBA) { counts[c]++ })
	if len(counts) > maxShades {
		return nil
	}
	shades := make([]color.RGBA, 0, len(counts))
	for c := range counts {
		shades = append(shades, c)
	}
	slices.SortFunc(shades, func(a, b color.RGBA) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(key(a), key(b)))
	})
	n := min(len(shades), paletteSize)
	index := make(map[color.RGBA]uint8, len(shades))
	pal := make(color.Palette, n)
	for i, c := range shades {
		if i < n {
			pal[i], index[c] = c, uint8(i)
			continue
		}
		index[c] = nearest(shades[:n], c)
	}
	out := image.NewPaletted(img.Rect, pal)
	eachPixel(img, func(i int, c color.RGBA) { out.Pix[i] = index[c] })
	return out
}

// eachPixel calls f with the number and the colour of every pixel.
func eachPixel(img *image.RGBA, f func(i int, c color.RGBA)) {
	w := img.Rect.Dx()
	for y := range img.Rect.Dy() {
		line := img.Pix[y*img.Stride : y*img.Stride+4*w]
		for x := range w {
			p := line[4*x : 4*x+4]
			f(y*w+x, color.RGBA{p[0], p[1], p[2], p[3]})
		}
	}
}

func key(c color.RGBA) uint32 {
	return uint32(c.R)<<24 | uint32(c.G)<<16 | uint32(c.B)<<8 | uint32(c.A)
}

// nearest is the number of the shade nearest to c, the first one of equals.
func nearest(shades []color.RGBA, c color.RGBA) uint8 {
	best, at := int(^uint(0)>>1), 0
	for i, s := range shades {
		r, g, b, a := int(s.R)-int(c.R), int(s.G)-int(c.G), int(s.B)-int(c.B), int(s.A)-int(c.A)
		if d := r*r + g*g + b*b + a*a; d < best {
			best, at = d, i
		}
	}
	return uint8(at)
}
