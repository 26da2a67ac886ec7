// Tensors of a file and their types.

package onnx

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/tensors"
	"google.golang.org/protobuf/encoding/protowire"
)

// elem is the type of a tensor's elements, in the numbers of onnx.proto.
type elem int64

const (
	float32s  elem = 1
	uint8s    elem = 2
	int8s     elem = 3
	uint16s   elem = 4
	int16s    elem = 5
	int32s    elem = 6
	int64s    elem = 7
	texts     elem = 8
	bools     elem = 9
	float16s  elem = 10
	float64s  elem = 11
	uint32s   elem = 12
	uint64s   elem = 13
	bfloat16s elem = 16
)

// storage says how a type is stored in a file, how it is named, and what it is computed in.
// Two-byte floats are computed in four bytes, and rounded after every operator.
type storage struct {
	name  string
	bytes int
	dtype dtypes.DType
}

var storages = map[elem]storage{
	float32s: {"float32", 4, dtypes.Float32}, float64s: {"float64", 8, dtypes.Float64},
	float16s: {"float16", 2, dtypes.Float32}, bfloat16s: {"bfloat16", 2, dtypes.Float32},
	int8s: {"int8", 1, dtypes.Int8}, int16s: {"int16", 2, dtypes.Int16}, int32s: {"int32", 4, dtypes.Int32}, int64s: {"int64", 8, dtypes.Int64},
	uint8s: {"uint8", 1, dtypes.Uint8}, uint16s: {"uint16", 2, dtypes.Uint16}, uint32s: {"uint32", 4, dtypes.Uint32}, uint64s: {"uint64", 8, dtypes.Uint64},
	bools: {"bool", 1, dtypes.Bool}, texts: {"string", 1, dtypes.InvalidDType},
}

func (e elem) String() string {
	if s, ok := storages[e]; ok {
		return s.name
	}
	return fmt.Sprintf("type %d of ONNX", int64(e))
}

func (e elem) dtype() dtypes.DType { return storages[e].dtype }
func (e elem) isHalfFloat() bool   { return e == float16s || e == bfloat16s }
func (e elem) isFloat() bool       { return e == float32s || e == float64s || e.isHalfFloat() }
func (e elem) isInteger() bool     { return e.dtype().IsInt() }
func (e elem) isNumber() bool      { return e.isFloat() || e.isInteger() }

// tensor is TensorProto: weights, or a constant attribute.
type tensor struct {
	name    string
	elem    elem
	dims    []int64
	raw     []byte
	hasRaw  bool
	bits    map[int][]uint64
	strings []string
	// Weights in a separate file.
	external         bool
	location         string
	offset, length   int64
	segment, limited bool
}

func (t *tensor) read(f field) error {
	switch f.number {
	case 1:
		return f.int64s(&t.dims)
	case 2:
		var e int64
		err := f.readInt(&e)
		t.elem = elem(e)
		return err
	case 3:
		t.segment = true
	case 4, 5, 7, 10, 11:
		return t.numbers(f)
	case 6:
		var s string
		err := f.text(&s)
		t.strings = append(t.strings, s)
		return err
	case 8:
		return f.text(&t.name)
	case 9:
		if f.kind != protowire.BytesType {
			return f.wrong()
		}
		t.raw, t.hasRaw = f.bytes, true
	case 13:
		return t.readExternal(f)
	case 14:
		var where int64
		err := f.readInt(&where)
		t.external = where == 1
		return err
	}
	return nil
}

// numbers keeps the bits of a list of numbers of any type.
func (t *tensor) numbers(f field) error {
	if t.bits == nil {
		t.bits = map[int][]uint64{}
	}
	n := int(f.number)
	list := t.bits[n]
	var err error
	switch n {
	case 4:
		var v []float32
		err = f.float32s(&v)
		for _, x := range v {
			list = append(list, uint64(math.Float32bits(x)))
		}
	case 10:
		var v []float64
		err = f.float64s(&v)
		for _, x := range v {
			list = append(list, math.Float64bits(x))
		}
	default:
		err = f.varints(&list)
	}
	t.bits[n] = list
	return err
}

