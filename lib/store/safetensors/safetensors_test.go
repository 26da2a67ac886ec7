// Tests of safetensors.go.

package safetensors

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// same reports whether two files have equal content; NaN is equal to itself
// because the bytes are compared.
func same(a, b *File) bool {
	return maps.Equal(a.Metadata, b.Metadata) && slices.EqualFunc(a.Tensors, b.Tensors, func(x, y Tensor) bool {
		return x.Name == y.Name && x.DType == y.DType && slices.Equal(x.Shape, y.Shape) && bytes.Equal(x.Data, y.Data)
	})
}

// TestGoldenFileOfThePythonLibraryIsReadAndWrittenByteForByte: made by the
// Python safetensors library 0.8.0 with NumPy 2.4.6.
func TestGoldenFileOfThePythonLibraryIsReadAndWrittenByteForByte(t *testing.T) {
	path := filepath.Join("testdata", "python.safetensors")
	f, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	want := &File{Metadata: map[string]string{"who": "golden"}, Tensors: []Tensor{
		FromFloat64("b.d", []int{2}, []float64{1.5, -2.25}),
		FromFloat32("empty", []int{0, 4}, nil),
		FromBool("flag", []int{3}, []bool{true, false, true}),
		{Name: "h", DType: F16, Shape: []int{2}, Data: []byte{0x00, 0x3c, 0x00, 0x40}}, // 1 and 2
		FromInt32("i32", []int{2, 1}, []int32{7, -8}),
		FromInt64("idx", []int{2}, []int64{-1, 1 << 40}),
		{Name: "naïve<é>", DType: U16, Shape: []int{1}, Data: []byte{1, 0}},
		FromFloat32("scalar", nil, []float32{3}),
		FromUint8("u8", []int{3}, []uint8{0, 255, 3}),
		FromFloat32("w", []int{2, 3}, []float32{0, 0.25, 0.5, 0.75, 1, 1.25}),
	}}
	if !same(f, want) {
		t.Errorf("found %+v\nexpected %+v", f, want)
	}
	golden, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	written, err := Encode(want)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(written, golden) {
		t.Errorf("wrote %q\nexpected %q", written, golden)
	}
}

// TestLayoutOrderIsThatOfTheReference: the order in which the Python library
// 0.8.0 lays out one tensor of each type that NumPy has.
func TestLayoutOrderIsThatOfTheReference(t *testing.T) {
	want := []DType{U64, I64, F64, C64, F32, U32, I32, F16, U16, I16, I8, U8, Bool}
	var found []DType
	for _, d := range slices.Backward(layoutOrder) {
		if slices.Contains(want, d) {
			found = append(found, d)
		}
	}
	if !slices.Equal(found, want) {
		t.Errorf("found %v, expected %v", found, want)
	}
	for _, d := range layoutOrder {
		if d.Size() == 0 {
			t.Errorf("%s has no size", d)
		}
	}
	if len(sizes) != len(layoutOrder) {
		t.Errorf("%d sizes, %d types in the layout order", len(sizes), len(layoutOrder))
	}
}

// randomFile makes a file of random types, shapes, names and metadata.
func randomFile(rng *rand.Rand) *File {
	f := &File{}
	for i := range rng.IntN(6) {
		d := layoutOrder[rng.IntN(len(layoutOrder))]
		n := d.Size()
		shape := []int{}
		for range rng.IntN(4) {
			side := rng.IntN(4)
			shape = append(shape, side)
			n *= side
		}
		data := make([]byte, n)
		for j := range data {
			data[j] = byte(rng.Uint32())
		}
		f.Tensors = append(f.Tensors, Tensor{fmt.Sprintf("%c\"\\<ü %d", 'z'-i, rng.IntN(100)), d, shape, data})
	}
	for i := range rng.IntN(3) {
		if f.Metadata == nil {
			f.Metadata = map[string]string{}
		}
		f.Metadata[fmt.Sprint("key\n", i)] = strings.Repeat("é\u2028", rng.IntN(3))
	}
	return f
}

func TestRandomFilesSurviveARoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		f := randomFile(rng)
		b, err := Encode(f)
		if err != nil {
			t.Fatal(err)
		}
		back, err := Decode(b)
		if err != nil {
			t.Fatalf("%v in %q", err, b)
		}
		sortByName(f.Tensors)
		if !same(f, back) {
			t.Fatalf("found %+v, expected %+v", back, f)
		}
		if len(b)%8 != 0 && len(f.Tensors) == 0 {
			t.Fatalf("header of %d bytes is not padded", len(b))
		}
	}
}

func TestBytesDoNotDependOnTheOrderOfTensors(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 100 {
		f := randomFile(rng)
		first, err := Encode(f)
		if err != nil {
			t.Fatal(err)
		}
		rng.Shuffle(len(f.Tensors), func(i, j int) { f.Tensors[i], f.Tensors[j] = f.Tensors[j], f.Tensors[i] })
		second, err := Encode(f)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(first, second) {
			t.Fatalf("%q and %q", first, second)
		}
	}
}

