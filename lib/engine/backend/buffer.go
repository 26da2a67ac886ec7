package backend

import (
	"fmt"
	"math/bits"
	"reflect"
	"sync"
	"unsafe"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
)

// buffer is a tensor in memory.
type buffer struct {
	of    *Backend
	shape shapes.Shape
	bytes []byte // at least one
	flat  any    // the same, as a slice of the shape's type
}

var _ compute.Buffer = (*buffer)(nil)

// pools holds memory that is free again, by the logarithm of its size.
var pools [64]sync.Pool

// memory returns at least n bytes that hold anything.
func memory(n int) []byte {
	class := bits.Len(uint(max(n, 64) - 1))
	if m, ok := pools[class].Get().(*[]byte); ok {
		return *m
	}
	// Words, so that every type is aligned.
	words := make([]uint64, (1<<class)/8)
	return unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), 1<<class)
}

func release(m []byte) {
	if m != nil {
		pools[bits.Len(uint(len(m)-1))].Put(&m)
	}
}

func (b *Backend) buffer(shape shapes.Shape) (*buffer, error) {
	if b.finalized {
		return nil, fmt.Errorf("backend %s: it is closed", Name)
	}
	if _, ok := types[shape.DType]; !ok {
		return nil, fmt.Errorf("backend %s: tensors of %s: %w", Name, shape.DType, compute.ErrNotImplemented)
	}
	m := memory(shape.Size() * int(shape.DType.Size()))
	return &buffer{b, shape.Clone(), m, dtypes.UnsafeAnySliceFromBytes(unsafe.Pointer(&m[0]), shape.DType, shape.Size())}, nil
}

func (b *buffer) data() unsafe.Pointer { return unsafe.Pointer(&b.bytes[0]) }

// fill copies values of the buffer's type into it.
func (b *buffer) fill(flat any) error { return copyFlat(b.flat, flat) }

func copyFlat(dst, src any) error {
	d, s := reflect.ValueOf(dst), reflect.ValueOf(src)
	if s.Kind() != reflect.Slice || s.Type() != d.Type() || s.Len() != d.Len() {
		return fmt.Errorf("backend %s: %T with %d values does not fill %T with %d", Name, src, lengthOf(s), dst, d.Len())
	}
	reflect.Copy(d, s)
	return nil
}

func lengthOf(v reflect.Value) int {
	if v.Kind() != reflect.Slice {
		return 0
	}
	return v.Len()
}

// Backend implements compute.Buffer.
func (b *buffer) Backend() compute.Backend { return b.of }

// Finalize implements compute.Buffer.
func (b *buffer) Finalize() error {
	release(b.bytes)
	b.bytes, b.flat = nil, nil
	return nil
}

// Shape implements compute.Buffer.
func (b *buffer) Shape() (shapes.Shape, error) { return b.shape, b.alive() }

// DeviceNum implements compute.Buffer.
func (b *buffer) DeviceNum() (compute.DeviceNum, error) { return 0, b.alive() }

// Data implements compute.Buffer.
func (b *buffer) Data() (any, error) { return b.flat, b.alive() }

// ToFlatData implements compute.Buffer.
func (b *buffer) ToFlatData(flat any) error {
	if err := b.alive(); err != nil {
		return err
	}
	return copyFlat(flat, b.flat)
}

// CopyToDevice implements compute.Buffer.
func (b *buffer) CopyToDevice(compute.DeviceNum) (compute.Buffer, error) {
	if err := b.alive(); err != nil {
		return nil, err
	}
	other, err := b.of.buffer(b.shape)
	if err != nil {
		return nil, err
	}
	return other, other.fill(b.flat)
}

func (b *buffer) alive() error {
	if b == nil || b.bytes == nil {
		return fmt.Errorf("backend %s: a buffer was used after it was given back", Name)
	}
	return nil
}
