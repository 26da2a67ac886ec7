package npy

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// labelFile writes a file with the given type, shape and data.
func labelFile(t *testing.T, descr, shape string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "y.npy")
	if err := os.WriteFile(path, append(encodeHeader(descr, shape), data...), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// utf32 encodes texts in fields of the given width.
func utf32(order binary.AppendByteOrder, width int, texts ...string) (b []byte) {
	for _, text := range texts {
		runes := []rune(text)
		for k := range width {
			r := rune(0)
			if k < len(runes) {
				r = runes[k]
			}
			b = order.AppendUint32(b, uint32(r))
		}
	}
	return b
}

func TestLabelsOfEveryTypeAreRead(t *testing.T) {
	i8 := binary.LittleEndian.AppendUint64
	for name, c := range map[string]struct {
		descr, shape string
		data         []byte
		codes        []int
		names        []string
	}{
		"signs":      {"<i8", "(3,)", i8(i8(i8(nil, 1), ^uint64(0)), 1), []int{1, 0, 1}, []string{"-1", "1"}},
		"gaps":       {"|u1", "(4, 1)", []byte{200, 10, 9, 10}, []int{2, 1, 0, 1}, []string{"9", "10", "200"}},
		"bools":      {"|b1", "(3,)", []byte{1, 0, 1}, []int{1, 0, 1}, []string{"False", "True"}},
		"unicode":    {"<U4", "(3,)", utf32(binary.LittleEndian, 4, "b", "Äa", "b"), []int{0, 1, 0}, []string{"b", "Äa"}},
		"big-endian": {">U2", "(2,)", utf32(binary.BigEndian, 2, "no", "a"), []int{1, 0}, []string{"a", "no"}},
		"bytes":      {"|S3", "(2,)", []byte("cat\x00\x00\x00"), []int{1, 0}, []string{"", "cat"}},
	} {
		got, err := ReadLabels(labelFile(t, c.descr, c.shape, c.data))
		if err != nil || !slices.Equal(got.Codes, c.codes) || !slices.Equal(got.Names, c.names) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	// A file that NumPy wrote.
	if got, err := ReadLabels(golden("text")); err != nil || len(got.Names) == 0 || len(got.Codes) < len(got.Names) {
		t.Errorf("NumPy's text: %+v, %v", got, err)
	}
	if got, err := ReadLabels(golden("kind_f8_labels")); err != nil || len(got.Names) == 0 {
		t.Errorf("NumPy's floats: %+v, %v", got, err)
	}
}

func TestLabelsThatAreNoneAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		descr, shape string
		data         []byte
		want         error
		text         string
	}{
		"a matrix":     {"|u1", "(2, 2)", make([]byte, 4), ErrShape, "(n,)"},
		"a fraction":   {"<f8", "(1,)", binary.LittleEndian.AppendUint64(nil, 0x3ff8000000000000), ErrValue, "1.5"},
		"too large":    {"<u8", "(1,)", bytes.Repeat([]byte{255}, 8), ErrValue, "below 2^63"},
		"not a bool":   {"|b1", "(1,)", []byte{2}, ErrValue, "a bool is 2"},
		"not Unicode":  {"<U1", "(1,)", []byte{255, 255, 255, 255}, ErrValue, "Unicode"},
		"not UTF-8":    {"|S1", "(1,)", []byte{0xfc}, ErrValue, "Unicode"},
		"no width":     {"<U0", "(1,)", nil, ErrType, `"<U0"`},
		"wrong width":  {"<Ux", "(1,)", nil, ErrType, `"<Ux"`},
		"native order": {"=U1", "(1,)", make([]byte, 4), ErrType, `"=U1"`},
		"too short":    {"<U2", "(2,)", make([]byte, 8), ErrFormat, "needs 16 bytes"},
	} {
		_, err := ReadLabels(labelFile(t, c.descr, c.shape, c.data))
		if !errors.Is(err, c.want) || !strings.Contains(fmt.Sprint(err), c.text) {
			t.Errorf("%s: %v, want %q", name, err, c.text)
		}
	}
	path := labelFile(t, "<U1", "(1,)", make([]byte, 4))
	if _, err := ReadMatrix(path); !errors.Is(err, ErrType) {
		t.Errorf("text as a matrix: %v", err)
	}
	if _, err := ReadInfo(path); !errors.Is(err, ErrType) {
		t.Errorf("information on text: %v", err)
	}
}
