package npy

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
)

// The files under testdata were written by NumPy 2.4.6.
func golden(name string) string { return filepath.Join("testdata", name+".npy") }

// sameBits compares floats bit for bit, so that NaN equals itself.
func sameBits(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) })
}

func TestMatricesOfNumPyAreRead(t *testing.T) {
	special := []float64{1.5, -2, math.NaN(), 0.25, math.Inf(1), 1e-310}
	special[2] = math.Float64frombits(0x7ff8000000000000) // NumPy's NaN
	quarters := []float64{0, 0.25, 0.5, 0.75, 1, 1.25}
	for name, want := range map[string][]float64{
		"f8": special, "f8_fortran": special, "f8_big": special, "f8_v2": special, "f8_v3": special,
		"f4": quarters, "f4_big_fortran": quarters,
	} {
		m, err := ReadMatrix(golden(name))
		if err != nil {
			t.Error(err)
			continue
		}
		if m.Rows != 2 || m.Cols != 3 || !sameBits(m.Data, want) {
			t.Errorf("%s: found %+v, expected %v", name, m, want)
		}
	}
	if m, err := ReadMatrix(golden("empty")); err != nil || m.Rows != 0 || m.Cols != 4 || len(m.Data) != 0 {
		t.Errorf("empty: found %+v, %v", m, err)
	}
}

// NumPy 2.4: arange(24).reshape(2, 3, 4), in either order.
func TestRecordsOfAnyShapeAreRows(t *testing.T) {
	for _, name := range []string{"cube_f4", "cube_f4_fortran"} {
		x, axes, err := ReadRecords(golden(name))
		if err != nil {
			t.Fatal(err)
		}
		if n, cols := x.Shape(); n != 2 || cols != 12 || !slices.Equal(axes, []int{3, 4}) {
			t.Fatalf("%s: %d rows of %d values, axes %v", name, n, cols, axes)
		}
		for i := range 2 {
			for j, v := range x.Read(make([]float64, 12), i) {
				if v != float64(12*i+j) {
					t.Errorf("%s: record %d, value %d is %v", name, i, j, v)
				}
			}
		}
	}
	if _, _, err := ReadRecords(golden("i4")); !errors.Is(err, ErrShape) {
		t.Errorf("one axis is no table of records: %v", err)
	}
	if _, err := ReadRows(golden("cube_f4")); !errors.Is(err, ErrShape) {
		t.Errorf("three axes are no matrix: %v", err)
	}
}

// TestSingleIsTheMatrixRounded holds it against the conversion of the whole matrix.
func TestSingleIsTheMatrixRounded(t *testing.T) {
	for _, name := range []string{"f8", "f8_fortran", "f8_big", "f4", "f4_big_fortran", "kind_bf16", "kind_i8_fortran", "empty"} {
		wide, err := ReadMatrix(golden(name))
		if err != nil {
			t.Fatal(err)
		}
		want := array.Convert[float32](wide)
		got, err := ReadSingle(golden(name))
		if err != nil || got.Rows != want.Rows || got.Cols != want.Cols || !slices.EqualFunc(got.Data, want.Data, func(x, y float32) bool { return math.Float32bits(x) == math.Float32bits(y) }) {
			t.Errorf("%s: %v, %v, expected %v", name, got, err, want)
		}
	}
	if _, err := ReadSingle(golden("bool")); err == nil {
		t.Error("bools are no matrix")
	}
}

func TestVectorsOfNumPyAreRead(t *testing.T) {
	for name, want := range map[string][]float64{
		"i8": {5, 0, 1 << 40}, "i8_big": {5, 0, 1 << 40}, "i4": {7, 3}, "i4_big": {7, 3},
		"u1": {0, 255}, "negative": {3, -1}, "column": {1, 2},
	} {
		if v, err := ReadVector(golden(name)); err != nil || !slices.Equal(v, want) {
			t.Errorf("%s: found %v, %v, expected %v", name, v, err, want)
		}
	}
}

