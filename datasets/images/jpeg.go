// Decoding of JPEG images.

package images

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
)

// decodeJPEG decodes a JPEG file of exactly the given shape (channels, height, width) into pixels,
// channel by channel. A grey image gets three equal channels. The announced size is checked before
// anything is decoded.
//
// Colours are computed from the nearest chroma sample, as image/jpeg does. libjpeg interpolates by
// default, which changes pixels by a few levels if the chroma is subsampled.
func decodeJPEG(pixels, b []byte, shape [3]int) error {
	c, h, w := shape[0], shape[1], shape[2]
	config, err := jpeg.DecodeConfig(bytes.NewReader(b))
	if err != nil {
		return err
	}
	if config.Width != w || config.Height != h {
		return fmt.Errorf("%d x %d pixels, expected %d x %d", config.Width, config.Height, w, h)
	}
	img, err := jpeg.Decode(bytes.NewReader(b))
	if err != nil {
		return err
	}
	at, err := colours(img)
	if err != nil {
		return err
	}
	if c != 3 || len(pixels) != c*h*w {
		return fmt.Errorf("%d channels and room for %d pixels; colour images of %d x %d are read", c, len(pixels), w, h)
	}
	from := img.Bounds().Min
	for y := range h {
		for x := range w {
			k := y*w + x
			pixels[k], pixels[h*w+k], pixels[2*h*w+k] = at(from.X+x, from.Y+y)
		}
	}
	return nil
}

// colours returns a function that returns the colour of a pixel.
func colours(img image.Image) (func(x, y int) (r, g, b byte), error) {
	switch m := img.(type) {
	case *image.Gray:
		return func(x, y int) (byte, byte, byte) { v := m.GrayAt(x, y).Y; return v, v, v }, nil
	case *image.YCbCr:
		return func(x, y int) (byte, byte, byte) {
			v := m.YCbCrAt(x, y)
			return color.YCbCrToRGB(v.Y, v.Cb, v.Cr)
		}, nil
	case *image.RGBA: // a JPEG file can hold red, green and blue as they are
		return func(x, y int) (byte, byte, byte) { v := m.RGBAAt(x, y); return v.R, v.G, v.B }, nil
	}
	return nil, fmt.Errorf("a %T; grey and colour images are read", img)
}
