// Writing NPY files: matrices in their precision, vectors as float64, row numbers
// as int64, masks as bools.

package npy

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/files"
)

// alignment is that of the data in a file, as in NumPy.
const alignment = 64

// Write writes a matrix in its precision, in C order. The write is atomic: a reader of path
// sees the old content or the new.
func Write[T float32 | float64](path string, m array.Matrix[T]) error {
	if m.Rows < 0 || m.Cols < 0 || len(m.Data) != m.Rows*m.Cols {
		return fmt.Errorf("%s: %d values do not fill %d x %d", path, len(m.Data), m.Rows, m.Cols)
	}
	shape := fmt.Sprintf("(%d, %d)", m.Rows, m.Cols)
	if single, ok := any(m.Data).([]float32); ok {
		b := encodeHeader("<f4", shape)
		for _, v := range single {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
		}
		return files.WriteFile(path, b)
	}
	return files.WriteFile(path, appendFloats(encodeHeader("<f8", shape), any(m.Data).([]float64)))
}

// WriteVector writes values as float64, of shape (n,).
func WriteVector(path string, values []float64) error {
	return files.WriteFile(path, appendFloats(encodeHeader("<f8", fmt.Sprintf("(%d,)", len(values))), values))
}

// WriteIndices writes row numbers as int64, of shape (n,).
func WriteIndices(path string, rows []int) error {
	b := encodeHeader("<i8", fmt.Sprintf("(%d,)", len(rows)))
	for _, row := range rows {
		b = binary.LittleEndian.AppendUint64(b, uint64(int64(row)))
	}
	return files.WriteFile(path, b)
}

// WriteMask writes rows of bools, all of one length, of shape (m, n).
func WriteMask(path string, rows [][]bool) error {
	cols := 0
	if len(rows) > 0 {
		cols = len(rows[0])
	}
	b := encodeHeader("|b1", fmt.Sprintf("(%d, %d)", len(rows), cols))
	for i, row := range rows {
		if len(row) != cols {
			return fmt.Errorf("%s: row %d has %d elements, row 0 has %d", path, i, len(row), cols)
		}
		for _, v := range row {
			b = append(b, map[bool]byte{true: 1}[v])
		}
	}
	return files.WriteFile(path, b)
}

func appendFloats(b []byte, values []float64) []byte {
	for _, v := range values {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	}
	return b
}

// encodeHeader prints a header of version 1, padded so that the data are
// aligned.
func encodeHeader(descr, shape string) []byte {
	text := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }", descr, shape)
	const before = len(magic) + 4
	pad := alignment - (before+len(text)+1)%alignment
	text += strings.Repeat(" ", pad%alignment) + "\n"
	b := append([]byte(magic), 1, 0)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(text)))
	return append(b, text...)
}
