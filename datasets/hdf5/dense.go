// Dense storage of links and attributes: fractal heaps and B-trees of version 2.

package hdf5

import (
	"errors"
	"fmt"
	"math/bits"
)

// eachHeapObject calls use with every object of a fractal heap that an index names, a B-tree of
// version 2.
func (f *File) eachHeapObject(heap, index uint64, use func([]byte) error) error {
	h, err := f.fractalHeap(heap)
	if err != nil {
		return fmt.Errorf("fractal heap: %w", err)
	}
	w := &walk{f: f, seen: map[uint64]bool{}}
	return w.tree2(index, func(kind byte, record []byte) error {
		id := record
		switch kind {
		case 5: // links by name: a hash, the object
			id = record[min(4, len(record)):]
		case 8: // attributes by name: the object, flags, order, a hash
		default:
			return fmt.Errorf("an index of kind %d", kind)
		}
		b, err := h.object(id[:min(h.id, len(id))])
		if err != nil {
			return fmt.Errorf("fractal heap: %w", err)
		}
		return use(b)
	})
}

// tree2 is the traversal of a B-tree of version 2.
type tree2 struct {
	w     *walk
	kind  byte
	node  uint64 // bytes of a node
	width int    // of a record
	count []int  // width of the number of records below a node, by depth
	use   func(kind byte, record []byte) error
}

// tree2 calls use for every record.
func (w *walk) tree2(address uint64, use func(kind byte, record []byte) error) error {
	c, err := w.f.block(address, 38, "BTHD")
	if err != nil {
		return err
	}
	c.next(1)
	t := &tree2{w: w, kind: c.u8(), node: uint64(c.u32()), width: int(c.u16()), use: use}
	depth := int(c.u16())
	c.next(2)
	root, n := c.u64(), int(c.u16())
	c.next(8)
	if c.checksum(); c.err != nil {
		return c.err
	}
	if root == undefined || n == 0 {
		return nil
	}
	if depth > maxDepth || t.width < 1 || t.node < 10 || t.node > w.f.size {
		return fmt.Errorf("a tree of depth %d, nodes of %d and records of %d bytes", depth, t.node, t.width)
	}
	t.setPointerWidths(depth)
	return t.visit(root, n, depth)
}

// setPointerWidths computes the widths of the numbers in a node pointer, which depend on how many
// records a node can hold.
func (t *tree2) setPointerWidths(depth int) {
	most := (int(t.node) - 10) / t.width
	t.count = []int{byteWidth(most), 0}
	all, pointer := most, 8+byteWidth(most)
	for d := 1; d <= depth; d++ {
		here := (int(t.node) - 10 - pointer) / (t.width + pointer)
		all = min((max(here, 0)+1)*all+max(here, 0), 1<<40)
		t.count = append(t.count, byteWidth(all))
		pointer = 8 + t.count[0] + byteWidth(all)
	}
}

// byteWidth returns the number of bytes that hold n.
func byteWidth(n int) int { return (bits.Len(uint(max(n, 1))) + 7) / 8 }

// visit reads a node of n records and the nodes below it.
func (t *tree2) visit(address uint64, n, depth int) error {
	if err := t.w.markVisited(address); err != nil {
		return err
	}
	name := "BTLF"
	if depth > 0 {
		name = "BTIN"
	}
	c, err := t.w.f.block(address, t.node, name)
	if err != nil {
		return err
	}
	if c.u8(); c.u8() != t.kind {
		return errors.New("a node of another tree")
	}
	for range n {
		record := c.next(t.width)
		if c.err != nil {
			return c.err
		}
		if err := t.use(t.kind, record); err != nil {
			return err
		}
	}
	type below struct {
		address uint64
		n       int
	}
	var children []below
	for k := 0; depth > 0 && k <= n && c.err == nil; k++ {
		b := below{c.u64(), int(c.uint(t.count[0]))}
		if depth > 1 {
			c.next(t.count[depth])
		}
		children = append(children, b)
	}
	if c.checksum(); c.err != nil {
		return c.err
	}
	for _, b := range children {
		if err := t.visit(b.address, b.n, depth-1); err != nil {
			return err
		}
	}
	return nil
}

// fractalHeap holds objects by their offset in an address space made up of blocks, in rows of
// blocks that double in size.
type fractalHeap struct {
	f                    *File
	address              uint64
	checked              bool   // blocks have checksums
	id                   int    // bytes of an identifier
	offset, length       int    // of these in one
	hugeIndex            uint64 // the index of the objects that have no block
	width                int    // blocks of a row
	start, largest, root uint64
	rows                 int // of the root; 0: the root is a block of objects
}

