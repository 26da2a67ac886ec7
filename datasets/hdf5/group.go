package hdf5

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// link is an entry of a group.
type link struct {
	address uint64
	soft    bool // a soft or external link
}

func sortedNames(links map[string]link) []string { return slices.Sorted(maps.Keys(links)) }

// links returns the links of an old or a new group.
func (o *object) links() (map[string]link, error) {
	if o.isDataset() {
		return nil, errors.New("a dataset, not a group")
	}
	out := map[string]link{}
	table, err := o.find(msgSymbolTable)
	if err != nil {
		return nil, err
	}
	if table != nil {
		return out, o.readSymbolTable(out, table.u64(), table.u64())
	}
	for _, m := range o.messages {
		if m.kind != msgLink {
			continue
		}
		if err := addLink(out, m.body); err != nil {
			return nil, err
		}
	}
	heap, index, err := o.denseAddresses(msgLinkInfo, 8)
	if err != nil || heap == undefined {
		return out, err
	}
	return out, o.f.eachHeapObject(heap, index, func(b []byte) error { return addLink(out, b) })
}

// denseAddresses returns where a group's links or an object's attributes are if they are many: the
// addresses of a heap and of the index by name.
func (o *object) denseAddresses(kind uint16, orderWidth int) (heap, index uint64, err error) {
	c, err := o.find(kind)
	if err != nil || c == nil {
		return undefined, undefined, err
	}
	c.next(1)
	if flags := c.u8(); flags&1 != 0 {
		c.next(orderWidth)
	}
	heap, index = c.u64(), c.u64()
	return heap, index, c.err
}

// addLink reads a link message.
func addLink(out map[string]link, body []byte) error {
	c := &cursor{b: body}
	if version := c.u8(); version != 1 {
		return fmt.Errorf("link of version %d", version)
	}
	flags, kind := c.u8(), byte(0)
	if flags&8 != 0 {
		kind = c.u8()
	}
	if flags&4 != 0 {
		c.next(8)
	}
	if flags&16 != 0 {
		c.next(1)
	}
	n := c.uint(1 << (flags & 3))
	if c.err == nil && n > uint64(c.remaining()) {
		return errShort
	}
	name, l := string(c.next(int(n))), link{soft: kind != 0}
	if !l.soft {
		l.address = c.u64()
	}
	return addUnique(out, name, l, c.err)
}

func addUnique(out map[string]link, name string, l link, err error) error {
	if err != nil {
		return fmt.Errorf("link: %w", err)
	}
	if _, twice := out[name]; twice {
		return fmt.Errorf("the link %q occurs twice", name)
	}
	out[name] = l
	return nil
}

// readSymbolTable reads a symbol table: a B-tree of nodes with the links, and a heap of their
// names.
func (o *object) readSymbolTable(out map[string]link, tree, heap uint64) error {
	names, err := o.f.localHeap(heap)
	if err != nil {
		return fmt.Errorf("local heap: %w", err)
	}
	w := &walk{f: o.f, seen: map[uint64]bool{}}
	return w.tree1(tree, 0, 8, func(_ *cursor, child uint64) error {
		c, err := o.f.block(child, 8, "SNOD")
		if err != nil {
			return err
		}
		c.next(2)
		n := uint64(c.u16())
		if c, err = o.f.block(child, 8+40*n, "SNOD"); err != nil {
			return err
		}
		c.next(4)
		for range n {
			offset, l := c.u64(), link{address: c.u64(), soft: c.u32() == 2}
			c.next(20)
			if offset > uint64(len(names)) {
				return errors.New("a link's name is outside the heap")
			}
			if err := addUnique(out, (&cursor{b: names[offset:]}).text(), l, c.err); err != nil {
				return err
			}
		}
		return nil
	})
}

func (f *File) localHeap(address uint64) ([]byte, error) {
	c, err := f.block(address, 32, "HEAP")
	if err != nil {
		return nil, err
	}
	c.next(4)
	size := c.u64()
	c.next(8)
	return f.bytes(c.u64(), size)
}

// walk traverses a tree and visits no node twice.
type walk struct {
	f    *File
	seen map[uint64]bool
}

func (w *walk) markVisited(address uint64) error {
	if w.seen[address] {
		return fmt.Errorf("the node at byte %d occurs twice", address)
	}
	w.seen[address] = true
	return nil
}

// tree1 calls use for every leaf of a B-tree of version 1, with the key before it. Nodes are of
// the given kind (0: links, 1: chunks), keys of the given width.
func (w *walk) tree1(address uint64, kind byte, width uint64, use func(key *cursor, child uint64) error) error {
	return w.node1(address, kind, width, -1, use)
}

// node1 visits one node; level is the level that its parent requires, -1 at the root.
func (w *walk) node1(address uint64, kind byte, width uint64, level int, use func(key *cursor, child uint64) error) error {
	if err := w.markVisited(address); err != nil {
		return err
	}
	c, err := w.f.block(address, 24, "TREE")
	if err != nil {
		return err
	}
	gotKind, gotLevel, n := c.u8(), int(c.u8()), uint64(c.u16())
	if gotKind != kind || level >= 0 && gotLevel != level {
		return fmt.Errorf("the node at byte %d is of kind %d and level %d", address, gotKind, gotLevel)
	}
	b, err := w.f.bytes(address+24, n*(width+8)+width)
	if err != nil {
		return err
	}
	c = &cursor{b: b}
	for range n {
		key := &cursor{b: c.next(int(width))}
		child := c.u64()
		if gotLevel > 0 {
			err = w.node1(child, kind, width, gotLevel-1, use)
		} else {
			err = use(key, child)
		}
		if err != nil {
			return err
		}
	}
	return c.err
}
