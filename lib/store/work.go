// Work: how a computation writes its files, resumes, and publishes its run.

package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/lethe-ml/lethe/lib/store/internal/disk"
	"github.com/lethe-ml/lethe/lib/store/safetensors"
)

// Work is where a computation writes its files. Names are relative, separated by slashes.
// Many goroutines may use it; it is invalid after compute has returned.
//
// Nothing is forced to the disk before SaveCheckpoint or the end of the run: a power cut in
// between loses the work since the last checkpoint, but never a finished run or a
// checkpoint.
type Work struct {
	store *Store
	id    string
	root  string // work/<id>

	mu       sync.Mutex
	appended map[string]io.WriteCloser // files that AppendLine holds open
	resume   *checkpoint               // the newest valid checkpoint, until output begins
	number   int                       // of the newest checkpoint
	torn     error                     // a line that was written in part only
}

// The sub-folders of a work folder.
const (
	outputDirName     = "output"
	checkpointDirName = "checkpoint"
	scratchDirName    = "scratch"
)

// newWork opens the work folder of a run whose lock the caller holds, with the checkpoint
// of an earlier attempt, if there is one.
func (s *Store) newWork(id string, key []byte) (*Work, error) {
	w := &Work{store: s, id: id, root: s.workDir(id), appended: map[string]io.WriteCloser{}}
	_, err := os.Lstat(w.root)
	fresh := errors.Is(err, fs.ErrNotExist)
	if fresh && len(s.fallbacks) > 0 {
		if err := s.copyInterrupted(id); err != nil {
			return nil, err
		}
		_, err = os.Lstat(w.root)
		fresh = errors.Is(err, fs.ErrNotExist)
	}
	for _, dir := range []string{w.Dir(), filepath.Join(w.root, checkpointDirName), filepath.Join(w.root, scratchDirName)} {
		if err := s.quarantineUnexpected(dir, id); err != nil {
			return nil, err
		}
	}
	if err := disk.MkdirAll(s.fs, w.Dir()); err != nil {
		return nil, err
	}
	keyPath := filepath.Join(w.root, "key.json")
	if err := errors.Join(s.quarantineUnexpectedFile(keyPath), s.fs.Write(keyPath, key)); err != nil {
		return nil, err
	}
	if fresh {
		return w, nil
	}
	if w.resume, err = w.newestCheckpoint(); err != nil {
		return nil, err
	}
	if w.resume == nil {
		return w, w.clearOutput()
	}
	w.number = w.resume.number
	return w, nil
}

// Dir returns the folder whose files become the run. After an interruption its content is
// restored to that of the checkpoint which LoadCheckpoint returns, or emptied if there is
// none.
func (w *Work) Dir() string { return filepath.Join(w.root, outputDirName) }

// Scratch returns a folder that survives an interruption unchanged and is not part of the
// finished run.
func (w *Work) Scratch() (string, error) {
	dir := filepath.Join(w.root, scratchDirName)
	return dir, disk.MkdirAll(w.store.fs, dir)
}

// WriteTensors writes a safetensors file. Do not replace a file that was written before a
// checkpoint: the checkpoint would become unusable.
func (w *Work) WriteTensors(name string, f *safetensors.File) error {
	b, err := safetensors.Encode(f)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return w.WriteFile(name, b)
}

// WriteJSON writes v as indented JSON. NaN and infinities are errors.
func (w *Work) WriteJSON(name string, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return w.WriteFile(name, append(b, '\n'))
}

// WriteFile writes b as it is.
func (w *Work) WriteFile(name string, b []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	path, err := w.prepareOutput(name)
	if err != nil {
		return err
	}
	return w.store.fs.Write(path, b)
}

// AppendLine appends v as one line of JSON to the file, in a single write. Lines keep the
// order of the calls. They are forced to the disk by SaveCheckpoint and at the end only.
// Lines written after the last checkpoint are removed when the computation resumes.
func (w *Work) AppendLine(name string, v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	f := w.appended[name]
	if f == nil {
		path, err := w.prepareOutput(name)
		if err != nil {
			return err
		}
		if f, err = w.store.fs.Append(path); err != nil {
			return err
		}
		w.appended[name] = f
	}
	if _, err = f.Write(append(line, '\n')); err != nil {
		w.torn = fmt.Errorf("append to %s: %w", name, err)
	}
	return w.torn
}

