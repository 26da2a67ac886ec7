// Loading of a data set by its name.

package datasets

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/lethe-ml/lethe/lib/progress"
)

// Load reads a data set from the folder Dir, checks the SHA-256 of every file before it uses it,
// and encodes it. It never downloads; see package fetch. Breast Cancer comes from the copy in the
// program if there is no file, and the generated sets need none.
//
// Errors name the file, and for a value that cannot be parsed its line and column.
func Load(ctx context.Context, name string) (*Table, error) {
	s, err := findSet(name)
	if err != nil {
		return nil, err
	}
	ctx, task := progress.Start(ctx, "loading "+name, 0)
	defer task.Done()
	r := &loader{ctx: ctx, info: s.info}
	if len(s.info.Files) > 0 {
		dir, err := Dir()
		if err != nil {
			return nil, err
		}
		r.folder = filepath.Join(dir, s.info.Folder)
	}
	t, err := s.load(r)
	if err != nil {
		return nil, err
	}
	return r.finish(t)
}

// loader is one call of Load: where the files are, and what was read of them.
type loader struct {
	ctx     context.Context
	info    Info
	folder  string
	sources []SourceFile
}

// open returns the verified bytes of one of the set's files and its path.
func (r *loader) open(name string) (string, []byte, error) {
	if err := r.ctx.Err(); err != nil {
		return "", nil, err
	}
	f, err := r.file(name)
	if err != nil {
		return "", nil, err
	}
	path, b, err := readPublished(r.folder, f)
	if err != nil {
		return path, nil, err
	}
	r.sources = append(r.sources, SourceFile{Name: f.Name, SHA256: digest(b)})
	return path, b, nil
}

// file returns the description of one of the set's files.
func (r *loader) file(name string) (File, error) {
	for _, f := range r.info.Files {
		if f.Name == name {
			return f, nil
		}
	}
	return File{}, fmt.Errorf("datasets: %s has no file %q", r.info.Name, name)
}

// finish fills in what is common to all sets and compares the table with its Info.
func (r *loader) finish(t *Table) (*Table, error) {
	t.Name, t.Title, t.Synthetic = r.info.Name, r.info.Title, r.info.Synthetic
	t.Sources = r.sources
	if t.X.Rows != r.info.Rows || t.X.Cols != r.info.Features {
		return nil, fmt.Errorf("datasets: %s: read %d x %d values, expected %d x %d",
			t.Name, t.X.Rows, t.X.Cols, r.info.Rows, r.info.Features)
	}
	if len(t.Classes) != r.info.ClassCount() || r.info.Classes != nil && !slices.Equal(t.Classes, r.info.Classes) {
		return nil, fmt.Errorf("datasets: %s: read the classes %q, expected %d, %q", t.Name, t.Classes, r.info.ClassCount(), r.info.Classes)
	}
	if len(t.Y) != t.X.Rows || len(t.Features) != t.X.Cols {
		return nil, errors.New("datasets: " + t.Name + ": labels or feature names do not fit the matrix")
	}
	if err := t.X.Check("datasets: " + t.Name); err != nil {
		return nil, err
	}
	t.Hash = hashTable(t.X, t.Y)
	return t, nil
}
