package npy

import (
	"encoding/binary"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
)

// testdata/kinds.py says what wrote the files kind_*.npy.
func TestEveryKindOfNumberIsRead(t *testing.T) {
	paths, err := filepath.Glob(golden("kind_*_fortran"))
	if err != nil || len(paths) != 17 {
		t.Fatal(len(paths), err)
	}
	for _, fortran := range paths {
		want := []float64{1, 2, 3, 100, 5, -128}
		if strings.Contains(fortran, "kind_u") {
			want[5] = 255
		}
		for _, path := range []string{fortran, strings.Replace(fortran, "_fortran", "", 1)} {
			m, err := ReadMatrix(path)
			if err != nil || m.Rows != 2 || m.Cols != 3 || !slices.Equal(m.Data, want) {
				t.Errorf("%s: %+v, %v", path, m, err)
			}
			rows, err := ReadRows(path)
			if err != nil {
				t.Fatal(err)
			}
			info, err := ReadInfo(path)
			if err != nil {
				t.Fatal(err)
			}
			_, single := rows.(array.Matrix[float32])
			if short := strings.Contains("12", info.Type[2:]) || info.Type == "<f4"; single != short {
				t.Errorf("%s: %s is read as %T", path, info.Type, rows)
			}
			for i := range 2 {
				if got := rows.Read(make([]float64, 3), i); !slices.Equal(got, want[3*i:3*i+3]) {
					t.Errorf("%s, row %d: %v", path, i, got)
				}
			}
		}
	}
	if m, err := ReadMatrix(golden("kind_bf16_void")); err != nil || !slices.Equal(m.Data, []float64{1, 2, 3, 100, 5, -128}) {
		t.Errorf("bfloat16 saved a second time: %v, %v", m, err)
	}
	if _, err := ReadMatrix(golden("kind_float8")); !errors.Is(err, ErrType) || !strings.Contains(err.Error(), `"<f1"`) {
		t.Errorf("float8: %v", err)
	}
	for _, name := range []string{"kind_bf16", "kind_bf16_void"} {
		if info, err := ReadInfo(golden(name)); err != nil || info.Kind() != 'f' {
			t.Errorf("%s: kind %c, %v", name, info.Kind(), err)
		}
	}
}

func TestBFloat16sAreTheUpperHalfOfAFloat32(t *testing.T) {
	h := header{kind: 'f', size: 2, bfloat16: true, order: binary.LittleEndian}
	for bits := range uint32(1 << 16) {
		want := float64(math.Float32frombits(bits << 16))
		got := h.float([]byte{byte(bits), byte(bits >> 8)})
		if got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Fatalf("%04x: %v, expected %v", bits, got, want)
		}
	}
}

func TestLabelsOfEveryKindAreRead(t *testing.T) {
	for name, want := range map[string][]int{
		"kind_bf16_labels": {3, 0, 7}, "kind_f8_labels": {3, 0, 7}, "kind_i2_labels": {300, 0}, "kind_u8_labels": {1<<53 + 1, 0}, "bool": {1, 0},
	} {
		if got, err := ReadClasses(golden(name)); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	for name, want := range map[string][]int{"kind_i2_labels": {300, 0}, "kind_u8_labels": {1<<53 + 1, 0}} {
		if got, err := ReadIndices(golden(name)); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	if _, err := ReadIndices(golden("kind_f8_labels")); !errors.Is(err, ErrType) {
		t.Errorf("floats as row numbers: %v", err)
	}
	for _, v := range []float64{0.5, -1, math.NaN(), math.Inf(1), 1 << 54} {
		b := appendFloats(encodeHeader("<f8", "(2,)"), []float64{1, v})
		if got, err := decodeBytes(b, classes); !errors.Is(err, ErrValue) || !strings.Contains(err.Error(), "element 1 is") {
			t.Errorf("%v: %v, %v", v, got, err)
		}
	}
}

// TestIntegersAreExactOrRefused holds 64-bit integers around every power of two
// against the conversion to a float64 and back.
func TestIntegersAreExactOrRefused(t *testing.T) {
	for _, kind := range []string{"<i8", "<u8"} {
		for power := range 64 {
			for d := range uint64(5) {
				raw := uint64(1)<<power + d - 2
				text := strconv.FormatUint(raw, 10)
				if kind == "<i8" {
					text = strconv.FormatInt(int64(raw), 10)
				}
				wide, err := strconv.ParseFloat(text, 64)
				exact := err == nil && strconv.FormatFloat(wide, 'f', 0, 64) == text
				got, err := decodeVector(binary.LittleEndian.AppendUint64(encodeHeader(kind, "(1,)"), raw))
				switch {
				case exact && (err != nil || got[0] != wide):
					t.Errorf("%s %s: %v, %v", kind, text, got, err)
				case !exact && (!errors.Is(err, ErrValue) || !strings.Contains(err.Error(), text)):
					t.Errorf("%s %s: %v, %v", kind, text, got, err)
				}
			}
		}
	}
	for raw, kind := range map[uint64]string{1 << 63: "<u8", math.MaxUint64: "<i8"} {
		if got, err := decodeIndices(binary.LittleEndian.AppendUint64(encodeHeader(kind, "(1,)"), raw)); !errors.Is(err, ErrValue) {
			t.Errorf("%s %d as a row number: %v, %v", kind, raw, got, err)
		}
	}
}
