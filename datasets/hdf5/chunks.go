package hdf5

import (
	"errors"
	"fmt"
)

// chunk is a stored piece of a dataset.
type chunk struct {
	span   span
	mask   uint32 // a bit per filter that was not applied
	corner []int  // index of the first element
}

// chunkedData are the chunks of a dataset and how to read one.
type chunkedData struct {
	o       *object
	l       *layout
	dims    []int
	width   int // bytes of an element
	size    int // bytes of a chunk
	filters filters
	grid    *grid
}

// findChunks reads the index of a chunked dataset of n bytes.
func (o *object) findChunks(l *layout, dims []int, width, n int) (*chunkedData, error) {
	if len(l.chunk) != len(dims) || len(dims) == 0 || l.width != width {
		return nil, fmt.Errorf("chunks of %d dimensions and %d bytes for a dataset of %d and %d", len(l.chunk), l.width, len(dims), width)
	}
	size, err := elements(append(l.chunk[:len(l.chunk):len(l.chunk)], width))
	if err != nil || size == 0 {
		return nil, errors.Join(err, errIf(size == 0, "a chunk without an element"))
	}
	filters, err := o.filters()
	if err != nil {
		return nil, err
	}
	o.zstd = filters.has(filterZstd)
	g := &grid{f: o.f, l: l, dims: dims, size: uint64(size), filtered: len(filters) > 0, seen: map[int]bool{}}
	if err := g.collect(); err != nil {
		return nil, fmt.Errorf("chunk index: %w", err)
	}
	return &chunkedData{o, l, dims, width, size, filters, g}, o.checkStored(n, g.stored)
}

// chunks reads the n bytes of a chunked dataset.
func (o *object) chunks(l *layout, dims []int, width, n int) ([]byte, error) {
	d, err := o.findChunks(l, dims, width, n)
	if err != nil {
		return nil, err
	}
	return d.read(d.grid.chunks, 0, dims[0])
}

// read returns the rows first to first+rows-1 of the dataset, of which these chunks are stored.
func (d *chunkedData) read(stored []chunk, first, rows int) ([]byte, error) {
	dims := append([]int{rows}, d.dims[1:]...)
	n, err := elements(append(dims[:len(dims):len(dims)], d.width))
	if err != nil {
		return nil, err
	}
	out, err := d.o.filled(d.width, n)
	if err != nil {
		return nil, err
	}
	for _, c := range stored {
		b, err := d.o.f.bytes(c.span.address, c.span.size)
		if err == nil {
			b, err = d.filters.decode(b, c.mask, d.size)
		}
		if err != nil {
			return nil, fmt.Errorf("chunk at %v: %w", c.corner, err)
		}
		copyChunk(out, b, dims, d.l.chunk, append([]int{c.corner[0] - first}, c.corner[1:]...), d.width)
	}
	return out, nil
}

func errIf(wrong bool, text string) error {
	if wrong {
		return errors.New(text)
	}
	return nil
}

// grid collects the chunks of a dataset.
type grid struct {
	f        *File
	l        *layout
	dims     []int
	size     uint64 // bytes of a chunk
	filtered bool
	chunks   []chunk
	stored   uint64
	seen     map[int]bool
}

func (g *grid) collect() error {
	if g.l.indexAt == undefined {
		return nil
	}
	switch g.l.index {
	case indexTree:
		return g.tree()
	case indexSingle:
		if !g.filtered {
			g.l.single.size = g.size
		}
		return g.add(make([]int, len(g.dims)), span{g.l.indexAt, g.l.single.size}, uint32(g.l.single.address))
	case indexImplicit:
		n, err := g.count()
		for k := 0; k < n && err == nil; k++ {
			err = g.add(g.corner(k), span{g.l.indexAt + uint64(k)*g.size, g.size}, 0)
		}
		return err
	case indexFixed:
		return g.readFixedArray()
	case indexTree2:
		return g.tree2()
	}
	return g.readExtensibleArray()
}

