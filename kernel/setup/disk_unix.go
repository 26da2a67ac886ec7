//go:build unix

// Disk space and owners of files, by Unix calls.

package setup

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// ownedByUser reports whether a file belongs to the user.
func ownedByUser(info os.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Getuid()
}

// freeDisk returns the free bytes of the disk of a folder.
func freeDisk(dir string) (int64, bool) {
	var stat unix.Statfs_t
	if err := unix.Statfs(dir, &stat); err != nil {
		return 0, false
	}
	return int64(stat.Bavail) * int64(stat.Bsize), true
}
