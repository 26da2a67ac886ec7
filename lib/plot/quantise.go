// PNG files with a palette.

package plot

import (
	"cmp"
	"image"
	"image/color"
	"image/png"
	"io"
	"slices"
)

// A figure has few colours, and many shades at the edges of its letters. A palette of 256
// colours reduces its PNG to a third. Pictures with more than maxShades colours keep them all.
const (
	paletteSize = 256
	maxShades   = 20000
)

// writePNG writes the picture; the same picture gives the same bytes.
func writePNG(w io.Writer, img *image.RGBA) error {
	enc := png.Encoder{CompressionLevel: png.BestCompression}
	if p := quantise(img); p != nil {
		return enc.Encode(w, p)
	}
	return enc.Encode(w, img)
}

// halve returns the picture at half its size; each pixel is the mean of four.
func halve(img *image.RGBA) *image.RGBA {
	out := image.NewRGBA(image.Rect(0, 0, img.Rect.Dx()/2, img.Rect.Dy()/2))
	for y := range out.Rect.Dy() {
		up := img.Pix[2*y*img.Stride:]
		down := img.Pix[(2*y+1)*img.Stride:]
		for i := range 4 * out.Rect.Dx() {
			k := i/4*8 + i%4
			out.Pix[y*out.Stride+i] = uint8((int(up[k]) + int(up[k+4]) + int(down[k]) + int(down[k+4]) + 2) / 4)
		}
	}
	return out
}

// quantise reduces the picture to a palette of its most frequent colours, leaving out colours
// close to one in the palette; each other colour becomes the nearest. It returns nil if the
// difference would be visible.
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
	chosen := choose(shades)
	index := make(map[color.RGBA]uint8, len(shades))
	for _, c := range shades {
		at, far := nearest(chosen, c)
		if far > visible && counts[c] >= area {
			return nil
		}
		index[c] = uint8(at)
	}
	pal := make(color.Palette, len(chosen))
	for i, c := range chosen {
		pal[i] = c
	}
	out := image.NewPaletted(img.Rect, pal)
	eachPixel(img, func(i int, c color.RGBA) { out.Pix[i] = index[c] })
	return out
}

// Thresholds on squared distances between colours: below same, two colours count as one;
// above visible, a difference over area pixels can be seen.
const (
	same    = 40
	visible = 150
	area    = 40
)

// choose picks at most paletteSize shades, all of them where they fit.
func choose(shades []color.RGBA) []color.RGBA {
	if len(shades) <= paletteSize {
		return shades
	}
	var out []color.RGBA
	for _, c := range shades {
		if len(out) == paletteSize {
			break
		}
		if _, far := nearest(out, c); far > same {
			out = append(out, c)
		}
	}
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

// nearest returns the index of the shade nearest to c, the first one of equals, and its squared
// distance.
func nearest(shades []color.RGBA, c color.RGBA) (at, far int) {
	far = int(^uint(0) >> 1)
	for i, s := range shades {
		r, g, b, a := int(s.R)-int(c.R), int(s.G)-int(c.G), int(s.B)-int(c.B), int(s.A)-int(c.A)
		if d := r*r + g*g + b*b + a*a; d < far {
			at, far = i, d
		}
	}
	return at, far
}
