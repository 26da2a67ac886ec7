// Checkpoints of a computation: saving, loading, going back to one.

package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/lethe-ml/lethe/lib/files"
	"github.com/lethe-ml/lethe/lib/store/internal/disk"
	"github.com/lethe-ml/lethe/lib/store/safetensors"
)

// A checkpoint is one safetensors file, checkpoint/<number>-<sha256>.safetensors. Its
// metadata hold the state and the list of output files. Its name holds its hash, so that
// one rename publishes both.
const (
	checkpointSuffix = ".safetensors"
	stateKey         = "lethe.state"
	outputKey        = "lethe.output"
	keptCheckpoints  = 2 // checkpoints kept
)

// checkpoint is a valid checkpoint in memory.
type checkpoint struct {
	number int
	file   *safetensors.File
	state  []byte
	output []fileRecord // the output files when it was saved
}

// errStale reports output files that have changed since the checkpoint.
var errStale = errors.New("checkpoint can no longer be used")

// SaveCheckpoint saves what is needed to resume: tensors, and a state that marshals to JSON
// (random streams, epoch, data order). It also records the output files written so far and
// forces them to the disk. The two newest checkpoints are kept. Checkpoints are not part of
// the finished run.
func (w *Work) SaveCheckpoint(f *safetensors.File, state any) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.saveCheckpoint(f, state); err != nil {
		return fmt.Errorf("save checkpoint: %w", err)
	}
	return nil
}

func (w *Work) saveCheckpoint(f *safetensors.File, state any) error {
	if w.resume != nil { // it was not loaded: this computation starts anew
		w.resume = nil
		if err := w.clearOutput(); err != nil {
			return err
		}
	}
	files, err := w.outputRecords()
	if err != nil {
		return err
	}
	b, err := encodeCheckpoint(f, state, files)
	if err != nil {
		return err
	}
	if err := w.sync(files); err != nil {
		return err
	}
	dir := filepath.Join(w.root, checkpointDirName)
	if err := disk.MkdirAll(w.store.fs, dir); err != nil {
		return err
	}
	name := fmt.Sprintf("%010d-%s%s", w.number+1, digest(b), checkpointSuffix)
	if err := disk.Replace(w.store.fs, filepath.Join(dir, name), b); err != nil {
		return err
	}
	w.number++
	return w.dropOldCheckpoints(dir)
}

func encodeCheckpoint(f *safetensors.File, state any, files []fileRecord) ([]byte, error) {
	if f == nil {
		f = &safetensors.File{}
	}
	stateJSON, err := json.Marshal(state)
	if err != nil {
		return nil, fmt.Errorf("state: %w", err)
	}
	filesJSON, err := json.Marshal(files)
	if err != nil {
		return nil, err
	}
	metadata := map[string]string{stateKey: string(stateJSON), outputKey: string(filesJSON)}
	for key, value := range f.Metadata {
		if _, taken := metadata[key]; taken {
			return nil, fmt.Errorf("metadata key %q is reserved", key)
		}
		metadata[key] = value
	}
	return safetensors.Encode(&safetensors.File{Tensors: f.Tensors, Metadata: metadata})
}

// dropOldCheckpoints keeps the newest checkpoints and removes everything else, such as
// temporary files of a killed attempt.
func (w *Work) dropOldCheckpoints(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		number, _, ok := parseCheckpointName(entry.Name())
		if ok && number > w.number-keptCheckpoints && number <= w.number {
			continue
		}
		if err := w.store.fs.RemoveAll(filepath.Join(dir, entry.Name())); err != nil {
			return err
		}
	}
	return nil
}

func parseCheckpointName(name string) (number int, hash string, ok bool) {
	base, ok := strings.CutSuffix(name, checkpointSuffix)
	if !ok {
		return 0, "", false
	}
	digits, hash, ok := strings.Cut(base, "-")
	number, err := strconv.Atoi(digits)
	return number, hash, ok && err == nil && isID(hash)
}

// LoadCheckpoint returns the newest valid checkpoint of an interrupted attempt and restores
// the output files to their content at that checkpoint. ok is false if there is none. Call
// it before anything is written.
func (w *Work) LoadCheckpoint() (f *safetensors.File, state []byte, ok bool, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.resume
	if c == nil {
		return nil, nil, false, nil
	}
	if err := w.restore(c.output); err != nil {
		return nil, nil, false, fmt.Errorf("restore checkpoint: %w", err)
	}
	w.resume = nil
	return c.file, c.state, true, nil
}

// newestCheckpoint returns the newest usable checkpoint, or nil. Damaged ones are moved to
// quarantine/.
func (w *Work) newestCheckpoint() (*checkpoint, error) {
	dir := filepath.Join(w.root, checkpointDirName)
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, entry := range slices.Backward(entries) { // names sort by number
		number, hash, ok := parseCheckpointName(entry.Name())
		if !ok {
			continue
		}
		path := filepath.Join(dir, entry.Name())
		c, err := w.readCheckpoint(path, number, hash)
		switch {
		case err == nil:
			return c, nil
		case errors.Is(err, errStale):
			w.store.warn("store: %v", err)
			err = w.store.fs.Remove(path)
		case errors.Is(err, ErrDamaged):
			var to string
			reason := err
			if to, err = w.store.quarantine(path, w.id+"-checkpoint"); err == nil {
				w.store.warn("store: %v; set aside as %s", reason, to)
			}
		}
		if err != nil {
			return nil, err
		}
	}
	return nil, nil
}

func (w *Work) readCheckpoint(path string, number int, hash string) (*checkpoint, error) {
	b, err := disk.ReadFile(path, math.MaxInt64)
	if err != nil {
		return nil, readError(path, err)
	}
	if found := digest(b); found != hash {
		return nil, fmt.Errorf("%w: %s: expected SHA-256 %s, found %s", ErrDamaged, path, hash, found)
	}
	f, err := safetensors.Decode(b)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrDamaged, path, err)
	}
	c := &checkpoint{number: number, file: f, state: []byte(f.Metadata[stateKey])}
	if err := json.Unmarshal([]byte(f.Metadata[outputKey]), &c.output); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrDamaged, path, err)
	}
	maps.DeleteFunc(f.Metadata, func(key, _ string) bool { return key == stateKey || key == outputKey })
	if len(f.Metadata) == 0 {
		f.Metadata = nil
	}
	for _, record := range c.output {
		if err := w.checkUnchanged(record); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return c, nil
}

// checkUnchanged reports an output file that does not begin with what the checkpoint
// recorded. A file may only have grown since.
func (w *Work) checkUnchanged(record fileRecord) error {
	if err := checkName(record.Name); err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	path := filepath.Join(w.Dir(), filepath.FromSlash(record.Name))
	found, err := hashFile(path, record.Name, record.Size)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, files.ErrKind) {
		return fmt.Errorf("%w: %s is gone", errStale, path)
	}
	if err == nil && found != record {
		return fmt.Errorf("%w: %s has changed since", errStale, path)
	}
	return err
}

// restore removes what the output files have gained since the checkpoint.
func (w *Work) restore(files []fileRecord) error {
	size := map[string]int64{}
	for _, f := range files {
		size[f.Name] = f.Size
	}
	return walkNames(w.Dir(), func(name string, _ fs.FileMode) error {
		path := filepath.Join(w.Dir(), filepath.FromSlash(name))
		if n, ok := size[name]; ok {
			return w.store.fs.Truncate(path, n)
		}
		return w.store.fs.Remove(path)
	})
}
