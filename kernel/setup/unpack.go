// Unpacking copies of the notebooks, without overwriting changed ones.

package setup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/lib/files"
)

// unpackedFile records what was unpacked into a folder, so that changed files are never
// overwritten.
const unpackedFile = ".lethe-notebooks.json"

// copiesFolder is the name of the folder of copies.
const copiesFolder = "lethe-notebooks"

// unpack writes the notebooks that fit the library into the folder that chooseFolders returns, and
// says what was written and what was kept.
func (m *machine) unpack(context.Context) error {
	from := m.options.Notebooks
	if from == nil {
		return nil
	}
	if m.location.clone {
		from = os.DirFS(filepath.Join(m.location.root, "notebooks"))
	}
	dir, err := m.chooseFolders()
	if err != nil || dir == "" {
		return err
	}
	m.location.unpacked = dir
	fresh, kept, err := unpackInto(dir, from)
	if err != nil {
		return fmt.Errorf("the notebooks cannot be unpacked into %s: %w", dir, err)
	}
	if len(fresh) > 0 {
		m.reporter.note("%d files of the notebooks are in %s now", len(fresh), dir)
	}
	if len(kept) > 0 {
		m.reporter.note("newer versions of %s were not unpacked over yours; to get one, move yours away and start again", strings.Join(kept, ", "))
	}
	return nil
}

// chooseFolders returns the folder that the notebooks are unpacked into, "" for none, and sets
// the folder that JupyterLab opens:
//
//	inside a clone, copies wanted        lethe-notebooks in the clone
//	inside a clone, no folder named      none: the clone's own notebooks
//	a folder that is new, empty or ours  that folder
//	a folder with other files            lethe-notebooks in it; inside a clone none
//
// JupyterLab opens a folder that was named as it is. In a working directory with other files
// it opens the notebooks only.
func (m *machine) chooseFolders() (string, error) {
	dir, inside := m.options.Folder, m.location.inside
	switch {
	case inside && m.options.Copies:
		m.location.notebooks = filepath.Join(m.location.root, copiesFolder)
		return m.location.notebooks, nil
	case inside && !m.named:
		return "", nil
	}
	free, err := isFree(dir)
	switch {
	case err != nil:
		return "", err
	case free:
		m.location.notebooks = dir
		return dir, nil
	case inside:
		return "", nil
	}
	sub := filepath.Join(dir, copiesFolder)
	if !m.named {
		m.location.notebooks = sub
	}
	return sub, nil
}

// isFree reports whether the notebooks may be unpacked into a folder: it is missing, empty, or
// holds them already.
func isFree(dir string) (bool, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	empty := !slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name()[0] != '.' })
	return empty || isFile(filepath.Join(dir, unpackedFile)), nil
}

// unpackInto writes files that are missing or unchanged since they were unpacked. It
// returns the names of the written files, and of those that it kept because they were
// changed.
func unpackInto(dir string, from fs.FS) (fresh, kept []string, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, nil, err
	}
	known := map[string]string{}
	if b, err := files.Read(filepath.Join(dir, unpackedFile), maxFile); err == nil {
		if err := json.Unmarshal(b, &known); err != nil {
			return nil, nil, fmt.Errorf("%s is damaged (%w): remove it and start again", filepath.Join(dir, unpackedFile), err)
		}
	}
	changed := false
	err = fs.WalkDir(from, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(name, ".go") {
			return err
		}
		content, err := fs.ReadFile(from, name)
		if err != nil {
			return err
		}
		path, want := filepath.Join(dir, filepath.FromSlash(name)), digest(content)
		here, err := files.Read(path, maxFile)
		switch {
		case err == nil && digest(here) == want:
			changed = changed || known[name] != want
			known[name] = want
			return nil
		case err == nil && digest(here) != known[name]:
			if known[name] != want {
				kept = append(kept, name)
			}
			return nil
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return err
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := files.WriteFile(path, content); err != nil {
			return err
		}
		fresh, changed, known[name] = append(fresh, name), true, want
		return nil
	})
	if err != nil || !changed {
		return fresh, kept, err
	}
	b, err := json.MarshalIndent(known, "", "  ")
	if err != nil {
		return fresh, kept, err
	}
	return fresh, kept, files.WriteFile(filepath.Join(dir, unpackedFile), b)
}

// digest returns a hash of a file's content; for notebooks of the cells only, so that a run
// without an edit counts as unchanged.
func digest(content []byte) string {
	var notebook struct {
		Cells []struct {
			Kind   string `json:"cell_type"`
			Source any    `json:"source"`
		} `json:"cells"`
	}
	if json.Unmarshal(content, &notebook) == nil && len(notebook.Cells) > 0 {
		for i := range notebook.Cells {
			c := &notebook.Cells[i]
			c.Source = joinLines(c.Source)
		}
		content, _ = json.Marshal(notebook) // texts only
	}
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// joinLines returns a cell's source, stored as one text or a list of lines.
func joinLines(source any) string {
	lines, ok := source.([]any)
	if !ok {
		return fmt.Sprint(source)
	}
	var out strings.Builder
	for _, l := range lines {
		fmt.Fprint(&out, l)
	}
	return out.String()
}
