package hdf5

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
)

// errShort is the error of a structure that ends too early.
var errShort = errors.New("the structure ends too early")

// cursor reads bytes in order. After the end it returns zeros and sets err, which callers check
// before they use what they read.
type cursor struct {
	b   []byte
	pos int
	err error
}

// next returns the next n bytes: zeros if there are fewer, at most 64 of them.
func (c *cursor) next(n int) []byte {
	if c.err == nil && (n < 0 || n > len(c.b)-c.pos) {
		c.err = errShort
	}
	if c.err != nil {
		return make([]byte, max(0, min(n, 64)))
	}
	c.pos += n
	return c.b[c.pos-n : c.pos : c.pos]
}

func (c *cursor) u8() byte { return c.next(1)[0] }

func (c *cursor) u16() uint16 { return binary.LittleEndian.Uint16(c.next(2)) }

func (c *cursor) u32() uint32 { return binary.LittleEndian.Uint32(c.next(4)) }

func (c *cursor) u64() uint64 { return binary.LittleEndian.Uint64(c.next(8)) }

// uint reads a little-endian number of n bytes.
func (c *cursor) uint(n int) uint64 {
	if n > 8 {
		c.fail("a number of %d bytes", n)
		return 0
	}
	var v uint64
	for k, b := range c.next(n) {
		v |= uint64(b) << (8 * k)
	}
	return v
}

// text reads up to and including a zero byte.
func (c *cursor) text() string {
	for k := c.pos; k < len(c.b); k++ {
		if c.b[k] == 0 {
			s := string(c.b[c.pos:k])
			c.pos = k + 1
			return s
		}
	}
	c.err = errShort
	return ""
}

// remaining returns the number of unread bytes.
func (c *cursor) remaining() int { return len(c.b) - c.pos }

func (c *cursor) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf(format, args...)
	}
}

// checksum reads four bytes and compares them with the checksum of the bytes before.
func (c *cursor) checksum() {
	before := c.b[:c.pos]
	if got := c.u32(); c.err == nil && got != lookup3(before) {
		c.fail("the checksum is wrong")
	}
}

// lookup3 is Bob Jenkins' hash (2006), hashlittle with initial value 0.
func lookup3(b []byte) uint32 {
	start := 0xdeadbeef + uint32(len(b))
	x, y, z := start, start, start
	word := func(k int) (v uint32) {
		for i, d := range b[min(k, len(b)):min(k+4, len(b))] {
			v |= uint32(d) << (8 * i)
		}
		return v
	}
	for ; len(b) > 12; b = b[12:] {
		x, y, z = x+word(0), y+word(4), z+word(8)
		x, z = (x-z)^bits.RotateLeft32(z, 4), z+y
		y, x = (y-x)^bits.RotateLeft32(x, 6), x+z
		z, y = (z-y)^bits.RotateLeft32(y, 8), y+x
		x, z = (x-z)^bits.RotateLeft32(z, 16), z+y
		y, x = (y-x)^bits.RotateLeft32(x, 19), x+z
		z, y = (z-y)^bits.RotateLeft32(y, 4), y+x
	}
	if len(b) == 0 {
		return z
	}
	x, y, z = x+word(0), y+word(4), z+word(8)
	z = (z ^ y) - bits.RotateLeft32(y, 14)
	x = (x ^ z) - bits.RotateLeft32(z, 11)
	y = (y ^ x) - bits.RotateLeft32(x, 25)
	z = (z ^ y) - bits.RotateLeft32(y, 16)
	x = (x ^ z) - bits.RotateLeft32(z, 4)
	y = (y ^ x) - bits.RotateLeft32(x, 14)
	return (z ^ y) - bits.RotateLeft32(y, 24)
}
