package e2e

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os/exec"
	"runtime"
	"time"
)

// child is a program that runs beside us, at the head of a process group.
type child struct {
	*exec.Cmd
	done chan struct{} // closed when it has ended
	err  error         // how it ended
}

func newChild(argv ...string) *child {
	return &child{Cmd: exec.Command(argv[0], argv[1:]...), done: make(chan struct{})}
}

// start starts the program. Where the system can do that, it ends with us.
func (c *child) start() error {
	dieWithUs(c.Cmd)
	c.WaitDelay = 5 * time.Second
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // the child's life hangs on this thread
		err := c.Start()
		started <- err
		if err == nil {
			c.err = c.Wait()
			close(c.done)
		}
	}()
	return <-started
}

// stop asks the program to end, and ends what is left of its group when it takes
// longer than patience. It does nothing where the program was never started.
func (c *child) stop(patience time.Duration) {
	if c.Process == nil {
		return
	}
	askToStop(c.Cmd)
	select {
	case <-c.done:
	case <-time.After(patience):
	}
	endGroup(c.Cmd)
	<-c.done
}

// startAndRead starts lethe lab and returns the address that it prints.
func startAndRead(ctx context.Context, lab *child, patience time.Duration) (string, error) {
	r, w := io.Pipe()
	lab.Stdout = w
	if err := lab.start(); err != nil {
		return "", fmt.Errorf("lethe lab cannot be started: %w", err)
	}
	lines := make(chan string, 1)
	go func() {
		line, err := bufio.NewReader(r).ReadString('\n')
		if err == nil {
			lines <- line[:len(line)-1]
		}
		_, _ = io.Copy(io.Discard, r)
	}()
	select {
	case line := <-lines:
		return line, checkAddress(line)
	case <-lab.done:
		return "", fmt.Errorf("lethe lab ended before it printed an address: %v", lab.err)
	case <-time.After(patience):
		return "", fmt.Errorf("lethe lab printed no address in %v", patience)
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// checkAddress makes sure that a line is the address of a server on this
// machine, with the token that opens it.
func checkAddress(line string) error {
	u, err := url.Parse(line)
	if err != nil {
		return fmt.Errorf("lethe lab printed no address: %w", err)
	}
	var missing error
	switch ip := net.ParseIP(u.Hostname()); {
	case u.Scheme != "http" || u.Port() == "":
		missing = errors.New("expected http and a port")
	case u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()):
		missing = errors.New("expected a server on this machine")
	case u.Query().Get("token") == "":
		missing = errors.New("its token is missing")
	default:
		return nil
	}
	return fmt.Errorf("lethe lab printed %q as its address: %w", line, missing)
}
