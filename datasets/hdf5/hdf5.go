// Package hdf5 reads the part of HDF5 that files of single cells use (The HDF Group, "HDF5 File
// Format Specification", version 3.0): superblocks 0 to 3; object headers 1 and 2; old and new
// groups, with few and with many links; compact, contiguous and chunked data with every chunk
// index; the filters deflate, shuffle, fletcher32, h5py's lzf and Zstandard; integers, floats,
// enumerations, strings of fixed and variable length, compounds, arrays and object references;
// attributes.
//
//	f, err := hdf5.Open("cells.h5ad")
//	data, err := f.Read("/X/data")
//	values, err := hdf5.Numbers[float32](data)
//
// It does not write. It follows no link out of the file and trusts no size: it allocates nothing
// that the bytes of the file cannot fill, and visits no structure twice. Every error names the
// file and the path of the object. Unsupported features (soft and external links, other filters,
// virtual data, shared messages, a user block) are refused by name.
//
// It exists because github.com/scigolib/hdf5 v0.14.0, the maintained library in Go without C,
// returns wrong numbers without an error for the lzf data of Tabula Muris, does not read its
// strings, and allocates hundreds of gigabytes if a size in a header is damaged.
package hdf5

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/lethe-ml/lethe/lib/files"
)

// ErrNotFound is the error for an object or attribute that a file does not have.
var ErrNotFound = errors.New("not found")

// maxBytes bounds the decompressed size of one dataset.
const maxBytes = 1 << 34

// File is an open file.
type File struct {
	name   string
	r      io.ReaderAt
	size   uint64
	root   uint64 // address of the root group's header
	closer io.Closer
}

// Open opens a file by its path.
func Open(path string) (*File, error) {
	file, err := files.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	f, err := New(file, info.Size(), path)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	f.closer = file
	return f, nil
}

// New reads a file of the given size from any reader. Errors call it by name.
func New(from io.ReaderAt, size int64, name string) (*File, error) {
	f := &File{name: name, r: from, size: uint64(max(size, 0))}
	if err := f.superblock(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return f, nil
}

// Close closes a file that Open opened.
func (f *File) Close() error {
	if f.closer == nil {
		return nil
	}
	return f.closer.Close()
}

// Size returns the length of the file in bytes.
func (f *File) Size() uint64 { return f.size }

// Names returns the names in a group, sorted.
func (f *File) Names(group string) ([]string, error) {
	return withObject(f, group, func(o *object) ([]string, error) {
		links, err := o.links()
		return sortedNames(links), err
	})
}

// Has reports whether the path names an object.
func (f *File) Has(path string) (bool, error) {
	_, err := f.open(path)
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// IsGroup reports whether the object is a group.
func (f *File) IsGroup(path string) (bool, error) {
	return withObject(f, path, func(o *object) (bool, error) { return !o.isDataset(), nil })
}

// Shape returns the dimensions of a dataset without reading it; a scalar has none.
func (f *File) Shape(path string) ([]int, error) {
	return withObject(f, path, func(o *object) ([]int, error) { return o.shape() })
}

// Read reads a whole dataset.
func (f *File) Read(path string) (*Data, error) {
	return withObject(f, path, func(o *object) (*Data, error) { return o.read() })
}

// ReadAt reads the dataset of an object reference.
func (f *File) ReadAt(reference uint64) (*Data, error) {
	path := fmt.Sprintf("the object at byte %d", reference)
	d, err := func() (*Data, error) {
		o, err := f.object(path, reference)
		if err != nil {
			return nil, err
		}
		return o.read()
	}()
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", f.name, path, err)
	}
	return d, nil
}

// Attribute reads an attribute of an object. The error is ErrNotFound if there is none.
func (f *File) Attribute(path, name string) (*Data, error) {
	return withObject(f, path, func(o *object) (*Data, error) {
		d, err := o.attribute(name)
		if err != nil {
			return nil, fmt.Errorf("attribute %q: %w", name, err)
		}
		return d, nil
	})
}

// withObject opens an object, calls use, and names the object in errors.
func withObject[T any](f *File, path string, use func(*object) (T, error)) (T, error) {
	o, err := f.open(path)
	if err != nil {
		var none T
		return none, err
	}
	out, err := use(o)
	if err != nil {
		return out, fmt.Errorf("%s: %s: %w", f.name, o.path, err)
	}
	return out, nil
}

// open follows a path from the root group.
func (f *File) open(path string) (*object, error) {
	o, err := f.object("/", f.root)
	if err != nil {
		return nil, fmt.Errorf("%s: /: %w", f.name, err)
	}
	for name := range strings.SplitSeq(path, "/") {
		if name == "" {
			continue
		}
		links, err := o.links()
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", f.name, o.path, err)
		}
		below := strings.TrimSuffix(o.path, "/") + "/" + name
		l, ok := links[name]
		if !ok {
			return nil, fmt.Errorf("%s: %s: %w", f.name, below, ErrNotFound)
		}
		if l.soft {
			return nil, fmt.Errorf("%s: %s: a soft or external link; only hard links are followed", f.name, below)
		}
		if o, err = f.object(below, l.address); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", f.name, below, err)
		}
	}
	return o, nil
}

