// Manifests: the list of a finished run's files with their hashes.

package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/lethe-ml/lethe/lib/files"
	"github.com/lethe-ml/lethe/lib/store/internal/disk"
)

const (
	manifestName   = "manifest.json"
	manifestFormat = 1
	maxTextBytes   = 64 << 20 // bytes of a manifest or key; what is longer is neither
)

// manifest lists the content of a finished run.
type manifest struct {
	Format int             `json:"format"`
	ID     string          `json:"id"`
	Key    json.RawMessage `json:"key"`   // canonical JSON
	Files  []fileRecord    `json:"files"` // in the order of fs.WalkDir
	Sum    string          `json:"sum"`   // SHA-256 of the manifest printed with an empty sum
}

// fileRecord is one file of a run. Name is relative, with slashes.
type fileRecord struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// encode prints the manifest; readManifest accepts exactly these bytes. The sum tells
// damage of the manifest from damage of the listed files.
func (m manifest) encode() ([]byte, error) {
	m.Sum = ""
	b, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	m.Sum = digest(b)
	b, err = json.MarshalIndent(m, "", " ")
	return append(b, '\n'), err
}

// readManifest reads the manifest of the run in dir. It is damaged unless it has exactly
// the bytes of encode and belongs to id.
func readManifest(dir, id string) (manifest, error) {
	path := filepath.Join(dir, manifestName)
	b, err := disk.ReadFile(path, maxTextBytes)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
			return manifest{}, errMissing
		}
		return manifest{}, fmt.Errorf("%w: %s is missing", ErrDamaged, path)
	}
	if err != nil {
		return manifest{}, readError(path, err)
	}
	m, err := decodeManifest(b, id)
	if err != nil {
		return manifest{}, fmt.Errorf("%w: %s: %w", ErrDamaged, path, err)
	}
	return m, nil
}

func decodeManifest(b []byte, id string) (manifest, error) {
	var m manifest
	if err := json.Unmarshal(b, &m); err != nil {
		return m, err
	}
	if m.Format != manifestFormat {
		return m, fmt.Errorf("expected format %d, found %d", manifestFormat, m.Format)
	}
	var key bytes.Buffer
	if err := json.Compact(&key, m.Key); err != nil {
		return m, err
	}
	m.Key = key.Bytes()
	if got := digest(m.Key); got != id || m.ID != id {
		return m, fmt.Errorf("expected the key of run %s, found that of %s", id, got)
	}
	again, err := m.encode()
	if err != nil {
		return m, err
	}
	if !bytes.Equal(again, b) {
		return m, fmt.Errorf("expected %d bytes as they were written, found %d others", len(again), len(b))
	}
	for _, f := range m.Files {
		if err := checkName(f.Name); err != nil {
			return m, err
		}
	}
	return m, nil
}

// checkSizes compares the sizes of the files, without reading them.
func (m manifest) checkSizes(dir string) error {
	for _, f := range m.Files {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		info, err := os.Lstat(path)
		if err != nil {
			return readError(path, err)
		}
		if !info.Mode().IsRegular() || info.Size() != f.Size {
			return fmt.Errorf("%w: %s: expected a file of %d bytes, found %d bytes (%s)", ErrDamaged, path, f.Size, info.Size(), info.Mode())
		}
	}
	return nil
}

// checkContent hashes every file, refuses unlisted files, and returns the first damage.
func (m manifest) checkContent(dir string) error {
	if err := m.checkNames(dir); err != nil {
		return err
	}
	if err := m.checkSizes(dir); err != nil {
		return err
	}
	for _, f := range m.Files {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		found, err := hashFile(path, f.Name, f.Size)
		if err != nil {
			return readError(path, err)
		}
		if err := f.compare(path, found); err != nil {
			return err
		}
	}
	return nil
}

// checkNames refuses unlisted names before any file is opened: a symbolic link in place of
// a folder would lead outside the store.
func (m manifest) checkNames(dir string) error {
	listed := map[string]bool{manifestName: true}
	for _, f := range m.Files {
		listed[f.Name] = true
	}
	return walkNames(dir, func(name string, _ fs.FileMode) error {
		if !listed[name] {
			return fmt.Errorf("%w: %s is not in the manifest", ErrDamaged, filepath.Join(dir, name))
		}
		return nil
	})
}

// compare returns an error if the content found is not the recorded one.
func (f fileRecord) compare(path string, found fileRecord) error {
	if found != f {
		return fmt.Errorf("%w: %s: expected %d bytes with SHA-256 %s, found %d with %s",
			ErrDamaged, path, f.Size, f.SHA256, found.Size, found.SHA256)
	}
	return nil
}

// readError turns the error of a missing or wrong file into ErrDamaged. Other errors, such
// as a missing permission, say nothing about the run.
func readError(path string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: %s is missing", ErrDamaged, path)
	case errors.Is(err, files.ErrKind), errors.Is(err, files.ErrTooLong):
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return fmt.Errorf("store: %w", err)
}

// hashFile hashes the first bytes of a file, at most limit.
func hashFile(path, name string, limit int64) (fileRecord, error) {
	f, err := disk.Open(path)
	if err != nil {
		return fileRecord{}, err
	}
	h := sha256.New()
	n, err := io.Copy(h, io.LimitReader(f, limit))
	if err := errors.Join(err, f.Close()); err != nil {
		return fileRecord{}, fmt.Errorf("%s: %w", path, err)
	}
	return fileRecord{Name: name, Size: n, SHA256: hex.EncodeToString(h.Sum(nil))}, nil
}

// walkFiles calls visit with the slash-separated name of every file under dir, in lexical
// order. Anything but files and folders is an error.
func walkFiles(dir string, visit func(name string) error) error {
	return walkNames(dir, func(name string, mode fs.FileMode) error {
		if !mode.IsRegular() {
			return files.WrongKind(filepath.Join(dir, name), "a regular file", mode)
		}
		return visit(name)
	})
}

// walkNames is walkFiles for everything that is no folder.
func walkNames(dir string, visit func(name string, mode fs.FileMode) error) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		return visit(filepath.ToSlash(name), entry.Type())
	})
}