// prepareOutput returns the path of an output file and makes its folder. A computation that
// writes before it loads its checkpoint starts anew.
func (w *Work) prepareOutput(name string) (string, error) {
	if err := checkName(name); err != nil {
		return "", err
	}
	if w.resume != nil {
		w.resume = nil
		if err := w.clearOutput(); err != nil {
			return "", err
		}
	}
	path := filepath.Join(w.Dir(), filepath.FromSlash(name))
	if !strings.Contains(name, "/") {
		return path, nil
	}
	return path, disk.MkdirAll(w.store.fs, filepath.Dir(path))
}

// checkName refuses a name that no file of a run may have.
func checkName(name string) error {
	if !fs.ValidPath(name) || name == "." || strings.ContainsAny(name, `\:`) || !filepath.IsLocal(name) {
		return fmt.Errorf("file name %q: expected a relative path with slashes, without \"..\", backslash and colon", name)
	}
	if name == manifestName {
		return fmt.Errorf("file name %q is reserved", name)
	}
	return nil
}

func (w *Work) clearOutput() error {
	if err := w.store.fs.RemoveAll(w.Dir()); err != nil {
		return err
	}
	return w.store.fs.Mkdir(w.Dir())
}

// close closes the files that AppendLine has opened.
func (w *Work) close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	var errs []error
	for _, f := range w.appended {
		errs = append(errs, f.Close())
	}
	clear(w.appended)
	return errors.Join(errs...)
}

// outputRecords hashes the files written so far.
func (w *Work) outputRecords() (files []fileRecord, err error) {
	err = walkFiles(w.Dir(), func(name string) error {
		if err := checkName(name); err != nil {
			return err
		}
		path := filepath.Join(w.Dir(), filepath.FromSlash(name))
		info, err := os.Lstat(path)
		if err != nil {
			return err
		}
		record, err := hashFile(path, name, info.Size())
		files = append(files, record)
		return err
	})
	return files, err
}

// sync forces the output files, and the names in all folders up to the store's, to the
// disk. Another process may have made an upper folder without syncing it yet.
func (w *Work) sync(files []fileRecord, more ...string) error {
	paths := more
	dirName := filepath.Dir(w.root)
	folders := map[string]bool{w.Dir(): true, w.root: true, dirName: true, w.store.dir: true}
	for _, f := range files {
		path := filepath.Join(w.Dir(), filepath.FromSlash(f.Name))
		paths = append(paths, path)
		for dir := filepath.Dir(path); !folders[dir]; dir = filepath.Dir(dir) {
			folders[dir] = true
		}
	}
	return w.store.fs.Sync(slices.AppendSeq(paths, maps.Keys(folders))...)
}

// publish writes the manifest, forces everything to the disk and moves the output among the
// finished runs.
func (w *Work) publish(key []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.torn != nil {
		return w.torn
	}
	if w.resume != nil {
		err := errors.New("a checkpoint was there and was not loaded; it is dropped, the next attempt starts anew")
		return errors.Join(err, w.store.fs.RemoveAll(filepath.Join(w.root, checkpointDirName)))
	}
	files, err := w.outputRecords()
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return errors.New("the computation has written no file")
	}
	b, err := manifest{Format: manifestFormat, ID: w.id, Key: key, Files: files}.encode()
	if err != nil {
		return err
	}
	path := filepath.Join(w.Dir(), manifestName)
	if err := w.store.fs.Write(path, b); err != nil {
		return err
	}
	if err := w.sync(files, path); err != nil {
		return err
	}
	return w.moveIntoPlace()
}

func (w *Work) moveIntoPlace() error {
	to := w.store.runDir(w.id)
	shard := filepath.Dir(to)
	if err := disk.MkdirAll(w.store.fs, shard); err != nil {
		return err
	}
	if err := w.store.fs.Rename(w.Dir(), to); err != nil {
		return err
	}
	return w.store.fs.Sync(shard, filepath.Dir(shard))
}

// tidyAfterFailure removes the work folder unless the next attempt can use something in it.
func (w *Work) tidyAfterFailure() error {
	for _, dirName := range []string{checkpointDirName, scratchDirName} {
		entries, err := os.ReadDir(filepath.Join(w.root, dirName))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if len(entries) > 0 {
			return nil
		}
	}
	return w.store.fs.RemoveAll(w.root)
}
