// Buffers: tensors in host memory, made with or without a copy of a Go slice.

package backend

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
)

// buffer is a tensor in memory.
type buffer struct {
	backend *Backend
	shape   shapes.Shape
	ptr     unsafe.Pointer // nil: released
	flat    any            // the elements, as a slice of the shape's type
	owned   []byte         // the memory if the backend owns it, nil for wrapped host memory
}

var _ compute.Buffer = (*buffer)(nil)

func (b *Backend) buffer(shape shapes.Shape) (*buffer, error) {
	if b.finalized {
		return nil, fmt.Errorf("backend %s: it is closed", Name)
	}
	if _, ok := types[shape.DType]; !ok {
		return nil, fmt.Errorf("backend %s: tensors of %s: %w", Name, shape.DType, compute.ErrNotImplemented)
	}
	m, err := allocate(bytesOf(shape))
	if err != nil {
		return nil, fmt.Errorf("backend %s: a tensor of %s: %w", Name, shape, err)
	}
	at := unsafe.Pointer(&m[0])
	return &buffer{b, shape.Clone(), at, dtypes.UnsafeAnySliceFromBytes(at, shape.DType, shape.Size()), m}, nil
}

// bytesOf returns the size of a tensor.
func bytesOf(shape shapes.Shape) int { return shape.Size() * int(shape.DType.Size()) }

// Wrap returns a buffer of the numbers in flat without a copy. flat must not be written to
// before the buffer is finalized.
func (b *Backend) Wrap(flat []float32, dims ...int) (compute.Buffer, error) {
	shape := shapes.Make(dtypes.Float32, dims...)
	switch {
	case b.finalized:
		return nil, fmt.Errorf("backend %s: it is closed", Name)
	case len(flat) != shape.Size():
		return nil, fmt.Errorf("backend %s: %d numbers do not fill %s", Name, len(flat), shape)
	case len(flat) == 0:
		return b.buffer(shape)
	}
	return &buffer{backend: b, shape: shape, ptr: unsafe.Pointer(&flat[0]), flat: flat}, nil
}

// Alloc returns a buffer with arbitrary values and a slice to write its elements to.
func (b *Backend) Alloc(dims ...int) (compute.Buffer, []float32, error) {
	buf, err := b.buffer(shapes.Make(dtypes.Float32, dims...))
	if err != nil {
		return nil, nil, err
	}
	return buf, buf.flat.([]float32), nil
}

func (b *buffer) data() unsafe.Pointer { return b.ptr }

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
func (b *buffer) Backend() compute.Backend { return b.backend }

// Finalize implements compute.Buffer.
func (b *buffer) Finalize() error {
	release(b.owned)
	b.ptr, b.flat, b.owned = nil, nil, nil
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
	other, err := b.backend.buffer(b.shape)
	if err != nil {
		return nil, err
	}
	return other, other.fill(b.flat)
}

func (b *buffer) alive() error {
	if b == nil || b.ptr == nil {
		return fmt.Errorf("backend %s: a buffer was used after Finalize", Name)
	}
	return nil
}
