// Converting the elements of an NPY file, of any number type and order, to row-major floats.

package npy

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/bits"
	"strconv"

	"github.com/lethe-ml/lethe/lib/array"
)

// chunkLen is the number of elements that are read at a time.
const chunkLen = 1 << 16

// chunks calls visit with pieces of the n elements in the order of the file; first is the
// number of a piece's first element.
func (s *source) chunks(n int, visit func(first int, b []byte) error) error {
	buffer := make([]byte, min(n, chunkLen)*s.size)
	for first := 0; first < n; first += chunkLen {
		b := buffer[:min(chunkLen, n-first)*s.size]
		if _, err := io.ReadFull(s.data, b); err != nil {
			return fmt.Errorf("%w: %w", ErrFormat, err)
		}
		if err := visit(first, b); err != nil {
			return err
		}
	}
	return nil
}

// fill converts all elements into the row-major out.
func fill[T array.Float](s *source, out []T) error {
	if s.kind == 'b' {
		return fmt.Errorf("%w: expected numbers, found bools; if 0 and 1 are meant as numbers, save x.astype(numpy.float32)", ErrType)
	}
	if !s.fortran || len(s.shape) < 2 {
		return s.chunks(len(out), func(first int, b []byte) error { return convert(s, out[first:first+len(b)/s.size], first, b) })
	}
	values := make([]T, min(len(out), chunkLen))
	return s.chunks(len(out), func(first int, b []byte) error {
		piece := values[:len(b)/s.size]
		err := convert(s, piece, first, b)
		for i, v := range piece {
			out[s.rowMajor(first+i)] = v
		}
		return err
	})
}

// rowMajor returns the row-major index of element k of a file in Fortran order.
func (s *source) rowMajor(k int) int {
	at, stride := 0, 1
	for _, d := range s.shape {
		stride *= d
	}
	for _, d := range s.shape {
		stride /= d
		at += k % d * stride
		k /= d
	}
	return at
}

// convert converts a piece; the common cases have loops of their own.
func convert[T array.Float](s *source, out []T, first int, b []byte) error {
	switch {
	case s.kind == 'f' && s.size == 8 && s.order == binary.LittleEndian:
		for i := range out {
			out[i] = T(math.Float64frombits(binary.LittleEndian.Uint64(b[i*8:])))
		}
	case s.kind == 'f' && s.size == 4 && s.order == binary.LittleEndian:
		for i := range out {
			out[i] = T(math.Float32frombits(binary.LittleEndian.Uint32(b[i*4:])))
		}
	case s.kind == 'f':
		for i := range out {
			out[i] = T(s.float(b[i*s.size:]))
		}
	default:
		for i := range out {
			v := s.integer(b[i*s.size:])
			if !v.exact() {
				return fmt.Errorf("%w: %s is %v, which a float64 cannot hold exactly", ErrValue, s.elementIndex(first+i), v)
			}
			out[i] = T(v.float())
		}
	}
	return nil
}

// elementIndex returns the index of element number k of the file in the array, as text.
func (h header) elementIndex(k int) string {
	switch {
	case len(h.shape) != 2:
		return fmt.Sprintf("element %d", k)
	case h.fortran:
		return fmt.Sprintf("row %d, column %d", k%h.shape[0], k/h.shape[0])
	}
	return fmt.Sprintf("row %d, column %d", k/h.shape[1], k%h.shape[1])
}

func (h header) float(b []byte) float64 {
	switch {
	case h.bfloat16:
		return float64(math.Float32frombits(uint32(h.order.Uint16(b)) << 16))
	case h.size == 2:
		return float16(h.order.Uint16(b))
	case h.size == 4:
		return float64(math.Float32frombits(h.order.Uint32(b)))
	}
	return math.Float64frombits(h.order.Uint64(b))
}

// float16 returns the value of an IEEE 754 binary16 number: a sign, 5 bits of exponent and
// 10 of fraction.
func float16(bits uint16) float64 {
	exponent, fraction := int(bits>>10)&0x1f, float64(bits&0x3ff)
	var v float64
	switch exponent {
	case 0: // subnormal, and zero
		v = math.Ldexp(fraction, -24)
	case 0x1f:
		v = math.Inf(1)
		if fraction != 0 {
			v = math.NaN()
		}
	default:
		v = math.Ldexp(1024+fraction, exponent-25)
	}
	if bits&0x8000 != 0 {
		v = -v
	}
	return v
}

// integer is an element of any integer type. If negative is set, its 64 bits are those of a
// number below 0.
type integer struct {
	bits     uint64
	negative bool
}

func (h header) integer(b []byte) integer {
	var v uint64
	switch h.size {
	case 1:
		v = uint64(b[0])
	case 2:
		v = uint64(h.order.Uint16(b))
	case 4:
		v = uint64(h.order.Uint32(b))
	default:
		v = h.order.Uint64(b)
	}
	if h.kind != 'i' {
		return integer{bits: v}
	}
	unused := 64 - 8*h.size
	signed := int64(v<<unused) >> unused
	return integer{uint64(signed), signed < 0}
}

func (v integer) float() float64 {
	if v.negative {
		return float64(int64(v.bits))
	}
	return float64(v.bits)
}

// exact reports whether a float64 represents the number: the distance from its first to its
// last set bit is below 53.
func (v integer) exact() bool {
	size := v.bits
	if v.negative {
		size = -size
	}
	return bits.Len64(size)-bits.TrailingZeros64(size) <= 53
}

// natural returns the number as an int, if it is not negative and fits.
func (v integer) natural() (int, bool) { return int(v.bits), !v.negative && v.bits <= math.MaxInt }

// String prints the number.
func (v integer) String() string {
	if v.negative {
		return strconv.FormatInt(int64(v.bits), 10)
	}
	return strconv.FormatUint(v.bits, 10)
}