func TestRowNumbersOfNumPyAreRead(t *testing.T) {
	for name, want := range map[string][]int{
		"i8": {5, 0, 1 << 40}, "i8_big": {5, 0, 1 << 40}, "i4": {7, 3}, "i4_big": {7, 3}, "u1": {0, 255},
	} {
		if v, err := ReadIndices(golden(name)); err != nil || !slices.Equal(v, want) {
			t.Errorf("%s: found %v, %v, expected %v", name, v, err, want)
		}
	}
}

// A row number is no bool; a class may be one.
func TestClassesOfNumPyAreRead(t *testing.T) {
	for name, want := range map[string][]int{"i4": {7, 3}, "u1": {0, 255}, "bool": {1, 0}} {
		if v, err := ReadClasses(golden(name)); err != nil || !slices.Equal(v, want) {
			t.Errorf("%s: found %v, %v, expected %v", name, v, err, want)
		}
	}
	for name, words := range map[string]string{"negative": "-1, expected a class >= 0", "f4": "(2, 3)", "object": "Python"} {
		if _, err := ReadClasses(golden(name)); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWrongArraysAreRefusedByNameAndReason(t *testing.T) {
	matrix := func(path string) error { _, err := ReadMatrix(path); return err }
	vector := func(path string) error { _, err := ReadVector(path); return err }
	rows := func(path string) error { _, err := ReadIndices(path); return err }
	for _, c := range []struct {
		name string
		read func(string) error
		rule error
		text string
	}{
		{"object", matrix, ErrObject, `"|O"`},
		{"object", vector, ErrObject, `"|O"`},
		{"object", rows, ErrObject, `"|O"`},
		{"fields", vector, ErrType, "named fields"},
		{"bool", vector, ErrType, "astype(numpy.float32)"},
		{"c16", vector, ErrType, `"<c16"`},
		{"text", vector, ErrType, `"<U2"`},
		{"i8", matrix, ErrShape, "(3,)"},
		{"scalar", matrix, ErrShape, "()"},
		{"cube", matrix, ErrShape, "(1, 2, 3)"},
		{"f8", vector, ErrShape, "(2, 3)"},
		{"scalar", vector, ErrShape, "()"},
		{"bool", rows, ErrType, "flatnonzero"},
		{"column", rows, ErrType, "astype"},
		{"negative", rows, ErrValue, "element 1 is -1"},
	} {
		err := c.read(golden(c.name))
		if !errors.Is(err, c.rule) || !strings.Contains(err.Error(), c.text) || !strings.Contains(err.Error(), golden(c.name)) {
			t.Errorf("%s: found %v, expected %v with %q", c.name, err, c.rule, c.text)
		}
	}
	if _, err := ReadMatrix("testdata"); err == nil || !strings.Contains(err.Error(), "expected a regular file") {
		t.Error(err)
	}
	if _, err := ReadMatrix(golden("none")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// decodeBytes decodes the bytes of a file.
func decodeBytes[T any](b []byte, decode func(*source) (T, error)) (T, error) {
	s, err := open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		var none T
		return none, err
	}
	return decode(s)
}

func decodeMatrix(b []byte) (array.Matrix[float64], error) { return decodeBytes(b, matrix[float64]) }
func decodeVector(b []byte) ([]float64, error)             { return decodeBytes(b, vector) }
func decodeIndices(b []byte) ([]int, error)                { return decodeBytes(b, indices) }
func decodeMask(b []byte) ([][]bool, error)                { return decodeBytes(b, mask) }

// TestRowsAreTheMatrixInTheSmallestType reads every matrix both ways.
func TestRowsAreTheMatrixInTheSmallestType(t *testing.T) {
	for name, single := range map[string]bool{"f8": false, "f8_fortran": false, "f8_big": false, "f4": true, "f4_big_fortran": true, "empty": false} {
		want, err := ReadMatrix(golden(name))
		if err != nil {
			t.Fatal(err)
		}
		found, err := ReadRows(golden(name))
		if err != nil {
			t.Fatal(err)
		}
		if _, is := found.(array.Matrix[float32]); is != single {
			t.Errorf("%s: %T", name, found)
		}
		if rows, cols := found.Shape(); rows != want.Rows || cols != want.Cols {
			t.Errorf("%s: %d x %d", name, rows, cols)
		}
		buffer := make([]float64, want.Cols)
		for i := range want.Rows {
			if row := found.Read(buffer, i); !sameBits(row, want.Row(i)) {
				t.Errorf("%s, row %d: %v, expected %v", name, i, row, want.Row(i))
			}
		}
	}
}

// TestPiecesOfALargeArrayFit reads arrays longer than a piece in both layouts
// and checks that the place of an element is what an error says.
func TestPiecesOfALargeArrayFit(t *testing.T) {
	const rows, cols = 70_001, 3
	for _, fortran := range []string{"False", "True"} {
		b := fileBytes(fmt.Sprintf("{'descr': '<i8', 'fortran_order': %s, 'shape': (%d, %d)}", fortran, rows, cols), 0)
		for k := range rows * cols {
			b = binary.LittleEndian.AppendUint64(b, uint64(k))
		}
		m, err := decodeMatrix(b)
		if err != nil {
			t.Fatal(err)
		}
		for k, v := range m.Data {
			want := k
			if fortran == "True" {
				want = k%cols*rows + k/cols
			}
			if v != float64(want) {
				t.Fatalf("fortran %s: element %d is %v, expected %d", fortran, k, v, want)
			}
		}
		b[len(b)-8-2] = 0x40 // the element before the last
		place := fmt.Sprintf("row %d, column %d", rows-1, cols-2)
		if fortran == "True" {
			place = fmt.Sprintf("row %d, column %d", rows-2, cols-1)
		}
		if _, err := decodeMatrix(b); !errors.Is(err, ErrValue) || !strings.Contains(err.Error(), place) {
			t.Errorf("fortran %s: %v, expected %s", fortran, err, place)
		}
	}
}

// TestHalfPrecisionIsRead holds all 65,536 numbers against the definition,
// through float32, which NumPy converts to and back from without loss.
func TestHalfPrecisionIsRead(t *testing.T) {
	for bits, want := range map[uint16]float64{
		0x0000: 0, 0x0001: 0x1p-24, 0x03ff: 0x1.ff8p-15, 0x0400: 0x1p-14, 0x3555: 0.333251953125, 0x3c00: 1, 0x4248: 3.140625,
		0x7bff: 65504, 0xc000: -2, 0x7c00: math.Inf(1), 0xfc00: math.Inf(-1),
	} {
		if v := float16(bits); v != want {
			t.Errorf("%04x: found %v, expected %v", bits, v, want)
		}
	}
	for bits := range uint16(0x7c00) { // the order of the numbers is that of their bits
		if float16(bits) >= float16(bits+1) || float16(bits|0x8000) != -float16(bits) {
			t.Fatalf("%04x: %v, then %v", bits, float16(bits), float16(bits+1))
		}
	}
	if !math.Signbit(float16(0x8000)) || !math.IsNaN(float16(0x7e00)) {
		t.Error("the negative zero or NaN is lost")
	}
	if v, err := ReadVector(golden("f2")); err != nil || len(v) == 0 {
		t.Error(v, err)
	}
}

// fileBytes makes a version 1 file of a header and n zero bytes.
func fileBytes(header string, n int) []byte {
	b := append([]byte(magic), 1, 0, byte(len(header)), byte(len(header)>>8))
	return append(append(b, header...), make([]byte, n)...)
}

func TestBrokenHeadersAreRefused(t *testing.T) {
	good := "{'descr': '<f8', 'fortran_order': False, 'shape': (2,)}"
	if _, err := decodeVector(fileBytes(good, 16)); err != nil {
		t.Fatal(err)
	}
	for header, text := range map[string]string{
		"":                                      "header byte 0",
		"{}":                                    `"descr" is missing`,
		"{'descr': '<f8'}":                      `"fortran_order" is missing`,
		good + "x":                              "end of the header",
		good + good:                             "end of the header",
		good[:len(good)-1]:                      "expected ',' or '}'",
		"__import__('os')":                      "header byte 0",
		"{'descr': '<f8'\\}":                    "expected ','",
		strings.Replace(good, "(2,)", "(2)", 1): "expected ','",
		strings.Replace(good, "(2,)", "(-2,)", 1):                          "whole number >= 0",
		strings.Replace(good, "(2,)", "(2.0,)", 1):                         "expected ','",
		strings.Replace(good, "(2,)", "(,)", 1):                            "whole number >= 0",
		strings.Replace(good, "(2,)", "(99999999999999999999,)", 1):        "too large",
		strings.Replace(good, "(2,)", "(4611686018427387904, 4)", 1):       "overflows",
		strings.Replace(good, "(2,)", "(3,)", 1):                           "needs 24 bytes, found 16",
		strings.Replace(good, "(2,)", "(1,)", 1):                           "needs 8 bytes, found 16",
		strings.Replace(good, "(2,)", "("+strings.Repeat("1,", 65)+")", 1): "at most 64 dimensions",
		strings.Replace(good, "False", "false", 1):                         `expected "False"`,
		strings.Replace(good, "False", "0", 1):                             `expected "False"`,
		strings.Replace(good, "'<f8'", "'<f\\x38'", 1):                     "without escapes",
		"{'descr': '<f8":                       "expected a closing '",
		strings.Replace(good, "'<f8'", "8", 1): "expected a string",
		strings.Replace(good, "'descr'", "'fortran_order': True, 'descr'", 1):   "occurs twice",
		strings.Replace(good, "'descr'", "'extra': True, 'descr'", 1):           `"extra" is unknown`,
		strings.Replace(good, "'shape': (2,)", "'shape': (2,) 'fortran_or'", 1): "expected ','",
		strings.Replace(good, "(2,)", "(02,)", 1):                               "begins with no 0",
	} {
		_, err := decodeVector(fileBytes(header, 16))
		if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), text) {
			t.Errorf("%q: found %v, expected %q", header, err, text)
		}
	}
	for _, descr := range []string{"=f8", "f8", "|f8", "<f16", "<i3", "=u8", "<V1", ">V2", "|V4", "<m8[ns]", "", "<f9"} {
		header := strings.Replace(good, "<f8", descr, 1)
		if _, err := decodeVector(fileBytes(header, 16)); !errors.Is(err, ErrType) || !strings.Contains(err.Error(), fmt.Sprintf("%q", descr)) {
			t.Errorf("%q: found %v", descr, err)
		}
	}
}

func TestHugeDimensionOfAnEmptyArrayIsRefused(t *testing.T) {
	for _, order := range []string{"False", "True"} {
		for _, shape := range []string{"(0, 9223372036854775807)", "(9223372036854775807, 0)"} {
			header := "{'descr': '<f8', 'fortran_order': " + order + ", 'shape': " + shape + "}"
			if _, err := decodeMatrix(fileBytes(header, 0)); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), shape) {
				t.Errorf("%s, %s: %v", order, shape, err)
			}
		}
	}
}

