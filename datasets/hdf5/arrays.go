// Chunk indexes that are arrays: fixed and extensible ones.

package hdf5

import (
	"errors"
	"fmt"
)

// entry reads the address, the size and the filter mask of one chunk.
func (g *grid) entry(c *cursor, width int) (span, uint32) {
	if !g.filtered {
		return span{c.u64(), g.size}, 0
	}
	return span{c.u64(), c.uint(width - 12)}, c.u32()
}

// addStored adds chunk k if it is stored.
func (g *grid) addStored(k int, c *cursor, width int) error {
	at, mask := g.entry(c, width)
	if c.err != nil || at.address == undefined {
		return c.err
	}
	n, err := g.count()
	if err != nil || k >= n {
		return err // entries reserved for later chunks
	}
	return g.add(g.corner(k), at, mask)
}

// arrayHead reads the fields that both kinds of array have in common.
func (g *grid) arrayHead(c *cursor) (width int, err error) {
	version, client := c.u8(), c.u8()
	width = int(c.u8())
	if version != 0 || client > 1 || (client == 1) != g.filtered || !g.filtered && width != 8 || g.filtered && (width < 13 || width > 20) {
		return 0, fmt.Errorf("an array of version %d for chunks of kind %d in %d bytes", version, client, width)
	}
	return width, c.err
}

// readFixedArray reads a fixed array.
func (g *grid) readFixedArray() error {
	c, err := g.f.block(g.l.indexAt, 28, "FAHD")
	if err != nil {
		return err
	}
	width, err := g.arrayHead(c)
	if err != nil {
		return err
	}
	page, n, address := c.u8(), c.u64(), c.u64()
	if c.checksum(); c.err != nil || address == undefined {
		return c.err
	}
	if n > g.f.size || page > 31 {
		return fmt.Errorf("%d chunks in pages of 2^%d", n, page)
	}
	return g.block(address, "FADB", 0, int(n), width, 1<<page, 14)
}

// block reads n entries from a data block whose header has head bytes. The block is paged if n is
// greater than page. The first entry is chunk k.
func (g *grid) block(address uint64, name string, k, n, width, page, head int) error {
	size, pages := head+n*width+4, 0
	if n > page {
		pages = (n + page - 1) / page
	}
	if pages > 0 && name == "FADB" {
		head += (pages + 7) / 8 // a bit for every stored page
	}
	if pages > 0 {
		size = head + 4 + n*width + 4*pages
	}
	c, err := g.f.block(address, uint64(size), name)
	if err != nil {
		return err
	}
	c.next(head - 4)
	if pages == 0 {
		return errors.Join(g.entries(c, k, n, width), verifyChecksum(c))
	}
	if err := verifyChecksum(c); err != nil {
		return err
	}
	for from := 0; from < n; from += page {
		p := &cursor{b: c.next(min(page, n-from)*width + 4)}
		if c.err != nil {
			return c.err
		}
		if allZero(p.b) {
			continue // a page that was never written
		}
		if err := errors.Join(g.entries(p, k+from, min(page, n-from), width), verifyChecksum(p)); err != nil {
			return err
		}
	}
	return nil
}

func (g *grid) entries(c *cursor, k, n, width int) error {
	for i := range n {
		if err := g.addStored(k+i, c, width); err != nil {
			return err
		}
	}
	return nil
}

func verifyChecksum(c *cursor) error {
	c.checksum()
	return c.err
}

func allZero(b []byte) bool {
	for _, v := range b {
		if v != 0 {
			return false
		}
	}
	return true
}

// readExtensibleArray reads an extensible array: some entries are in an index block, others in
// data blocks, which the index block and super blocks name.
func (g *grid) readExtensibleArray() error {
	c, err := g.f.block(g.l.indexAt, 72, "EAHD")
	if err != nil {
		return err
	}
	a := extensibleArray{g: g}
	if a.width, err = g.arrayHead(c); err != nil {
		return err
	}
	bits, inIndex, least, pointers := int(c.u8()), int(c.u8()), int(c.u8()), int(c.u8())
	page := c.u8()
	c.next(48)
	index := c.u64()
	if c.checksum(); c.err != nil || index == undefined {
		return c.err
	}
	if bits < 1 || bits > 62 || least < 1 || least&(least-1) != 0 || pointers < 1 || pointers&(pointers-1) != 0 || page > 31 {
		return fmt.Errorf("an array of 2^%d chunks in blocks of %d, %d to a super block", bits, least, pointers)
	}
	a.page, a.offset = 1<<page, (bits+7)/8
	return a.readIndexBlock(index, inIndex, least, pointers)
}

// extensibleArray is the state of reading an extensible array.
type extensibleArray struct {
	g                   *grid
	width, page, offset int
	next                int // number of the next chunk
}

// superBlockSize returns the number of data blocks of super block s, and of entries in each.
func superBlockSize(s, least int) (blocks, each int) { return 1 << (s / 2), least << ((s + 1) / 2) }

func (a *extensibleArray) readIndexBlock(address uint64, inIndex, least, pointers int) error {
	count, err := a.g.count()
	if err != nil {
		return err
	}
	// The first super blocks have no block of their own.
	direct := 2 * (pointers - 1)
	first := 0
	for blocks := 0; blocks < direct; first++ {
		n, _ := superBlockSize(first, least)
		blocks += n
	}
	supers := 0
	for at, s := inIndex, 0; at < count; s++ {
		n, each := superBlockSize(s, least)
		if at += n * each; s >= first {
			supers++
		}
	}
	head := 14
	c, err := a.g.f.block(address, uint64(head+inIndex*a.width+8*direct+8*supers), "EAIB")
	if err != nil {
		return err
	}
	c.next(head - 4)
	if err := a.g.entries(c, 0, inIndex, a.width); err != nil {
		return err
	}
	a.next = inIndex
	for s := range first {
		n, each := superBlockSize(s, least)
		for range n {
			if err := a.readDataBlock(c.u64(), each); err != nil {
				return err
			}
		}
	}
	for s := first; s < first+supers; s++ {
		n, each := superBlockSize(s, least)
		if err := a.readSuperBlock(c.u64(), n, each); err != nil {
			return err
		}
	}
	return c.err
}

// readDataBlock reads a data block, if there is one.
func (a *extensibleArray) readDataBlock(address uint64, n int) error {
	k := a.next
	if a.next += n; address == undefined {
		return nil
	}
	if err := a.g.block(address, "EADB", k, n, a.width, a.page, 14+a.offset); err != nil {
		return fmt.Errorf("data block at byte %d: %w", address, err)
	}
	return nil
}

// readSuperBlock reads a super block of n data blocks, if there is one.
func (a *extensibleArray) readSuperBlock(address uint64, n, each int) error {
	if address == undefined {
		a.next += n * each
		return nil
	}
	head := 14 + a.offset
	if each > a.page {
		head += n * ((each/a.page + 7) / 8) // a bit for every stored page
	}
	c, err := a.g.f.block(address, uint64(head+8*n+4), "EASB")
	if err != nil {
		return err
	}
	c.next(head - 4)
	for range n {
		if err := a.readDataBlock(c.u64(), each); err != nil {
			return err
		}
	}
	return verifyChecksum(c)
}
