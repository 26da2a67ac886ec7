package mat5_test

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/datasets/mat5"
)

// plainFile is what SciPy 1.17.1's scipy.io.savemat writes for
//
//	X = arange(24, uint8).reshape(2, 3, 4), y = uint8 [[10], [1], [9]],
//	d = [[1.5, -2], [3, 4e10]], i = int32 [[-3, 70000]], s = float32 [[0.25]]
//
// with its date taken out, and packedFile, with do_compression=True, for X, y,
// text = "abc", cell = object [[1, 2]], z = [1+2j].
const (
	plainFile = "TUFUTEFCIDUuMCBNQVQtZmlsZSwgd3JpdHRlbiBieSBTY2lQeSAxLjE3LjEgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAg" +
		"ICAgICAgICAgICAgICAgICAgICAgICAgICAgICAAAAAAAAAAAAABSU0OAAAAUAAAAAYAAAAIAAAACQAAAAAAAAAFAAAADAAAAAIAAAADAAAABAAAAAAA" +
		"AAABAAEAWAAAAAIAAAAYAAAAAAwEEAgUAQ0FEQkVAg4GEgoWAw8HEwsXDgAAADAAAAAGAAAACAAAAAkAAAAAAAAABQAAAAgAAAADAAAAAQAAAAEAAQB5" +
		"AAAAAgADAAoBCQAOAAAAUAAAAAYAAAAIAAAABgAAAAAAAAAFAAAACAAAAAIAAAACAAAAAQABAGQAAAAJAAAAIAAAAAAAAAAAAPg/AAAAAAAACEAAAAAA" +
		"AAAAwAAAACBfoCJCDgAAADgAAAAGAAAACAAAAAwAAAAAAAAABQAAAAgAAAABAAAAAgAAAAEAAQBpAAAABQAAAAgAAAD9////cBEBAA4AAAAwAAAABgAA" +
		"AAgAAAAHAAAAAAAAAAUAAAAIAAAAAQAAAAEAAAABAAEAcwAAAAcABAAAAIA+"
	packedFile = "TUFUTEFCIDUuMCBNQVQtZmlsZSwgd3JpdHRlbiBieSBTY2lQeSAxLjE3LjEgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAg" +
		"ICAgICAgICAgICAgICAgICAgICAgICAgICAgICAAAAAAAAAAAAABSU0PAAAAQgAAAHicLcjJEYAgEETRYQdlV9CwPJp/JDQF3fUuPxLRBxosOFpT4IGD" +
		"ALk7w//d3xm8zPZmQRXXeNT16CKZ63wGR5gCGA8AAAAqAAAAeJzjY2BgMABiNiDmAGJOBghghfKZgZgRjBkZKoE0E1CEi5GTAQAY9QD7DwAAACsAAAB4" +
		"nONjYGAwAGI2IOYAYhYGCGCF8hmBmBlMszCUpFaUCAB5iUnJDAAo0QNlDwAAADcAAAB4nONjYGBYAcRsQMwBxIwMEMCKxGcC0ywMyak5OXxAtgWSej4s" +
		"6hmRzOFBM5dc/UxQPgC5vgOKDwAAACsAAAB4nONjYGDwAGI2IOYA0SACCFihfEY4ZmSoAtKcUHEI+GCPymdwAABOIQKP"
)

func decoded(t testing.TB, text string) []byte {
	t.Helper()
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// columnMajor is arange(24).reshape(2, 3, 4) in the file's order.
func columnMajor() []byte {
	var out []byte
	for k := range 4 {
		for j := range 3 {
			for i := range 2 {
				out = append(out, byte(12*i+4*j+k))
			}
		}
	}
	return out
}

func TestWhatSciPyWritesIsRead(t *testing.T) {
	for _, text := range []string{plainFile, packedFile} {
		got, err := mat5.Read(decoded(t, text), 1000, "X", "y")
		if err != nil {
			t.Fatal(err)
		}
		if x := got["X"]; !slices.Equal(x.Dims, []int{2, 3, 4}) || x.Class != mat5.Uint8 || !slices.Equal(x.Bytes(), columnMajor()) {
			t.Errorf("X is %+v", x)
		}
		if y := got["y"]; !slices.Equal(y.Dims, []int{3, 1}) || !slices.Equal(y.Floats(), []float64{10, 1, 9}) {
			t.Errorf("y is %+v", y)
		}
	}
	got, err := mat5.Read(decoded(t, plainFile), 1000, "d", "i", "s")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]float64{"d": {1.5, 3, -2, 4e10}, "i": {-3, 70000}, "s": {0.25}} {
		if a := got[name]; !slices.Equal(a.Floats(), want) || a.Bytes() != nil {
			t.Errorf("%s is %v", name, a.Floats())
		}
	}
}

