// Removing what Prepare has made.

package setup

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/lethe-ml/lethe/lib/files"
)

// FolderSize returns the bytes of the files in a folder.
func FolderSize(dir string) int64 {
	var sum int64
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				sum += info.Size()
			}
		}
		return nil
	})
	return sum
}

// Remove removes everything that Prepare has made in home, and returns the folder and its
// former size. It refuses while a kernel runs.
func Remove(ctx context.Context, home string) (dir string, size int64, err error) {
	dir = filepath.Join(home, "kernel")
	if _, err := os.Stat(dir); os.IsNotExist(err) {
		return dir, 0, nil
	}
	left, err := FindLeftovers(home)
	if err != nil {
		return dir, 0, err
	}
	if len(left.Living) > 0 {
		return dir, 0, fmt.Errorf("a notebook kernel is running (process %d): end JupyterLab, or the notebook's kernel, first", left.Living[0].PID)
	}
	lock := newLock(dir, newReporter(io.Discard))
	if err := lock.acquire(ctx); err != nil {
		return dir, 0, err
	}
	defer lock.release()
	for _, pattern := range ownPatterns {
		found, _ := filepath.Glob(filepath.Join(dir, pattern))
		for _, path := range found {
			size += FolderSize(path)
			if err := os.RemoveAll(path); err != nil {
				return dir, size, err
			}
		}
	}
	_ = os.Remove(filepath.Join(dir, ".lock"))
	_ = os.Remove(dir) // fails if it holds other files
	return dir, size, nil
}

// ownPatterns match the names of what Prepare makes.
var ownPatterns = []string{"tools-????????????", "root-????????????", "module-????????????*", "python-????????????*", "xla-????????????*",
	"pip-cache", "programs", "gopls-cache", "jupyter", files.TempPrefix + "*"}