func (t *tensor) readExternal(f field) error {
	var key, value string
	err := f.message(func(f field) error {
		switch f.number {
		case 1:
			return f.text(&key)
		case 2:
			return f.text(&value)
		}
		return nil
	})
	if err != nil {
		return err
	}
	switch key {
	case "location":
		t.location = value
	case "offset":
		t.offset, err = strconv.ParseInt(value, 10, 64)
	case "length":
		t.length, err = strconv.ParseInt(value, 10, 64)
		t.limited = true
	}
	if err != nil || t.offset < 0 || t.length < 0 {
		return wrongf("weights %q: %s %q is not a number of bytes", t.name, key, value)
	}
	return nil
}

// listFields is the field that holds numbers of a type where they are not raw.
var listFields = map[elem]int{
	float32s: 4, float64s: 10, int64s: 7, uint64s: 11, uint32s: 11, int32s: 5, int16s: 5, int8s: 5, uint16s: 5, uint8s: 5, bools: 5, float16s: 5, bfloat16s: 5,
}

// check returns an error for a tensor before memory is allocated for it: an unknown type,
// invalid lengths, or one that is too large.
func (t *tensor) check() error {
	s, ok := storages[t.elem]
	if !ok {
		return wrongf("tensor %q is of %s, which is not supported", t.name, t.elem)
	}
	if t.segment {
		return wrongf("tensor %q is stored in segments, which are not supported", t.name)
	}
	n, err := product(t.dims)
	if err != nil {
		return wrongf("tensor %q: %v", t.name, err)
	}
	have := int64(0)
	switch {
	case t.elem == texts:
		have = int64(len(t.strings))
	case t.external:
		if t.limited && t.length != n*int64(s.bytes) {
			return wrongf("weights %q: %d bytes for %d numbers of type %s", t.name, t.length, n, t.elem)
		}
		return nil
	case t.hasRaw && len(t.bits) == 0:
		if have = int64(len(t.raw)); have != n*int64(s.bytes) {
			return wrongf("tensor %q of shape %v and type %s holds %d bytes and should hold %d", t.name, t.dims, t.elem, have, n*int64(s.bytes))
		}
		return nil
	case t.hasRaw:
		return wrongf("tensor %q holds its numbers twice", t.name)
	default:
		have = int64(len(t.bits[listFields[t.elem]]))
	}
	if have != n {
		return wrongf("tensor %q of shape %v holds %d elements", t.name, t.dims, have)
	}
	return nil
}

// maxBytes is the maximum memory for the values and results of an execution: 4 GiB. A file
// that needs more is refused before memory is allocated.
const maxBytes = 4 << 30

// maxValueBytes is the maximum size of one value of an execution: 1 GiB.
const maxValueBytes = 1 << 30

// product returns the number of elements of a shape.
func product[T int | int64](dims []T) (int64, error) {
	n, none := uint64(1), false
	for _, d := range dims {
		if d < 0 {
			return 0, fmt.Errorf("its shape %v has a negative length", dims)
		}
		none = none || d == 0
	}
	if none {
		return 0, nil
	}
	for _, d := range dims {
		high, low := bits.Mul64(n, uint64(d))
		if high != 0 || low > maxBytes {
			return 0, fmt.Errorf("its shape %v is too large (at most %d GiB)", dims, maxBytes>>30)
		}
		n = low
	}
	return int64(n), nil
}

// value reads the tensor's numbers; external ones come from folder.
func (t *tensor) value(folder string) (*value, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	v := &value{elem: t.elem, known: true, text: t.strings}
	for _, d := range t.dims {
		v.dims = append(v.dims, int(d))
	}
	n := v.size()
	raw := t.raw
	switch {
	case t.elem == texts:
		return v, nil
	case t.external:
		var err error
		if raw, err = (externalFiles{folder}).read(t, int64(n*storages[t.elem].bytes)); err != nil {
			return nil, err
		}
	case !t.hasRaw:
		raw = packed(t.bits[listFields[t.elem]], storages[t.elem].bytes)
	}
	v.flat = unpacked(t.elem, raw, n)
	return v, nil
}

