package own

import (
	"image"
	"io"
)

// Pixels and ScaledPixels return pixels channel by channel.
func Pixels(m image.Image, channels int) []byte { return newPlanes[byte](m, channels, upright).data }

func ScaledPixels(m image.Image, channels, side int) []byte {
	return newPlanes[byte](m, channels, upright).middle().scaled(side).data
}

// Orientation returns the EXIF orientation of an image.
func Orientation(r io.ReaderAt) int { return int(readOrientation(r)) }

// LackLabel is lackLabel.
var LackLabel = lackLabel
