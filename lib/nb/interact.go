// Interact: a cell whose figures and tables follow controls in the browser.

package nb

import (
	"context"
	"errors"
	"fmt"
	"html"
	"os"
	"slices"
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
	idleLimit        = 5 * time.Minute         // for a reader to move a control
	idleLimitWaiting = 1500 * time.Millisecond // the same, while other cells wait
	pollEvery        = 100 * time.Millisecond
	keepAfter        = 2 * time.Second // since the last move: then the page gets the states
)

// Interact draws figures, tables and text, and draws them again whenever a reader moves a
// control:
//
//	rate, epochs := 0.1, 5
//	nb.Interact(func(ctx context.Context, live *nb.Live) error {
//		return forget(ctx, rate, epochs, live)
//	}, nb.NewSlider("learning rate", &rate, 0.001, 1).Log(), nb.NewSlider("epochs", &epochs, 1, 20))
//
// Controls are made by NewSlider, NewDropdown, NewCheckbox and NewTextField. One may follow
// those before it, with Slider.RangeFrom and Dropdown.OptionsFrom. Live.Show draws several
// figures and tables for the same values. New values cancel the context of a drawing that still
// runs.
//
// In Lethe's kernel the cell is over after the first drawing, if Interact ends it, and its
// program goes on in the background: the controls answer while other cells compute, until the
// reader presses "done", the cell runs again, the kernel ends, or none has moved for an hour.
// The program keeps the declarations and the values that it began with.
//
// Elsewhere the controls work until the reader presses "done" or interrupts the cell, or until
// none has moved for five minutes. While other cells wait for this one, as under Run All, the
// limit is a few seconds.
//
// The notebook keeps the last values and what was drawn for the others that the reader tried, at
// most 49 states: opened again, its controls move among them before any cell has run.
//
// Without a browser (a terminal, headless execution, LETHE_HEADLESS set) Interact draws
// once, with the values that the variables have, and prints that sliders need JupyterLab. In a
// notebook that nobody watches, StatesEnv gives it time to draw states on a grid as well, for
// readers of the saved notebook and of its web page. The variables then keep their values.
func Interact(draw func(ctx context.Context, live *Live) error, list ...Control) {
	std.interact(draw, list)
}

func (s *outputTarget) interact(draw drawFunc, list []Control) {
	all, err := newControls(list)
	s.check(err)
	if !s.hasBrowser() {
		s.drawWithoutBrowser(draw, all)
		return
	}
	d := newPanel(s, draw, all)
	d.place = s.show(output{id: d.id, data: bundle{"text/plain": d.settingsText(), "text/html": d.html()}}, d.settingsText()+"\n")
	d.statusPlace = s.show(d.status(statusDrawing), "")
	d.connect()
	d.run(Context())
}

// hasBrowser reports whether a browser may show the cell: a notebook server started the
// kernel, and HeadlessEnv is not set.
func (s *outputTarget) hasBrowser() bool {
	return s.notebook && os.Getenv(HeadlessEnv) == "" &&
		os.Getenv("JPY_SESSION_NAME") != "" && os.Getenv(protocol.GONB_JUPYTER_KERNEL_ID_ENV) != ""
}

// drawWithoutBrowser draws with the initial values. In a notebook it also stores states, if it
// has time for them.
func (s *outputTarget) drawWithoutBrowser(draw drawFunc, all controls) {
	limit, err := timeForStates()
	s.check(err)
	once := fmt.Sprintf("Drawn once, for %s. Sliders need JupyterLab in a browser; without one, change the values in the code.", all.format(all.values()))
	if !s.notebook || limit == 0 {
		s.drawOnce(draw)
		s.printLine(s.out, "%s", once)
		return
	}
	panel := output{id: gonbui.UniqueId(), data: bundle{"text/plain": once}}
	place := s.show(panel, once+"\n")
	began := s.now()
	live := s.drawOnce(draw)
	states := s.drawStates(Context(), draw, all, s.now().Sub(began), limit)
	text := "Drawn for " + all.format(all.values()) + "."
	page, kept := all.storedPage(states, placesAfter(place, live), text, "")
	if page == "" {
		return
	}
	panel.data = bundle{"text/plain": fmt.Sprintf("%s With scripts, the controls move among %d states.", text, kept), "text/html": page}
	s.update(panel)
	s.sync()
}

// drawOnce draws with the present values. An error ends the cell.
func (s *outputTarget) drawOnce(draw drawFunc) *Live {
	live := s.live()
	err := draw(Context(), live)
	live.Done()
	s.check(err)
	return live
}

// panel is a set of controls in a browser, and the drawing that follows them.
type panel struct {
	s           *outputTarget
	draw        drawFunc
	controls    controls
	values      []any
	known       []form // the controls for these values
	id          string
	place       int // of the controls among the cell's outputs
	statusPlace int // of the line below them
	address     string
	live        *Live
	messages    chan message
	last        message
	connected   bool
	lastMove    time.Time
	drawing     *drawing // that runs, or nil
	states      []state  // what was drawn, the newest last
	keptStates  bool     // the page has the states

	kernelLink
}

