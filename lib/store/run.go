// Finished runs: reading their files with verification.

package store

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/lethe-ml/lethe/lib/store/internal/disk"
	"github.com/lethe-ml/lethe/lib/store/safetensors"
)

// Run is a finished run. Every read compares the bytes with the manifest and fails with
// ErrDamaged where they differ.
type Run struct {
	ID  string
	Dir string
	Key Key // Config is a json.RawMessage

	files []fileRecord
	store *Store
}

func newRun(s *Store, id, dir string, m manifest) (*Run, error) {
	key, err := decodeKey(m.Key)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrDamaged, filepath.Join(dir, manifestName), err)
	}
	return &Run{ID: id, Dir: dir, Key: key, files: m.Files, store: s}, nil
}

// decodeKey decodes a canonical key. Its Config stays JSON.
func decodeKey(b []byte) (Key, error) {
	var config json.RawMessage
	key := Key{Config: &config}
	if err := json.Unmarshal(b, &key); err != nil {
		return Key{}, err
	}
	key.Config = config
	return key, nil
}

// Files returns the names of the run's files.
func (r *Run) Files() []string {
	var names []string
	for _, f := range r.files {
		names = append(names, f.Name)
	}
	return names
}

// Path verifies a file and returns its path, for programs that must read it themselves.
func (r *Run) Path(name string) (string, error) {
	record, path, err := r.find(name)
	if err != nil {
		return "", err
	}
	found, err := hashFile(path, name, record.Size+1)
	if err != nil {
		return "", readError(path, err)
	}
	return path, r.compare(record, path, found)
}

// Bytes returns the content of a file.
func (r *Run) Bytes(name string) ([]byte, error) {
	record, path, err := r.find(name)
	if err != nil {
		return nil, err
	}
	b, err := disk.ReadFile(path, record.Size)
	if err != nil {
		return nil, readError(path, err)
	}
	found := fileRecord{Name: name, Size: int64(len(b)), SHA256: digest(b)}
	if err := r.compare(record, path, found); err != nil {
		return nil, err
	}
	return b, nil
}

// Tensors reads a safetensors file of the run.
func (r *Run) Tensors(name string) (*safetensors.File, error) {
	b, err := r.Bytes(name)
	if err != nil {
		return nil, err
	}
	f, err := safetensors.Decode(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(r.Dir, name), err)
	}
	return f, nil
}

// JSON reads a JSON file of the run into v.
func (r *Run) JSON(name string, v any) error {
	b, err := r.Bytes(name)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(r.Dir, name), err)
	}
	return nil
}

// Lines calls each with every line that AppendLine wrote to the file.
func (r *Run) Lines(name string, each func(line []byte) error) error {
	b, err := r.Bytes(name)
	if err != nil {
		return err
	}
	scan := bufio.NewScanner(bytes.NewReader(b))
	scan.Buffer(nil, len(b)+1)
	for n := 1; scan.Scan(); n++ {
		if err := each(scan.Bytes()); err != nil {
			return fmt.Errorf("%s, line %d: %w", filepath.Join(r.Dir, name), n, err)
		}
	}
	return scan.Err()
}

func (r *Run) find(name string) (fileRecord, string, error) {
	for _, f := range r.files {
		if f.Name == name {
			return f, filepath.Join(r.Dir, filepath.FromSlash(name)), nil
		}
	}
	return fileRecord{}, "", fmt.Errorf("run %s (%s) has no file %q; it has %s: %w",
		r.ID, r.Key.Recipe, name, strings.Join(r.Files(), ", "), fs.ErrNotExist)
}

// compare returns an error for a damaged file. The next Do then verifies the run again.
func (r *Run) compare(record fileRecord, path string, found fileRecord) error {
	err := record.compare(path, found)
	if err != nil {
		r.store.verified.Delete(r.ID)
	}
	return err
}
