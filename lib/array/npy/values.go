package npy

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/lethe-ml/lethe/lib/array"
)

// exact is the largest number up to which a float64 holds every integer.
const exact = 1 << 53

// chunkLen is how many elements are read at a time.
const chunkLen = 1 << 16

// chunks hands the elements, n in all, to visit piece by piece, in the order of
// the file; first is the number of a piece's first element.
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

// rowMajor is where element k of a file in Fortran order, whose first axis runs
// fastest, lies in an array whose last axis does.
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
			if v > exact || v < -exact {
				return fmt.Errorf("%w: %s is %d, which a float64 may not hold exactly", ErrValue, s.place(first+i), v)
			}
			out[i] = T(v)
		}
	}
	return nil
}

// place says where element number k of the file stands in the array.
func (h header) place(k int) string {
	switch {
	case len(h.shape) != 2:
		return fmt.Sprintf("element %d", k)
	case h.fortran:
		return fmt.Sprintf("row %d, column %d", k%h.shape[0], k/h.shape[0])
	}
	return fmt.Sprintf("row %d, column %d", k/h.shape[1], k%h.shape[1])
}

func (h header) float(b []byte) float64 {
	switch h.size {
	case 2:
		return half(h.order.Uint16(b))
	case 4:
		return float64(math.Float32frombits(h.order.Uint32(b)))
	}
	return math.Float64frombits(h.order.Uint64(b))
}

// half is the value of an IEEE 754 binary16 number: a sign, 5 bits of exponent
// and 10 of fraction.
func half(bits uint16) float64 {
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

func (h header) integer(b []byte) int64 {
	switch h.size {
	case 1:
		return int64(b[0])
	case 4:
		return int64(int32(h.order.Uint32(b)))
	}
	return int64(h.order.Uint64(b))
}