func TestValuesSurviveARoundTripBitForBit(t *testing.T) {
	f64 := []float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(-1), math.SmallestNonzeroFloat64}
	got, err := FromFloat64("x", []int{5}, f64).Float64s()
	if err != nil {
		t.Fatal(err)
	}
	for i := range f64 {
		if math.Float64bits(got[i]) != math.Float64bits(f64[i]) {
			t.Errorf("float64 %d: found %v, expected %v", i, got[i], f64[i])
		}
	}
	f32, err := FromFloat32("x", []int{2}, []float32{math.MaxFloat32, -1}).Float32s()
	if err != nil || !slices.Equal(f32, []float32{math.MaxFloat32, -1}) {
		t.Errorf("float32: %v, %v", f32, err)
	}
	i64, err := FromInt64("x", []int{2}, []int64{math.MinInt64, 3}).Int64s()
	if err != nil || !slices.Equal(i64, []int64{math.MinInt64, 3}) {
		t.Errorf("int64: %v, %v", i64, err)
	}
	i32, err := FromInt32("x", []int{2}, []int32{math.MinInt32, 3}).Int32s()
	if err != nil || !slices.Equal(i32, []int32{math.MinInt32, 3}) {
		t.Errorf("int32: %v, %v", i32, err)
	}
	u8, err := FromUint8("x", []int{2}, []uint8{255, 3}).Uint8s()
	if err != nil || !slices.Equal(u8, []uint8{255, 3}) {
		t.Errorf("uint8: %v, %v", u8, err)
	}
	flags, err := FromBool("x", []int{2}, []bool{true, false}).Bools()
	if err != nil || !slices.Equal(flags, []bool{true, false}) {
		t.Errorf("bool: %v, %v", flags, err)
	}
}

func TestAccessorRefusesAnotherType(t *testing.T) {
	_, err := FromFloat64("w", []int{1}, []float64{1}).Float32s()
	if !errors.Is(err, ErrWrongDType) || !strings.Contains(err.Error(), `"w"`) {
		t.Error(err)
	}
}

func TestBoolOtherThanZeroAndOneIsRefused(t *testing.T) {
	_, err := Tensor{Name: "m", DType: Bool, Shape: []int{2}, Data: []byte{1, 2}}.Bools()
	if !errors.Is(err, ErrBool) || !strings.Contains(err.Error(), "element 1 is 2") {
		t.Error(err)
	}
}

func TestMissingTensorIsNamedWithThoseThatAreThere(t *testing.T) {
	f := &File{Tensors: []Tensor{FromUint8("w1", nil, []uint8{1})}}
	if _, err := f.Tensor("w2"); !errors.Is(err, ErrNoTensor) || !strings.Contains(err.Error(), `"w1"`) {
		t.Error(err)
	}
	if got, err := f.Tensor("w1"); err != nil || got.Data[0] != 1 {
		t.Error(got, err)
	}
}

func TestWriteReplacesAFileAndLeavesNoOther(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.safetensors")
	for _, v := range []float32{1, 2} {
		if err := Write(path, &File{Tensors: []Tensor{FromFloat32("x", []int{1}, []float32{v})}}); err != nil {
			t.Fatal(err)
		}
		f, err := Read(path)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := f.Tensors[0].Float32s(); err != nil || got[0] != v {
			t.Errorf("found %v, %v, expected %v", got, err, v)
		}
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("found %v, %v, expected one file", entries, err)
	}
}

func TestFailedWriteKeepsTheOldFileAndNamesIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.safetensors")
	good := &File{Tensors: []Tensor{FromUint8("x", []int{1}, []uint8{1})}}
	if err := Write(path, good); err != nil {
		t.Fatal(err)
	}
	bad := &File{Tensors: []Tensor{FromUint8("x", []int{2}, []uint8{1})}}
	if err := Write(path, bad); !errors.Is(err, ErrSize) || !strings.Contains(err.Error(), path) {
		t.Error(err)
	}
	if f, err := Read(path); err != nil || !same(f, good) {
		t.Error(f, err)
	}
}

// TestPublishedCheckpointsAreRead reads RULER's published weights, converted
// to safetensors, where they are present.
func TestPublishedCheckpointsAreRead(t *testing.T) {
	root := os.Getenv("LETHE_DATA")
	if root == "" {
		root = filepath.Join("..", "..", "..", "..", "shared", "data")
	}
	paths, err := filepath.Glob(filepath.Join(root, "ruler_checkpoints", "*.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	if len(paths) == 0 {
		t.Skip("no published checkpoints here")
	}
	for _, path := range paths {
		f, err := Read(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, tensor := range f.Tensors {
			if tensor.DType != F32 {
				continue
			}
			values, err := tensor.Float32s()
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range values {
				if math.IsNaN(float64(v)) || math.Abs(float64(v)) > 1e4 {
					t.Fatalf("%s: %s[%d] = %v is no weight", path, tensor.Name, i, v)
				}
			}
		}
	}
}
