// Package proc starts programs in their own process groups, signals them, and lists the
// processes of this machine.
package proc

import (
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// Process is a process of this machine.
type Process struct {
	PID, Parent, Group int
	Name               string // of the program; its path where the system says that instead
	Started            uint64 // distinguishes processes that share a number; 0: not known
}

// Child is a running child process, the leader of a process group.
type Child struct {
	*exec.Cmd
	Done chan struct{} // closed when the program has ended
	Err  error         // how it ended; read it after Done
}

// Start starts a program in its own process group, so that an interrupt from the keyboard
// does not reach it. On Linux it gets SIGTERM when this program is killed.
func Start(cmd *exec.Cmd) (*Child, error) {
	endWithParent(cmd)
	c := &Child{Cmd: cmd, Done: make(chan struct{})}
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // Linux ends the child when the thread that started it ends
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			c.Err = cmd.Wait()
			close(c.Done)
		}
	}()
	return c, <-started
}

// Ended reports whether the program ends within the time.
func (c *Child) Ended(within time.Duration) bool {
	select {
	case <-c.Done:
		return true
	case <-time.After(within):
		return false
	}
}

// Stop sends SIGTERM, waits at most this time, and kills the rest of the group.
func (c *Child) Stop(within time.Duration) {
	Terminate(c.Process.Pid)
	c.Ended(within)
	KillGroup(c.Process.Pid)
	<-c.Done
}

// Interrupt sends SIGINT.
func Interrupt(pid int) { _ = signal(pid, syscall.SIGINT) }

// Terminate sends SIGTERM.
func Terminate(pid int) { _ = signal(pid, syscall.SIGTERM) }

// Kill sends SIGKILL.
func Kill(pid int) { _ = signal(pid, syscall.SIGKILL) }

// KillGroup kills a process group, if it exists.
func KillGroup(group int) {
	if group > 1 {
		_ = signal(-group, syscall.SIGKILL)
	}
}

// GroupAlive reports whether a process group has members.
func GroupAlive(group int) bool { return signal(-group, 0) == nil }

// Alive reports whether a process runs; a zombie does not.
func Alive(pid int) bool { return signal(pid, 0) != syscall.ESRCH && !isZombie(pid) }
