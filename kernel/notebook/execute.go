package notebook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// Execution is a cell that has run.
type Execution struct {
	Seconds float64 // until the kernel was idle again
	Outputs []*Output
}

// Failure is why a cell did not succeed.
type Failure struct {
	Reason string   // one line
	Detail []string // what a reader needs to find the mistake, line by line
	cause  error
}

// Error returns the reason.
func (f *Failure) Error() string { return f.Reason }

// Unwrap returns what interrupted the cell.
func (f *Failure) Unwrap() error { return f.cause }

// errTimeout is the cause of a Failure of a cell that ran too long.
var errTimeout = errors.New("timeout")

// Execute runs code as one cell and waits for its end, at most for timeout (0:
// without limit). A cell that fails, runs too long or is interrupted through
// ctx gives a *Failure beside the outputs until then. After an error of another
// kind the session is of no more use.
func (s *Session) Execute(ctx context.Context, code string, timeout time.Duration) (Execution, error) {
	s.collector.begin()
	began := time.Now()
	if err := s.send(command{Do: "execute", Code: code}); err != nil {
		return Execution{}, err
	}
	done, stopped, err := s.wait(ctx, timeout)
	run := Execution{Seconds: done.Seconds, Outputs: s.collector.outputs}
	if done.Event != "done" {
		run.Seconds = time.Since(began).Seconds()
	}
	switch {
	case stopped != nil && errors.Is(stopped, errTimeout):
		return run, &Failure{Reason: fmt.Sprintf("ran longer than %v and was stopped", timeout), Detail: stderrLines(run.Outputs), cause: stopped}
	case stopped != nil:
		return run, &Failure{Reason: fmt.Sprintf("interrupted after %.1f s", run.Seconds), Detail: stderrLines(run.Outputs), cause: stopped}
	case err != nil:
		return run, err
	case done.Status != "ok":
		return run, failed(run.Outputs, done)
	}
	if status := failedShell(code, run.Outputs); status != "" {
		return run, &Failure{Reason: "a shell line (!) failed: " + status, Detail: stderrLines(run.Outputs)}
	}
	return run, nil
}

// wait handles events until the cell is done. Where ctx or the time ends
// before, it interrupts the cell and returns the cause as stopped.
func (s *Session) wait(ctx context.Context, timeout time.Duration) (done event, stopped, err error) {
	var late <-chan time.Time
	if timeout > 0 {
		timer := time.NewTimer(timeout)
		defer timer.Stop()
		late = timer.C
	}
	interrupted, giveUp := ctx.Done(), (<-chan time.Time)(nil)
	stop := func(cause error) {
		stopped, interrupted, late = cause, nil, nil
		giveUp = time.After(stopTime)
		err = s.send(command{Do: "interrupt"})
	}
	for err == nil {
		select {
		case <-interrupted:
			stop(context.Cause(ctx))
		case <-late:
			stop(errTimeout)
		case <-giveUp:
			s.kill()
			return event{}, stopped, errors.New("the kernel did not stop the cell and was ended")
		case e, ok := <-s.events:
			if !ok {
				return event{}, stopped, s.lastWords()
			}
			var end bool
			if end, err = s.handle(e); end {
				return e, stopped, nil
			}
		}
	}
	return event{}, stopped, err
}

// handle takes in one event and reports whether it was the cell's end.
func (s *Session) handle(e event) (end bool, err error) {
	switch e.Event {
	case "message":
		var m message
		if err := decode(e.Content, &m); err != nil {
			return false, fmt.Errorf("the kernel's %s message: %w", e.Kind, err)
		}
		s.collector.add(e.Kind, m)
	case "done":
		return true, nil
	case "died":
		return false, errors.New("the kernel died while the cell ran (out of memory?)")
	case "failed":
		return false, errors.New(e.Text)
	}
	return false, nil
}

func decode(b []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	return d.Decode(v)
}

// failed explains an error reply: what the program said on standard error, or
// else the traceback.
func failed(outputs []*Output, done event) *Failure {
	var m message
	if err := decode(done.Content, &m); err != nil {
		m.Evalue = "unknown error"
	}
	for _, o := range outputs {
		if o.Type == ErrorOutput && len(m.Traceback) == 0 {
			m.Traceback = o.Traceback // some replies come without
		}
	}
	f := &Failure{Detail: stderrLines(outputs)}
	if len(f.Detail) == 0 {
		f.Detail = visibleLines(strings.Join(m.Traceback, "\n"))
	}
	f.Reason = m.Ename
	if lines := visibleLines(m.Evalue); len(lines) > 0 {
		f.Reason = compilerPlace.ReplaceAllString(lines[len(lines)-1], "")
	}
	for _, line := range f.Detail {
		if strings.HasPrefix(line, "panic: ") {
			f.Reason = line
			break
		}
	}
	return f
}

// compilerPlace is a place in a program that the reader has never seen: the
// detail has the cell and the line.
var compilerPlace = regexp.MustCompile(`^\./main\.go:\d+:\d+: `)

var colours = regexp.MustCompile("\x1b\\[[0-9;]*m")

// plain is a text without terminal colours.
func plain(s string) string { return colours.ReplaceAllString(s, "") }

// noise is what go build says before its errors.
var noise = regexp.MustCompile(`^# gonb_[0-9a-f]+$`)

// visibleLines are the lines of a text that say something.
func visibleLines(text string) []string {
	var lines []string
	for line := range strings.SplitSeq(plain(text), "\n") {
		line = strings.TrimRight(line, " \t\r")
		if line != "" && !noise.MatchString(line) {
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

var exitStatus = regexp.MustCompile(`(?m)^(exit status [1-9][0-9]*|signal: [a-z ]+)$`)

// failedShell finds a shell line's failure, which GoNB only mentions on
// standard error. It returns "" where none failed.
func failedShell(code string, outputs []*Output) string {
	shell := false
	for _, line := range commandLines(code) {
		shell = shell || line.text[0] == '!' || shellCell.MatchString(line.text)
	}
	if !shell {
		return ""
	}
	for _, o := range outputs {
		if o.Type == StreamOutput && o.Name == "stderr" {
			if found := exitStatus.FindString(plain(o.Text)); found != "" {
				return found
			}
		}
	}
	return ""
}

var shellCell = regexp.MustCompile(`^%%(script|bash|sh)\b`)

// commandLine is a line of a cell that GoNB takes for a command.
type commandLine struct {
	number int // from 1
	text   string
}

// commandLines finds the lines that GoNB takes for commands, whatever Go would
// see in them.
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
