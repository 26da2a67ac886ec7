package npy

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestMasksComeBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mask.npy")
	want := [][]bool{{true, false, false}, {false, true, true}}
	if err := WriteMask(path, want); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadMask(path); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	if err := WriteMask(path, [][]bool{{true}, {}}); err == nil || !strings.Contains(err.Error(), "row 1") {
		t.Errorf("a ragged mask: %v", err)
	}
	if err := WriteIndices(path, []int{1, 0, 1}); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadMask(path); err != nil || !reflect.DeepEqual(got, [][]bool{{true, false, true}}) {
		t.Errorf("integers: %v, %v", got, err)
	}
}

func TestWhatIsNoMaskIsRefused(t *testing.T) {
	for words, b := range map[string][]byte{
		"row 0, column 1 is 2":           append(encodeHeader("|u1", "(1, 2)"), 1, 2),
		"row 1, column 0 is 7":           append(encodeHeader("|b1", "(2, 1)"), 0, 7),
		"expected bools or integers":     append(encodeHeader("<f4", "(1,)"), 0, 0, 0, 0),
		"expected (n,) or (m, n), found": append(encodeHeader("|b1", "(1, 1, 1)"), 1),
		"an empty mask":                  encodeHeader("|b1", "(70000, 0)"),
	} {
		path := filepath.Join(t.TempDir(), "bad.npy")
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadMask(path); err == nil || !strings.Contains(err.Error(), words) || !strings.Contains(err.Error(), path) {
			t.Errorf("error %v, want one with %q", err, words)
		}
	}
}
