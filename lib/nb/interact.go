// Interact: a cell whose figure follows sliders in the browser.

package nb

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/protocol"
)

// HeadlessEnv is the environment variable that, when it is set, says that no browser shows
// the notebook. Interact then draws once and does not wait.
const HeadlessEnv = "LETHE_HEADLESS"

// How long Interact waits. While the cell runs, the cells below it cannot.
const (
	browserWait      = 3 * time.Second         // for the first answer of a browser
	idleLimit        = 5 * time.Minute         // for a reader to move a slider
	idleLimitWaiting = 1500 * time.Millisecond // the same, while other cells wait
	pollEvery        = 100 * time.Millisecond
)

// Interact draws a figure, and draws it again whenever a reader moves a slider:
//
//	rate, epochs := 0.1, 5
//	nb.Interact(func(ctx context.Context, live *nb.Live) error {
//		return forget(ctx, rate, epochs, live)
//	}, nb.NewSlider("learning rate", &rate, 0.001, 1).Log(), nb.NewSlider("epochs", &epochs, 1, 20))
//
// A new position cancels the context of a drawing that still runs.
//
// In Lethe's kernel the cell is over after the first drawing, if Interact ends it, and its
// program goes on in the background: the sliders answer while other cells compute, until the
// reader presses "done", the cell runs again, the kernel ends, or no slider has moved for an
// hour. The program keeps the declarations and the values that it began with.
//
// Elsewhere the sliders work until the reader presses "done" or interrupts the cell, or until
// no slider has moved for five minutes. While other cells wait for this one, as under Run All,
// the limit is a few seconds.
//
// Without a browser (a terminal, headless execution, LETHE_HEADLESS set) Interact draws
// once, with the values that the variables have, and prints that sliders need JupyterLab.
func Interact(draw func(ctx context.Context, live *Live) error, sliders ...Slider) {
	std.interact(draw, sliders)
}

func (s *outputTarget) interact(draw func(context.Context, *Live) error, sliders []Slider) {
	for _, k := range sliders {
		s.check(k.check())
	}
	if !s.hasBrowser() {
		s.drawOnce(draw, sliders)
		return
	}
	d := newPanel(s, draw, sliders)
	s.show(output{id: d.id, data: bundle{"text/plain": d.settingsText(), "text/html": d.html()}}, d.settingsText()+"\n")
	s.show(d.status(statusDrawing), "")
	d.connect()
	d.run(Context())
}

// hasBrowser reports whether a browser may show the cell: a notebook server started the
// kernel, and HeadlessEnv is not set.
func (s *outputTarget) hasBrowser() bool {
	return s.notebook && os.Getenv(HeadlessEnv) == "" &&
		os.Getenv("JPY_SESSION_NAME") != "" && os.Getenv(protocol.GONB_JUPYTER_KERNEL_ID_ENV) != ""
}

// drawOnce draws with the initial values.
func (s *outputTarget) drawOnce(draw func(context.Context, *Live) error, sliders []Slider) {
	live := s.live()
	err := draw(Context(), live)
	live.Done()
	s.check(err)
	s.printLine(s.out, "Drawn once, for %s. Sliders need JupyterLab in a browser; without one, change the values in the code.",
		formatSettings(sliders, initialValues(sliders)))
}

func (k Slider) check() error {
	switch {
	case !(k.min < k.max):
		return fmt.Errorf("the slider %q goes from %v to %v", k.name, k.min, k.max)
	case k.log && k.min <= 0:
		return fmt.Errorf("the slider %q has equal factors and starts at %v; that needs more than 0", k.name, k.min)
	case !(k.min <= k.initial && k.initial <= k.max):
		return fmt.Errorf("the slider %q goes from %v to %v, its variable is %v", k.name, k.min, k.max, k.initial)
	}
	return nil
}

func initialValues(sliders []Slider) []float64 {
	out := make([]float64, len(sliders))
	for i, k := range sliders {
		out[i] = k.initial
	}
	return out
}

// formatSettings prints the values: "learning rate = 0.1, epochs = 5".
func formatSettings(sliders []Slider, values []float64) string {
	words := make([]string, len(sliders))
	for i, k := range sliders {
		words[i] = k.name + " = " + formatValue(values[i])
	}
	return strings.Join(words, ", ")
}

// panel is a set of sliders in a browser, and the drawing that follows them.
type panel struct {
	s         *outputTarget
	draw      func(context.Context, *Live) error
	sliders   []Slider
	positions [][]float64
	values    []float64
	id        string
	address   string
	live      *Live
	messages  chan message
	last      message
	connected bool
	lastMove  time.Time

	cancel   context.CancelFunc // of the drawing that runs
	finished chan error

	kernelLink
}

