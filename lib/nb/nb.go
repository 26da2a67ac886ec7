// Package nb shows results in a notebook cell: tables, figures, progress, live
// curves, claims and exercises. The same calls print plainly in a terminal, so
// that a cell's code also makes sense under go run: tables and figures as text
// on standard output, progress as lines on standard error.
//
// Each output holds the same content in several forms, and every reader shows the
// best that it knows: JupyterLab, a notebook opened without trust, an exported
// page, GitHub. A figure is always a PNG with its text; nothing needs a script or
// the network.
//
// Outputs and text printed with fmt keep their order. Nothing here panics; a table
// or a figure that cannot be shown ends the cell with a message.
package nb

import (
	"encoding/gob"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/protocol"

	"github.com/lethe-ml/lethe/lib/progress"
	"github.com/lethe-ml/lethe/lib/progress/show"
)

func init() {
	// The kernel knows these types, the program's side of the pipe does not:
	// without them one nested value closes the pipe for the rest of the cell.
	gob.Register(map[string]any{})
	gob.Register([]any{})
	show.ChooseDisplay()
}

// bundle is one output in several forms.
type bundle map[protocol.MIMEType]any

// output is a bundle to be shown in the notebook. An output with an id replaces the one
// before it with that id.
type output struct {
	data bundle
	meta map[string]any
	id   string
}

// outputTarget is where output goes: a notebook, or the two streams of a terminal.
type outputTarget struct {
	mu       sync.Mutex // one output at a time
	notebook bool
	out, err io.Writer
	send     func(output) error
	drain    func()           // waits until what was printed has arrived
	sync     func()           // waits until what was sent has arrived
	now      func() time.Time // the clock of live outputs
	exit     func(code int)
	open     []closer // live outputs that show more than is on the page
	shown    int      // number of outputs that were appended to the notebook
	quiet    bool     // nothing is shown: states are drawn that only a saved notebook shows
	drawing  *drawing // of Interact, while one runs
}

// closer is an output that is drawn less often than it changes. close draws its last state.
type closer interface{ close() }

// std is the output target of the running program.
var std = newOutputTarget()

func newOutputTarget() *outputTarget {
	return &outputTarget{
		notebook: gonbui.IsNotebook,
		out:      stream{&os.Stdout}, err: stream{&os.Stderr},
		send: sendToKernel, drain: drainPrinted, sync: syncKernel,
		now: time.Now, exit: os.Exit,
	}
}

// stream is one of the program's streams, looked up at each write.
type stream struct{ file **os.File }

func (s stream) Write(p []byte) (int, error) { return (*s.file).Write(p) }

// sendToKernel writes the output to the kernel's pipe.
func sendToKernel(o output) error {
	gonbui.SendData(&protocol.DisplayData{Data: o.data, Metadata: o.meta, DisplayID: o.id})
	return gonbui.Error()
}

// kernelTimeout bounds every wait for the kernel.
const kernelTimeout = 10 * time.Second

// syncKernel returns when the kernel has passed on everything that was sent.
func syncKernel() {
	done := make(chan struct{})
	go func() {
		gonbui.Sync()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(kernelTimeout):
	}
}

// show appends an output below everything printed and shown before it, and returns its number
// among the outputs. Without a notebook, or when its pipe is broken, it prints plain.
func (s *outputTarget) show(o output, plain string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.quiet {
		return s.shown
	}
	if s.notebook {
		s.drain()
		if s.send(o) == nil {
			s.sync()
			s.shown++
			return s.shown
		}
	}
	progress.PrintAbove(func() { fmt.Fprint(s.out, plain) })
	return s.shown
}

// update replaces an output that is on the page already.
func (s *outputTarget) update(o output) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.quiet {
		_ = s.send(o)
	}
}

// printLine writes a line to w. Lines and outputs never mix.
func (s *outputTarget) printLine(w io.Writer, format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.quiet {
		progress.PrintAbove(func() { fmt.Fprintf(w, format+"\n", args...) })
	}
}

// setQuiet starts and ends a time in which nothing is shown.
func (s *outputTarget) setQuiet(quiet bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.quiet = quiet
}

// register and unregister keep the list of outputs that closeAndExit draws one last time.
func (s *outputTarget) register(c closer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = append(s.open, c)
}

func (s *outputTarget) unregister(c closer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, o := range s.open {
		if o == c {
			s.open = append(s.open[:i], s.open[i+1:]...)
			return
		}
	}
}

// closeAndExit draws the last state of everything that is open and ends the program.
func (s *outputTarget) closeAndExit(code int) {
	s.mu.Lock()
	open := s.open
	s.open = nil
	s.mu.Unlock()
	for _, c := range open {
		c.close()
	}
	progress.Close()
	if s.notebook {
		s.sync()
	}
	s.exit(code)
}
