package hdf5

import (
	"bytes"
	"errors"
	"fmt"
)

// layout is the storage layout of a dataset.
type layout struct {
	compact []byte // the elements of a compact layout; else nil
	span    span   // of contiguous ones
	chunk   []int  // the shape of a chunk; nil if not chunked
	width   int    // bytes of an element in a chunk

	index    byte   // the kind of the chunk index; 0 is a B-tree of version 1
	indexAt  uint64 // its address
	single   span   // of the single chunk: its size and mask, if it is filtered
	pageBits byte   // of a fixed array, which its header has too
}

// The kinds of chunk index since layout version 4.
const (
	indexTree       = 0
	indexSingle     = 1
	indexImplicit   = 2
	indexFixed      = 3
	indexExtensible = 4
	indexTree2      = 5
)

func parseLayout(c *cursor) (*layout, error) {
	l := &layout{}
	version := c.u8()
	var err error
	switch version {
	case 1, 2:
		err = l.parseV1(c)
	case 3:
		err = l.parseV3(c)
	case 4, 5: // 5 says that the sizes of chunks have eight bytes in an index, which its entries' width says as well
		err = l.parseV4(c)
	default:
		return nil, fmt.Errorf("a layout of version %d; 1 to 5 are read", version)
	}
	if err == nil {
		err = c.err
	}
	return l, err
}

// The classes of layouts.
const (
	compact    = 0
	contiguous = 1
	chunked    = 2
)

func (l *layout) parseV1(c *cursor) error {
	rank, class := int(c.u8()), c.u8()
	c.next(5)
	if class != compact {
		l.span.address = c.u64()
	}
	dims, err := l.sizes(c, rank, 4)
	if err != nil {
		return err
	}
	switch class {
	case compact:
		l.compact = c.next(int(min(c.u32(), 1<<16)))
	case contiguous:
		l.span.size = undefined // that of the elements
	case chunked:
		l.chunk, l.width, l.indexAt = dims, int(c.u32()), l.span.address
	default:
		return fmt.Errorf("a layout of class %d", class)
	}
	return nil
}

func (l *layout) parseV3(c *cursor) error {
	class := c.u8()
	if class != chunked {
		return l.parseUnchunked(c, class)
	}
	rank := int(c.u8()) - 1
	l.indexAt = c.u64()
	dims, err := l.sizes(c, rank, 4)
	l.chunk, l.width = dims, int(c.u32())
	return err
}

// parseUnchunked parses compact and contiguous layouts since version 3.
func (l *layout) parseUnchunked(c *cursor, class byte) error {
	switch class {
	case compact:
		l.compact = c.next(int(c.u16()))
	case contiguous:
		l.span = span{c.u64(), c.u64()}
	default:
		return fmt.Errorf("a layout of class %d; compact, contiguous and chunked ones are read", class)
	}
	return nil
}

func (l *layout) parseV4(c *cursor) (err error) {
	class := c.u8()
	if class != chunked {
		return l.parseUnchunked(c, class)
	}
	flags, rank, width := c.u8(), int(c.u8())-1, int(c.u8())
	if l.chunk, err = l.sizes(c, rank, width); err != nil {
		return err
	}
	l.width = int(min(c.uint(width), maxElement+1))
	l.index = c.u8()
	switch l.index {
	case indexSingle:
		if flags&2 != 0 {
			l.single = span{size: c.u64(), address: uint64(c.u32())}
		}
	case indexImplicit:
	case indexFixed:
		l.pageBits = c.u8()
	case indexExtensible:
		c.next(5)
	case indexTree2:
		c.next(6)
	default:
		return fmt.Errorf("a chunk index of kind %d; 1 to 5 are read", l.index)
	}
	l.indexAt = c.u64()
	if flags&1 != 0 {
		return errors.New("chunks at the edge that are stored in another way")
	}
	return nil
}

// sizes reads the shape of a chunk.
func (l *layout) sizes(c *cursor, rank, width int) ([]int, error) {
	if rank < 0 || rank > maxRank {
		return nil, fmt.Errorf("chunks of %d dimensions", rank)
	}
	out := make([]int, rank)
	for k := range out {
		v := c.uint(width)
		if v > maxBytes {
			return nil, fmt.Errorf("chunks of %d elements", v)
		}
		out[k] = int(v)
	}
	return out, c.err
}

// Bounds on the decompressed size, as multiples of the stored size: deflate expands a byte to
// at most 1032, Zstandard to 32,768 if all bytes are equal (accepted up to a fixed size).
// Strings are names, which differ and compress less.
const (
	ratio        = 1032
	ratioZstd    = 1 << 15
	maxZstd      = 1 << 26
	ratioStrings = 100
	slack        = 1 << 20
)

