package hdf5

import (
	"encoding/binary"
	"fmt"
)

// Class is the class of a dataset's elements.
type Class byte

// The classes that are read, with the format's numbers.
const (
	Integer   Class = 0
	Float     Class = 1
	String    Class = 3
	Opaque    Class = 5
	Compound  Class = 6
	Reference Class = 7
	Enum      Class = 8
	Variable  Class = 9 // of variable length: strings here
	Array     Class = 10
)

// datatype describes an element of a dataset: its class, its size in bytes and its byte order.
type datatype struct {
	class   Class
	size    int
	order   binary.ByteOrder
	signed  bool
	strings bool // of Variable: strings and not sequences
	padding byte // of String: 0 ends at a zero byte, 1 filled with zeros, 2 with blanks
	base    *datatype
	members []member // of Compound
	dims    []int    // of Array
	names   []string // of Enum
	values  [][]byte // of Enum
}

type member struct {
	name   string
	offset int
	kind   *datatype
}

// Limits on a type.
const (
	maxDepth   = 8
	maxElement = 1 << 20
	maxMembers = 1 << 12
	maxRank    = 32
)

// parseType reads a datatype message.
func parseType(c *cursor, depth int) (*datatype, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("types nested deeper than %d", maxDepth)
	}
	head := c.u8()
	bits := c.next(3)
	t := &datatype{class: Class(head & 15), size: int(min(c.u32(), maxElement+1)), order: binary.LittleEndian}
	if c.err != nil {
		return nil, c.err
	}
	version := head >> 4
	if t.size < 1 || t.size > maxElement {
		return nil, fmt.Errorf("elements of %d bytes", t.size)
	}
	if version < 1 || version > 5 {
		return nil, fmt.Errorf("a type of version %d", version)
	}
	var err error
	switch t.class {
	case Integer, Float:
		err = t.number(c, bits)
	case String:
		t.padding = bits[0] & 15
	case Reference:
		if bits[0]&15 != 0 || t.size != 8 {
			err = fmt.Errorf("references of kind %d; references to objects are read", bits[0]&15)
		}
	case Compound:
		err = t.compound(c, version, int(bits[0])|int(bits[1])<<8, depth)
	case Enum:
		err = t.enum(c, version, int(bits[0])|int(bits[1])<<8, depth)
	case Variable:
		t.strings = bits[0]&15 == 1
		if t.size != 16 {
			return nil, fmt.Errorf("variable length in %d bytes", t.size)
		}
		t.base, err = parseType(c, depth+1)
	case Array:
		err = t.array(c, version, depth)
	case Opaque:
		c.next(int(bits[0]))
	default:
		err = fmt.Errorf("elements of class %d are not read", t.class)
	}
	if err == nil {
		err = c.err
	}
	return t, err
}

// number reads the properties of integers and floats. It accepts numbers that fill their bytes,
// and floats of IEEE 754.
func (t *datatype) number(c *cursor, bits []byte) error {
	if bits[0]&1 != 0 {
		t.order = binary.BigEndian
	}
	offset, precision := c.u16(), c.u16()
	if offset != 0 || int(precision) != 8*t.size {
		return fmt.Errorf("numbers of %d bits in %d bytes", precision, t.size)
	}
	if t.class == Integer {
		t.signed = bits[0]&8 != 0
		if t.size != 1 && t.size != 2 && t.size != 4 && t.size != 8 {
			return fmt.Errorf("integers of %d bytes", t.size)
		}
		return nil
	}
	want := map[int][5]uint32{2: {10, 5, 0, 10, 15}, 4: {23, 8, 0, 23, 127}, 8: {52, 11, 0, 52, 1023}}[t.size]
	got := [5]uint32{uint32(c.u8()), uint32(c.u8()), uint32(c.u8()), uint32(c.u8()), c.u32()}
	if got != want || bits[0]&0x40 != 0 {
		return fmt.Errorf("floats of %d bytes that are not those of IEEE 754", t.size)
	}
	return nil
}

// compound reads the members.
func (t *datatype) compound(c *cursor, version byte, n, depth int) error {
	if n > maxMembers {
		return fmt.Errorf("%d members", n)
	}
	for range n {
		start := c.pos
		m := member{name: c.text()}
		if version < 3 {
			c.next((8 - (c.pos-start)%8) % 8)
		}
		if m.offset = int(c.u32at(version, t.size)); version == 1 {
			if rank := c.u8(); rank != 0 {
				return fmt.Errorf("the member %q is an array in the oldest form", m.name)
			}
			c.next(27)
		}
		var err error
		if m.kind, err = parseType(c, depth+1); err != nil {
			return fmt.Errorf("member %q: %w", m.name, err)
		}
		if m.offset < 0 || m.offset > t.size-m.kind.size {
			return fmt.Errorf("the member %q is outside its element", m.name)
		}
		t.members = append(t.members, m)
	}
	return nil
}

// u32at reads a member's offset, whose width depends on the version.
func (c *cursor) u32at(version byte, size int) uint64 {
	width := 4
	if version >= 3 {
		for width = 1; size>>(8*width) > 0; width++ {
		}
	}
	return c.uint(width)
}

// enum reads the names and values of an enumeration.
func (t *datatype) enum(c *cursor, version byte, n, depth int) (err error) {
	if t.base, err = parseType(c, depth+1); err != nil {
		return err
	}
	if t.base.class != Integer || t.base.size != t.size {
		return fmt.Errorf("an enumeration that is not of integers")
	}
	for range n {
		start := c.pos
		t.names = append(t.names, c.text())
		if version < 3 {
			c.next((8 - (c.pos-start)%8) % 8)
		}
		if c.err != nil {
			return c.err
		}
	}
	for range n {
		t.values = append(t.values, c.next(t.size))
	}
	return nil
}

// array reads the dimensions of elements that are arrays.
func (t *datatype) array(c *cursor, version byte, depth int) (err error) {
	rank := int(c.u8())
	if rank > maxRank {
		return fmt.Errorf("elements of %d dimensions", rank)
	}
	if version < 3 {
		c.next(3)
	}
	n := 1
	for range rank {
		d := int(c.u32())
		if d < 1 || d > maxElement || n > maxElement/d {
			return fmt.Errorf("elements of too many numbers")
		}
		n *= d
		t.dims = append(t.dims, d)
	}
	if version < 3 {
		c.next(4 * rank)
	}
	if t.base, err = parseType(c, depth+1); err == nil && t.base.size*n != t.size {
		return fmt.Errorf("%d elements of %d bytes in %d", n, t.base.size, t.size)
	}
	return err
}
