// The filters of chunked data: deflate, shuffle, Fletcher's checksum, lzf, Zstandard.

package hdf5

import (
	"bytes"
	"cmp"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/klauspost/compress/zstd"
)

// The supported filters.
const (
	filterDeflate  = 1
	filterShuffle  = 2
	filterFletcher = 3
	filterLZF      = 32000
	filterZstd     = 32015
)

// otherFilters names the known filters that are not supported.
var otherFilters = map[uint16]string{4: "szip", 5: "n-bit", 6: "scale-offset", 305: "LZO", 307: "bzip2", 32001: "Blosc", 32004: "LZ4", 32008: "bitshuffle",
	32013: "ZFP", 32017: "SZ", 32026: "Blosc2"}

// filter is a step that was applied to chunks before they were stored.
type filter struct {
	id    uint16
	width int // of a shuffled element
}

// filters is a list of filters in the order of writing.
type filters []filter

// filters reads the pipeline of a dataset.
func (o *object) filters() (filters, error) {
	c, err := o.find(msgFilters)
	if err != nil || c == nil {
		return nil, err
	}
	version, n := c.u8(), int(c.u8())
	if version != 1 && version != 2 || n > maxRank {
		return nil, fmt.Errorf("a list of %d filters of version %d", n, version)
	}
	if version == 1 {
		c.next(6)
	}
	var out filters
	for range n {
		f := filter{id: c.u16()}
		name := 0
		if version == 1 || f.id >= 256 {
			name = int(c.u16())
		}
		c.next(2)
		values := int(c.u16())
		if c.next(name); version == 1 {
			c.next((8 - name%8) % 8)
		}
		for k := range values {
			if v := c.u32(); k == 0 {
				f.width = int(min(v, maxElement))
			}
			if c.err != nil {
				return nil, c.err
			}
		}
		if version == 1 && values%2 == 1 {
			c.next(4)
		}
		switch f.id {
		case filterDeflate, filterShuffle, filterFletcher, filterLZF, filterZstd:
		default:
			return nil, fmt.Errorf("filter %d (%s); deflate, shuffle, fletcher32, lzf and Zstandard are read: write it with one of those, "+
				"in anndata with compression=\"gzip\"", f.id, cmp.Or(otherFilters[f.id], "unknown"))
		}
		out = append(out, f)
	}
	return out, c.err
}

// decode returns the size bytes of a chunk. A bit of mask says that a filter was not applied.
func (all filters) decode(b []byte, mask uint32, size int) (_ []byte, err error) {
	const around = 64 // checksums of filters in front
	for k := len(all) - 1; k >= 0; k-- {
		if mask>>k&1 != 0 {
			continue
		}
		switch f := all[k]; f.id {
		case filterDeflate:
			b, err = inflate(b, size+around)
		case filterLZF:
			b, err = unpackLZF(b, size+around)
		case filterZstd:
			b, err = unpackZstd(b, size+around)
		case filterShuffle:
			b = unshuffle(b, f.width)
		case filterFletcher:
			b, err = checkFletcher(b)
		}
		if err != nil {
			return nil, err
		}
	}
	if len(b) != size {
		return nil, fmt.Errorf("%d bytes, expected %d", len(b), size)
	}
	return b, nil
}

func (all filters) has(id uint16) bool {
	return slices.ContainsFunc(all, func(f filter) bool { return f.id == id })
}

func unpackZstd(b []byte, limit int) ([]byte, error) {
	z, err := zstd.NewReader(bytes.NewReader(b), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(maxWindow))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	return readAtMost(z, limit)
}

// maxWindow bounds how far back Zstandard may refer: the window of its command line at the highest
// level without --ultra.
const maxWindow = 1 << 27

func inflate(b []byte, limit int) ([]byte, error) {
	z, err := zlib.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	return readAtMost(z, limit)
}

// readAtMost reads everything, and fails if it is longer than limit.
func readAtMost(from io.Reader, limit int) ([]byte, error) {
	out, err := io.ReadAll(io.LimitReader(from, int64(limit)+1))
	if err != nil {
		return nil, err
	}
	if len(out) > limit {
		return nil, fmt.Errorf("more than %d bytes", limit)
	}
	return out, nil
}

// unshuffle restores elements that were stored as all first bytes, then all second bytes, and so
// on. Bytes left over at the end are unchanged.
func unshuffle(b []byte, width int) []byte {
	n := len(b) / max(width, 1)
	if width < 2 || n < 2 {
		return b
	}
	out := make([]byte, len(b))
	for k := range width {
		for i, v := range b[k*n : (k+1)*n] {
			out[i*width+k] = v
		}
	}
	copy(out[n*width:], b[n*width:])
	return out
}

// checkFletcher removes the last four bytes, which are Fletcher's checksum of the 16-bit words
// before them, and verifies it.
func checkFletcher(b []byte) ([]byte, error) {
	if len(b) < 4 {
		return nil, errShort
	}
	body, want := b[:len(b)-4], binary.LittleEndian.Uint32(b[len(b)-4:])
	if got := fletcher32(body); got != want {
		return nil, errors.New("the checksum is wrong")
	}
	return body, nil
}

func fletcher32(b []byte) uint32 {
	var x, y uint32
	fold := func() { x, y = x&0xffff+x>>16, y&0xffff+y>>16 }
	for len(b) > 1 {
		for k := 0; k < 360 && len(b) > 1; k++ {
			x += uint32(b[0])<<8 | uint32(b[1])
			y += x
			b = b[2:]
		}
		fold()
	}
	if len(b) == 1 {
		x += uint32(b[0]) << 8
		y += x
		fold()
	}
	fold()
	return y<<16 | x
}

// unpackLZF decompresses Marc Lehmann's LibLZF: literal runs and references to earlier bytes.
func unpackLZF(b []byte, limit int) ([]byte, error) {
	var out []byte
	c := &cursor{b: b}
	for c.remaining() > 0 {
		head := int(c.u8())
		if head < 32 {
			literal := c.next(head + 1)
			if c.err != nil {
				break
			}
			out = append(out, literal...)
		} else {
			n := head >> 5
			if n == 7 {
				n += int(c.u8())
			}
			from := len(out) - (head&31)<<8 - int(c.u8()) - 1
			if c.err != nil {
				break
			}
			if from < 0 {
				return nil, errors.New("lzf: a reference to before the start")
			}
			for k := range n + 2 { // it may reach into itself
				out = append(out, out[from+k])
			}
		}
		if len(out) > limit {
			return nil, fmt.Errorf("lzf: more than %d bytes", limit)
		}
	}
	return out, c.err
}
