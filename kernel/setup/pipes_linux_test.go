// Pipes of ended kernels are found.

package setup

import (
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

func TestThePipeOfAKernelThatIsGoneIsStale(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "gonb_pipe_1"), 0o600); err != nil {
		t.Skip("no pipes in this file system: ", err)
	}
	if got := staleFolders(dir, "gonb_*", oldestStart(nil, gonbName)); len(got) != 1 {
		t.Errorf("without a kernel: %v", got)
	}
	alive := []running{{exe: "/x/gonb", start: time.Now().Add(-time.Minute)}}
	if got := staleFolders(dir, "gonb_*", oldestStart(alive, gonbName)); len(got) != 0 {
		t.Errorf("of a living kernel: %v", got)
	}
}
