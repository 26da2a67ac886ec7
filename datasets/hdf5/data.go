// Elements of a dataset or an attribute, and their conversion to Go values.

package hdf5

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
)

// Data holds the elements of a dataset or an attribute.
type Data struct {
	Dims []int // empty for a scalar

	f      *File
	path   string
	kind   *datatype
	raw    []byte
	before int // elements of the dataset before these, for errors
}

// data returns a Data in which array elements are further dimensions.
func (f *File) data(path string, dims []int, t *datatype, raw []byte) *Data {
	for t.class == Array {
		dims, t = append(dims[:len(dims):len(dims)], t.dims...), t.base
	}
	return &Data{Dims: dims, f: f, path: path, kind: t, raw: raw}
}

// Class returns the class of the elements.
func (d *Data) Class() Class { return d.kind.class }

// Len returns the number of elements.
func (d *Data) Len() int { return len(d.raw) / d.kind.size }

func (d *Data) element(i int) []byte { return d.raw[i*d.kind.size : (i+1)*d.kind.size] }

// errorf returns an error that names the file and the object.
func (d *Data) errorf(format string, args ...any) error {
	return fmt.Errorf("%s: %s: %w", d.f.name, d.path, fmt.Errorf(format, args...))
}

// Number is a type to which Numbers converts.
type Number interface {
	~int | ~int32 | ~int64 | ~float32 | ~float64
}

// Numbers converts integers, floats and enumerations (such as booleans) to T. Floats are rounded
// if T is a float; any other value that T cannot hold exactly is refused.
func Numbers[T Number](d *Data) ([]T, error) {
	t := d.kind
	if t.class == Enum {
		t = t.base
	}
	out := make([]T, d.Len())
	switch t.class {
	case Integer:
		for i := range out {
			v, err := t.integer(d.element(i))
			if out[i] = T(v); err == nil && int64(out[i]) != v {
				err = fmt.Errorf("%d does not fit into a %T", v, out[i])
			}
			if err != nil {
				return nil, d.errorf("element %d: %w", d.before+i, err)
			}
		}
	case Float:
		for i := range out {
			v := t.float(d.element(i))
			if out[i] = T(v); !represents(v, float64(out[i])) {
				return nil, d.errorf("element %d: %v does not fit into a %T", d.before+i, v, out[i])
			}
		}
	default:
		return nil, d.errorf("elements of class %d are not numbers", t.class)
	}
	return out, nil
}

// represents reports whether got is v, exactly or rounded to float32.
func represents(v, got float64) bool {
	return got == v || math.IsNaN(v) && math.IsNaN(got) || float64(float32(v)) == got && !math.IsInf(got, 0)
}

func (t *datatype) integer(b []byte) (int64, error) {
	var v uint64
	switch t.size {
	case 1:
		v = uint64(b[0])
	case 2:
		v = uint64(t.order.Uint16(b))
	case 4:
		v = uint64(t.order.Uint32(b))
	default:
		if v = t.order.Uint64(b); !t.signed && v > math.MaxInt64 {
			return 0, fmt.Errorf("%d is too large", v)
		}
	}
	if shift := 64 - 8*t.size; t.signed {
		return int64(v<<shift) >> shift, nil
	}
	return int64(v), nil
}

func (t *datatype) float(b []byte) float64 {
	switch t.size {
	case 2:
		return float16(t.order.Uint16(b))
	case 4:
		return float64(math.Float32frombits(t.order.Uint32(b)))
	}
	return math.Float64frombits(t.order.Uint64(b))
}

// float16 returns the value of a 16-bit IEEE 754 float.
func float16(v uint16) float64 {
	sign, exponent, fraction := 1-2*float64(v>>15), int(v>>10&31), float64(v&1023)
	switch exponent {
	case 0:
		return sign * math.Ldexp(fraction, -24)
	case 31:
		if fraction == 0 {
			return math.Inf(int(sign))
		}
		return math.NaN()
	}
	return sign * math.Ldexp(1024+fraction, exponent-25)
}

