// Merging the finished runs of another store.

package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/lethe-ml/lethe/lib/progress"
	"github.com/lethe-ml/lethe/lib/store/internal/disk"
)

// ErrConflict is wrapped where two stores hold different bytes under one key: something
// that changes a result is missing in the key, or a run and its manifest were changed.
var ErrConflict = errors.New("the same key with other bytes")

// Merged is the result of Merge.
type Merged struct {
	Added int   // runs copied
	Same  int   // that were there with the same bytes
	Bytes int64 // copied
	// Refused are the runs that were left out, each a RefusedError.
	Refused []error
}

// RefusedError is the reason why a run was not merged. It wraps ErrDamaged or ErrConflict.
type RefusedError struct {
	Dir string // of the run
	Err error
}

// Error names the run's folder, and for a conflict the other folder.
func (e *RefusedError) Error() string { return fmt.Sprintf("run %s: %v", e.Dir, e.Err) }

// Unwrap returns the reason.
func (e *RefusedError) Unwrap() error { return e.Err }

// Merge copies the finished runs of another store that s does not have. Every file is
// hashed before and after the copy. A damaged run of s is replaced by an undamaged one.
// Refused runs are listed in the result and do not stop the others; an error means that s
// itself could not continue.
func (s *Store) Merge(ctx context.Context, from *Store) (Merged, error) {
	return s.merge(ctx, from, func(string) bool { return true })
}

// MergeRuns is Merge of the runs with these IDs alone.
func (s *Store) MergeRuns(ctx context.Context, from *Store, ids map[string]bool) (Merged, error) {
	return s.merge(ctx, from, func(id string) bool { return ids[id] })
}

func (s *Store) merge(ctx context.Context, from *Store, wanted func(id string) bool) (Merged, error) {
	var m Merged
	entries, err := from.List()
	if err != nil {
		return m, err
	}
	ctx, task := progress.Start(ctx, "copying runs", len(entries))
	defer task.Done()
	for _, e := range entries {
		task.Add(1)
		if e.State != Finished && e.State != Damaged || !wanted(e.ID) {
			continue
		}
		if err := m.mergeEntry(ctx, s, from, e); err != nil {
			return m, err
		}
	}
	return m, nil
}

// mergeEntry merges one entry. It returns only errors of s itself.
func (m *Merged) mergeEntry(ctx context.Context, s, from *Store, e Entry) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if e.State == Damaged {
		m.refuse(e.Dir, fmt.Errorf("%w: %s", ErrDamaged, e.Problem))
		return nil
	}
	in, err := from.load(e.ID)
	if err != nil {
		m.refuse(e.Dir, err)
		return nil
	}
	taken, damage := false, error(nil)
	out, err := s.Do(ctx, in.Key, func(_ context.Context, w *Work) error {
		taken = true
		m.Bytes, damage = m.Bytes+e.Bytes, w.copyRun(in)
		return damage
	})
	switch {
	case errors.Is(damage, ErrDamaged): // since it was hashed
		m.refuse(e.Dir, damage)
		return nil
	case err != nil:
		return err
	case taken:
		m.Added++
		return nil
	}
	same, err := sameManifest(in, out)
	switch {
	case err != nil:
		m.refuse(e.Dir, err)
	case !same:
		m.refuse(e.Dir, fmt.Errorf("%w as %s (%s)", ErrConflict, out.Dir, in.Key.Recipe))
	default:
		m.Same++
	}
	return nil
}

func (m *Merged) refuse(dir string, err error) {
	m.Refused = append(m.Refused, &RefusedError{dir, err})
}

// copyRun writes the files of a finished run.
func (w *Work) copyRun(in *Run) error {
	if _, _, _, err := w.LoadCheckpoint(); err != nil {
		return err
	}
	if err := w.clearOutput(); err != nil {
		return err
	}
	for _, name := range in.Files() {
		b, err := in.Bytes(name)
		if err != nil {
			return err
		}
		if err := w.WriteFile(name, b); err != nil {
			return err
		}
	}
	return nil
}

// sameManifest reports whether two runs have the same manifest, and so the same files.
func sameManifest(a, b *Run) (bool, error) {
	first, err := disk.ReadFile(filepath.Join(a.Dir, manifestName), maxTextBytes)
	if err != nil {
		return false, readError(a.Dir, err)
	}
	second, err := disk.ReadFile(filepath.Join(b.Dir, manifestName), maxTextBytes)
	if err != nil {
		return false, readError(b.Dir, err)
	}
	return bytes.Equal(first, second), nil
}