// writer writes a MAT-file in one of the byte orders.
type writer struct {
	binary.AppendByteOrder
	bytes.Buffer
}

func newWriter(order binary.AppendByteOrder, mark string) *writer {
	w := &writer{AppendByteOrder: order}
	w.WriteString(strings.Repeat(" ", 124))
	w.Write(order.AppendUint16(nil, 0x0100))
	w.WriteString(mark)
	return w
}

func (w *writer) element(kind int, body []byte) []byte {
	b := w.AppendUint32(w.AppendUint32(nil, uint32(kind)), uint32(len(body)))
	b = append(b, body...)
	return append(b, make([]byte, (8-len(body)%8)%8)...)
}

func (w *writer) small(kind int, body []byte) []byte {
	b := append(w.AppendUint32(nil, uint32(len(body)<<16|kind)), body...)
	return append(b, make([]byte, 4-len(body))...)
}

// array is a matrix element.
func (w *writer) array(name string, flags uint32, kind int, data []byte, dims ...int) []byte {
	var shape []byte
	for _, d := range dims {
		shape = w.AppendUint32(shape, uint32(d))
	}
	b := slices.Concat(w.element(6, w.AppendUint32(w.AppendUint32(nil, flags), 0)), w.element(5, shape), w.element(1, []byte(name)), w.element(kind, data))
	return w.element(14, b)
}

func (w *writer) pack(b []byte) []byte {
	var out bytes.Buffer
	z := zlib.NewWriter(&out)
	z.Write(b)
	z.Close()
	return append(w.AppendUint32(w.AppendUint32(nil, 15), uint32(out.Len())), out.Bytes()...)
}

func little() *writer { return newWriter(binary.LittleEndian, "IM") }

func TestEveryNumberTypeIsReadInBothByteOrders(t *testing.T) {
	for mark, order := range map[string]binary.AppendByteOrder{"IM": binary.LittleEndian, "MI": binary.BigEndian} {
		two := func(add func([]byte, float64) []byte) []byte { return add(add(nil, 7), 200) }
		for kind, data := range map[int][]byte{
			1:  two(func(b []byte, v float64) []byte { return append(b, byte(v)) }),
			2:  two(func(b []byte, v float64) []byte { return append(b, byte(v)) }),
			3:  two(func(b []byte, v float64) []byte { return order.AppendUint16(b, uint16(v)) }),
			4:  two(func(b []byte, v float64) []byte { return order.AppendUint16(b, uint16(v)) }),
			5:  two(func(b []byte, v float64) []byte { return order.AppendUint32(b, uint32(v)) }),
			6:  two(func(b []byte, v float64) []byte { return order.AppendUint32(b, uint32(v)) }),
			7:  two(func(b []byte, v float64) []byte { return order.AppendUint32(b, math.Float32bits(float32(v))) }),
			9:  two(func(b []byte, v float64) []byte { return order.AppendUint64(b, math.Float64bits(v)) }),
			12: two(func(b []byte, v float64) []byte { return order.AppendUint64(b, uint64(v)) }),
			13: two(func(b []byte, v float64) []byte { return order.AppendUint64(b, uint64(v)) }),
		} {
			w := newWriter(order, mark)
			w.Write(w.array("a", uint32(mat5.Double), kind, data, 1, 2)) // class double, stored in fewer bytes
			got, err := mat5.Read(w.Bytes(), 100, "a")
			want := []float64{7, 200}
			if kind == 1 {
				want[1] = -56
			}
			if err != nil || !slices.Equal(got["a"].Floats(), want) {
				t.Errorf("%s, type %d: %v, %v", mark, kind, got["a"].Floats(), err)
			}
		}
	}
}

