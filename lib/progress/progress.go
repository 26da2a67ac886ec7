// Package progress tells how far long work is. Work announces itself with Start and counts
// its units; a display, if there is one, shows what takes longer than two seconds: what it
// is, how far it is, and how long it still takes. Without a display all of this costs next
// to nothing.
//
// Nested work is one bar. A task that starts under the context of another counts as a part
// of it, and its own progress moves the bar of the outer task:
//
//	ctx, models := progress.Start(ctx, "comparing models", len(methods))
//	defer models.Done()
//	for _, m := range methods {
//		apply(ctx, m) // announces itself, and is one of the units
//		models.Add(1)
//	}
//
// Code without a context uses Begin, or Start with context.Background: it nests in what
// began last. Package show has the displays; lab.Open, package nb and the command line turn
// them on.
package progress

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Task is a piece of work whose progress is shown. Its methods may be called from several
// goroutines, and on nil, which is a task that nobody is shown.
type Task struct {
	screen *screen
	ctx    context.Context
	unit   string
	began  time.Time

	total, done, skipped atomic.Int64
	command              atomic.Bool // see StartCommand

	// The rest is guarded by the screen's lock.
	what         string
	parent       *Task
	children     []*Task
	weight       float64 // how many of the parent's units the task is
	skippedParts float64 // units that ended children had skipped
	best         float64 // the largest share so far: a bar never goes back
	pace         float64 // see Pace
	ended        bool
}

// place is where in the tree the tasks under a context start.
type place struct {
	parent *Task
	weight float64
}

type placeKey struct{}

// Start begins a piece of work of total units, and returns a context for what runs inside
// it. A total below 1 means unknown. A task that counts only, such as the epochs of a
// training that has a name already, has no name of its own: what is "". Done ends the task.
func Start(ctx context.Context, what string, total int) (context.Context, *Task) {
	return std.start(ctx, what, int64(total), "")
}

// StartUnits is Start for work whose rate means something, in units per second: "records".
// The unit "B" shows sizes.
func StartUnits(ctx context.Context, what string, total int64, unit string) (context.Context, *Task) {
	return std.start(ctx, what, total, unit)
}

// Begin is Start without a context. The task is a part of the one that began last.
func Begin(what string, total int) *Task {
	_, t := std.start(context.Background(), what, int64(total), "")
	return t
}

// StartCommand begins the task of a whole command line. It is named only while nothing inside
// it has a name.
func StartCommand(ctx context.Context, name string) (context.Context, *Task) {
	ctx, t := std.start(ctx, name, 0, "")
	if t != nil {
		t.command.Store(true)
	}
	return ctx, t
}

// Part returns a context under which the next tasks are parts of t and count for so many of
// its units, wherever they start. Without it they count for one unit of the task of their
// context.
func (t *Task) Part(ctx context.Context, units float64) context.Context {
	if t == nil {
		return ctx
	}
	return context.WithValue(ctx, placeKey{}, place{t, units})
}

// Add reports n more units as done.
func (t *Task) Add(n int) {
	if t != nil {
		t.done.Add(int64(n))
	}
}

// Set reports that done units are done in all.
func (t *Task) Set(done int64) {
	if t != nil && t.done.Swap(done) > done {
		t.restart()
	}
}

// Pace tells how many units per second the rest will be done with, where the caller knows that
// better than the mean so far: work that is counted in a few large pieces. 0 is the mean.
func (t *Task) Pace(perSecond float64) {
	if t == nil {
		return
	}
	t.screen.mu.Lock()
	defer t.screen.mu.Unlock()
	t.pace = perSecond
}

// Skip reports n units that are done without work, such as those of a saved state. They do
// not count in the rate.
func (t *Task) Skip(n int) {
	if t != nil {
		t.skipped.Add(int64(n))
		t.done.Add(int64(n))
	}
}

// Expect changes the total.
func (t *Task) Expect(total int64) {
	if t != nil && t.total.Swap(total) != total {
		t.restart()
	}
}

// restart lets the bar go back.
func (t *Task) restart() {
	t.screen.mu.Lock()
	defer t.screen.mu.Unlock()
	t.best = 0
}

// Describe changes what the task is called.
func (t *Task) Describe(what string) {
	if t == nil {
		return
	}
	t.screen.mu.Lock()
	defer t.screen.mu.Unlock()
	t.what = oneLine(what)
}

// Done ends the task. Its units count no longer in the outer task, which counts the whole
// as one of its own with Add.
func (t *Task) Done() {
	if t != nil {
		t.screen.end(t)
	}
}

