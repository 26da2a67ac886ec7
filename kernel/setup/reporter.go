// Progress messages of the set-up.

package setup

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/lethe-ml/lethe/lib/cli"
)

// reporter prints one line per piece of work, and on a terminal a second line that shows
// its progress.
type reporter struct {
	mu          sync.Mutex
	w           io.Writer
	terminal    bool
	now         func() time.Time
	state       string
	working     bool
	began       time.Time
	lastPrinted time.Time
	tick        *time.Timer
}

// plainEvery is the interval of progress lines where there is no terminal.
const plainEvery = 10 * time.Second

func newReporter(w io.Writer) *reporter {
	t := &reporter{w: cli.Raw(w), terminal: cli.IsTerminal(w), now: time.Now}
	t.tick = time.AfterFunc(time.Hour, func() { t.progress("") })
	t.tick.Stop()
	return t
}

func (t *reporter) note(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.clear()
	fmt.Fprintln(t.w, cli.Printable("lethe: "+fmt.Sprintf(format, args...)))
}

// begin reports that work begins, and about how long it takes.
func (t *reporter) begin(what, howLong string) {
	t.note("%s, %s", what, howLong)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.state, t.working, t.began, t.lastPrinted = "", true, t.now(), t.now()
	t.tick.Reset(time.Second)
}

// progress reports the state of the work; without a format, only the elapsed time.
func (t *reporter) progress(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.working {
		return
	}
	t.tick.Reset(time.Second)
	if format != "" {
		t.state = ", " + cli.Printable(fmt.Sprintf(format, args...))
	}
	line := fmt.Sprintf("lethe:   %.0f s%s", t.now().Sub(t.began).Seconds(), t.state)
	if t.terminal {
		t.clear()
		fmt.Fprint(t.w, line[:min(len(line), 78)])
	} else if t.now().Sub(t.lastPrinted) >= plainEvery && format != "" {
		t.lastPrinted = t.now()
		fmt.Fprintln(t.w, line)
	}
}

func (t *reporter) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.working {
		t.working = false
		t.tick.Stop()
		t.clear()
	}
}

func (t *reporter) clear() {
	if t.terminal {
		fmt.Fprint(t.w, "\r\x1b[K")
	}
}
