package setup

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"
)

// teller says what is being done: one line per piece of work, which on a
// terminal is rewritten as the work goes on.
type teller struct {
	mu       sync.Mutex
	w        io.Writer
	terminal bool
	now      func() time.Time
	what     string
	state    string
	began    time.Time
	said     time.Time
	stop     chan struct{}
}

// plainEvery bounds how often progress is printed where there is no terminal.
const plainEvery = 10 * time.Second

func newTeller(w io.Writer) *teller {
	f, ok := w.(*os.File)
	return &teller{w: w, terminal: ok && term.IsTerminal(int(f.Fd())), now: time.Now}
}

// note prints a line.
func (t *teller) note(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.clear()
	fmt.Fprintf(t.w, "lethe: "+format+"\n", args...)
}

// begin says that work begins, and about how long it takes.
func (t *teller) begin(what, howLong string) {
	t.note("%s, %s", what, howLong)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.what, t.state, t.began, t.said, t.stop = what, "", t.now(), t.now(), make(chan struct{})
	if t.terminal {
		go t.tick(t.stop)
	}
}

func (t *teller) tick(stop chan struct{}) {
	for {
		select {
		case <-stop:
			return
		case <-time.After(time.Second):
			t.mu.Lock()
			if t.stop == stop {
				t.draw()
			}
			t.mu.Unlock()
		}
	}
}

// progress says how far the work is.
func (t *teller) progress(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.state = ", " + fmt.Sprintf(format, args...)
	switch {
	case t.stop == nil:
	case t.terminal:
		t.draw()
	case t.now().Sub(t.said) >= plainEvery:
		t.said = t.now()
		fmt.Fprintln(t.w, t.line())
	}
}

// end ends the work that began last and says how long it took.
func (t *teller) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stop == nil {
		return
	}
	close(t.stop)
	t.stop = nil
	t.clear()
}

func (t *teller) draw() {
	t.clear()
	line := t.line()
	if len(line) > 78 {
		line = line[:78]
	}
	fmt.Fprint(t.w, line)
}

func (t *teller) clear() {
	if t.terminal {
		fmt.Fprint(t.w, "\r", strings.Repeat(" ", 79), "\r")
	}
}

func (t *teller) line() string {
	return fmt.Sprintf("lethe:   %.0f s%s", t.now().Sub(t.began).Seconds(), t.state)
}