// undefined is the address that means "none".
const undefined = ^uint64(0)

// contains returns an error if the file is too short for n bytes at an address.
func (f *File) contains(address, n uint64) error {
	if address > f.size || n > f.size-address {
		return fmt.Errorf("%d bytes at byte %d of a file of %d", n, address, f.size)
	}
	return nil
}

// bytes returns n bytes of the file, or an error if it is too short.
func (f *File) bytes(address, n uint64) ([]byte, error) {
	if err := f.contains(address, n); err != nil {
		return nil, err
	}
	b := make([]byte, n)
	if _, err := f.r.ReadAt(b, int64(address)); err != nil && !(errors.Is(err, io.EOF) && n == 0) {
		return nil, err
	}
	return b, nil
}

// block returns a cursor on n bytes that begin with a signature.
func (f *File) block(address, n uint64, signature string) (*cursor, error) {
	b, err := f.bytes(address, n)
	if err != nil {
		return nil, err
	}
	c := &cursor{b: b}
	if got := string(c.next(len(signature))); got != signature {
		return nil, fmt.Errorf("byte %d: %q, expected %s", address, got, signature)
	}
	return c, nil
}

const signature = "\x89HDF\r\n\x1a\n"

// superblock reads the first bytes of the file.
func (f *File) superblock() error {
	b, err := f.bytes(0, min(f.size, 128))
	if err != nil {
		return err
	}
	c := &cursor{b: b}
	if string(c.next(8)) != signature {
		return errors.New("not an HDF5 file, or one with a user block, which is not read")
	}
	version := c.u8()
	var base, end uint64
	switch version {
	case 0, 1:
		c.next(4)
		sizes := c.next(2)
		c.next(9)
		if c.err == nil && (sizes[0] != 8 || sizes[1] != 8) {
			return fmt.Errorf("offsets of %d and lengths of %d bytes; 8 and 8 are read", sizes[0], sizes[1])
		}
		if version == 1 {
			c.next(4)
		}
		base = c.u64()
		c.next(8) // free space
		end = c.u64()
		c.next(16) // driver information, name of the root
		f.root = c.u64()
	case 2, 3:
		sizes := c.next(2)
		if c.err == nil && (sizes[0] != 8 || sizes[1] != 8) {
			return fmt.Errorf("offsets of %d and lengths of %d bytes; 8 and 8 are read", sizes[0], sizes[1])
		}
		c.next(1)
		base = c.u64()
		c.next(8) // extension
		end = c.u64()
		f.root = c.u64()
		if c.checksum(); c.err != nil {
			return fmt.Errorf("superblock: %w", c.err)
		}
	default:
		return fmt.Errorf("superblock of version %d; 0 to 3 are read", version)
	}
	if c.err != nil {
		return fmt.Errorf("superblock: %w", c.err)
	}
	if base != 0 {
		return fmt.Errorf("a base address of %d, which is not read", base)
	}
	if end > f.size && end != undefined {
		return fmt.Errorf("the file ends early, it is cut off: it has %d of its %d bytes", f.size, end)
	}
	return nil
}
