package nb

import (
	"strings"
	"sync"
	"time"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/lethe-ml/lethe/lib/plot"
	"github.com/lethe-ml/lethe/lib/report"
)

// Live is one output that is replaced while the cell runs: the curves of a
// training as it goes on. Drawing takes at most a fifth of the time: a state
// that comes too early is kept, and drawn only when it is the last one. A
// terminal prints the last state alone. Its methods may be called from several
// goroutines.
type Live struct {
	mu      sync.Mutex
	s       *outputTarget
	id      string
	placed  bool
	muted   bool
	next    time.Time
	pending func() (output, string, error) // a state that is not drawn yet
}

// NewLive starts a live output. It takes its place on the page with its first
// state.
func NewLive() *Live { return std.live() }

func (s *outputTarget) live() *Live {
	l := &Live{s: s, id: gonbui.UniqueId()}
	s.register(l)
	return l
}

// Figure shows f in place of what the output shows now. A figure that cannot be
// drawn shows the reason instead: it must not end a training.
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

// Table shows t in place of what the output shows now.
func (l *Live) Table(t *report.Table) {
	l.setState(func() (output, string, error) { return tableOutput(t) })
}

// Markdown shows text in place of what the output shows now.
func (l *Live) Markdown(text string) {
	l.setState(func() (output, string, error) {
		return output{data: bundle{"text/markdown": text, "text/plain": text}}, text, nil
	})
}

// Due says whether the next state would be drawn now. Ask before computing a
// state that is costly in itself.
func (l *Live) Due() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.due()
}

// Done draws the last state, if it is not on the page yet.
func (l *Live) Done() {
	l.drawPending()
	l.s.unregister(l)
	if l.s.notebook {
		l.s.sync()
	}
}

// drawPending draws what is kept and leaves the output open.
func (l *Live) drawPending() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.flush()
}

// mute forgets a state that is not drawn yet and, until it is called with false,
// every new one: they come from a drawing that nobody wants any more.
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

// restFactor is how many times as long as a drawing took nothing is drawn after it.
const restFactor = 4

// flush draws what is kept.
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
