// Live outputs: a figure, table or text that changes while the cell runs.

package nb

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/lethe-ml/lethe/lib/plot"
	"github.com/lethe-ml/lethe/lib/report"
)

// Live is a place on the page that is replaced while the cell runs, such as the learning curve
// of a training, or two figures and a table that follow the same slider. Drawing takes at most
// a fifth of the time: a state that comes too early is drawn only if it is the last one. A
// terminal prints the last state only. Its methods may be called from several goroutines.
type Live struct {
	mu      sync.Mutex
	s       *outputTarget
	id      string
	places  []int // of each part that is on the page: its number among the cell's outputs
	muted   bool
	hidden  bool // nothing is drawn: the state is only kept
	next    time.Time
	pending bool  // state is not drawn yet
	state   []any // the parts of the last state
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
func (l *Live) Figure(f plot.Figure) { l.Show(f) }

// Table replaces the output with t.
func (l *Live) Table(t *report.Table) { l.Show(t) }

// Markdown replaces the output with text.
func (l *Live) Markdown(text string) { l.Show(text) }

// Show replaces the output with parts below each other: a string as Markdown, a *report.Table,
// a plot.Figure. A part that cannot be shown gives the reason in its place.
//
//	live.Show(curve, histogram, table)
func (l *Live) Show(parts ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.muted {
		return
	}
	l.state, l.pending = slices.Clone(parts), true
	if l.due() {
		l.flush()
	}
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
	l.muted, l.pending = muted, false
}

// lastState returns the parts of the last state, and their numbers among the cell's outputs.
func (l *Live) lastState() (parts []any, places []int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.state), slices.Clone(l.places)
}

func (l *Live) close() { l.Done() }

func (l *Live) due() bool { return !l.hidden && l.s.notebook && !l.s.now().Before(l.next) }

// restFactor is the pause after a drawing, in multiples of the time that it took.
const restFactor = 4

// flush draws the pending state. The caller holds the lock.
func (l *Live) flush() {
	if !l.pending || l.hidden {
		return
	}
	l.pending = false
	began := l.s.now()
	for k, part := range l.state {
		o, text := l.s.partOutput(k, part)
		l.draw(k, o, text)
	}
	for k := len(l.state); l.s.notebook && k < len(l.places); k++ { // parts that the state before had
		l.draw(k, output{data: bundle{"text/plain": ""}}, "")
	}
	end := l.s.now()
	l.next = end.Add(max(restFactor*end.Sub(began), barEvery))
}

// draw draws part k, in its place if it has one.
func (l *Live) draw(k int, o output, text string) {
	o.id = l.id
	if k > 0 {
		o.id = fmt.Sprintf("%s-%d", l.id, k)
	}
	if k < len(l.places) && l.s.notebook {
		l.s.update(o)
		return
	}
	place := l.s.show(o, strings.TrimRight(text, "\n")+"\n")
	l.places = append(l.places, place)
}

// partOutput returns part k of a state as an output and as text. What cannot be shown becomes
// the reason.
func (s *outputTarget) partOutput(k int, part any) (o output, text string) {
	var err error
	switch p := part.(type) {
	case string:
		return output{data: bundle{"text/markdown": p, "text/plain": p}}, p
	case *report.Table:
		o, text, err = tableOutput(p)
	case plot.Figure:
		if text = p.Text(); s.notebook {
			o, err = figureOutput(p)
			delete(o.data, vegaLite) // it would blink at every change
		}
	default:
		err = unknownPart(k, part)
	}
	if err != nil {
		text = "cannot be drawn: " + err.Error()
		o = output{data: bundle{"text/plain": text}}
	}
	return o, text
}
