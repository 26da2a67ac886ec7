// Progress bars: HTML in a notebook, lines on standard error in a terminal.

package nb

import (
	"fmt"
	"html"
	"math"
	"sync"
	"time"

	"github.com/janpfeifer/gonb/gonbui"
)

// How often a bar is drawn: smooth in a notebook, sparing in a terminal.
const (
	barEvery  = 100 * time.Millisecond
	lineEvery = 5 * time.Second
)

// Bar shows the progress of long work. In a notebook it is a bar that leaves one line
// behind, in a terminal a line on standard error every few seconds. Its methods may be
// called from several goroutines.
type Bar struct {
	mu          sync.Mutex
	s           *outputTarget
	id          string
	name        string
	done, total int64
	percent     bool // show per cent, not counts
	began, next time.Time
	doneAtStart int64 // what was done already when the work was first reported
	firstReport time.Time
	placed      bool
	ended       bool
}

// NewBar starts a bar for total units of work. A total below 1 means unknown.
func NewBar(total int, what string) *Bar { return std.bar(int64(total), what) }

func (s *outputTarget) bar(total int64, what string) *Bar {
	b := &Bar{s: s, id: gonbui.UniqueId(), name: oneLine(what), total: total, began: s.now()}
	b.next = b.began
	if !s.notebook {
		b.next = b.began.Add(lineEvery)
	}
	s.register(b)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.draw()
	return b
}

// Add reports n more units as done.
func (b *Bar) Add(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.done += int64(n)
	b.draw()
}

// Set reports done units as done in all.
func (b *Bar) Set(done int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.done = int64(done)
	b.draw()
}

// Report reports that done of total units are done; what names the last of them, and an
// empty what keeps the name. Recipes and trainings report like this:
//
//	env.Progress = func(p paper.Progress) { bar.Report(p.Done, p.Total, p.What) }
func (b *Bar) Report(done, total int64, what string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.firstReport.IsZero() {
		b.doneAtStart, b.firstReport = done, b.s.now()
	}
	b.done, b.total = done, total
	if what != "" {
		b.name = oneLine(what)
	}
	b.draw()
}

// Done ends the bar and prints how long the work took.
func (b *Bar) Done() { b.end("done") }

// close ends a bar whose program ends before the work does.
func (b *Bar) close() { b.end("stopped") }

func (b *Bar) end(how string) {
	b.mu.Lock()
	over := b.ended
	b.ended = true
	line := b.finalLine(how)
	b.mu.Unlock()
	if over {
		return
	}
	b.s.unregister(b)
	if !b.s.notebook {
		b.s.printLine(b.s.err, "%s", line)
		return
	}
	b.s.update(output{id: b.id, data: bundle{"text/plain": line}})
	b.s.sync()
}

// draw shows the bar if enough time has passed since the last drawing.
func (b *Bar) draw() {
	now := b.s.now()
	if b.ended || now.Before(b.next) {
		return
	}
	if !b.s.notebook {
		b.next = now.Add(lineEvery)
		b.s.printLine(b.s.err, "%s", b.statusLine(now))
		return
	}
	b.next = now.Add(barEvery)
	o := output{id: b.id, data: bundle{"text/plain": b.statusLine(now), "text/html": b.html(now)}}
	if b.placed {
		b.s.update(o)
		return
	}
	b.placed = true
	b.s.show(o, b.statusLine(now)+"\n")
}

// statusLine returns the state of the work: "training: 40 of 100, about 3 s left".
func (b *Bar) statusLine(now time.Time) string {
	if b.total < 1 {
		return fmt.Sprintf("%s: %d", b.name, b.done)
	}
	s := fmt.Sprintf("%s: %d of %d", b.name, b.done, b.total)
	if b.percent || b.total > manyUnits {
		s = fmt.Sprintf("%s: %d %%", b.name, 100*b.done/b.total)
	}
	if left, ok := b.timeLeft(now); ok {
		s += ", about " + formatDuration(left) + " left"
	}
	return s
}

// timeLeft estimates the time that the rest takes at the rate so far. Work that resumes
// from a saved state begins with a part done, which is not counted in the rate.
func (b *Bar) timeLeft(now time.Time) (time.Duration, bool) {
	since := b.firstReport
	if since.IsZero() {
		since = b.began
	}
	spent := now.Sub(since).Seconds()
	if b.done <= b.doneAtStart || b.done >= b.total || spent < 1 {
		return 0, false
	}
	return time.Duration(spent * float64(b.total-b.done) / float64(b.done-b.doneAtStart) * float64(time.Second)), true
}

// manyUnits is the total above which the line shows per cent and no counts.
const manyUnits = 100_000

// finalLine returns the line that stays when the bar ends.
func (b *Bar) finalLine(how string) string {
	took := formatDuration(b.s.now().Sub(b.began))
	if how == "done" {
		return fmt.Sprintf("%s: done in %s", b.name, took)
	}
	return fmt.Sprintf("%s, %s after %s", b.statusLine(b.began), how, took)
}

func (b *Bar) html(now time.Time) string {
	value := fmt.Sprintf(` value="%d" max="%d"`, min(max(b.done, 0), b.total), b.total)
	if b.total < 1 {
		value = ""
	}
	return fmt.Sprintf(`<progress%s></progress> <code>%s</code>`, value, html.EscapeString(b.statusLine(now)))
}

// formatDuration prints a duration: 0.4 s, 12 s, 3 min 20 s.
func formatDuration(d time.Duration) string {
	s := d.Seconds()
	switch {
	case s < 10:
		return fmt.Sprintf("%.1f s", s)
	case s < 60:
		return fmt.Sprintf("%.0f s", s)
	case s < 3600:
		return fmt.Sprintf("%d min %d s", int(s)/60, int(s)%60)
	case s < 100*3600:
		return fmt.Sprintf("%d h %d min", int(s)/3600, int(s)%3600/60)
	}
	return fmt.Sprintf("%.0f days", math.Round(s/86400))
}