// share returns the share of a task that is done, 0 to 1. known is false where the total is
// unknown; the share is then that of the part that began last. The caller holds the lock.
func (t *Task) share() (share float64, known bool) {
	total := float64(t.total.Load())
	if total < 1 {
		if c := t.newestChild(); c != nil {
			share, _ = c.share()
		}
		return share, false
	}
	units := float64(t.done.Load())
	for _, c := range t.children {
		part, _ := c.share()
		units += part * c.weight
	}
	t.best = max(t.best, min(units/total, 1))
	return t.best, true
}

// skippedUnits returns the units of a task that were done without work. The caller holds the
// lock.
func (t *Task) skippedUnits() float64 {
	units := float64(t.skipped.Load()) + t.skippedParts
	for _, c := range t.children {
		units += c.skippedShare() * c.weight
	}
	return units
}

// skippedShare returns skippedUnits as a share of the task.
func (t *Task) skippedShare() float64 {
	total := float64(t.total.Load())
	if total < 1 {
		if c := t.newestChild(); c != nil {
			return c.skippedShare()
		}
		return t.skippedParts
	}
	return min(t.skippedUnits()/total, 1)
}

// Display shows the state of the running work. Its methods are not called at the same time.
type Display interface {
	// Draw shows the state in place of the one before.
	Draw(State)
	// Erase takes away what was drawn, because something else is about to be printed.
	Erase()
	// End is called when no work is left of what was drawn.
	End(State)
}

// Timing says when a display is drawn.
type Timing struct {
	After time.Duration // how long work lasts before it is shown; 0: every start is drawn at once
	Every time.Duration // the pause between two drawings, not 0
}

// Patience is how long work lasts before a bar shows it.
const Patience = 2 * time.Second

// pause is the longest pause between two pieces of work that count as one for Patience: a
// loop of many short trainings takes long, too.
const pause = time.Second / 2

// Show makes d the display of this program; nil shows nothing. The function that it returns
// ends that and puts back the display before.
func Show(d Display, timing Timing) (restore func()) { return std.show(d, timing) }

// HasDisplay reports whether there is a display.
func HasDisplay() bool { return std.on.Load() }

// PrintAbove erases what is drawn, calls print and lets the next drawing follow below.
func PrintAbove(print func()) { std.above(print) }

// Pause erases what is drawn and keeps the display still until resume is called: somebody is
// asked something.
func Pause() (resume func()) {
	std.above(func() { std.pause(1) })
	return func() { std.pause(-1) }
}

// Close ends all work that is shown as stopped: the program is about to end.
func Close() { std.close() }

// std is the screen of this program.
var std = &screen{}

// screen holds the running tasks, and draws them.
type screen struct {
	on atomic.Bool // whether there is a display

	drawing sync.Mutex // held while the display is called; taken before mu

	mu       sync.Mutex
	display  Display
	timing   Timing
	roots    []*Task   // tasks that are part of no other, oldest first
	active   []*Task   // all running tasks in the order of their start
	busy     time.Time // since when there is work, but for short pauses
	idle     time.Time // when the last root ended
	count    int       // roots since busy
	drawn    bool      // whether anything was drawn since busy
	paused   int       // how many ask for a still display
	lastDraw time.Time
	timer    *time.Timer
}

func (s *screen) show(d Display, timing Timing) (restore func()) {
	s.drawing.Lock()
	defer s.drawing.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	before, timingBefore := s.display, s.timing
	s.display, s.timing = d, timing
	s.on.Store(d != nil)
	if d == nil {
		s.forget()
	}
	return func() { s.show(before, timingBefore) }
}

// forget drops all tasks, whose ends no display would be told. The caller holds the lock.
func (s *screen) forget() {
	for _, t := range s.active {
		t.ended, t.children, t.parent = true, nil, nil
	}
	s.roots, s.active, s.busy, s.idle, s.drawn = nil, nil, time.Time{}, time.Time{}, false
}

