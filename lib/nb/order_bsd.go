//go:build unix && !linux

package nb

// fionread asks how much there is to read; its number is the same on macOS and
// the BSDs.
const fionread = 0x4004667f

// busy cannot be told here: the round trip before it has to be enough.
func busy(int) bool { return false }
