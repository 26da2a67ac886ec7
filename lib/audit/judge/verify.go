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

	"github.com/lethe-ml/lethe/lib/array/npy"
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
	Files   int       `json:"files"`   // of the report
	Changed int       `json:"changed"` // of these
	New     int       `json:"new"`     // files of the folder that the report does not have
	Changes []Problem `json:"changes"`
	// NotChecked says what of the report was not compared with anything.
	NotChecked string `json:"not_checked"`
}

// notChecked is of every report: a changed number or answer in it is not noticed.
const notChecked = "the report's own numbers, verdicts and answers are not computed again: the same folder, flags and version of Lethe give the same " +
	"report, byte for byte, so run the audit again with --out and compare"

// VerifyReport compares the files that a report.json names with those in a folder: by their sizes,
// SHA-256, types and shapes, and the list itself by its own. A file that an audit of the folder would read today and that the
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
	named := folder != ""
	if !named {
		folder = filepath.Dir(filepath.Dir(report))
	}
	out := &Verification{Files: len(said.Files), Changes: []Problem{}, NotChecked: notChecked}
	if got := inputsHash(said.Files); got != said.Inputs {
		what := "its list of files was changed: the list's SHA-256 is " + got + ", not " + said.Inputs
		out.Changes = append(out.Changes, Problem{filepath.Base(report), what})
	}
	gone := 0
	for _, f := range said.Files {
		what := f.changed(folder)
		if what == noSuchFile {
			gone++
		}
		if what != "" {
			out.Changed++
			out.Changes = append(out.Changes, Problem{f.Name, what})
		}
	}
	if !named && gone == len(said.Files) {
		return nil, fmt.Errorf("none of the report's %d files lies in %s, the folder above it: name the one that was audited, lethe audit FOLDER --verify %s",
			gone, folder, report)
	}
	added := newFiles(said.Files, folder)
	out.New, out.Changes = len(added), append(out.Changes, added...)
	return out, nil
}

const noSuchFile = "there is no such file"

// changed says how a file of a folder differs from what a report says of it; empty: it does not.
func (f File) changed(folder string) string {
	path := filepath.FromSlash(f.Name)
	if !filepath.IsAbs(path) {
		path = filepath.Join(folder, path)
	}
	now, err := fileOf(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return noSuchFile
	case err != nil:
		return withoutPath(err).Error()
	case now.Bytes != f.Bytes:
		return fmt.Sprintf("%d bytes, the report had %d", now.Bytes, f.Bytes)
	case now.SHA256 != f.SHA256:
		return "another content of the same size"
	}
	if info, err := npy.ReadLabelInfo(path); err == nil && info.String() != f.Array {
		return fmt.Sprintf("it holds %s, and the report says %q", info, f.Array)
	}
	return ""
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