func (f *File) fractalHeap(address uint64) (*fractalHeap, error) {
	c, err := f.block(address, 146, "FRHP")
	if err != nil {
		return nil, err
	}
	c.next(1)
	id, filtered, flags, managed := int(c.u16()), c.u16(), c.u8(), uint64(c.u32())
	c.next(8)
	large := c.u64()
	c.next(80)
	h := &fractalHeap{f: f, address: address, checked: flags&2 != 0, id: id, hugeIndex: large, width: int(c.u16()), start: c.u64(), largest: c.u64()}
	size := int(c.u16())
	c.next(2)
	h.root, h.rows = c.u64(), int(c.u16())
	if c.checksum(); c.err != nil {
		return nil, c.err
	}
	if filtered != 0 {
		return nil, errors.New("its objects are compressed, which is not read")
	}
	h.offset, h.length = (size+7)/8, byteWidth(int(min(h.largest, managed)))
	if h.width < 1 || h.start < 1 || h.start&(h.start-1) != 0 || h.largest < h.start || h.largest > 1<<40 || size > 64 || h.rows > 64 {
		return nil, fmt.Errorf("blocks of %d to %d bytes in %d rows of %d", h.start, h.largest, h.rows, h.width)
	}
	return h, nil
}

// object returns the bytes of an object by its identifier.
func (h *fractalHeap) object(id []byte) ([]byte, error) {
	c := &cursor{b: id}
	head := c.u8()
	switch head >> 4 & 3 {
	case 0:
		at, n := c.uint(h.offset), c.uint(h.length)
		if c.err != nil {
			return nil, c.err
		}
		return h.managed(at, n)
	case 1:
		return h.huge(id[1:])
	case 2:
		return c.next(int(head&15) + 1), c.err
	}
	return nil, fmt.Errorf("an object of kind %d", head>>4&3)
}

// huge returns an object that is too large for the blocks. Its identifier is a number in the index
// of such objects, or the object's address and size.
func (h *fractalHeap) huge(id []byte) ([]byte, error) {
	if len(id) >= 16 {
		c := &cursor{b: id}
		return h.f.bytes(c.u64(), c.u64())
	}
	if h.hugeIndex == undefined {
		return nil, errors.New("no index of large objects")
	}
	number := (&cursor{b: id}).uint(min(len(id), 8))
	var found []byte
	w := &walk{f: h.f, seen: map[uint64]bool{}}
	err := w.tree2(h.hugeIndex, func(kind byte, record []byte) error {
		c := &cursor{b: record}
		if kind != 1 || len(record) != 24 {
			return fmt.Errorf("an index of kind %d with records of %d bytes", kind, len(record))
		}
		address, n := c.u64(), c.u64()
		if c.u64() != number {
			return nil
		}
		var err error
		found, err = h.f.bytes(address, n)
		return err
	})
	if err == nil && found == nil {
		err = fmt.Errorf("no large object %d", number)
	}
	return found, err
}

// managed finds the block of an offset and returns n bytes from there.
func (h *fractalHeap) managed(at, n uint64) ([]byte, error) {
	block, rows, first := h.root, h.rows, uint64(0)
	for rows > 0 {
		row, column, begin, size := h.locate(at - first)
		if row >= rows {
			return nil, fmt.Errorf("offset %d is beyond the last block", at)
		}
		c, err := h.f.block(block, uint64(13+h.offset+8*h.width*rows), "FHIB")
		if err != nil {
			return nil, err
		}
		c.next(9 + h.offset + 8*(row*h.width+column))
		block, first = c.u64(), first+begin
		if rows = 0; size > h.largest {
			rows = bits.Len64(size/(h.start*uint64(h.width)) | 1)
		}
		if c.err != nil {
			return nil, c.err
		}
		if size <= h.largest {
			return h.readDirectBlock(block, at-first, n, size)
		}
	}
	return h.readDirectBlock(block, at-first, n, h.start)
}

// locate returns the row and the column of an offset in an indirect block, and the start and the
// size of the block there.
func (h *fractalHeap) locate(at uint64) (row, column int, begin, size uint64) {
	size = h.start
	for row = 0; row < 64; row++ {
		if row > 1 {
			size *= 2
		}
		whole := size * uint64(h.width)
		if at-begin < whole {
			column = int((at - begin) / size)
			return row, column, begin + uint64(column)*size, size
		}
		begin += whole
	}
	return row, 0, begin, size
}

// readDirectBlock returns n bytes of a block of objects.
func (h *fractalHeap) readDirectBlock(block, at, n, size uint64) ([]byte, error) {
	head := uint64(13 + h.offset)
	if h.checked {
		head += 4
	}
	if at < head || at > size || n > size-at {
		return nil, fmt.Errorf("%d bytes at %d of a block of %d", n, at, size)
	}
	if _, err := h.f.block(block, head, "FHDB"); err != nil {
		return nil, err
	}
	return h.f.bytes(block+at, n)
}