func newPanel(s *outputTarget, draw func(context.Context, *Live) error, sliders []Slider) *panel {
	id := gonbui.UniqueId()
	d := &panel{
		s: s, draw: draw, sliders: sliders, values: initialValues(sliders),
		id: id, address: "/lethe/sliders/" + id,
		live: s.live(), messages: make(chan message, 64),
	}
	for _, k := range sliders {
		d.positions = append(d.positions, k.positions())
	}
	return d
}

func (d *panel) settingsText() string { return formatSettings(d.sliders, d.values) }

// run draws whenever the sliders move, until there is a reason to end.
func (d *panel) run(ctx context.Context) {
	began := d.s.now()
	d.lastMove = began
	d.start(ctx)
	look := time.NewTicker(pollEvery)
	defer look.Stop()
	why := ""
	for why == "" {
		select {
		case <-ctx.Done():
			why = "The sliders stopped with the cell."
		case m := <-d.messages:
			why = d.handleMessage(ctx, m)
		case err := <-d.finished:
			d.finishDrawing(err)
		case <-look.C:
			why = d.idleReason(d.s.now().Sub(began))
		}
		if why == "" {
			d.detachWhenQuiet()
		}
	}
	if err := d.stop(); err != nil && !errors.Is(err, context.Canceled) {
		why += " The last drawing did not work: " + err.Error()
	}
	d.end(why)
}

// The status lines below the sliders.
const (
	statusDrawing = "drawing"
	statusReady   = "Move a slider. The sliders work until you press done."
)

func (d *panel) statusText() string {
	if d.finished != nil {
		return statusDrawing
	}
	return statusReady
}

// start begins a drawing with the present values.
func (d *panel) start(ctx context.Context) {
	for i, k := range d.sliders {
		k.set(d.values[i])
	}
	inner, cancel := context.WithCancel(ctx)
	finished := make(chan error, 1)
	d.cancel, d.finished = cancel, finished
	go func() { finished <- d.draw(inner, d.live) }()
}

// stop cancels the running drawing, if there is one, and waits for it: only one drawing at
// a time may use the variables.
func (d *panel) stop() error {
	if d.finished == nil {
		return nil
	}
	d.cancel()
	err := <-d.finished
	d.finished = nil
	return err
}

// finishDrawing shows the last state of a drawing.
func (d *panel) finishDrawing(err error) {
	d.cancel()
	d.finished = nil
	if err != nil && !errors.Is(err, context.Canceled) {
		d.live.Markdown("This did not work: " + markdownText(err.Error()))
	}
	d.live.drawPending()
	d.s.update(d.status(statusReady))
}

// handleMessage handles a message from the browser and returns the reason to end, if the
// message is one. Messages may arrive out of order; older ones are ignored.
func (d *panel) handleMessage(ctx context.Context, m message) string {
	if m.Number <= d.last.Number {
		return ""
	}
	d.last, d.connected = m, true
	if m.Done {
		return "The sliders are closed."
	}
	values, ok := d.valuesAt(m.Positions)
	if !ok || slices.Equal(values, d.values) {
		d.s.update(d.status(d.statusText()))
		return ""
	}
	d.lastMove = d.s.now()
	d.s.update(d.status(statusDrawing))
	d.live.mute(true)
	_ = d.stop() // its values and its error are obsolete
	d.live.mute(false)
	d.values = values
	d.start(ctx)
	return ""
}

// valuesAt returns the values at the positions of the sliders.
func (d *panel) valuesAt(at []int) ([]float64, bool) {
	if len(at) != len(d.positions) {
		return nil, false
	}
	values := make([]float64, len(at))
	for i, p := range d.positions {
		if at[i] < 0 || at[i] >= len(p) {
			return nil, false
		}
		values[i] = p[at[i]]
	}
	return values, true
}

// idleReason returns the reason to end when no browser has answered, or no slider has moved
// for too long.
func (d *panel) idleReason(since time.Duration) string {
	if d.finished != nil {
		return ""
	}
	quiet := d.s.now().Sub(d.lastMove)
	switch {
	case !d.connected && since > browserWait:
		return "Drawn once: sliders need JupyterLab in a browser; without one, change the values in the code."
	case d.detached && quiet > idleLimitDetached:
		return "No slider was moved for an hour. Run this cell again to move them."
	case d.detached:
		return ""
	case d.connected && d.last.Waiting && quiet > idleLimitWaiting:
		return "Other cells were waiting, so the sliders stopped. Run this cell alone to move them."
	case quiet > idleLimit:
		return "No slider was moved for five minutes. Run this cell again to move them."
	}
	return ""
}

// end replaces the sliders with the values and the reason, so that the saved notebook needs
// no script.
func (d *panel) end(why string) {
	d.live.Done()
	d.s.update(output{id: d.id, data: bundle{"text/plain": "Drawn for " + d.settingsText() + "."}})
	last := d.status(why)
	delete(last.data, "text/html")
	d.s.update(last)
	d.s.sync()
}