func TestOtherSpellingsOfTheHeaderAreRead(t *testing.T) {
	for _, header := range []string{
		"{'descr': '<f8', 'fortran_order': False, 'shape': (2L,), }\n", // Python 2
		`{"shape":(2,),"descr":"<f8","fortran_order":True}`,
		"  { 'descr' :\t'<f8' , 'fortran_order' : False , 'shape' : ( 2 , 1 ) , }  ",
	} {
		if v, err := decodeVector(fileBytes(header, 16)); err != nil || len(v) != 2 {
			t.Errorf("%q: found %v, %v", header, v, err)
		}
	}
}

func TestWrongVersionsAndLengthsAreRefused(t *testing.T) {
	for b, text := range map[string]string{
		"":                                     "start with",
		"\x93NUMPX\x01\x00":                    "start with",
		"PK\x03\x04":                           "start with",
		magic:                                  "before the version",
		magic + "\x04\x00":                     "found 4.0",
		magic + "\x01\x01":                     "found 1.1",
		magic + "\x00\x00":                     "found 0.0",
		magic + "\x01\x00\x01":                 "before the header length",
		magic + "\x02\x00\x01\x00":             "before the header length",
		magic + "\x01\x00\x05\x00{":            "only 1 follow",
		magic + "\x02\x00\xff\xff\xff\xff":     "at most 10000",
		magic + "\x03\x00\x01\x00\x00\x00\xff": "UTF-8",
	} {
		if _, err := decodeVector([]byte(b)); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), text) {
			t.Errorf("%q: found %v, expected %q", b, err, text)
		}
	}
}

