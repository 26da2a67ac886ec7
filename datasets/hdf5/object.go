package hdf5

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
)

// The messages of an object header that are read.
const (
	msgDataspace   = 0x01
	msgLinkInfo    = 0x02
	msgDatatype    = 0x03
	msgOldFill     = 0x04
	msgFill        = 0x05
	msgLink        = 0x06
	msgExternal    = 0x07
	msgLayout      = 0x08
	msgFilters     = 0x0B
	msgAttribute   = 0x0C
	msgContinue    = 0x10
	msgSymbolTable = 0x11
	msgAttrInfo    = 0x15
)

// maxBlocks bounds the number of pieces of one header.
const maxBlocks = 1 << 12

// message is one item of an object header.
type message struct {
	kind   uint16
	shared bool
	body   []byte
}

// object is a group or a dataset.
type object struct {
	f        *File
	path     string
	messages []message
	strings  bool // its elements are strings
	zstd     bool // its elements are compressed with Zstandard
}

// object reads a header, of either version, with its continuations.
func (f *File) object(path string, address uint64) (*object, error) {
	o := &object{f: f, path: path}
	start, err := f.bytes(address, min(16, f.size-min(f.size, address)))
	if err != nil {
		return nil, err
	}
	if bytes.HasPrefix(start, []byte("OHDR")) {
		err = o.readHeaderV2(address)
	} else {
		err = o.readHeaderV1(address)
	}
	if err != nil {
		return nil, fmt.Errorf("object header at byte %d: %w", address, err)
	}
	return o, nil
}

// span is a piece of the file.
type span struct{ address, size uint64 }

// readHeaderV1 reads a header of version 1.
func (o *object) readHeaderV1(address uint64) error {
	b, err := o.f.bytes(address, 16)
	if err != nil {
		return err
	}
	c := &cursor{b: b}
	if version := c.u8(); version != 1 {
		return fmt.Errorf("version %d; 1 and 2 are read", version)
	}
	c.next(7)
	return o.blocks(span{address + 16, uint64(c.u32())}, func(s span) ([]span, error) {
		b, err := o.f.bytes(s.address, s.size)
		if err != nil {
			return nil, err
		}
		return o.parseMessagesV1(&cursor{b: b})
	})
}

// blocks reads the pieces of a header, each of which may name further ones.
func (o *object) blocks(from span, read func(span) ([]span, error)) error {
	todo, seen := []span{from}, map[uint64]bool{}
	for len(todo) > 0 {
		next := todo[0]
		if seen[next.address] || len(seen) == maxBlocks {
			return fmt.Errorf("its piece at byte %d occurs twice, or there are too many", next.address)
		}
		seen[next.address] = true
		more, err := read(next)
		if err != nil {
			return err
		}
		todo = append(todo[1:], more...)
	}
	return nil
}

func (o *object) parseMessagesV1(c *cursor) (more []span, err error) {
	for c.remaining() >= 8 {
		kind, size, flags := c.u16(), c.u16(), c.u8()
		c.next(3)
		more = o.add(more, kind, flags, c.next(int(size)))
		if c.err != nil {
			return nil, c.err
		}
	}
	return more, nil
}

// readHeaderV2 reads a header of version 2.
func (o *object) readHeaderV2(address uint64) error {
	b, err := o.f.bytes(address, min(64, o.f.size-address))
	if err != nil {
		return err
	}
	c := &cursor{b: b}
	c.next(4)
	if version := c.u8(); version != 2 {
		return fmt.Errorf("version %d; 1 and 2 are read", version)
	}
	flags := c.u8()
	if flags&0x20 != 0 {
		c.next(16) // times
	}
	if flags&0x10 != 0 {
		c.next(4) // when attributes move
	}
	size := c.uint(1 << (flags & 3))
	if c.err != nil {
		return c.err
	}
	if size > o.f.size {
		return errShort
	}
	head, tracked := uint64(c.pos), flags&4 != 0
	return o.blocks(span{address, head + size + 4}, func(s span) ([]span, error) {
		b, err := o.f.bytes(s.address, s.size)
		if err != nil {
			return nil, err
		}
		skip := head
		if s.address != address {
			skip = 4
			if !bytes.HasPrefix(b, []byte("OCHK")) {
				return nil, fmt.Errorf("no continuation at byte %d", s.address)
			}
		}
		return o.parseMessagesV2(b, skip, tracked)
	})
}

func (o *object) parseMessagesV2(b []byte, skip uint64, tracked bool) (more []span, err error) {
	if uint64(len(b)) < skip+4 {
		return nil, errShort
	}
	whole := &cursor{b: b, pos: len(b) - 4}
	if whole.checksum(); whole.err != nil {
		return nil, whole.err
	}
	c, least := &cursor{b: b[:len(b)-4], pos: int(skip)}, 4
	if tracked {
		least = 6
	}
	for c.remaining() >= least {
		kind, size, flags := c.u8(), c.u16(), c.u8()
		if tracked {
			c.next(2)
		}
		more = o.add(more, uint16(kind), flags, c.next(int(size)))
		if c.err != nil {
			return nil, c.err
		}
	}
	return more, nil
}

// add stores a message, or appends the span that a continuation names.
func (o *object) add(more []span, kind uint16, flags byte, body []byte) []span {
	if kind != msgContinue {
		o.messages = append(o.messages, message{kind, flags&2 != 0, body})
		return more
	}
	c := &cursor{b: body}
	s := span{c.u64(), c.u64()}
	return append(more, s)
}

// find returns the body of the first message of a kind; nil if there is none.
func (o *object) find(kind uint16) (*cursor, error) {
	i := slices.IndexFunc(o.messages, func(m message) bool { return m.kind == kind })
	if i < 0 {
		return nil, nil
	}
	if o.messages[i].shared {
		return nil, fmt.Errorf("message %#02x is shared with other objects, which is not read", kind)
	}
	return &cursor{b: o.messages[i].body}, nil
}

// need is find for a message that must be there.
func (o *object) need(kind uint16, what string) (*cursor, error) {
	c, err := o.find(kind)
	if err == nil && c == nil {
		return nil, errors.New("no " + what)
	}
	return c, err
}

func (o *object) isDataset() bool {
	return slices.ContainsFunc(o.messages, func(m message) bool { return m.kind == msgLayout })
}