func TestBrokenFilesAreNamed(t *testing.T) {
	w := little()
	head := slices.Clone(w.Bytes())
	with := func(parts ...[]byte) []byte { return slices.Concat(append([][]byte{head}, parts...)...) }
	class := func(c mat5.Class) uint32 { return uint32(c) }
	good := w.array("a", class(mat5.Uint8), 2, []byte{1, 2}, 1, 2)
	hdf5 := slices.Clone(head)
	hdf5[125] = 2
	for name, c := range map[string]struct {
		b    []byte
		want string
	}{
		"empty":               {nil, "byte 0: the file ends within the header"},
		"level 4 or none":     {make([]byte, 200), "byte 126: not a MAT-file of level 5"},
		"hdf5":                {hdf5, "byte 124: version 0x0200"},
		"no array":            {head, `no array "a"`},
		"cut tag":             {with(good[:5]), "byte 128: 5 bytes are left"},
		"cut array":           {with(good[:40]), "byte 128: an element of"},
		"endless element":     {with(w.AppendUint32(w.AppendUint32(nil, 14), 1<<32-1)), "an element of 4294967295 bytes, 0 are left"},
		"small too long":      {with(w.AppendUint32(nil, 5<<16|2), make([]byte, 4)), "a small element of 5 bytes"},
		"not an array":        {with(w.element(9, make([]byte, 8))), "an element of type 9"},
		"twice":               {with(good, good), `the array "a" occurs twice`},
		"complex":             {with(w.array("a", 0x0800|class(mat5.Double), 9, make([]byte, 8), 1, 1)), "complex"},
		"a cell":              {with(w.array("a", 1, 9, make([]byte, 8), 1, 1)), "class 1 is not numeric"},
		"one dimension":       {with(w.array("a", class(mat5.Uint8), 2, []byte{1}, 1)), "dimensions: 4 bytes"},
		"a negative one":      {with(w.array("a", class(mat5.Uint8), 2, []byte{1}, -1, -1)), "dimension 1 is -1"},
		"dimensions overflow": {with(w.array("a", class(mat5.Uint8), 2, []byte{1}, 1<<30, 1<<30, 1<<30)), "dimension 1 is 1073741824"},
		"product overflow":    {with(w.array("a", class(mat5.Uint8), 2, []byte{1}, 100, 100, 100)), "dimension 2 is 100"},
		"too few data":        {with(w.array("a", class(mat5.Uint8), 2, []byte{1}, 1, 2)), "data: 1 bytes of type 2 do not make 2 elements"},
		"data of no type":     {with(w.array("a", class(mat5.Uint8), 8, []byte{1}, 1, 1)), "data: 1 bytes of type 8"},
		"not zlib":            {with(w.element(15, []byte("no zlib at all"))), "byte 128: compressed element: zlib"},
		"cut zlib":            {with(w.element(15, w.pack(good)[8:20])), "compressed element: unexpected EOF"},
		"a bomb":              {with(w.pack(w.array("a", class(mat5.Uint8), 2, make([]byte, 1<<20), 1, 1<<20))), "more than 1000 bytes"},
		"two in one":          {with(w.pack(append(slices.Clone(good), good...))), "more than one element"},
		"nothing inside":      {with(w.pack(nil)), "decompressed: byte 0: 0 bytes are left"},
		"inside cut":          {with(w.pack(good[:30])), "decompressed: byte 0: an element of"},
		"flags missing":       {with(w.element(14, w.element(5, make([]byte, 8)))), "array flags: byte 0: type 5, expected 6"},
		"short flags":         {with(w.element(14, w.small(6, make([]byte, 4)))), "array flags: 4 bytes, expected 8"},
		"many arrays":         {with(bytes.Repeat(w.array("b", 9, 2, nil, 0, 0), 1001)), "more than 1000 arrays"},
	} {
		if _, err := mat5.Read(c.b, 1000, "a"); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestArraysThatNobodyWantsArePassedOver(t *testing.T) {
	if _, err := mat5.Read(decoded(t, packedFile), 1000, "z"); err == nil || !strings.Contains(err.Error(), `array "z": complex`) {
		t.Errorf("got %v", err)
	}
	if _, err := mat5.Read(decoded(t, packedFile), 1000, "text"); err == nil || !strings.Contains(err.Error(), "class 4 is not numeric") {
		t.Errorf("got %v", err)
	}
	if got, err := mat5.Read(decoded(t, packedFile), 1000); err != nil || len(got) != 0 {
		t.Errorf("%v, %v", got, err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(decoded(f, plainFile))
	f.Add(decoded(f, packedFile))
	w := newWriter(binary.BigEndian, "MI")
	w.Write(w.array("X", uint32(mat5.Double), 9, make([]byte, 16), 1, 2))
	f.Add(slices.Clone(w.Bytes()))
	w.Write(w.pack(w.array("y", uint32(mat5.Single), 7, make([]byte, 4), 1, 1)))
	f.Add(slices.Clone(w.Bytes()))
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := mat5.Read(b, 1<<16, "X")
		if err != nil {
			return
		}
		a, n := got["X"], 1
		for _, d := range a.Dims {
			n *= d
		}
		if values := a.Floats(); len(values) != n || len(a.Dims) < 2 {
			t.Errorf("%v holds %d numbers", a.Dims, len(values))
		}
	})
}

func ExampleRead() {
	w := newWriter(binary.LittleEndian, "IM")
	w.Write(w.array("X", uint32(mat5.Double), 2, []byte{1, 2, 3, 4, 5, 6}, 2, 3))
	arrays, err := mat5.Read(w.Bytes(), 1000, "X")
	fmt.Println(arrays["X"].Dims, arrays["X"].Floats(), err)
	// Output: [2 3] [1 2 3 4 5 6] <nil>
}
