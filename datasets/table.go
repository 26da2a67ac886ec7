package datasets

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"math"

	"github.com/lethe-ml/lethe/lib/array"
)

// Table is a data set read and encoded, before any split.
//
// Hash is the SHA-256 of the processed X and Y: the shape and the labels as
// 64-bit and the values as float64, all little-endian. It changes when the
// preprocessing changes, even if the files do not.
type Table struct {
	About

	// X is rows x features: numeric columns as published with missing values
	// replaced by the column's median, categorical columns as codes with -1
	// for a missing value. Nothing is scaled yet; see Prepare.
	X array.Matrix[float64]

	// Y holds the class code of every row; Classes[Y[i]] is its name.
	Y []int
}

// Feature is one column of a Table.
type Feature struct {
	Name        string
	Categorical bool

	// Categories are the category names in code order; nil for numbers.
	Categories []string
}

// SourceFile says which published bytes a Table came from.
type SourceFile struct {
	Name       string
	SHA256     string // of the published bytes, decompressed unless Compressed
	Compressed bool   // as in File
}

// hashTable computes the Hash of a Table.
func hashTable(x array.Matrix[float64], y []int) string {
	h := newHasher()
	h.ints(x.Rows, x.Cols)
	h.floats(x.Data)
	h.ints(y...)
	return h.sum()
}

// hasher feeds numbers to SHA-256 as little-endian bytes.
type hasher struct {
	buf []byte
	h   hash.Hash
}

func newHasher() *hasher { return &hasher{h: sha256.New(), buf: make([]byte, 0, 1<<15)} }

func (h *hasher) flush(limit int) {
	if len(h.buf) >= limit {
		h.h.Write(h.buf) // a hash never returns an error
		h.buf = h.buf[:0]
	}
}

func (h *hasher) ints(values ...int) {
	for _, v := range values {
		h.buf = binary.LittleEndian.AppendUint64(h.buf, uint64(int64(v)))
		h.flush(1 << 14)
	}
}

func (h *hasher) floats(values []float64) {
	for _, v := range values {
		h.buf = binary.LittleEndian.AppendUint64(h.buf, math.Float64bits(v))
		h.flush(1 << 14)
	}
}

func (h *hasher) singles(values []float32) {
	for _, v := range values {
		h.buf = binary.LittleEndian.AppendUint32(h.buf, math.Float32bits(v))
		h.flush(1 << 14)
	}
}

func (h *hasher) sum() string {
	h.flush(0)
	return hex.EncodeToString(h.h.Sum(nil))
}