// maxSize returns the greatest size to which the stored bytes can be decompressed.
func (o *object) maxSize(stored uint64) uint64 {
	switch {
	case o.strings:
		return stored*ratioStrings + slack
	case o.zstd:
		return max(stored*ratio+slack, min(stored*ratioZstd, maxZstd))
	}
	return stored*ratio + slack
}

// elementType is what a dataset's header says of its elements.
type elementType struct {
	dims  []int
	kind  *datatype
	bytes int // of all elements
}

// elements reads the shape and the type of a dataset.
func (o *object) elements() (e elementType, err error) {
	if e.dims, err = o.shape(); err != nil {
		return e, err
	}
	c, err := o.need(msgDatatype, "datatype")
	if err != nil {
		return e, err
	}
	if e.kind, err = parseType(c, 0); err != nil {
		return e, err
	}
	if e.bytes, err = elements(append(e.dims[:len(e.dims):len(e.dims)], e.kind.size)); err != nil {
		return e, err
	}
	if e.kind.class == String || e.kind.class == Variable {
		o.strings = true
	}
	return e, nil
}

// read reads a whole dataset.
func (o *object) read() (*Data, error) {
	e, err := o.elements()
	if err != nil {
		return nil, err
	}
	raw, err := o.raw(e.dims, e.kind.size, e.bytes)
	if err != nil {
		return nil, err
	}
	return o.f.data(o.path, e.dims, e.kind, raw), nil
}

// layout reads how the elements are stored.
func (o *object) layout() (*layout, error) {
	if c, err := o.find(msgExternal); err != nil || c != nil {
		return nil, errors.Join(err, errors.New("its elements are in other files"))
	}
	c, err := o.need(msgLayout, "layout")
	if err != nil {
		return nil, err
	}
	return parseLayout(c)
}

// raw returns the n bytes of a dataset's elements.
func (o *object) raw(dims []int, width, n int) ([]byte, error) {
	l, err := o.layout()
	if err != nil || n == 0 {
		return nil, err
	}
	if l.chunk != nil {
		return o.chunks(l, dims, width, n)
	}
	if l.compact == nil && l.span.address == undefined {
		return o.newFilled(width, n, 0)
	}
	if err := l.checkSize(n); err != nil {
		return nil, err
	}
	if l.compact == nil {
		return o.f.bytes(l.span.address, uint64(n))
	}
	return l.compact, nil
}

// checkSize compares the stored bytes of elements that are not in chunks with those of the shape.
func (l *layout) checkSize(n int) error {
	stored := l.span.size
	if l.compact != nil {
		stored = uint64(len(l.compact))
	}
	if (l.compact != nil || stored != undefined) && stored != uint64(n) {
		return fmt.Errorf("%d bytes are stored, the shape needs %d", stored, n)
	}
	return nil
}

// newFilled allocates n bytes, of which the given number are stored, and fills them with the fill
// value.
func (o *object) newFilled(width, n int, stored uint64) ([]byte, error) {
	if err := o.checkStored(n, stored); err != nil {
		return nil, err
	}
	return o.filled(width, n)
}

// checkStored returns an error if the stored bytes cannot fill n bytes.
func (o *object) checkStored(n int, stored uint64) error {
	if uint64(n) > o.maxSize(stored) {
		return fmt.Errorf("%d stored bytes cannot decompress to %d bytes", stored, n)
	}
	return nil
}

// filled returns n bytes of fill values.
func (o *object) filled(width, n int) ([]byte, error) {
	out := make([]byte, n)
	value, err := o.fill()
	if err != nil || bytes.Count(value, []byte{0}) == len(value) {
		return out, err
	}
	if len(value) != width {
		return nil, fmt.Errorf("a fill value of %d bytes for elements of %d", len(value), width)
	}
	for k := 0; k < n; k += width {
		copy(out[k:], value)
	}
	return out, nil
}

// fill reads the value of elements that are not stored; nil means zero.
func (o *object) fill() ([]byte, error) {
	c, err := o.find(msgFill)
	if err != nil {
		return nil, err
	}
	if c == nil {
		if c, err = o.find(msgOldFill); err != nil || c == nil {
			return nil, err
		}
		return c.next(int(min(c.u32(), maxElement))), c.err
	}
	version, there := c.u8(), false
	switch version {
	case 1, 2:
		c.next(2)
		there = c.u8() != 0 || version == 1
	case 3:
		there = c.u8()&0x20 != 0
	default:
		return nil, fmt.Errorf("a fill value of version %d", version)
	}
	if !there {
		return nil, c.err
	}
	return c.next(int(min(c.u32(), maxElement))), c.err
}