func TestEveryTruncationIsRefused(t *testing.T) {
	b, err := os.ReadFile(golden("f8"))
	if err != nil {
		t.Fatal(err)
	}
	for n := range b {
		if _, err := decodeMatrix(b[:n]); !errors.Is(err, ErrFormat) {
			t.Errorf("the first %d of %d bytes: %v", n, len(b), err)
		}
	}
}

func TestIntegersThatAFloatCannotHoldAreRefused(t *testing.T) {
	header := "{'descr': '<i8', 'fortran_order': False, 'shape': (1,)}"
	b := fileBytes(header, 8)
	b[len(b)-8], b[len(b)-2] = 1, 0x20 // 2^53 + 1
	if _, err := decodeVector(b); !errors.Is(err, ErrValue) || !strings.Contains(err.Error(), "9007199254740993") {
		t.Error(err)
	}
	if v, err := decodeIndices(b); err != nil || v[0] != 9007199254740993 {
		t.Error(v, err)
	}
}

func TestWhatIsWrittenIsReadAgain(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	path := filepath.Join(t.TempDir(), "x.npy")
	for range 20 {
		m := array.New[float64](rng.IntN(5), rng.IntN(5))
		rows := make([]int, rng.IntN(9))
		for i := range m.Data {
			m.Data[i] = math.Float64frombits(rng.Uint64())
		}
		for i := range rows {
			rows[i] = rng.IntN(math.MaxInt)
		}
		if err := Write(path, m); err != nil {
			t.Fatal(err)
		}
		if back, err := ReadMatrix(path); err != nil || back.Rows != m.Rows || back.Cols != m.Cols || !sameBits(back.Data, m.Data) {
			t.Errorf("matrix: found %+v, %v, expected %+v", back, err, m)
		}
		if err := WriteVector(path, m.Data); err != nil {
			t.Fatal(err)
		}
		if back, err := ReadVector(path); err != nil || !sameBits(back, m.Data) {
			t.Errorf("vector: found %v, %v, expected %v", back, err, m.Data)
		}
		if err := WriteIndices(path, rows); err != nil {
			t.Fatal(err)
		}
		if back, err := ReadIndices(path); err != nil || !slices.Equal(back, rows) {
			t.Errorf("rows: found %v, %v, expected %v", back, err, rows)
		}
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("found %v, %v, expected one file", entries, err)
	}
}

func TestWriterMakesTheBytesOfNumPy(t *testing.T) {
	want, err := os.ReadFile(golden("f8"))
	if err != nil {
		t.Fatal(err)
	}
	m, err := ReadMatrix(golden("f8"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x.npy")
	if err := Write(path, m); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(path); err != nil || !bytes.Equal(b, want) {
		t.Errorf("found %q, %v\nexpected %q", b, err, want)
	}
}

func TestMatrixThatDoesNotFillItsShapeIsNotWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.npy")
	err := Write(path, array.Matrix[float64]{Rows: 2, Cols: 2, Data: []float64{1}})
	if err == nil || !strings.Contains(err.Error(), path+": 1 values do not fill 2 x 2") {
		t.Error(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}
