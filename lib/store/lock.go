// Locks of runs, within a process and between processes.

package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/gofrs/flock"
)

// lockPoll is how often a waiting process tries to lock.
const lockPoll = 25 * time.Millisecond

// lock takes a run's lock, first against the goroutines of this Store and then against
// other processes. onWait is called once if a goroutine holds it, and once with otherStore
// if another process does.
func (s *Store) lock(ctx context.Context, id string, onWait func(otherStore bool)) (release func(), err error) {
	unlock, err := s.lockInProcess(ctx, id, sync.OnceFunc(func() { onWait(false) }))
	if err != nil {
		return nil, err
	}
	if s.withoutLocks {
		return unlock, nil
	}
	file, err := s.lockFile(ctx, id, sync.OnceFunc(func() { onWait(true) }))
	if err != nil {
		unlock()
		return nil, err
	}
	return func() {
		// Removing the file while it is locked is safe because lockFile checks
		// that what it locked is still the file of that name. On Windows the
		// removal fails and an empty file stays, which does no harm.
		_ = s.fs.Remove(s.lockPath(id))
		if err := file.Unlock(); err != nil {
			s.warn("store: release the lock of run %s: %v", id, err)
		}
		unlock()
	}, nil
}

// errBusy reports that the lock is held.
var errBusy = errors.New("the run is being computed")

// tryLock is lock without waiting.
func (s *Store) tryLock(id string) (release func(), err error) {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	release, err = s.lock(ctx, id, func(bool) { cancel(errBusy) })
	if errors.Is(context.Cause(ctx), errBusy) && err != nil {
		return nil, errBusy
	}
	return release, err
}

// lockInProcess waits until no other goroutine of this Store computes the run.
func (s *Store) lockInProcess(ctx context.Context, id string, wait func()) (unlock func(), err error) {
	for {
		s.mu.Lock()
		other, busy := s.busy[id]
		if !busy {
			mine := make(chan struct{})
			s.busy[id] = mine
			s.mu.Unlock()
			return func() {
				s.mu.Lock()
				delete(s.busy, id)
				s.mu.Unlock()
				close(mine)
			}, nil
		}
		s.mu.Unlock()
		wait()
		select {
		case <-other:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// lockFile takes the lock that other processes see. The operating system frees the lock of
// a process that dies.
func (s *Store) lockFile(ctx context.Context, id string, wait func()) (*flock.Flock, error) {
	path := s.lockPath(id)
	for {
		if err := s.quarantineUnexpectedFile(path); err != nil {
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		file := flock.New(path, flock.SetPermissions(0o644))
		got, err := file.TryLock()
		if err == nil && !got {
			wait()
			_, err = file.TryLockContext(ctx, lockPoll)
		}
		if err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		current, err := isCurrent(file, path)
		if err == nil && current {
			return file, nil
		}
		if err := errors.Join(err, file.Unlock()); err != nil {
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
	}
}

// isCurrent reports whether the locked file still has its name: its former holder may have
// removed it meanwhile.
func isCurrent(file *flock.Flock, path string) (bool, error) {
	locked, err := file.Stat()
	if err != nil {
		return false, err
	}
	named, err := os.Lstat(path)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(locked, named), err
}
