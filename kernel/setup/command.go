package setup

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/lethe-ml/lethe/kernel/internal/proc"
)

// task is a program to run to its end.
type task struct {
	dir  string
	env  []string
	line func(string) // gets every line of the output; may be nil
	argv []string
}

// tail is how many lines of a failed program's output are kept.
const tail = 200

// run runs the program and returns its last lines. An end of ctx ends the
// program and all that it started. The error has the first line that says
// something.
func (t task) run(ctx context.Context) (last []string, err error) {
	cmd := exec.CommandContext(ctx, t.argv[0], t.argv[1:]...)
	cmd.Dir, cmd.Env = t.dir, t.env
	cmd.WaitDelay = 5 * time.Second
	proc.Group(cmd)
	r, w := io.Pipe()
	cmd.Stdout, cmd.Stderr = w, w
	read := make(chan struct{})
	go func() {
		defer close(read)
		lines := bufio.NewScanner(r)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			if last = append(last, lines.Text()); len(last) > tail {
				last = last[1:]
			}
			if t.line != nil {
				t.line(lines.Text())
			}
		}
		_, _ = io.Copy(io.Discard, r)
	}()
	err = cmd.Run()
	w.Close()
	<-read
	if ctx.Err() != nil {
		endGroup(cmd)
		return last, context.Cause(ctx)
	}
	if err != nil {
		return last, &taskError{argv: t.argv, err: err, lines: last}
	}
	return last, nil
}

// endGroup ends what is left of a program's group.
func endGroup(cmd *exec.Cmd) {
	if cmd.Process != nil {
		proc.KillGroup(cmd.Process.Pid)
	}
}

// output runs a program that answers on standard output.
func (t task) output(ctx context.Context) (string, error) {
	cmd := exec.CommandContext(ctx, t.argv[0], t.argv[1:]...)
	cmd.Dir, cmd.Env = t.dir, t.env
	cmd.WaitDelay = 5 * time.Second
	proc.Group(cmd)
	out, err := cmd.Output()
	if ctx.Err() != nil {
		endGroup(cmd)
		return "", context.Cause(ctx)
	}
	if err != nil {
		var exit *exec.ExitError
		var lines []string
		if errors.As(err, &exit) {
			lines = strings.Split(string(exit.Stderr), "\n")
		}
		return "", &taskError{argv: t.argv, err: err, lines: lines}
	}
	return string(out), nil
}

// taskError says what a program said before it failed.
type taskError struct {
	argv  []string
	err   error
	lines []string
}

func (e *taskError) Error() string {
	name := strings.Join(append([]string{filepath.Base(e.argv[0])}, e.argv[1:min(2, len(e.argv))]...), " ")
	return fmt.Sprintf("%s failed (%v): %s", name, e.err, e.says())
}

func (e *taskError) Unwrap() error { return e.err }

// says is the first line that is not only the name of a package.
func (e *taskError) says() string {
	for _, line := range e.lines {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "go: downloading") {
			return strings.TrimSuffix(line, "; to add it:")
		}
	}
	return "no message"
}