func (s *screen) start(ctx context.Context, what string, total int64, unit string) (context.Context, *Task) {
	if !s.on.Load() {
		return ctx, nil
	}
	t := &Task{screen: s, ctx: ctx, unit: unit, began: time.Now(), what: oneLine(what), weight: 1}
	t.total.Store(total)
	p, nested := ctx.Value(placeKey{}).(place)
	s.mu.Lock()
	switch {
	case nested && !p.parent.ended && p.parent.screen == s:
		t.parent, t.weight = p.parent, p.weight
	case len(s.active) > 0:
		t.parent = s.active[len(s.active)-1]
	}
	s.active = append(s.active, t)
	if t.parent != nil {
		t.parent.children = append(t.parent.children, t)
	} else {
		s.addRoot(t)
	}
	atOnce := s.timing.After == 0
	s.mu.Unlock()
	if atOnce {
		s.draw()
	}
	return context.WithValue(ctx, placeKey{}, place{parent: t, weight: 1}), t
}

// addRoot adds a task that is part of no other. The caller holds the lock.
func (s *screen) addRoot(t *Task) {
	if len(s.roots) == 0 && (s.idle.IsZero() || t.began.Sub(s.idle) > pause) {
		s.busy, s.count, s.drawn = t.began, 0, false
	}
	s.roots = append(s.roots, t)
	s.count++
	if s.timing.After > 0 { // otherwise it is drawn at once
		s.arm()
	}
}

// arm sets the clock for the next drawing. The caller holds the lock.
func (s *screen) arm() {
	wait := time.Until(s.busy.Add(s.timing.After))
	if next := time.Until(s.lastDraw.Add(s.timing.Every)); s.drawn && next > wait {
		wait = next
	}
	s.wakeIn(wait)
}

// wakeIn sets the clock. The caller holds the lock.
func (s *screen) wakeIn(wait time.Duration) {
	if s.timer == nil {
		s.timer = time.AfterFunc(wait, s.draw)
		return
	}
	s.timer.Reset(wait)
}

// draw shows the state of the work, and sets the clock for the next drawing.
func (s *screen) draw() {
	s.drawing.Lock()
	defer s.drawing.Unlock()
	s.mu.Lock()
	now := time.Now()
	if len(s.roots) == 0 || s.display == nil {
		s.mu.Unlock()
		return
	}
	if s.paused > 0 {
		s.wakeIn(s.timing.Every)
		s.mu.Unlock()
		return
	}
	if now.Sub(s.busy) < s.timing.After { // the clock was set for other work
		s.arm()
		s.mu.Unlock()
		return
	}
	state, display := s.state(now), s.display
	s.drawn, s.lastDraw = true, now
	s.arm()
	s.mu.Unlock()
	display.Draw(state)
}

// end takes a task away. What still runs inside it becomes part of the outer task.
func (s *screen) end(t *Task) {
	s.mu.Lock()
	if t.ended {
		s.mu.Unlock()
		return
	}
	now := time.Now()
	last := len(s.roots) == 1 && s.roots[0] == t && len(t.children) == 0
	var state State
	if last {
		state = s.state(now)
		state.Ended, state.Stopped = true, t.ctx.Err() != nil
	}
	s.remove(t)
	if len(s.roots) == 0 {
		s.idle = now
	}
	display, drawn := s.display, s.drawn
	s.mu.Unlock()
	if last && drawn && display != nil {
		s.drawing.Lock()
		defer s.drawing.Unlock()
		display.End(state)
	}
}

// remove takes a task out of the tree. The caller holds the lock.
func (s *screen) remove(t *Task) {
	t.ended = true
	s.active = without(s.active, t)
	for _, c := range t.children {
		c.parent, c.weight = t.parent, 0
	}
	if t.parent == nil {
		s.roots = append(without(s.roots, t), t.children...)
		return
	}
	t.parent.skippedParts += t.skippedShare() * t.weight
	t.parent.children = append(without(t.parent.children, t), t.children...)
}

func without(tasks []*Task, t *Task) []*Task {
	i := slices.Index(tasks, t)
	if i < 0 {
		return tasks
	}
	return slices.Delete(tasks, i, i+1)
}

func (s *screen) above(print func()) {
	s.drawing.Lock()
	defer s.drawing.Unlock()
	s.mu.Lock()
	display, drawn := s.display, s.drawn
	s.mu.Unlock()
	if drawn && display != nil {
		display.Erase()
	}
	print()
}

func (s *screen) pause(by int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.paused += by
}

func (s *screen) close() {
	s.drawing.Lock()
	defer s.drawing.Unlock()
	s.mu.Lock()
	var state State
	show := s.drawn && s.display != nil && len(s.roots) > 0
	if show {
		state = s.state(time.Now())
		state.Ended, state.Stopped = true, true
	}
	display := s.display
	s.forget()
	s.mu.Unlock()
	if show {
		display.End(state)
	}
}
