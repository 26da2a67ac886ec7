package notebook

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/lethe-ml/lethe/kernel/internal/proc"
)

// Jupyter is what the package needs of a machine that is ready for notebooks.
type Jupyter struct {
	Python string   // has jupyter_client, and nbconvert for HTML
	Env    []string // environment of Python and of the kernel; nil: this process's
	Kernel string   // name of the kernelspec
}

//go:embed run.py
var runner string

// headless tells lib/nb, which calls the name HeadlessEnv, that nobody moves the
// sliders.
const headless = "LETHE_HEADLESS=1"

// Times that others get: to start a kernel, to end.
const (
	startTime = 2 * time.Minute
	endTime   = 20 * time.Second
)

// stopTime is how long a cell that is interrupted may take to stop; tests have
// less of it.
var stopTime = 15 * time.Second

// Session is a running kernel. It executes one cell at a time and is not for
// use by several goroutines.
type Session struct {
	Seconds float64 // that the kernel took to start

	cmd       *exec.Cmd
	in        io.WriteCloser
	events    chan event
	stderr    *tail
	kernel    int // process id, 0: not known
	collector collector
}

// event is a line of run.py.
type event struct {
	Event   string          `json:"event"`
	PID     int             `json:"pid"`
	Kind    string          `json:"kind"`
	Content json.RawMessage `json:"content"`
	Seconds float64         `json:"seconds"`
	Status  string          `json:"status"`
	Text    string          `json:"text"`
}

// command is a line for run.py.
type command struct {
	Do      string  `json:"do"`
	Kernel  string  `json:"kernel,omitempty"`
	Folder  string  `json:"folder,omitempty"`
	Seconds float64 `json:"seconds,omitempty"`
	Code    string  `json:"code,omitempty"`
}

// Start starts a kernel whose cells run in folder; env is added to the
// environment. The session must be closed.
func (j Jupyter) Start(ctx context.Context, folder string, env ...string) (*Session, error) {
	began := time.Now()
	s := &Session{events: make(chan event, 64), stderr: &tail{}}
	s.cmd = exec.Command(j.Python, "-u", "-c", runner)
	base := j.Env
	if base == nil {
		base = os.Environ()
	}
	s.cmd.Env = append(append(append([]string{}, base...), headless), env...)
	s.cmd.Stderr = s.stderr
	proc.Group(s.cmd)
	in, err := s.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("the notebooks' Python cannot be started: %w", err)
	}
	s.in = in
	go s.read(out)
	err = s.send(command{Do: "start", Kernel: j.Kernel, Folder: folder, Seconds: startTime.Seconds()})
	if err == nil {
		err = s.ready(ctx)
	}
	if err != nil {
		s.Close()
		return nil, fmt.Errorf("the kernel %s did not start: %w", j.Kernel, err)
	}
	s.Seconds = time.Since(began).Seconds()
	return s, nil
}

// read passes the events on; what is no event is kept for error messages.
func (s *Session) read(r io.Reader) {
	defer close(s.events)
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			var e event
			if json.Unmarshal(line, &e) == nil && e.Event != "" {
				s.events <- e
			} else {
				s.stderr.Write(line)
			}
		}
		if err != nil {
			return
		}
	}
}

func (s *Session) send(c command) error {
	b, err := json.Marshal(c)
	if err != nil {
		return err
	}
	if _, err := s.in.Write(append(b, '\n')); err != nil {
		return s.lastWords()
	}
	return nil
}

func (s *Session) ready(ctx context.Context) error {
	deadline := time.NewTimer(startTime + endTime)
	defer deadline.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-deadline.C:
			return fmt.Errorf("no sign of it in %v", startTime)
		case e, ok := <-s.events:
			switch {
			case !ok:
				return s.lastWords()
			case e.Event == "failed":
				return errors.New(e.Text)
			case e.Event == "started":
				s.kernel = e.PID
			case e.Event == "ready":
				return nil
			}
		}
	}
}

// lastWords is the error for a Python that has ended.
func (s *Session) lastWords() error {
	if said := s.stderr.last(); said != "" {
		return fmt.Errorf("its Python ended: %s", said)
	}
	return errors.New("its Python ended without a word")
}

// Close ends the kernel and Python, if need be by force.
func (s *Session) Close() error {
	s.in.Close()
	force := time.AfterFunc(endTime, s.kill)
	defer force.Stop()
	for range s.events {
	}
	err := s.cmd.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		proc.KillGroup(s.kernel) // Python could not see to it
		return nil               // and why has been said where it mattered
	}
	return err
}

func (s *Session) kill() {
	proc.KillGroup(s.kernel)
	proc.KillGroup(s.cmd.Process.Pid)
	s.cmd.Process.Kill()
}

// tail keeps the end of what a program says.
type tail struct {
	mu   sync.Mutex
	text []byte
}

// maxTail is how many bytes a tail keeps.
const maxTail = 16 << 10

// Write never fails.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if n := len(t.text); n > maxTail {
		t.text = append([]byte(nil), t.text[n-maxTail:]...)
	}
	return len(p), nil
}

// logLine is a line of the kernel's own log.
var logLine = regexp.MustCompile(`^[IWE][0-9]{4} `)

// last is the last line that is not from a log.
func (t *tail) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(string(t.text)), "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if line := strings.TrimSpace(lines[i]); line != "" && !logLine.MatchString(line) {
			return line
		}
	}
	return ""
}
