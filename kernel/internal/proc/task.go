// Running a program to its end, with its output line by line.

package proc

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Task is a program to run to its end.
type Task struct {
	Dir  string
	Env  []string
	Line func(string) // gets every line of the output; may be nil
	Argv []string
}

// Run runs the program. When ctx ends, the whole process group is killed.
func (t Task) Run(ctx context.Context) error {
	output := &lines{each: t.Line}
	return t.runWith(ctx, output, output)
}

// Output runs the program and returns its standard output.
func (t Task) Output(ctx context.Context) (string, error) {
	var out strings.Builder
	err := t.runWith(ctx, &out, &lines{})
	return out.String(), err
}

func (t Task) runWith(ctx context.Context, stdout io.Writer, stderr *lines) error {
	cmd := exec.CommandContext(ctx, t.Argv[0], t.Argv[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = t.Dir, t.Env, stdout, stderr
	cmd.WaitDelay = 5 * time.Second
	Group(cmd)
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		if cmd.Process != nil {
			KillGroup(cmd.Process.Pid)
		}
		return context.Cause(ctx)
	case err != nil:
		return &Failure{t.Argv, err, append(stderr.last, stderr.rest)}
	}
	return nil
}

// lines splits output into lines and keeps the last ones.
type lines struct {
	each func(string)
	last []string
	rest string // the last line, while it has no end
}

// Write never fails.
func (l *lines) Write(p []byte) (int, error) {
	all := strings.Split(l.rest+string(p), "\n")
	for _, line := range all[:len(all)-1] {
		l.last = append(l.last, line)
		if l.each != nil {
			l.each(line)
		}
	}
	l.last, l.rest = l.last[max(0, len(l.last)-200):], all[len(all)-1]
	return len(p), nil
}

// Failure is the error of a program, with its last lines of output.
type Failure struct {
	Argv  []string
	Err   error
	Lines []string // the last of them
}

// Error names the program and its first meaningful line.
func (e *Failure) Error() string {
	name := strings.Join(append([]string{filepath.Base(e.Argv[0])}, e.Argv[1:min(2, len(e.Argv))]...), " ")
	return fmt.Sprintf("%s failed (%v): %s", name, e.Err, e.Message())
}

// Unwrap returns how the program ended.
func (e *Failure) Unwrap() error { return e.Err }

// LineWith returns the first line that contains one of the signs, or "".
func (e *Failure) LineWith(signs ...string) string {
	for _, line := range e.Lines {
		if slices.ContainsFunc(signs, func(sign string) bool { return strings.Contains(line, sign) }) {
			return strings.TrimSpace(line)
		}
	}
	return ""
}

// Message returns the first line that is not just the name of a package.
func (e *Failure) Message() string {
	for _, line := range e.Lines {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "go: downloading") {
			return strings.TrimSuffix(line, "; to add it:")
		}
	}
	return "no message"
}
