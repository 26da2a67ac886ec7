// Executing one cell, and explaining its failure.

package notebook

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/lethe-ml/lethe/kernel/internal/proc"
)

// Failure is the reason why a cell did not succeed.
type Failure struct {
	Reason string   // one line
	Detail []string // what a reader needs to find the error, line by line
	cause  error
}

// Error returns the reason.
func (f *Failure) Error() string { return f.Reason }

// Unwrap returns what interrupted the cell.
func (f *Failure) Unwrap() error { return f.cause }

var errTimeout = errors.New("timeout")

var errDied = errors.New("the kernel died while the cell ran (out of memory?)")

// execute executes one cell of nb and waits for its end, at most for timeout (0: no limit),
// and updates nb. A cell that fails, runs too long or is interrupted by ctx gives a
// *Failure. After any other error the session cannot be used.
func (s *session) execute(ctx context.Context, nb *Notebook, cell, count int, timeout time.Duration) (seconds float64, err error) {
	if timeout > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, timeout, errTimeout)
		defer stop()
	}
	began := time.Now()
	if err := s.send(command{Do: "execute", Cell: cell, Count: count}); err != nil {
		return 0, err
	}
	done, stopped, err := s.wait(ctx)
	seconds = done.Seconds
	if done.Event != "done" {
		seconds = time.Since(began).Seconds()
	}
	if done.Notebook != "" {
		if bad := nb.replaceWith(done.Notebook); bad != nil {
			return seconds, bad
		}
	}
	outputs := nb.Cells[cell].Outputs
	switch {
	case errors.Is(stopped, errTimeout):
		err = &Failure{Reason: fmt.Sprintf("ran longer than %v and was stopped", timeout), Detail: stderrLines(outputs), cause: stopped}
	case stopped != nil:
		err = &Failure{Reason: fmt.Sprintf("interrupted after %.1f s", seconds), Detail: stderrLines(outputs), cause: stopped}
	case err != nil:
	case done.Reply.Status != "ok":
		err = newFailure(outputs, done.Reply)
	}
	return seconds, err
}

// wait waits until the cell is done. If ctx ends before, it interrupts the cell and returns
// the cause as stopped. A cell that does not stop is killed with its kernel, and then
// Python too.
func (s *session) wait(ctx context.Context) (done event, stopped, err error) {
	if done, err = s.next(ctx); ctx.Err() == nil || err != context.Cause(ctx) {
		return done, nil, err
	}
	stopped = context.Cause(ctx)
	if err := s.send(command{Do: "interrupt"}); err != nil {
		return done, stopped, err
	}
	for _, force := range []func(){func() { proc.KillGroup(s.kernel) }, s.kill} {
		limited, cancel := context.WithTimeout(context.Background(), stopTime)
		done, err = s.next(limited)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			return done, stopped, err
		}
		force()
	}
	done, err = s.next(context.Background())
	return done, stopped, err
}

// newFailure explains an error reply, by its traceback or by the program's standard error.
func newFailure(outputs []*Output, m reply) *Failure {
	for _, o := range outputs {
		if o.Type == ErrorOutput && len(m.Traceback) == 0 {
			m.Traceback = o.Traceback // some replies come without
		}
	}
	f := &Failure{Reason: m.Ename, Detail: visibleLines(strings.Join(m.Traceback, "\n"))}
	if len(f.Detail) == 0 {
		f.Detail = stderrLines(outputs)
	}
	if lines := visibleLines(m.Evalue); len(lines) > 0 {
		f.Reason = lines[0]
	}
	return f
}

var colours = regexp.MustCompile("\x1b\\[[0-9;]*m")

// visibleLines returns the lines of a text that are not blank, without colours.
func visibleLines(text string) []string {
	var lines []string
	for line := range strings.SplitSeq(colours.ReplaceAllString(text, ""), "\n") {
		if line = strings.TrimRight(line, " \t\r"); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

func stderrLines(outputs []*Output) []string {
	var lines []string
	for _, o := range outputs {
		if o.Type == StreamOutput && o.Name == "stderr" {
			lines = append(lines, visibleLines(o.Text)...)
		}
	}
	return lines
}

// commandLine is a line of a cell that GoNB takes for a command.
type commandLine struct {
	number int // from 1
	text   string
}

// commandLines returns the lines that GoNB takes for commands, even inside Go text.
func commandLines(code string) []commandLine {
	var found []commandLine
	for i, line := range strings.Split(code, "\n") {
		line = strings.TrimPrefix(line, "//gonb:")
		if len(line) > 1 && (line[0] == '!' || line[0] == '%') {
			found = append(found, commandLine{i + 1, line})
		}
	}
	return found
}
