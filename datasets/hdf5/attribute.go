package hdf5

import (
	"errors"
	"fmt"
)

// attribute reads the named attribute of an object, from its header or from its dense storage.
func (o *object) attribute(name string) (*Data, error) {
	var found *Data
	shared := false
	look := func(body []byte) error {
		got, c, sizes, err := attributeName(body)
		if err != nil || got != name {
			return err
		}
		found, err = o.value(name, c, sizes)
		return err
	}
	for _, m := range o.messages {
		if m.kind != msgAttribute {
			continue
		}
		if m.shared { // its name is not in the header; reported below if no other attribute matches
			shared = true
			continue
		}
		if err := look(m.body); err != nil {
			return nil, err
		}
	}
	heap, index, err := o.denseAddresses(msgAttrInfo, 2)
	if err != nil {
		return nil, err
	}
	if found == nil && heap != undefined {
		err = o.f.eachHeapObject(heap, index, look)
	}
	if err == nil && found == nil && shared {
		err = errors.New("an attribute that is shared with other objects is not read")
	}
	if err == nil && found == nil {
		err = ErrNotFound
	}
	return found, err
}

// attributeSizes holds the sizes of an attribute's type and shape, their padding, and whether one
// of them is shared.
type attributeSizes struct {
	kind, space, pad int
	shared           bool
}

// attributeName parses an attribute up to its type.
func attributeName(body []byte) (string, *cursor, attributeSizes, error) {
	c := &cursor{b: body}
	version, flags := c.u8(), c.u8()
	if version < 1 || version > 3 {
		return "", nil, attributeSizes{}, fmt.Errorf("an attribute of version %d", version)
	}
	n := int(c.u16())
	p := attributeSizes{kind: int(c.u16()), space: int(c.u16()), pad: 1, shared: version > 1 && flags&3 != 0}
	switch version {
	case 1:
		p.pad = 8
	case 3:
		c.next(1)
	}
	b := c.next(roundUp(n, p.pad))
	return fixedString(b[:min(n, len(b))], 0), c, p, c.err
}

func roundUp(n, to int) int { return (n + to - 1) / to * to }

// value reads an attribute after its name.
func (o *object) value(name string, c *cursor, p attributeSizes) (*Data, error) {
	if p.shared {
		return nil, errors.New("an attribute whose type is shared is not read")
	}
	t, err := parseType(&cursor{b: c.next(roundUp(p.kind, p.pad))}, 0)
	if err != nil {
		return nil, err
	}
	dims, err := dataspace(&cursor{b: c.next(roundUp(p.space, p.pad))})
	if err != nil {
		return nil, err
	}
	n, err := elements(append(dims[:len(dims):len(dims)], t.size))
	if err != nil {
		return nil, err
	}
	raw := c.next(n)
	return o.f.data(o.path+"@"+name, dims, t, raw), c.err
}
