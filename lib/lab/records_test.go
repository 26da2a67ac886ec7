package lab

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array/npy"
)

// A file names the records; a file that does not is refused with the line.
func TestAForgetSetIsReadFromAFile(t *testing.T) {
	write := func(text string) string {
		path := filepath.Join(t.TempDir(), "forget.txt")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	f, err := ReadRecords(write("\ufeff# persons who asked\r\n33\r\n\r\n20\n"))
	if err != nil {
		t.Fatal(err)
	}
	if c := mustCase(t, newLab(t), Setting{Data: parity{Records: 60}, Forget: f}); len(c.Forget) != 2 || c.Problem.Train.IDs[c.Forget[0]] != 20 {
		t.Errorf("%v is to be forgotten", c.Forget)
	}
	for words, text := range map[string]string{
		`:2: "1.5" is not the number of a record`: "1\n1.5\n",
		`:1: "-3" is not the number`:              "-3",
		"names no record":                         "# nobody\n",
		"UTF-8":                                   "1\n\xff\n",
	} {
		if _, err := ReadRecords(write(text)); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%q: %v, want %q", text, err, words)
		}
	}
	path := filepath.Join(t.TempDir(), "mask.npy")
	if err := npy.WriteIndices(path, []int{0, 1, 0, 0}); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadRecords(path); err == nil || !strings.Contains(err.Error(), "save it as bools") {
		t.Errorf("a mask of integers: %v", err)
	}
	if _, err := newLab(t).Case(t.Context(), Setting{Data: parity{Records: 60}, Forget: Mask(make([]bool, 59))}); err == nil || !strings.Contains(err.Error(), "59 entries, there are 60") {
		t.Errorf("a mask that is too short: %v", err)
	}
}
