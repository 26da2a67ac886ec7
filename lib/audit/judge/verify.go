// Whether the files of a report are still those that it was made from.

package judge

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/lib/files"
)

// inputsHash is the SHA-256 of the list of files, a line each of hash, two spaces and name in the
// order of the names, as sha256sum writes them.
func inputsHash(list []File) string {
	lines := make([]string, len(list))
	for i, f := range list {
		lines[i] = f.SHA256 + "  " + f.Name + "\n"
	}
	slices.SortFunc(lines, func(a, b string) int { return strings.Compare(a[hashLength:], b[hashLength:]) })
	sum := sha256.Sum256([]byte(strings.Join(lines, "")))
	return hex.EncodeToString(sum[:])
}

// hashLength is the length of a SHA-256 in hexadecimal digits.
const hashLength = 2 * sha256.Size

// maxReport bounds the size of report.json in bytes.
const maxReport = 1 << 28

// Verification says whether files are those of a report.
type Verification struct {
	Files   int       `json:"files"` // of the report
	Changes []Problem `json:"changes"`
}

// VerifyReport compares the files that a report.json names with those in a folder: by their sizes and
// SHA-256, and the list itself by its own. A file that an audit of the folder would read today and that the
// report does not have is a change too. An empty folder is the one above the report's. It refuses a
// file that is no report of an audit.
func VerifyReport(report, folder string) (*Verification, error) {
	b, err := files.Read(report, maxReport)
	if err != nil {
		return nil, err
	}
	var said struct {
		Files  []File `json:"files"`
		Inputs string `json:"inputs_sha256"`
	}
	if err := json.Unmarshal(b, &said); err != nil {
		return nil, fmt.Errorf("%s: %w", report, err)
	}
	if len(said.Files) == 0 || len(said.Inputs) != hashLength {
		return nil, fmt.Errorf("%s: no report of an audit with hashes of its files", report)
	}
	for _, f := range said.Files {
		if len(f.SHA256) != hashLength {
			return nil, fmt.Errorf("%s: %s has the SHA-256 %q", report, f.Name, f.SHA256)
		}
	}
	if folder == "" {
		folder = filepath.Dir(filepath.Dir(report))
	}
	out := &Verification{Files: len(said.Files), Changes: []Problem{}}
	if got := inputsHash(said.Files); got != said.Inputs {
		what := "its list of files was changed: the list's SHA-256 is " + got + ", not " + said.Inputs
		out.Changes = append(out.Changes, Problem{filepath.Base(report), what})
	}
	for _, f := range said.Files {
		path := filepath.FromSlash(f.Name)
		if !filepath.IsAbs(path) {
			path = filepath.Join(folder, path)
		}
		now, err := fileOf(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			out.Changes = append(out.Changes, Problem{f.Name, "there is no such file"})
		case err != nil:
			out.Changes = append(out.Changes, Problem{f.Name, withoutPath(err).Error()})
		case now.Bytes != f.Bytes:
			out.Changes = append(out.Changes, Problem{f.Name, fmt.Sprintf("%d bytes, the report had %d", now.Bytes, f.Bytes)})
		case now.SHA256 != f.SHA256:
			out.Changes = append(out.Changes, Problem{f.Name, "another content of the same size"})
		}
	}
	out.Changes = append(out.Changes, newFiles(said.Files, folder)...)
	return out, nil
}

// newFiles returns the files that an audit of the folder would read and that a report does not have.
func newFiles(said []File, folder string) (out []Problem) {
	known, config := map[string]bool{}, ""
	for _, f := range said {
		known[f.Name] = true
		if f.Array == configFile {
			config = filepath.FromSlash(f.Name)
		}
	}
	if config != "" && !filepath.IsAbs(config) {
		config = filepath.Join(folder, config)
	}
	l, err := findLayout(folder, config)
	if err != nil {
		return nil // what is missing is said of each file
	}
	list := append(l.allFiles(), l.generatedFiles(folder)...)
	if l.config != "" {
		list = append(list, l.config)
	}
	for _, name := range list {
		if name = filepath.ToSlash(name); name != Rest && !known[name] {
			out = append(out, Problem{name, "the report does not have it"})
		}
	}
	return out
}