// Strings returns strings of fixed or variable length.
func (d *Data) Strings() ([]string, error) {
	out := make([]string, d.Len())
	switch {
	case d.kind.class == String:
		for i := range out {
			out[i] = fixedString(d.element(i), d.kind.padding)
		}
	case d.kind.class == Variable && d.kind.strings:
		heap := globalHeap{f: d.f, open: map[uint64]map[uint32]string{}}
		for i := range out {
			s, err := heap.text(d.element(i))
			if err != nil {
				return nil, d.errorf("element %d: %w", d.before+i, err)
			}
			out[i] = s
		}
	default:
		return nil, d.errorf("elements of class %d are not strings", d.kind.class)
	}
	return out, nil
}

func fixedString(b []byte, padding byte) string {
	if padding == 2 {
		return strings.TrimRight(string(b), " ")
	}
	if k := bytes.IndexByte(b, 0); k >= 0 {
		b = b[:k]
	}
	return string(b)
}

// Text returns the only string of d.
func (d *Data) Text() (string, error) {
	s, err := d.Strings()
	if err != nil {
		return "", err
	}
	if len(s) != 1 {
		return "", d.errorf("%d strings, expected one", len(s))
	}
	return s[0], nil
}

// References returns the addresses in object references; see File.ReadAt.
func (d *Data) References() ([]uint64, error) {
	if d.kind.class != Reference {
		return nil, d.errorf("elements of class %d are not references", d.kind.class)
	}
	out := make([]uint64, d.Len())
	for i := range out {
		out[i] = d.kind.order.Uint64(d.element(i))
	}
	return out, nil
}

// Members returns the names of a compound's members, nil for other classes.
func (d *Data) Members() []string {
	var out []string
	for _, m := range d.kind.members {
		out = append(out, m.name)
	}
	return out
}

// Member returns one member of every element of a compound.
func (d *Data) Member(name string) (*Data, error) {
	for _, m := range d.kind.members {
		if m.name != name {
			continue
		}
		raw := make([]byte, 0, d.Len()*m.kind.size)
		for i := range d.Len() {
			raw = append(raw, d.element(i)[m.offset:m.offset+m.kind.size]...)
		}
		return d.f.data(d.path+"."+name, d.Dims, m.kind, raw), nil
	}
	return nil, d.errorf("member %q: %w", name, ErrNotFound)
}

// globalHeap reads strings of variable length; each collection is read once.
type globalHeap struct {
	f    *File
	open map[uint64]map[uint32]string
	read uint64 // bytes of the collections read so far
}

// text returns the string that an element refers to.
func (h *globalHeap) text(element []byte) (string, error) {
	c := &cursor{b: element}
	n, address, index := c.u32(), c.u64(), c.u32()
	if n == 0 {
		return "", nil
	}
	objects, ok := h.open[address]
	if !ok {
		var err error
		if objects, err = h.collection(address); err != nil {
			return "", fmt.Errorf("global heap: %w", err)
		}
		h.open[address] = objects
	}
	s, ok := objects[index]
	if !ok || uint64(n) > uint64(len(s)) {
		return "", fmt.Errorf("global heap: no object %d of %d bytes at byte %d", index, n, address)
	}
	return strings.TrimRight(s[:n], "\x00"), nil
}

func (h *globalHeap) collection(address uint64) (map[uint32]string, error) {
	c, err := h.f.block(address, 16, "GCOL")
	if err != nil {
		return nil, err
	}
	c.next(4)
	size := c.u64()
	if h.read += size; h.read > h.f.size || size > h.f.size {
		return nil, errors.New("the collections hold more bytes than the file")
	}
	b, err := h.f.bytes(address, size)
	if err != nil || len(b) < 16 {
		return nil, errors.Join(err, errIf(err == nil, errShort.Error()))
	}
	out := map[uint32]string{}
	for c = (&cursor{b: b, pos: 16}); c.remaining() >= 16; {
		index := uint32(c.u16())
		c.next(6)
		n := c.u64()
		if index == 0 { // free space
			break
		}
		if n > uint64(c.remaining()) {
			return nil, errShort
		}
		out[index] = string(c.next(int(n)))
		c.next(min(int((8-n%8)%8), c.remaining()))
	}
	return out, c.err
}
