// Live outputs: a figure, table or text that changes while the cell runs.

package nb

import (
	"strings"
	"sync"
	"time"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/lethe-ml/lethe/lib/plot"
	"github.com/lethe-ml/lethe/lib/report"
)

// Live is one output that is replaced while the cell runs, such as the learning curve of a
// training. Drawing takes at most a fifth of the time: a state that comes too early is
// drawn only if it is the last one. A terminal prints the last state only. Its methods may
// be called from several goroutines.
type Live struct {
	mu      sync.Mutex
	s       *outputTarget
	id      string
	placed  bool
	muted   bool
	next    time.Time
	pending func() (output, string, error) // a state that is not drawn yet
}

// NewLive starts a live output. It appears on the page with its first state.
func NewLive() *Live { return std.live() }

func (s *outputTarget) live() *Live {
	l := &Live{s: s, id: gonbui.UniqueId()}
	s.register(l)
	return l
}

// Figure replaces the output with f. A figure that cannot be drawn shows the reason, so
// that it does not end a training.
func (l *Live) Figure(f plot.Figure) {
	l.setState(func() (output, string, error) {
		if !l.s.notebook {
			return output{}, f.Text(), nil
		}
		o, err := figureOutput(f)
		delete(o.data, vegaLite) // it would blink at every change
		return o, f.Text(), err
	})
}

// Table replaces the output with t.
func (l *Live) Table(t *report.Table) {
	l.setState(func() (output, string, error) { return tableOutput(t) })
}

// Markdown replaces the output with text.
func (l *Live) Markdown(text string) {
	l.setState(func() (output, string, error) {
		return output{data: bundle{"text/markdown": text, "text/plain": text}}, text, nil
	})
}

// Due reports whether the next state would be drawn now. Ask before computing a state that
// is costly itself.
func (l *Live) Due() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.due()
}

// Done draws the last state, if it is not on the page yet, and ends the output.
func (l *Live) Done() {
	l.drawPending()
	l.s.unregister(l)
	if l.s.notebook {
		l.s.sync()
	}
}

// drawPending draws the pending state and leaves the output open.
func (l *Live) drawPending() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.flush()
}

// mute drops the pending state and, until mute(false), every new one: they come from a
// cancelled drawing.
func (l *Live) mute(muted bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.muted, l.pending = muted, nil
}

func (l *Live) close() { l.Done() }

func (l *Live) due() bool { return l.s.notebook && !l.s.now().Before(l.next) }

func (l *Live) setState(draw func() (output, string, error)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.muted {
		return
	}
	l.pending = draw
	if l.due() {
		l.flush()
	}
}

// restFactor is the pause after a drawing, in multiples of the time that it took.
const restFactor = 4

// flush draws the pending state. The caller holds the lock.
func (l *Live) flush() {
	if l.pending == nil {
		return
	}
	began := l.s.now()
	o, text, err := l.pending()
	l.pending = nil
	if err != nil {
		text = "cannot be drawn: " + err.Error()
		o = output{data: bundle{"text/plain": text}}
	}
	o.id = l.id
	if l.placed && l.s.notebook {
		l.s.update(o)
	} else {
		l.s.show(o, strings.TrimRight(text, "\n")+"\n")
	}
	l.placed = true
	end := l.s.now()
	l.next = end.Add(max(restFactor*end.Sub(began), barEvery))
}
