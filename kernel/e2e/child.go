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
	"time"

	"github.com/lethe-ml/lethe/kernel/internal/proc"
)

// startAndRead starts lethe lab and returns it with the address that it prints.
func startAndRead(ctx context.Context, cmd *exec.Cmd, patience time.Duration) (lab *proc.Child, address string, err error) {
	r, w := io.Pipe()
	cmd.Stdout = w
	if lab, err = proc.Start(cmd); err != nil {
		return nil, "", fmt.Errorf("lethe lab cannot be started: %w", err)
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
		return lab, line, checkAddress(line)
	case <-lab.Done:
		return lab, "", fmt.Errorf("lethe lab ended before it printed an address: %v", lab.Err)
	case <-time.After(patience):
		return lab, "", fmt.Errorf("lethe lab printed no address in %v", patience)
	case <-ctx.Done():
		return lab, "", context.Cause(ctx)
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
