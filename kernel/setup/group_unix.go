//go:build unix

package setup

import (
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// ownGroup makes a program the head of a process group, which is asked to stop
// as a whole: the go tool and pip then remove their temporary files.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
}

// endGroup ends what is left of a program's group.
func endGroup(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
}

// askToStop asks a program to end in its own way.
func askToStop(cmd *exec.Cmd) { _ = cmd.Process.Signal(syscall.SIGTERM) }

// mine reports whether a file is the user's own.
func mine(info os.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Getuid()
}

// gone reports whether a process has ended, also where nobody asks how.
func gone(p *os.Process) bool { return p.Signal(syscall.Signal(0)) != nil || isZombie(p.Pid) }

// free returns the bytes that can still be written to the folder's disk.
func free(dir string) (int64, bool) {
	var stat unix.Statfs_t
	if err := unix.Statfs(dir, &stat); err != nil {
		return 0, false
	}
	return int64(stat.Bavail) * int64(stat.Bsize), true
}
