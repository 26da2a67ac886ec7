package judge

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array/npy"
)

// emptyShapes are the shapes of arrays that hold nothing or no record, as numpy.save writes them.
var emptyShapes = []string{"(0,)", "(0, 1)", "(1, 0)", "(180, 0)", "(0, 4)", "(0, 0)", "()"}

// writeShape writes an array of zeros, of the type that the file has.
func writeShape(t *testing.T, path, shape string) {
	t.Helper()
	info, err := npy.ReadLabelInfo(path)
	must(t, err)
	kind, _, _ := strings.Cut(info.String(), " ")
	header := "{'descr': '" + kind + "', 'fortran_order': False, 'shape': " + shape + ", }"
	header += strings.Repeat(" ", 117-len(header)) + "\n"
	data := ""
	if shape == "()" {
		data = strings.Repeat("\x00", 8)
	}
	must(t, os.WriteFile(path, []byte("\x93NUMPY\x01\x00"+string(rune(len(header)))+"\x00"+header+data), 0o600))
}

// Every array of a folder may be empty: the error names it, and nothing is read behind its end.
func TestAnEmptyArrayIsNamed(t *testing.T) {
	texts := writeTexts(t, true)
	must(t, npy.WriteIndices(filepath.Join(texts, "group.npy"), rowsOf(textRecords)))
	must(t, npy.WriteIndices(filepath.Join(texts, "input_tokens.npy"), rowsOf(2*textRecords)))
	offsets := make([]int, textRecords+1)
	for i := range offsets {
		offsets[i] = 2 * i
	}
	must(t, npy.WriteIndices(filepath.Join(texts, "input_offset.npy"), offsets))
	classes, _ := withInputs(t, 3, retained, 0)
	for _, dir := range []string{texts, classes} {
		if _, err := Open(dir); err != nil {
			t.Fatal(err)
		}
		must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				refusesEmpty(t, dir, path)
			}
			return err
		}))
	}
}

// refusesEmpty writes a file of a folder in every empty shape, and as it was again.
func refusesEmpty(t *testing.T, dir, path string) {
	t.Helper()
	name, err := filepath.Rel(dir, path)
	must(t, err)
	before, err := os.ReadFile(path)
	must(t, err)
	for _, shape := range emptyShapes {
		writeShape(t, path, shape)
		_, err := Open(dir)
		var problems *Problems
		if !errors.As(err, &problems) || !strings.Contains(err.Error(), name+": ") {
			t.Errorf("%s of shape %s: %v", name, shape, err)
		}
		must(t, os.WriteFile(path, before, 0o600))
	}
}

// An empty array of positions is reported like any other.
func TestPositionsThatAreEmptyAreNamed(t *testing.T) {
	dir := writeTexts(t, true)
	must(t, npy.WriteIndices(filepath.Join(dir, "input_tokens.npy"), []int{1, 2}))
	for _, name := range []string{"offset.npy", "input_offset.npy"} {
		must(t, npy.WriteIndices(filepath.Join(dir, name), []int{}))
		if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), name+": ") || !strings.Contains(err.Error(), "there is nothing in it") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
