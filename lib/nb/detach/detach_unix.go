//go:build unix

// Splitting a program into a parent and a child, and separating them.

package detach

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// envChild holds, in a child, the file descriptor on which it tells its parent to end.
const envChild = "LETHE_DETACH_CHILD"

// child is the pipe to the parent; nil in a program that was not split.
var child *os.File

// Begin splits the program if its kernel can let it go on. It returns in the child, and in a
// program that cannot be split; the parent ends with the child's exit status, or with success
// when the child is detached. Call it before the program does anything else.
func Begin() {
	if os.Getenv(EnvSocket) == "" {
		return
	}
	if fd, err := strconv.Atoi(os.Getenv(envChild)); err == nil {
		_ = os.Unsetenv(envChild)
		unix.CloseOnExec(fd)
		child = os.NewFile(uintptr(fd), "parent")
		return
	}
	runChild()
}

// KernelPID returns the process of the kernel, which is the parent's parent in a child.
func KernelPID() int {
	if child == nil {
		return os.Getppid()
	}
	return kernelPID
}

var kernelPID, _ = strconv.Atoi(os.Getenv(envKernel))

const envKernel = "LETHE_DETACH_KERNEL"

// runChild starts the child, waits for it and exits. It returns if there can be no child.
func runChild() {
	program, err := os.Executable()
	if err != nil {
		return
	}
	told, tell, err := os.Pipe()
	if err != nil {
		return
	}
	// The kernel interrupts parent and child, and the parent must end last.
	terminated := make(chan os.Signal, 1)
	signal.Notify(make(chan os.Signal, 1), os.Interrupt)
	signal.Notify(terminated, syscall.SIGTERM)
	cmd := exec.Command(program, os.Args[1:]...)
	cmd.Args[0] = os.Args[0]
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.ExtraFiles = []*os.File{tell}
	cmd.Env = append(os.Environ(), envChild+"=3", envKernel+"="+strconv.Itoa(os.Getppid()))
	if cmd.Start() != nil {
		signal.Reset()
		return
	}
	_ = tell.Close()
	go func() {
		for range terminated {
			_ = cmd.Process.Signal(syscall.SIGTERM)
		}
	}()
	go func() {
		if n, _ := told.Read(make([]byte, 1)); n == 1 {
			os.Exit(0)
		}
	}()
	endLike(cmd.Wait())
}

// endLike ends this program as the child has ended.
func endLike(err error) {
	var exit *exec.ExitError
	switch {
	case err == nil:
		os.Exit(0)
	case !errors.As(err, &exit):
		os.Exit(1)
	}
	status, ok := exit.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() {
		os.Exit(exit.ExitCode())
	}
	signal.Reset()
	_ = syscall.Kill(os.Getpid(), status.Signal())
	time.Sleep(time.Second) // in which the signal ends this program
	os.Exit(1)
}

// detachLimit is how long the kernel may take to answer.
const detachLimit = 10 * time.Second

// Detach ends the cell while the program goes on: what it prints goes to the kernel's socket,
// and its standard input is at its end. Write out what was printed and shown before.
func (l *Link) Detach() error {
	printed, err := net.Dial("unix", os.Getenv(EnvSocket))
	if err != nil {
		return err
	}
	defer func() { _ = printed.Close() }()
	if err := Write(printed, Message{Kind: Printed, PID: os.Getpid()}); err != nil {
		return err
	}
	if err := l.send(Message{Kind: Detach}); err != nil {
		return err
	}
	select {
	case <-l.detached:
	case <-time.After(detachLimit):
		return errors.New("the kernel does not let the program go on")
	}
	if err := redirect(printed.(*net.UnixConn)); err != nil {
		return err
	}
	_, err = child.Write([]byte{1})
	return err
}

// redirect replaces the three standard streams.
func redirect(printed *net.UnixConn) error {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	defer func() { _ = null.Close() }()
	to, err := printed.File()
	if err != nil {
		return err
	}
	defer func() { _ = to.Close() }()
	// A blocking descriptor: the runtime writes a crash to it, too.
	if err := unix.SetNonblock(int(to.Fd()), false); err != nil {
		return err
	}
	return errors.Join(unix.Dup2(int(null.Fd()), 0), unix.Dup2(int(to.Fd()), 1), unix.Dup2(int(to.Fd()), 2))
}
