// Names and keys of data, and limits of their sizes.

package own

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lethe-ml/lethe/datasets"
)

// The split, as for the built-in tables.
const (
	testFraction = 0.2
	splitSeed    = 999
)

// maxValues bounds the values of a matrix: 4 GiB as float64.
const maxValues = 1 << 29

// maxClasses bounds the classes. A target with more distinct values is hardly a class.
const maxClasses = 1000

// key returns the SHA-256, in hex, of the reader's name, the hashes of its files and everything
// that changes what is read. how must have exported fields only.
func key(reader string, how any, files ...string) string {
	b, err := json.Marshal([]any{"lethe/own/1", reader, files, how})
	if err != nil {
		panic(fmt.Sprintf("own: %T has no JSON: %v", how, err)) // a defect of this package
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// preparedKey is the key of data that were split with a shifted seed.
func preparedKey(hash string, shift int) string { return key("prepared", shift, hash) }

// extensions are left out of a name.
var extensions = []string{".gz", ".csv", ".tsv", ".txt", ".npy", ".h5ad", ".idx3-ubyte", "-idx3-ubyte"}

// baseName is the last element of a path: "." is a folder with a name.
func baseName(path string) string {
	if absolute, err := filepath.Abs(path); err == nil {
		return filepath.Base(absolute)
	}
	return filepath.Base(filepath.Clean(path))
}

func withoutExtensions(name string) string {
	for _, extension := range extensions {
		if len(name) > len(extension) && strings.EqualFold(name[len(name)-len(extension):], extension) {
			name = name[:len(name)-len(extension)]
		}
	}
	return name
}

// Readable returns the name of a file for people and for the name of a folder: without its extensions, in any script, with _
// for what a file system or a terminal does not take. It is empty if nothing of the name is left.
func Readable(file string) string {
	name := strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) || strings.ContainsRune(`/\<>:"|?*`, r) {
			return '_'
		}
		return r
	}, withoutExtensions(file))
	return strings.Trim(name, " .-_")
}

// dataName returns the name of data: the last element of a path without its extensions, with
// letters, digits, _ and - only.
func dataName(path string) string {
	name := withoutExtensions(baseName(path))
	name = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return '_'
	}, name)
	if strings.Trim(name, "_-") == "" {
		return "data"
	}
	return name
}

// checkLabels returns an error unless there are two classes or more, and records of every class for
// both parts of a split by class. what are the records in the plural.
func checkLabels(y []int, classes []string, what string) error {
	if err := checkClasses(len(y), classes, what); err != nil {
		return err
	}
	var rare []string
	for code, n := range counts(y, len(classes)) {
		if n < 2 {
			rare = append(rare, fmt.Sprintf("%q (%d)", classes[code], n))
		}
	}
	if len(rare) > 0 {
		return fmt.Errorf("every class needs two %s or more, one for each part; too few are of %s", what, firstOf(rare))
	}
	if _, err := datasets.StratifiedSplit(y, testFraction, splitSeed); err != nil {
		return fmt.Errorf("%d %s are too few for %d classes: every class must be in both parts", len(y), what, len(classes))
	}
	return nil
}

func checkClasses(n int, classes []string, what string) error {
	switch {
	case n == 0:
		return fmt.Errorf("there are no %s", what)
	case len(classes) == 1:
		return fmt.Errorf("all %d %s are of the class %q: a model needs two classes or more", n, what, classes[0])
	case len(classes) > maxClasses:
		return fmt.Errorf("%d classes in %d %s, at most %d are read", len(classes), n, what, maxClasses)
	}
	return nil
}

func counts(y []int, classes int) []int {
	out := make([]int, classes)
	for _, code := range y {
		out[code]++
	}
	return out
}

func classCounts(y []int, classes []string) (out []ClassCount) {
	for code, n := range counts(y, len(classes)) {
		out = append(out, ClassCount{classes[code], n})
	}
	return out
}

// firstOf joins the first ten of a list.
func firstOf(list []string) string {
	const most = 10
	if len(list) <= most {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:most], ", "), len(list)-most)
}

// clip shortens a text for a message.
func clip(text string) string {
	const most = 40
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "..."
	}
	return text
}
