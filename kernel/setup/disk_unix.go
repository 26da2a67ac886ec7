//go:build unix

package setup

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// ownedByUser reports whether a file is the user's own.
func ownedByUser(info os.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Getuid()
}

func freeDisk(dir string) (int64, bool) {
	var stat unix.Statfs_t
	if err := unix.Statfs(dir, &stat); err != nil {
		return 0, false
	}
	return int64(stat.Bavail) * int64(stat.Bsize), true
}
