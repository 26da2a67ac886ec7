// Steps of the set-up, each done once, and the lock between programs.

package setup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/lethe-ml/lethe/lib/files"

	"github.com/gofrs/flock"
)

// step is one step of the set-up, which is repeated when its inputs change.
type step struct {
	stamp    string // file that is written last
	what     string // "building gopls"; empty: quick work that is not worth a line
	duration string // "30 seconds"
	inputs   []string
	intact   func(values map[string]string) bool // whether what the work made is still there; nil: it is
	do       func(ctx context.Context) (values map[string]string, err error)
}

// maxFile bounds the small files that are read whole.
const maxFile = 1 << 26

// stamp is the record of a finished step.
type stamp struct {
	Inputs string            `json:"inputs"`
	Values map[string]string `json:"values,omitempty"`
}

func readStamp(path string) (s stamp, ok bool) {
	b, err := files.Read(path, maxFile)
	return s, err == nil && json.Unmarshal(b, &s) == nil
}

// errNotDone is the error of a missing step during an inspection.
var errNotDone = errors.New("not set up yet: lethe lab does it")

// run does the step unless it is done with these inputs, and returns its values.
func (m *machine) run(ctx context.Context, s step) (map[string]string, error) {
	want := hashOf(s.inputs...)
	if got, ok := s.done(want); ok {
		return got, nil
	}
	if m.inspectOnly {
		old, ok := readStamp(s.stamp)
		if !ok || s.intact != nil && !s.intact(old.Values) {
			return nil, errNotDone
		}
		m.stale = true
		return old.Values, nil
	}
	if err := m.lock.acquire(ctx); err != nil {
		return nil, err
	}
	if got, ok := s.done(want); ok { // by the program that had the lock
		return got, nil
	}
	if err := os.MkdirAll(filepath.Dir(s.stamp), 0o755); err != nil {
		return nil, err
	}
	if err := os.Remove(s.stamp); err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	if s.what != "" {
		m.reporter.begin(s.what, s.duration)
		defer m.reporter.end()
	}
	values, err := s.do(ctx)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	b, err := json.MarshalIndent(stamp{want, values}, "", "  ")
	if err != nil {
		return nil, err
	}
	return values, files.WriteFile(s.stamp, b)
}

func (s step) done(want string) (map[string]string, bool) {
	got, ok := readStamp(s.stamp)
	if !ok || got.Inputs != want || s.intact != nil && !s.intact(got.Values) {
		return nil, false
	}
	now := time.Now()
	_ = os.Chtimes(s.stamp, now, now) // prune keeps what is used
	return got.Values, true
}

// keepFor is how long tools and environments of other versions are kept unused.
const keepFor = 60 * 24 * time.Hour

// prune removes folders of the same kind as dir that were not used for keepFor. Errors are
// ignored.
func prune(dir string, stampOf func(dir string) string) {
	kind, _, _ := strings.Cut(filepath.Base(dir), "-")
	others, _ := filepath.Glob(filepath.Join(filepath.Dir(dir), kind+"-????????????"))
	for _, other := range others {
		info, err := os.Stat(stampOf(other))
		if other == dir || err != nil || time.Since(info.ModTime()) < keepFor {
			continue
		}
		_ = os.RemoveAll(other)
		_ = os.Remove(stampOf(other))
	}
}

func hashOf(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d %s\n", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil))[:24]
}

// setupLock keeps two programs from setting up the same folder. It is taken before the
// first change and held to the end.
type setupLock struct {
	dir       string
	reporter  *reporter
	fullSetup bool // everything is set up, not one thing
	flock     *flock.Flock
}

func newLock(dir string, say *reporter) *setupLock { return &setupLock{dir: dir, reporter: say} }

func (l *setupLock) acquire(ctx context.Context) error {
	if l.flock != nil {
		return nil
	}
	if old, _ := filepath.Glob(filepath.Join(l.dir, "tools-*")); l.fullSetup && len(old) == 0 {
		l.reporter.note("setting up the notebooks in %s, once; it takes some minutes, can be interrupted and then goes on where it was", l.dir)
	}
	if err := os.MkdirAll(l.dir, 0o755); err != nil {
		return fmt.Errorf("the folder for the notebook kernel cannot be made: %w", err)
	}
	f := flock.New(filepath.Join(l.dir, ".lock"))
	got, err := f.TryLock()
	if err == nil && !got {
		l.reporter.note("waiting for another lethe that is setting up")
		_, err = f.TryLockContext(ctx, 100*time.Millisecond)
	}
	if err != nil {
		return err
	}
	l.flock = f
	l.removeTemporary()
	return nil
}

// removeTemporary removes what interrupted work has left. The lock is held.
func (l *setupLock) removeTemporary() {
	for _, pattern := range []string{"", "*", "*/*"} {
		left, _ := filepath.Glob(filepath.Join(l.dir, pattern, files.TempPrefix+"*"))
		for _, path := range left {
			_ = os.RemoveAll(path)
		}
	}
}

func (l *setupLock) release() {
	if l.flock != nil {
		_ = l.flock.Unlock()
		l.flock = nil
	}
}
