package own

import "image"

// Pixels and ScaledPixels return pixels channel by channel.
func Pixels(m image.Image, channels int) []byte { return newPlanes(m, channels).data }

func ScaledPixels(m image.Image, channels, side int) []byte {
	return newPlanes(m, channels).middle().scaled(side).data
}
