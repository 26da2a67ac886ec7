// A notebook's session: the Python process that runs nbclient, and its kernel.

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
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/lethe-ml/lethe/kernel/internal/proc"
)

// Jupyter describes a machine that is ready for notebooks.
type Jupyter struct {
	Python string   // has nbclient, and nbconvert for HTML
	Env    []string // environment of Python and of the kernel; nil: this process's
	Kernel string   // name of the kernelspec
}

//go:embed driver.py
var driver string

// headless tells lib/nb that no browser shows the notebook (nb.HeadlessEnv).
const headless = "LETHE_HEADLESS=1"

// statesEnv tells lib/nb how long a cell may draw states of its controls (nb.StatesEnv).
const statesEnv = "LETHE_STATES"

// Time limits: to start a kernel, to end.
const (
	startTime = 2 * time.Minute
	endTime   = 20 * time.Second
)

// stopTime is how long an interrupted cell may take to stop; tests use less.
var stopTime = 15 * time.Second

// session is a notebook on a running kernel. It executes one cell at a time, for one
// goroutine.
type session struct {
	cmd        *exec.Cmd
	in         io.WriteCloser
	events     chan event
	stderr     *tail
	stderrDone chan struct{} // closed when nothing more comes on stderr
	kernel     int           // process id, 0: not known
}

type event struct {
	Event    string  `json:"event"`
	PID      int     `json:"pid"`
	Seconds  float64 `json:"seconds"`
	Reply    reply   `json:"reply"`
	Notebook string  `json:"notebook"`
	Text     string  `json:"text"`
}

// reply is the kernel's reply to the execution of a cell.
type reply struct {
	Status    string   `json:"status"`
	Ename     string   `json:"ename"`
	Evalue    string   `json:"evalue"`
	Traceback []string `json:"traceback"`
}

// command is a command to driver.py, as a line of JSON.
type command struct {
	Do       string      `json:"do"`
	Notebook string      `json:"notebook,omitempty"`
	Kernel   string      `json:"kernel,omitempty"`
	Metadata Object      `json:"metadata,omitempty"`
	Folder   string      `json:"folder,omitempty"`
	Folders  [][2]string `json:"folders,omitempty"` // taken out of outputs, and what stands for them
	Seconds  float64     `json:"seconds,omitempty"`
	Cell     int         `json:"cell"`
	Count    int         `json:"count,omitempty"`
}

// start starts a kernel for the notebook. The session must be closed.
func (r Run) start(ctx context.Context, nb *Notebook) (*session, error) {
	s := &session{events: make(chan event, 64), stderr: &tail{}, stderrDone: make(chan struct{})}
	s.cmd = exec.Command(r.Python, "-u", "-c", driver)
	s.cmd.Env = append(os.Environ(), headless)
	if r.Env != nil {
		s.cmd.Env = append(append([]string{}, r.Env...), headless)
	}
	if r.Scale != "" {
		s.cmd.Env = append(s.cmd.Env, "LETHE_SCALE="+r.Scale)
	}
	s.cmd.Env = append(s.cmd.Env, fmt.Sprintf("%s=%v", statesEnv, r.States))
	proc.Group(s.cmd) // stopped by us, after its work is saved
	in, err := s.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	stderr, err := s.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("the notebooks' Python cannot be started: %w", err)
	}
	s.in = in
	go s.read(out)
	go func() {
		defer close(s.stderrDone)
		_, _ = io.Copy(s.stderr, stderr)
	}()
	err = s.send(command{
		Do: "start", Notebook: string(nb.Text), Kernel: r.Kernel, Metadata: kernelMetadata(), Folder: r.Folder,
		Folders: hiddenFolders(r.Root), Seconds: startTime.Seconds(),
	})
	if err == nil {
		err = s.ready(ctx, nb)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("the kernel %s did not start: %w", r.Kernel, err), s.close())
	}
	return s, nil
}

// hiddenFolders returns the folders that are replaced in outputs, so that these do not
// depend on the machine: root (the project), the folders for temporary files, and the home.
func hiddenFolders(root string) (out [][2]string) {
	home, err := os.UserHomeDir()
	if err != nil {
		home = "" // then nothing lies below it
	}
	for _, f := range [][2]string{{root, "."}, {os.TempDir(), "$TMPDIR"}, {"/tmp", "$TMPDIR"}, {home, "~"}} {
		if len(f[0]) > 1 && filepath.IsAbs(f[0]) {
			out = append(out, [2]string{filepath.Clean(f[0]), f[1]})
		}
	}
	return out
}

// read passes the events on. Other lines are kept for error messages.
func (s *session) read(r io.Reader) {
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

func (s *session) send(c command) error {
	b, err := json.Marshal(c)
	if err != nil {
		return err
	}
	if _, err := s.in.Write(append(b, '\n')); err != nil {
		return s.endedError()
	}
	return nil
}

func (s *session) ready(ctx context.Context, nb *Notebook) error {
	ctx, stop := context.WithTimeoutCause(ctx, startTime+endTime, fmt.Errorf("no answer within %v", startTime))
	defer stop()
	for {
		e, err := s.next(ctx)
		switch {
		case err != nil:
			return err
		case e.Event == "started":
			s.kernel = e.PID
		case e.Event == "ready":
			return nb.replaceWith(e.Notebook)
		}
	}
}

// next waits for the next event. Its error says that there will be none, or is the cause of
// ctx.
func (s *session) next(ctx context.Context) (event, error) {
	select {
	case <-ctx.Done():
		return event{}, context.Cause(ctx)
	case e, ok := <-s.events:
		switch {
		case !ok:
			return e, s.endedError()
		case e.Event == "died":
			return e, errDied
		case e.Event == "failed":
			return e, errors.New(e.Text)
		}
		return e, nil
	}
}

// endedError returns the error for a Python process that has ended, with its last line.
// That may arrive after the end is seen.
func (s *session) endedError() error {
	select {
	case <-s.stderrDone:
	case <-time.After(time.Second):
	}
	if line := s.stderr.lastLine(); line != "" {
		return fmt.Errorf("its Python ended: %s", line)
	}
	return errors.New("its Python ended without a message")
}

// close ends the kernel and Python, by force if necessary.
func (s *session) close() error {
	s.in.Close()
	force := time.AfterFunc(endTime, s.kill)
	defer force.Stop()
	for range s.events {
	}
	err := s.cmd.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		proc.KillGroup(s.kernel) // Python could not do it
		return nil               // the reason was reported before
	}
	return err
}

func (s *session) kill() {
	proc.KillGroup(s.kernel)
	proc.KillGroup(s.cmd.Process.Pid)
}

// tail keeps the end of a program's output.
type tail struct {
	mu   sync.Mutex
	text []byte
}

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

// logLine matches a log line of the kernel or of nbclient.
var logLine = regexp.MustCompile(`^[IWE][0-9]{4} |^\[\w+\] `)

// lastLine returns the last line that is not from a log.
func (t *tail) lastLine() string {
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