func newPanel(s *outputTarget, draw drawFunc, all controls) *panel {
	id := gonbui.UniqueId()
	return &panel{
		s: s, draw: draw, controls: all, values: all.values(), known: all.forms(),
		id: id, address: "/lethe/sliders/" + id,
		live: s.live(), messages: make(chan message, 64),
	}
}

func (d *panel) settingsText() string { return d.controls.format(d.values) }

// run draws whenever the controls move, until there is a reason to end.
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
		case err := <-d.finished():
			d.finishDrawing(err)
		case <-look.C:
			d.putStates()
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

// The status lines below the controls.
const (
	statusDrawing = "drawing"
	statusReady   = "Change a value. The controls work until you press done."
)

func (d *panel) statusText() string {
	if d.drawing != nil {
		return statusDrawing
	}
	return statusReady
}

// start begins a drawing with the present values.
func (d *panel) start(ctx context.Context) { d.drawing = d.s.startDrawing(ctx, d.draw, d.live) }

// finished returns the channel that gets the error of the running drawing.
func (d *panel) finished() <-chan error {
	if d.drawing == nil {
		return nil
	}
	return d.drawing.finished
}

// stop cancels the running drawing, if there is one, and waits for it: only one drawing at
// a time may use the variables.
func (d *panel) stop() error {
	if d.drawing == nil {
		return nil
	}
	running := d.drawing
	d.drawing = nil
	return running.stop()
}

// finishDrawing shows the last state of a drawing and keeps it.
func (d *panel) finishDrawing(err error) {
	d.drawing = nil
	if err != nil && !errors.Is(err, context.Canceled) {
		d.live.Markdown(failureText(err))
	}
	d.live.drawPending()
	d.keepState()
	d.s.update(d.status(statusReady))
}

// keepState keeps what is on the page. The oldest states make room.
func (d *panel) keepState() {
	parts, _ := d.live.lastState()
	d.states = slices.DeleteFunc(d.states, func(st state) bool { return slices.Equal(st.Values, d.values) })
	d.states = append(d.states, newState(d.values, parts))
	if len(d.states) > maxStates {
		d.states = d.states[1:]
	}
	d.keptStates = false
}

// putStates puts the states into the page when a reader has paused: a notebook that is saved
// while its controls work then opens with them, even if its kernel has ended.
func (d *panel) putStates() {
	if d.keptStates || d.drawing != nil || len(d.states) < 2 || d.s.now().Sub(d.lastMove) < keepAfter {
		return
	}
	d.keptStates = true
	page, _ := d.controls.storedPage(d.statesAtEnd(), placesAfter(d.statusPlace, d.live), "", d.elementID())
	line := d.status(statusReady)
	line.data["text/html"] = fmt.Sprint(line.data["text/html"], page)
	d.s.update(line)
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
	if !d.controls.accepts(m.Values) || slices.Equal(m.Values, d.values) {
		d.s.update(d.status(d.statusText()))
		return ""
	}
	d.lastMove = d.s.now()
	d.live.mute(true)
	_ = d.stop() // its values and its error are obsolete
	d.live.mute(false)
	err := d.controls.setTo(m.Values)
	d.values, d.known = d.controls.values(), d.controls.forms()
	if err != nil {
		d.finishDrawing(err)
		return ""
	}
	d.start(ctx)
	d.s.update(d.status(statusDrawing))
	return ""
}

// idleReason returns the reason to end when no browser has answered, or no control has moved
// for too long.
func (d *panel) idleReason(since time.Duration) string {
	if d.drawing != nil {
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

// end replaces the controls with ones that move among the states that were drawn, or, if there
// is only one, with the values. The saved notebook then opens as it was left.
func (d *panel) end(why string) {
	d.live.Done()
	text := "Drawn for " + d.settingsText() + "."
	last := output{id: d.id, data: bundle{"text/plain": text}}
	if page, kept := d.controls.storedPage(d.statesAtEnd(), placesAfter(d.place, d.live), text, ""); page != "" {
		last.data["text/html"] = page
		why += fmt.Sprintf(" The controls move among the %d states that were drawn.", kept)
	}
	d.s.update(last)
	line := d.status(why)
	line.data["text/html"] = "<span>" + html.EscapeString(why) + "</span>"
	d.s.update(line)
	d.s.sync()
}

// statesAtEnd returns the states, the one that is on the page first and without parts, then
// from the newest to the oldest. There are none if the last drawing did not end.
func (d *panel) statesAtEnd() []state {
	states := slices.Clone(d.states)
	slices.Reverse(states) // the newest, which is on the page, first
	if len(states) == 0 || !slices.Equal(states[0].Values, d.values) {
		return nil
	}
	states[0].Parts = nil
	return states
}
