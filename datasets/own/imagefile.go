// The file of one image, PNG or JPEG.

package own

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	_ "image/jpeg" // image.Decode reads both formats
	_ "image/png"
	"io"

	"github.com/lethe-ml/lethe/lib/files"
)

// Limits of the file of an image and of its pixels.
const (
	maxImageBytes  = 256 << 20
	maxImagePixels = 1 << 26
)

// header is what is known of an image before its pixels are decoded.
type header struct {
	width, height int // of the upright image; 0 if the file cannot be read
	grey, deep    bool
	orientation   orientation
}

// readHeader reads the header of an image from its file.
func readHeader(path string) (h header, err error) {
	file, err := files.Open(path)
	if err != nil {
		return h, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return parseHeader(file)
}

var errNoImage = errors.New("not an image in PNG or JPEG")

// isRead reports whether images of a format are read. Another package of the program can register decoders of more formats, of
// which an animation, for one, would be read as its first picture.
func isRead(format string) bool { return format == "png" || format == "jpeg" }

func parseHeader(file interface {
	io.Reader
	io.ReaderAt
}) (h header, err error) {
	c, format, err := image.DecodeConfig(file)
	switch {
	case errors.Is(err, image.ErrFormat) || err == nil && !isRead(format):
		return h, errNoImage
	case err != nil:
		return h, err
	case c.Width < 1 || c.Height < 1 || c.Width > maxImagePixels/c.Height:
		return h, fmt.Errorf("%d x %d pixels, at most %d pixels are read", c.Width, c.Height, maxImagePixels)
	}
	h = header{grey: isGrey(c), deep: isDeep(c), orientation: readOrientation(file)}
	h.width, h.height = h.orientation.size(c.Width, c.Height)
	return h, nil
}

// readImage decodes a file into pixels of the given shape. It returns the SHA-256 of its bytes, and
// whether no pixel is transparent.
func readImage[T sample](path string, h header, pixels []T, shape [3]int) (hash string, opaque bool, err error) {
	b, err := files.Read(path, maxImageBytes)
	if err != nil {
		return "", true, err
	}
	again, err := parseHeader(bytes.NewReader(b))
	if err == nil && again != h {
		err = errors.New("the file changed while it was read")
	}
	if err != nil {
		return "", true, err
	}
	m, format, err := image.Decode(bytes.NewReader(b))
	if err == nil && !isRead(format) {
		err = errNoImage
	}
	if err != nil {
		return "", true, fmt.Errorf("the image is damaged: %w", err)
	}
	p := newPlanes[T](m, shape[0], h.orientation)
	if p.width != shape[2] || p.height != shape[1] {
		p = p.middle().scaled(shape[1])
	}
	copy(pixels, p.data)
	return hashOf(b), isOpaque(m), nil
}