// packed returns numbers in the layout of raw data.
func packed(list []uint64, bytes int) []byte {
	out := make([]byte, 0, len(list)*bytes)
	var word [8]byte
	for _, b := range list {
		binary.LittleEndian.PutUint64(word[:], b)
		out = append(out, word[:bytes]...)
	}
	return out
}

func unpacked(e elem, raw []byte, n int) any {
	u16 := func(i int) uint16 { return binary.LittleEndian.Uint16(raw[2*i:]) }
	u32 := func(i int) uint32 { return binary.LittleEndian.Uint32(raw[4*i:]) }
	u64 := func(i int) uint64 { return binary.LittleEndian.Uint64(raw[8*i:]) }
	switch e {
	case float32s:
		return fill(n, func(i int) float32 { return math.Float32frombits(u32(i)) })
	case float64s:
		return fill(n, func(i int) float64 { return math.Float64frombits(u64(i)) })
	case float16s:
		return fill(n, func(i int) float32 { return halfToFloat(u16(i)) })
	case bfloat16s:
		return fill(n, func(i int) float32 { return math.Float32frombits(uint32(u16(i)) << 16) })
	case int8s:
		return fill(n, func(i int) int8 { return int8(raw[i]) })
	case uint8s:
		return fill(n, func(i int) uint8 { return raw[i] })
	case int16s:
		return fill(n, func(i int) int16 { return int16(u16(i)) })
	case uint16s:
		return fill(n, u16)
	case int32s:
		return fill(n, func(i int) int32 { return int32(u32(i)) })
	case uint32s:
		return fill(n, u32)
	case int64s:
		return fill(n, func(i int) int64 { return int64(u64(i)) })
	case uint64s:
		return fill(n, u64)
	}
	return fill(n, func(i int) bool { return raw[i] != 0 })
}

func fill[T any](n int, f func(i int) T) []T {
	out := make([]T, n)
	for i := range out {
		out[i] = f(i)
	}
	return out
}

// halfToFloat converts a float16 to float32.
func halfToFloat(b uint16) float32 {
	sign, exponent, rest := float64(1), int(b>>10&31), float64(b&1023)
	if b>>15 == 1 {
		sign = -1
	}
	switch exponent {
	case 0:
		return float32(sign * math.Ldexp(rest, -24))
	case 31:
		if rest != 0 {
			return float32(math.NaN())
		}
		return float32(math.Inf(int(sign)))
	}
	return float32(sign * math.Ldexp(1024+rest, exponent-25))
}

// tensorOf returns a flat list as a tensor of the engine.
func tensorOf(flat any, dims []int) *tensors.Tensor {
	dims = slices.Clone(dims)
	switch x := flat.(type) {
	case []float32:
		return tensors.FromFlatDataAndDimensions(x, dims...)
	case []float64:
		return tensors.FromFlatDataAndDimensions(x, dims...)
	case []int8:
		return tensors.FromFlatDataAndDimensions(x, dims...)
	case []int16:
		return tensors.FromFlatDataAndDimensions(x, dims...)
	case []int32:
		return tensors.FromFlatDataAndDimensions(x, dims...)
	case []int64:
		return tensors.FromFlatDataAndDimensions(x, dims...)
	case []uint8:
		return tensors.FromFlatDataAndDimensions(x, dims...)
	case []uint16:
		return tensors.FromFlatDataAndDimensions(x, dims...)
	case []uint32:
		return tensors.FromFlatDataAndDimensions(x, dims...)
	case []uint64:
		return tensors.FromFlatDataAndDimensions(x, dims...)
	case []bool:
		return tensors.FromFlatDataAndDimensions(x, dims...)
	}
	panic(fmt.Sprintf("a tensor of %T", flat))
}
