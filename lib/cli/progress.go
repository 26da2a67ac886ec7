// Progress of long work on a terminal or in a log.

package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"golang.org/x/term"
)

// The intervals of progress: on a terminal, where the line is redrawn, and elsewhere.
const (
	drawEvery  = 100 * time.Millisecond
	plainEvery = 5 * time.Second
)

const barWidth = 20

// Progress shows the progress of long work: on a terminal a bar with rate and remaining
// time in one line, elsewhere a plain line every few seconds.
type Progress struct {
	w         io.Writer
	unit      string // "B" prints sizes
	now       func() time.Time
	width     func() int // of the terminal, 0 where there is none
	total     int64
	done      int64
	began     time.Time
	lastShown time.Time
	drawn     bool
}

// NewProgress returns a Progress that writes to w and counts in a unit; "B" prints sizes.
func NewProgress(w io.Writer, unit string) *Progress {
	return &Progress{w: Raw(w), unit: unit, now: time.Now, width: func() int { return terminalWidth(w) }}
}

// terminalWidth returns the width of the terminal w, 0 if w is none.
func terminalWidth(w io.Writer) int {
	if !IsTerminal(w) {
		return 0
	}
	n, _, err := term.GetSize(int(w.(interface{ Fd() uintptr }).Fd()))
	if err != nil {
		return 80
	}
	return n
}

// Update reports that done of total units are done; what names the last of them. Another
// total, or fewer units than before, begins a new piece of work. A total below 1 means
// unknown.
func (p *Progress) Update(done, total int64, what string) {
	if p.began.IsZero() || total != p.total || done < p.done {
		p.Finish()
		p.total, p.began = total, p.now()
		p.lastShown = p.began
	}
	p.done = done
	now, screen := p.now(), p.width()
	every := plainEvery
	if screen > 0 {
		every = drawEvery
	}
	if now.Sub(p.lastShown) < every {
		return
	}
	p.lastShown, what = now, Printable(what)
	if screen > 0 {
		p.drawn = true
		fmt.Fprint(p.w, "\r\x1b[K", p.bar(now, what, screen-1))
		return
	}
	fmt.Fprintln(p.w, "lethe: "+what+p.stateText(now))
}

// bar returns the state of the work in one line that fits the screen.
func (p *Progress) bar(now time.Time, what string, screen int) string {
	line := p.stateText(now)
	if p.total > 0 && screen > 2*barWidth+len(line) {
		full := int(min(p.done, p.total) * barWidth / p.total)
		line += " " + strings.Repeat("█", full) + strings.Repeat("░", barWidth-full)
	}
	name, room := []rune(what), screen-len([]rune(line))
	if len(name) > room {
		name = append(name[:max(0, room-1)], '…')
	}
	all := []rune(string(name) + line)
	return string(all[:min(len(all), max(0, screen))])
}

// stateText returns share, rate and remaining time as text.
func (p *Progress) stateText(now time.Time) string {
	s := ""
	if p.total > 0 {
		s = fmt.Sprintf(": %d %%", 100*p.done/p.total)
	}
	spent := now.Sub(p.began).Seconds()
	if spent <= 0 || p.done <= 0 {
		return s
	}
	rate := float64(p.done) / spent
	s += fmt.Sprintf(", %s/s", p.amount(rate))
	if p.total > p.done {
		left := float64(p.total-p.done) / rate * float64(time.Second)
		s += ", about " + FormatDuration(time.Duration(min(left, 1<<62))) + " left" // a longer one is no time.Duration
	}
	return s
}

// FormatDuration prints a duration: seconds below two minutes, then minutes and hours.
func FormatDuration(d time.Duration) string {
	switch {
	case d < 2*time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < 2*time.Hour:
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return fmt.Sprintf("%.0f h", d.Hours())
}

func (p *Progress) amount(n float64) string {
	switch {
	case p.unit == "B":
		return Bytes(int64(n))
	case n < 10:
		return fmt.Sprintf("%.2g %s", n, p.unit)
	}
	return fmt.Sprintf("%.0f %s", n, p.unit)
}

// Finish removes the bar, if there is one.
func (p *Progress) Finish() {
	if p.drawn {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.drawn = false
	}
}
