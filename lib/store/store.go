// Package store keeps computed results on disk, under a key made of everything that
// they depend on. Nothing is computed twice, and a killed computation resumes.
//
// A store is a folder:
//
//	runs/ab/<id>/    finished runs: files and manifest.json
//	work/<id>/       running or interrupted computations: output/ (the files so
//	                 far), checkpoint/, scratch/ and key.json
//	locks/           one lock file per running computation
//	quarantine/      damaged runs, which are never used
//
// A run appears under runs/ atomically, after all its files are on the disk. Its
// manifest lists every file with size and SHA-256, and every read is checked against
// it. No time and no machine name is stored, so the same run has the same bytes
// everywhere; the manifest's modification time is when the run was made.
package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"github.com/lethe-ml/lethe/lib/progress"
	"github.com/lethe-ml/lethe/lib/store/internal/disk"
)

// ErrDamaged is wrapped by errors about a run whose bytes are not those that were computed.
// The message names the file.
var ErrDamaged = errors.New("damaged run")

// errMissing reports that there is no finished run.
var errMissing = errors.New("no such run")

// Store is an open store. Many goroutines may use it, and many processes its folder, at the
// same time.
type Store struct {
	// OnWarning receives warnings, such as a damaged run that was moved to
	// quarantine/. Nil logs them with log/slog.
	OnWarning func(string)
	// OnWait is called by each Do that waits for the same run: once for a goroutine
	// that uses this Store, and once, with otherStore, for another Store on the
	// folder, usually of another process. Nil does nothing.
	OnWait func(k Key, otherStore bool)

	dir          string
	fs           disk.FS  // tests put failing disks here
	verified     sync.Map // IDs whose files were hashed in this process
	withoutLocks bool     // no other process writes here
	fallbacks    []*Store // read where this store has no run

	mu   sync.Mutex
	busy map[string]chan struct{} // IDs being computed by this Store; closed at the end
}

// DefaultDir returns the folder named by the variable LETHE_STORE, or lethe/runs in the
// user's cache folder.
func DefaultDir() (string, error) {
	if dir := os.Getenv("LETHE_STORE"); dir != "" {
		return filepath.Abs(dir)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no folder for the store: set LETHE_STORE to one (%w)", err)
	}
	return filepath.Join(cache, "lethe", "runs"), nil
}

// Open opens the store in dir and creates it if it does not exist. An existing store is not
// written before a run must be computed, so a read-only store can be listed, verified and
// read.
func Open(dir string) (*Store, error) {
	if dir == "" {
		return nil, errors.New("store: the folder's name is empty")
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("store %s: %w", dir, err)
	}
	if info, err := os.Stat(abs); err == nil && !info.IsDir() {
		return nil, fmt.Errorf("store %s: expected a folder, found a file", abs)
	}
	return openOnDisk(disk.OS{}, abs)
}

// openOnDisk opens the store in a folder of the given disk.
func openOnDisk(d disk.FS, dir string) (*Store, error) {
	s := &Store{dir: dir, fs: d, busy: map[string]chan struct{}{}}
	if !Exists(dir) {
		return s, s.makeDirs()
	}
	return s, s.checkDirs()
}

// Exists reports whether there is a store in dir.
func Exists(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, runsDirName))
	return err == nil && info.IsDir()
}

// checkDirs refuses a sub-folder that is a symbolic link or a file.
func (s *Store) checkDirs() error {
	for _, dirName := range dirNames {
		if err := s.checkFolders(filepath.Join(s.dir, dirName)); err != nil {
			return fmt.Errorf("store: %w", err)
		}
	}
	return nil
}

// makeDirs makes the sub-folders that are missing.
func (s *Store) makeDirs() error {
	if err := s.checkDirs(); err != nil {
		return err
	}
	for _, dirName := range dirNames {
		if err := disk.MkdirAll(s.fs, filepath.Join(s.dir, dirName)); err != nil {
			return fmt.Errorf("store %s cannot be written: %w", s.dir, err)
		}
	}
	return nil
}

// Dir returns the store's folder.
func (s *Store) Dir() string { return s.dir }

// The sub-folders of a store.
const (
	runsDirName       = "runs"
	workDirName       = "work"
	locksDirName      = "locks"
	quarantineDirName = "quarantine"
)

var dirNames = []string{runsDirName, workDirName, locksDirName, quarantineDirName}

func (s *Store) runDir(id string) string  { return filepath.Join(s.dir, runsDirName, id[:2], id) }
func (s *Store) workDir(id string) string { return filepath.Join(s.dir, workDirName, id) }
func (s *Store) lockPath(id string) string {
	return filepath.Join(s.dir, locksDirName, id+".lock")
}

func (s *Store) warn(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if s.OnWarning != nil {
		s.OnWarning(text)
		return
	}
	slog.Warn(text)
}

// runChainKey is the context key of the chain of runs being computed.
type runChainKey struct{}

// runChain is one link of that chain.
type runChain struct {
	id    string
	outer *runChain
}

