package npy

import (
	"fmt"
	"math"
)

// exact is the largest number up to which a float64 holds every integer.
const exact = 1 << 53

// floats converts all elements, in the order of the file.
func (h header) floats(data []byte) ([]float64, error) {
	out := make([]float64, len(data)/h.size)
	for i := range out {
		b := data[i*h.size:]
		if h.kind == 'f' {
			out[i] = h.float(b)
			continue
		}
		v := h.integer(b)
		if v > exact || v < -exact {
			return nil, fmt.Errorf("%w: element %d is %d, which a float64 may not hold exactly", ErrValue, i, v)
		}
		if h.kind == 'b' && v > 1 {
			return nil, fmt.Errorf("%w: element %d is %d, expected a bool (0 or 1)", ErrValue, i, v)
		}
		out[i] = float64(v)
	}
	return out, nil
}

func (h header) float(b []byte) float64 {
	if h.size == 4 {
		return float64(math.Float32frombits(h.order.Uint32(b)))
	}
	return math.Float64frombits(h.order.Uint64(b))
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