// tree2 reads a B-tree of version 2. Its records are chunks with (11) and without (10) filters and
// hold the chunk's number along each dimension.
func (g *grid) tree2() error {
	w, rank := &walk{f: g.f, seen: map[uint64]bool{}}, len(g.dims)
	return w.tree2(g.l.indexAt, func(kind byte, record []byte) error {
		width := len(record) - 8*rank
		if kind != 10 && kind != 11 || (kind == 11) != g.filtered || kind == 10 && width != 8 || kind == 11 && (width < 13 || width > 20) {
			return fmt.Errorf("an index of kind %d with records of %d bytes", kind, len(record))
		}
		c, corner := &cursor{b: record}, make([]int, rank)
		at, mask := g.entry(c, width)
		for d := range corner {
			k := c.u64()
			if k >= uint64(max(g.chunksAlong(d), 1)) {
				return fmt.Errorf("chunk %d of %d along dimension %d", k, g.chunksAlong(d), d+1)
			}
			corner[d] = int(k) * g.l.chunk[d]
		}
		return errors.Join(c.err, g.add(corner, at, mask))
	})
}

// tree reads a B-tree of version 1.
func (g *grid) tree() error {
	rank := len(g.dims)
	w := &walk{f: g.f, seen: map[uint64]bool{}}
	return w.tree1(g.l.indexAt, 1, uint64(8+8*(rank+1)), func(key *cursor, child uint64) error {
		s := span{child, uint64(key.u32())}
		mask, corner := key.u32(), make([]int, rank)
		for k := range corner {
			v := key.u64()
			if v > maxBytes {
				return fmt.Errorf("a chunk at %d", v)
			}
			corner[k] = int(v)
		}
		return g.add(corner, s, mask)
	})
}

// chunksAlong returns the number of chunks along dimension k.
func (g *grid) chunksAlong(k int) int { return (g.dims[k] + g.l.chunk[k] - 1) / g.l.chunk[k] }

// count returns the number of chunks of the shape.
func (g *grid) count() (int, error) {
	n := make([]int, len(g.dims))
	for k := range n {
		n[k] = g.chunksAlong(k)
	}
	return elements(n)
}

// corner returns the first index of chunk k, chunks counted with the last dimension fastest.
func (g *grid) corner(k int) []int {
	out := make([]int, len(g.dims))
	for d := len(out) - 1; d >= 0; d-- {
		n := g.chunksAlong(d)
		out[d] = k % n * g.l.chunk[d]
		k /= n
	}
	return out
}

// add appends a chunk after checking that it lies in the dataset and in the file.
func (g *grid) add(corner []int, at span, mask uint32) error {
	number := 0
	for d, v := range corner {
		if v%g.l.chunk[d] != 0 || v >= g.dims[d] {
			return fmt.Errorf("a chunk at %v of a dataset of %v", corner, g.dims)
		}
		number = number*g.chunksAlong(d) + v/g.l.chunk[d]
	}
	if g.seen[number] {
		return fmt.Errorf("the chunk at %v occurs twice", corner)
	}
	g.seen[number] = true
	if at.size > g.f.size-g.stored {
		return errors.New("the chunks hold more bytes than the file")
	}
	g.stored += at.size
	g.chunks = append(g.chunks, chunk{at, mask, corner})
	return nil
}

// copyChunk copies the part of a chunk that lies in the dataset.
func copyChunk(out, b []byte, dims, shape, corner []int, width int) {
	if len(dims) == 1 {
		copy(out[corner[0]*width:], b) // out ends where the dataset does
		return
	}
	stride, step := width, width
	for k := 1; k < len(dims); k++ {
		stride, step = stride*dims[k], step*shape[k]
	}
	for i := range min(shape[0], dims[0]-corner[0]) {
		at := (corner[0] + i) * stride
		copyChunk(out[at:at+stride], b[i*step:(i+1)*step], dims[1:], shape[1:], corner[1:], width)
	}
}
