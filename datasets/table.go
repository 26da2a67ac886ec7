// Table, a data set before the split, and its hash.

package datasets

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"math"

	"github.com/lethe-ml/lethe/lib/array"
)

// Table is a data set that was read and encoded, before any split.
//
// Hash is the SHA-256 of the encoded X and Y: the shape and the labels as 64-bit integers, the
// values as float64, all little-endian. It changes when the preprocessing changes, even if the
// files do not.
type Table struct {
	About

	// X is rows x features. Numeric columns are as published, missing values
	// replaced by the column's median; categorical columns are codes, -1 for a
	// missing value. Nothing is scaled; see Prepare.
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

// SourceFile is a file from which a data set was read.
type SourceFile struct {
	Name       string
	SHA256     string // of the published bytes, decompressed unless Compressed
	Compressed bool   // as in File
}

// hashTable returns the Hash of a Table.
func hashTable(x array.Matrix[float64], y []int) string {
	h := newHasher()
	h.ints(x.Rows, x.Cols)
	h.floats(x.Data)
	h.ints(y...)
	return h.sum()
}

// hasher computes the SHA-256 of numbers as little-endian bytes.
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
