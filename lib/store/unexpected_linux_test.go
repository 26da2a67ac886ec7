// Tests of unexpected.go.

package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// unexpectedFiles are what may lie where a file or folder of the store should be. Each
// one hangs, overflows or leads outside a program that opens it.
func unexpectedFiles(outside string) map[string]func(path string) error {
	return map[string]func(path string) error{
		"a named pipe":    func(path string) error { return syscall.Mkfifo(path, 0o644) },
		"a symbolic link": func(path string) error { return os.Symlink("/dev/zero", path) },
		"a link outside":  func(path string) error { return os.Symlink(outside, path) },
		"a socket": func(path string) error {
			return syscall.Mknod(path, syscall.S_IFSOCK|0o644, 0)
		},
	}
}

// withUnexpectedFiles calls visit with a new store for each stray; the folder outside
// must be as it was afterwards.
func withUnexpectedFiles(t *testing.T, visit func(t *testing.T, s *Store, put func(path string))) {
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "precious"), []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	for what, make := range unexpectedFiles(outside) {
		t.Run(what, func(t *testing.T) {
			s := open(t)
			s.OnWarning = func(string) {}
			visit(t, s, func(path string) {
				if err := errors.Join(os.RemoveAll(path), make(path)); err != nil {
					t.Fatal(err)
				}
			})
			if found := readTree(t, outside); len(found) != 1 || found["precious"] != "mine" {
				t.Errorf("the folder outside holds %v", found)
			}
		})
	}
}

func TestUnexpectedFilesInAFinishedRunAreDamage(t *testing.T) {
	places := []string{manifestName, "log.jsonl", "sub", "sub/extra", "."}
	withUnexpectedFiles(t, func(t *testing.T, s *Store, put func(string)) {
		for _, place := range places {
			key := Key{Recipe: place}
			run := do(t, s, key, writeSmall)
			put(filepath.Join(run.Dir, place))
			other, err := Open(s.Dir())
			if err != nil {
				t.Fatal(err)
			}
			other.OnWarning = func(string) {}
			if err := other.Verify(run.ID); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), filepath.Join(run.Dir, place)) {
				t.Errorf("%s: verify says %v", place, err)
			}
			if _, err := other.List(); err != nil {
				t.Errorf("%s: list says %v", place, err)
			}
			checkSmall(t, do(t, other, key, writeSmall))
			if err := other.Verify(run.ID); err != nil {
				t.Errorf("%s: after it was computed anew: %v", place, err)
			}
		}
	})
}

func TestAFileInPlaceOfAShardIsQuarantined(t *testing.T) {
	withUnexpectedFiles(t, func(t *testing.T, s *Store, put func(string)) {
		key := Key{Recipe: "x"}
		run := do(t, s, key, writeSmall)
		put(filepath.Dir(run.Dir))
		entries, err := s.List()
		if err != nil || len(entries) != 1 || entries[0].State != Damaged || !strings.Contains(entries[0].Problem, "expected a folder") {
			t.Errorf("list says %+v, %v", entries, err)
		}
		checkSmall(t, do(t, s, key, writeSmall))
		if kept := mustList(t, filepath.Join(s.Dir(), quarantineDirName)); len(kept) != 1 {
			t.Errorf("set aside: %v", kept)
		}
	})
}

func TestUnexpectedFilesInUnfinishedWorkAreQuarantined(t *testing.T) {
	key := Key{Recipe: "x"}
	id, err := key.ID()
	if err != nil {
		t.Fatal(err)
	}
	checkpointed := func(_ context.Context, w *Work) error {
		if _, err := w.Scratch(); err != nil {
			return err
		}
		return errors.Join(w.AppendLine("early.jsonl", 1), w.SaveCheckpoint(smallFile(1), 1), errStop)
	}
	resumed := func(ctx context.Context, w *Work) error {
		if _, _, _, err := w.LoadCheckpoint(); err != nil {
			return err
		}
		if _, err := w.Scratch(); err != nil {
			return err
		}
		return writeSmall(ctx, w)
	}
	for _, place := range []string{".", "key.json", outputDirName, checkpointDirName, scratchDirName, "output/early.jsonl", "output/stray", "checkpoint/stray",
		"checkpoint/0000000002-" + strings.Repeat("a", 64) + checkpointSuffix} {
		t.Run(place, func(t *testing.T) {
			withUnexpectedFiles(t, func(t *testing.T, s *Store, put func(string)) {
				if _, err := s.Do(t.Context(), key, checkpointed); !errors.Is(err, errStop) {
					t.Fatal(err)
				}
				put(filepath.Join(s.workDir(id), place))
				if _, err := s.List(); err != nil {
					t.Errorf("list says %v", err)
				}
				do(t, s, key, resumed)
				if err := s.Verify(id); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func TestAnUnexpectedLockIsQuarantined(t *testing.T) {
	withUnexpectedFiles(t, func(t *testing.T, s *Store, put func(string)) {
		key := Key{Recipe: "x"}
		id, err := key.ID()
		if err != nil {
			t.Fatal(err)
		}
		put(s.lockPath(id))
		checkSmall(t, do(t, s, key, writeSmall))
	})
}

func TestAStoreWithALinkedFolderIsRefused(t *testing.T) {
	for _, dirName := range dirNames {
		withUnexpectedFiles(t, func(t *testing.T, s *Store, put func(string)) {
			path := filepath.Join(s.Dir(), dirName)
			put(path)
			if _, err := Open(s.Dir()); err == nil || !strings.Contains(err.Error(), path+": expected a folder") {
				t.Errorf("open says %v", err)
			}
			if _, err := s.Do(t.Context(), Key{Recipe: "x"}, writeSmall); err == nil || !strings.Contains(err.Error(), path) {
				t.Errorf("do says %v", err)
			}
		})
	}
}

func TestPruneRemovesLinksAndNotTheirTargets(t *testing.T) {
	withUnexpectedFiles(t, func(t *testing.T, s *Store, put func(string)) {
		run := do(t, s, Key{Recipe: "x"}, writeSmall)
		put(run.Dir)
		put(filepath.Join(s.Dir(), runsDirName, "stray"))
		put(s.workDir(run.ID))
		put(filepath.Join(s.Dir(), quarantineDirName, "stray"))
		dropped, err := s.Prune(func(Entry) bool { return true })
		if err != nil || len(dropped) != 4 {
			t.Errorf("dropped %v, %v", dropped, err)
		}
		if left, err := s.List(); err != nil || len(left) != 0 {
			t.Errorf("left: %v, %v", left, err)
		}
	})
}

// TestSparseFilesAreNotReadIntoMemory puts files of a terabyte in the place of
// small ones.
func TestSparseFilesAreNotReadIntoMemory(t *testing.T) {
	s := open(t)
	run := do(t, s, Key{Recipe: "x"}, writeSmall)
	for _, name := range []string{"log.jsonl", manifestName} {
		path := filepath.Join(run.Dir, name)
		if err := os.Truncate(path, 1<<40); err != nil {
			t.Skip("this file system has no sparse files:", err)
		}
		if err := s.Verify(run.ID); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), path) {
			t.Error(err)
		}
		if _, err := run.Bytes("log.jsonl"); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "log.jsonl") {
			t.Error(err)
		}
	}
}
