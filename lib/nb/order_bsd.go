//go:build unix && !linux

package nb

// fionread is the ioctl for the number of bytes to read, the same on macOS and the BSDs.
const fionread = 0x4004667f

// isComputing is not known here; the round trip before it has to do.
func isComputing(int) bool { return false }
