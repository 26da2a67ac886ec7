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

// Run runs the program. An end of ctx ends it and all that it started.
func (t Task) Run(ctx context.Context) error {
	said := &lines{each: t.Line}
	return t.runWith(ctx, said, said)
}

// Output runs a program that answers on standard output.
func (t Task) Output(ctx context.Context) (string, error) {
	var out strings.Builder
	err := t.runWith(ctx, &out, &lines{})
	return out.String(), err
}

func (t Task) runWith(ctx context.Context, stdout io.Writer, said *lines) error {
	cmd := exec.CommandContext(ctx, t.Argv[0], t.Argv[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = t.Dir, t.Env, stdout, said
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
		return &Failure{t.Argv, err, append(said.last, said.rest)}
	}
	return nil
}

// lines takes what a program says apart and keeps the end.
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

// Failure says what a program said before it failed.
type Failure struct {
	Argv  []string
	Err   error
	Lines []string // the last of them
}

// Error names the program and its first line that says something.
func (e *Failure) Error() string {
	name := strings.Join(append([]string{filepath.Base(e.Argv[0])}, e.Argv[1:min(2, len(e.Argv))]...), " ")
	return fmt.Sprintf("%s failed (%v): %s", name, e.Err, e.Message())
}

// Unwrap returns how the program ended.
func (e *Failure) Unwrap() error { return e.Err }

// LineWith is the first line that holds one of the signs, or nothing.
func (e *Failure) LineWith(signs ...string) string {
	for _, line := range e.Lines {
		if slices.ContainsFunc(signs, func(sign string) bool { return strings.Contains(line, sign) }) {
			return strings.TrimSpace(line)
		}
	}
	return ""
}

// Message is the first line that is not only the name of a package.
func (e *Failure) Message() string {
	for _, line := range e.Lines {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "go: downloading") {
			return strings.TrimSuffix(line, "; to add it:")
		}
	}
	return "no message"
}