// Do returns the run of k. A finished run is verified and returned at once. Otherwise
// compute writes the run's files through its Work, and the run becomes visible atomically
// when compute returns nil. Other callers for the same run, in this process or another,
// wait and then read it; ctx ends the wait.
//
// When compute fails, is cancelled or is killed, only its checkpoints and scratch files
// remain, and the next Do passes them to compute. A damaged run is moved to quarantine/,
// reported to OnWarning, and computed again.
//
// compute may call Do for other runs, with its context.
func (s *Store) Do(ctx context.Context, k Key, compute func(ctx context.Context, w *Work) error) (*Run, error) {
	key, err := k.canonical()
	if err != nil {
		return nil, err
	}
	id := digest(key)
	if run, err := s.load(id); err == nil {
		s.clearLeftovers(id)
		return run, nil
	} else if !errors.Is(err, errMissing) && !errors.Is(err, ErrDamaged) {
		return nil, err
	}
	if run := s.loadFallback(id); run != nil {
		return run, nil
	}
	if err := s.makeDirs(); err != nil {
		return nil, err
	}
	chain, _ := ctx.Value(runChainKey{}).(*runChain)
	for link := chain; link != nil; link = link.outer {
		if link.id == id {
			return nil, fmt.Errorf("store: run %s (%s) depends on itself", shortID(id), k.Recipe)
		}
	}
	var waiting *progress.Task
	release, err := s.lock(ctx, id, func(otherStore bool) {
		waiting.Done()
		_, waiting = progress.Start(ctx, "waiting for the same work, which runs already", 0)
		if s.OnWait != nil {
			s.OnWait(k, otherStore)
		}
	})
	waiting.Done()
	if err != nil {
		return nil, fmt.Errorf("store: run %s (%s): %w", shortID(id), k.Recipe, err)
	}
	defer release()
	run, err := s.load(id)
	switch {
	case err == nil:
		return run, nil
	case errors.Is(err, ErrDamaged):
		if err := s.quarantineRun(id, err); err != nil {
			return nil, err
		}
	case !errors.Is(err, errMissing):
		return nil, err
	}
	ctx = context.WithValue(ctx, runChainKey{}, &runChain{id: id, outer: chain})
	if err := s.computeRun(ctx, id, key, compute); err != nil {
		return nil, fmt.Errorf("store: run %s (%s): %w", shortID(id), k.Recipe, err)
	}
	return s.load(id)
}

// computeRun computes the run and publishes it. The caller holds the run's lock.
func (s *Store) computeRun(ctx context.Context, id string, key []byte, compute func(context.Context, *Work) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	w, err := s.newWork(id, key)
	if err != nil {
		return err
	}
	err = compute(ctx, w)
	err = errors.Join(err, w.close())
	if err == nil {
		err = w.publish(key)
	}
	if err != nil {
		return errors.Join(err, w.tidyAfterFailure())
	}
	s.verified.Store(id, true)
	return s.fs.RemoveAll(w.root)
}

// clearLeftovers removes the work folder and the lock of a process that was killed after it
// had finished a run. It ignores errors: a store that cannot be written can still be read.
func (s *Store) clearLeftovers(id string) {
	_, noWork := os.Lstat(s.workDir(id))
	_, noLock := os.Lstat(s.lockPath(id))
	if noWork != nil && noLock != nil {
		return
	}
	release, err := s.tryLock(id)
	if err != nil {
		return
	}
	defer release()
	if _, err := os.Lstat(s.runDir(id)); err == nil {
		_ = s.fs.RemoveAll(s.workDir(id))
	}
}

// Lookup returns the finished run of k, and whether there is one. A damaged run is an error
// that names the file.
func (s *Store) Lookup(k Key) (*Run, bool, error) {
	id, err := k.ID()
	if err != nil {
		return nil, false, err
	}
	run, err := s.load(id)
	if errors.Is(err, errMissing) {
		run = s.loadFallback(id)
		return run, run != nil, nil
	}
	return run, err == nil, err
}

// load returns the finished run. It hashes the files unless this process has done so
// already.
func (s *Store) load(id string) (*Run, error) {
	dir := s.runDir(id)
	m, err := s.runManifest(id)
	if err != nil {
		return nil, err
	}
	if _, done := s.verified.Load(id); done {
		err = m.checkSizes(dir)
	} else {
		err = m.checkContent(dir)
	}
	if err != nil {
		s.verified.Delete(id)
		return nil, err
	}
	s.verified.Store(id, true)
	return newRun(s, id, dir, m)
}

// quarantineRun moves a damaged run into quarantine/. The caller holds its lock.
func (s *Store) quarantineRun(id string, reason error) error {
	s.verified.Delete(id)
	path, name := s.runDir(id), id
	if unexpected := (*unexpectedFileError)(nil); errors.As(reason, &unexpected) {
		path, name = unexpected.path, filepath.Base(unexpected.path)
	}
	to, err := s.quarantine(path, name)
	if err != nil {
		return fmt.Errorf("store: %w; it cannot be set aside: %w", reason, err)
	}
	s.warn("store: %v; set aside as %s, computing it anew", reason, to)
	return nil
}

// quarantine moves path into quarantine/ under the first free name.
func (s *Store) quarantine(path, name string) (string, error) {
	for n := 1; ; n++ {
		to := filepath.Join(s.dir, quarantineDirName, fmt.Sprintf("%s-%d", name, n))
		if _, err := os.Lstat(to); errors.Is(err, fs.ErrNotExist) {
			return to, s.fs.Rename(path, to)
		} else if err != nil {
			return to, err
		}
	}
}

// shortID returns the part of an ID that messages show.
func shortID(id string) string { return id[:min(12, len(id))] }
