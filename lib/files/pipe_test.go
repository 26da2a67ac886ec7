//go:build unix

// Pipes and devices in place of files.

package files

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestAPipeIsRefusedAndNotWaitedFor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	if _, err := Read(path, 1); !errors.Is(err, ErrKind) {
		t.Errorf("read: %v", err)
	}
	if err := Writable(path); err != nil {
		t.Errorf("somebody may read what is written into it: %v", err)
	}
	for _, write := range []func() error{
		func() error { return WriteFile(path, []byte("x")) },
		func() error { _, err := OpenNoFollow(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND); return err },
	} {
		if err := write(); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("nobody reads it: %v", err)
		}
	}
	loop := filepath.Join(t.TempDir(), "loop")
	if err := os.Symlink(loop, loop); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(loop, 1); err == nil || !strings.Contains(err.Error(), loop) {
		t.Errorf("a link to itself: %v", err)
	}
	// Linux opens a pipe for both directions without a second process.
	both, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Skip(err)
	}
	defer both.Close()
	if err := WriteFile(path, []byte("x")); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 1)
	if n, err := both.Read(b); n != 1 || b[0] != 'x' || err != nil {
		t.Errorf("read %q, %v", b[:n], err)
	}
}
