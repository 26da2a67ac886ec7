// The conformance suite of sets of single cells.

package datatest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/datasets/cells"
)

// maxDrawnCells is the largest simulated set that a test draws.
const maxDrawnCells = 10_000

// Cells is the conformance suite of a set of cells. It checks that the set is described, that
// errors name missing files with their folder, that damaged files are refused, and, if the files
// are there or none is needed, that two loads give the same data and agree with the description.
// It returns the set, or nil if the files are not there.
func Cells(t *testing.T, info datasets.Info) *cells.Cells {
	t.Helper()
	t.Run("is described", func(t *testing.T) { checkDescription(t, info) })
	if !info.Synthetic {
		t.Run("names a missing file", func(t *testing.T) { checkMissingFile(t, info) })
		t.Run("refuses a damaged file", func(t *testing.T) { checkDamagedFiles(t, info) })
	}
	var set *cells.Cells
	t.Run("is what its description says", func(t *testing.T) {
		switch {
		case !info.Synthetic:
			Dir(t)
		case info.Rows > maxDrawnCells:
			t.Skip("drawing it takes half a minute: a benchmark of its package does")
		}
		c, err := cells.Load(t.Context(), info.Name)
		if errors.Is(err, datasets.ErrMissing) {
			t.Skip(err)
		}
		if err != nil {
			t.Fatal(err)
		}
		checkContent(t, info, c)
		set = c
	})
	return set
}

func checkDescription(t *testing.T, i datasets.Info) {
	if i.Name == "" || i.Title == "" || i.Task == "" || i.Licence == "" || i.Description == "" || !i.Synthetic && (i.Citation == "" || i.Homepage == "") {
		t.Errorf("%+v", i)
	}
	if i.Rows < 1 || i.Features < 1 || (i.Folder == "") != i.Synthetic || (len(i.Files) == 0) != i.Synthetic {
		t.Errorf("%d cells x %d genes, %d files in %q", i.Rows, i.Features, len(i.Files), i.Folder)
	}
	for _, f := range i.Files {
		if f.Known() && len(f.SHA256) != 64 && len(f.MD5) != 32 || (f.Size > 0) == (f.AtMost > 0) {
			t.Errorf("%+v", f)
		}
		if f.SHA256 == "" && !strings.Contains(strings.Join(i.Reading, " "), "SHA-256") {
			t.Errorf("%s: the SHA-256 is not known, and the description does not say so", f.Name)
		}
	}
}

func checkMissingFile(t *testing.T, i datasets.Info) {
	dir := t.TempDir()
	t.Setenv(datasets.EnvDir, dir)
	_, err := cells.Load(t.Context(), i.Name)
	if !errors.Is(err, datasets.ErrMissing) || !strings.Contains(err.Error(), filepath.Join(dir, i.Folder)) {
		t.Errorf("got %v", err)
	}
}

func checkDamagedFiles(t *testing.T, i datasets.Info) {
	dir := t.TempDir()
	t.Setenv(datasets.EnvDir, dir)
	for _, f := range i.Files {
		path := filepath.Join(dir, i.Folder, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("<html>not found</html>"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	_, err := cells.Load(t.Context(), i.Name)
	known := !slices.ContainsFunc(i.Files, func(f datasets.File) bool { return !f.Known() })
	if err == nil || known && !errors.Is(err, datasets.ErrMismatch) || !strings.Contains(err.Error(), filepath.Join(dir, i.Folder)) {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := cells.Load(ctx, i.Name); err == nil {
		t.Error("a cancelled load went on")
	}
}

func checkContent(t *testing.T, info datasets.Info, c *cells.Cells) {
	if err := c.Check(); err != nil {
		t.Error(err)
	}
	if c.Name != info.Name || c.Title != info.Title || c.Counts.Rows != info.Rows || c.Counts.Cols != info.Features {
		t.Errorf("%q, %q: %d x %d", c.Name, c.Title, c.Counts.Rows, c.Counts.Cols)
	}
	if len(c.Classes) != info.ClassCount() || (len(c.Sources) == 0) != info.Synthetic || c.Synthetic != info.Synthetic || len(c.Hash) != 64 {
		t.Errorf("%d classes, %d files, hash %q", len(c.Classes), len(c.Sources), c.Hash)
	}
	for k := range c.Classes {
		if c.Caveat == "" && !slices.Contains(c.Y, k) {
			t.Errorf("no cell is %s", c.Classes[k])
		}
	}
	again, err := cells.Load(t.Context(), info.Name)
	if err != nil || again.Hash != c.Hash {
		t.Errorf("a second load gives another set: %v", err)
	}
}
