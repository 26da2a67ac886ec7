// Typed access to the elements of tensors.

package safetensors

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// Float32s returns the elements of an F32 tensor.
func (t Tensor) Float32s() ([]float32, error) {
	return values(t, F32, func(b []byte) float32 {
		return math.Float32frombits(binary.LittleEndian.Uint32(b))
	})
}

// Float64s returns the elements of an F64 tensor.
func (t Tensor) Float64s() ([]float64, error) {
	return values(t, F64, func(b []byte) float64 {
		return math.Float64frombits(binary.LittleEndian.Uint64(b))
	})
}

// Int64s returns the elements of an I64 tensor.
func (t Tensor) Int64s() ([]int64, error) {
	return values(t, I64, func(b []byte) int64 { return int64(binary.LittleEndian.Uint64(b)) })
}

// Int32s returns the elements of an I32 tensor.
func (t Tensor) Int32s() ([]int32, error) {
	return values(t, I32, func(b []byte) int32 { return int32(binary.LittleEndian.Uint32(b)) })
}

// Uint8s returns the elements of a U8 tensor.
func (t Tensor) Uint8s() ([]uint8, error) {
	return values(t, U8, func(b []byte) uint8 { return b[0] })
}

// Bools returns the elements of a BOOL tensor; a byte other than 0 and 1 is an
// error.
func (t Tensor) Bools() ([]bool, error) {
	for i, v := range t.Data {
		if t.DType == Bool && v > 1 {
			return nil, fmt.Errorf("tensor %q: %w: element %d is %d", t.Name, ErrBool, i, v)
		}
	}
	return values(t, Bool, func(b []byte) bool { return b[0] == 1 })
}

// values decodes the elements of t, which must be of type want.
func values[T any](t Tensor, want DType, get func([]byte) T) ([]T, error) {
	if t.DType != want {
		return nil, fmt.Errorf("tensor %q: %w: expected %s, found %s", t.Name, ErrWrongDType, want, t.DType)
	}
	size := want.Size()
	if len(t.Data)%size != 0 {
		return nil, fmt.Errorf("tensor %q: %w: %d bytes are no whole number of %s", t.Name, ErrSize, len(t.Data), want)
	}
	out := make([]T, len(t.Data)/size)
	for i := range out {
		out[i] = get(t.Data[i*size:])
	}
	return out, nil
}

// FromFloat32 makes an F32 tensor. Encode checks that shape and data fit, here and for the
// other From functions.
func FromFloat32(name string, shape []int, data []float32) Tensor {
	out := make([]byte, 0, 4*len(data))
	for _, v := range data {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(v))
	}
	return Tensor{Name: name, DType: F32, Shape: slices.Clone(shape), Data: out}
}

// FromFloat64 makes an F64 tensor.
func FromFloat64(name string, shape []int, data []float64) Tensor {
	out := make([]byte, 0, 8*len(data))
	for _, v := range data {
		out = binary.LittleEndian.AppendUint64(out, math.Float64bits(v))
	}
	return Tensor{Name: name, DType: F64, Shape: slices.Clone(shape), Data: out}
}

// FromInt64 makes an I64 tensor.
func FromInt64(name string, shape []int, data []int64) Tensor {
	out := make([]byte, 0, 8*len(data))
	for _, v := range data {
		out = binary.LittleEndian.AppendUint64(out, uint64(v))
	}
	return Tensor{Name: name, DType: I64, Shape: slices.Clone(shape), Data: out}
}

// FromInt32 makes an I32 tensor.
func FromInt32(name string, shape []int, data []int32) Tensor {
	out := make([]byte, 0, 4*len(data))
	for _, v := range data {
		out = binary.LittleEndian.AppendUint32(out, uint32(v))
	}
	return Tensor{Name: name, DType: I32, Shape: slices.Clone(shape), Data: out}
}

// FromUint8 makes a U8 tensor.
func FromUint8(name string, shape []int, data []uint8) Tensor {
	return Tensor{Name: name, DType: U8, Shape: slices.Clone(shape), Data: slices.Clone(data)}
}

// FromBool makes a BOOL tensor.
func FromBool(name string, shape []int, data []bool) Tensor {
	out := make([]byte, len(data))
	for i, v := range data {
		if v {
			out[i] = 1
		}
	}
	return Tensor{Name: name, DType: Bool, Shape: slices.Clone(shape), Data: out}
}
