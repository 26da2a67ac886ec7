// Reading of large datasets by bands of rows.

package hdf5

import (
	"cmp"
	"fmt"
	"slices"
)

// bandBytes is the size of a band in bytes, unless one row has more. Tests lower it.
var bandBytes = 16 << 20

// EachBand reads a dataset by bands of whole rows, along its first dimension and in their order, so
// that it is never in memory as a whole. first is the number of a band's first row. Of a chunked
// dataset, a row of chunks is in memory.
func (f *File) EachBand(path string, use func(first int, d *Data) error) error {
	var failed error // of use, which names its object itself
	_, err := withObject(f, path, func(o *object) (none struct{}, err error) {
		b, err := o.bands()
		if err == nil {
			err = b.read(func(first int, d *Data) error {
				failed = use(first, d)
				return failed
			})
		}
		return none, err
	})
	if failed != nil {
		return failed
	}
	return err
}

// bands reads the rows of a dataset.
type bands struct {
	o       *object
	e       elementType
	l       *layout
	row     int          // bytes of a row
	chunked *chunkedData // nil: not in chunks
}

func (o *object) bands() (*bands, error) {
	e, err := o.elements()
	if err != nil {
		return nil, err
	}
	if len(e.dims) == 0 {
		return nil, fmt.Errorf("a single value, which has no rows")
	}
	b := &bands{o: o, e: e}
	if b.l, err = o.layout(); err != nil || e.bytes == 0 {
		return b, err
	}
	b.row = e.bytes / e.dims[0]
	switch {
	case b.l.chunk != nil:
		b.chunked, err = o.findChunks(b.l, e.dims, e.kind.size, e.bytes)
	case b.l.compact == nil && b.l.span.address == undefined:
		err = o.checkStored(e.bytes, 0)
	default:
		if err = b.l.checkSize(e.bytes); err == nil && b.l.compact == nil {
			err = o.f.contains(b.l.span.address, uint64(e.bytes))
		}
	}
	return b, err
}

// read calls use for every band.
func (b *bands) read(use func(first int, d *Data) error) error {
	if b.e.bytes == 0 {
		return nil
	}
	if b.chunked == nil {
		return b.cut(0, b.e.dims[0], use, func(first, rows int) ([]byte, error) { return b.unchunked(first, rows) })
	}
	all, height := b.chunked.grid.chunks, b.l.chunk[0]
	slices.SortStableFunc(all, func(x, y chunk) int { return cmp.Compare(x.corner[0], y.corner[0]) })
	for first := 0; first < b.e.dims[0]; first += height {
		n := 0
		for n < len(all) && all[n].corner[0] == first {
			n++
		}
		rows := min(height, b.e.dims[0]-first)
		raw, err := b.chunked.read(all[:n], first, rows)
		if err != nil {
			return err
		}
		all = all[n:]
		err = b.cut(first, rows, use, func(at, rows int) ([]byte, error) { return raw[(at-first)*b.row : (at-first+rows)*b.row], nil })
		if err != nil {
			return err
		}
	}
	return nil
}

// cut calls use with pieces of the given rows that are no larger than a band.
func (b *bands) cut(first, rows int, use func(first int, d *Data) error, read func(first, rows int) ([]byte, error)) error {
	most := max(1, bandBytes/b.row)
	for at := first; at < first+rows; at += most {
		n := min(most, first+rows-at)
		raw, err := read(at, n)
		if err != nil {
			return err
		}
		d := b.o.f.data(b.o.path, append([]int{n}, b.e.dims[1:]...), b.e.kind, raw)
		d.before = at * (b.row / d.kind.size)
		if err := use(at, d); err != nil {
			return err
		}
	}
	return nil
}

// unchunked returns rows of a dataset that is stored in one piece, or not at all.
func (b *bands) unchunked(first, rows int) ([]byte, error) {
	from, n := first*b.row, rows*b.row
	switch {
	case b.l.compact != nil:
		return b.l.compact[from : from+n], nil
	case b.l.span.address == undefined:
		return b.o.filled(b.e.kind.size, n)
	}
	return b.o.f.bytes(b.l.span.address+uint64(from), uint64(n))
}
