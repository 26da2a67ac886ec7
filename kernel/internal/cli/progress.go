package cli

import (
	"fmt"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"
)

// plainEvery bounds how often progress is printed where there is no terminal.
const plainEvery = 5 * time.Second

// Progress shows how far long work is: a bar with rate and remaining time on a
// terminal, a plain line every few seconds elsewhere.
type Progress struct {
	w     io.Writer
	unit  string // "B" prints sizes
	bar   *progressbar.ProgressBar
	now   func() time.Time
	total int64
	done  int64
	began time.Time
	said  time.Time
}

// NewProgress shows progress on w, counted in a unit.
func NewProgress(w io.Writer, unit string) *Progress {
	return &Progress{w: w, unit: unit, now: time.Now}
}

// Update says that done of total units are done; what names the last of them.
// Work with another total, or with less done than before, is a new piece. A
// total below 1 is unknown.
func (p *Progress) Update(done, total int64, what string) {
	if p.began.IsZero() || total != p.total || done < p.done {
		p.Finish()
		p.start(total, what)
	}
	p.done = done
	if p.bar != nil {
		p.bar.Describe(what)
		_ = p.bar.Set64(done)
		return
	}
	now := p.now()
	if now.Sub(p.said) < plainEvery {
		return
	}
	p.said = now
	fmt.Fprintln(p.w, p.line(now, what))
}

func (p *Progress) start(total int64, what string) {
	p.total, p.done, p.began = total, 0, p.now()
	p.said = p.began
	if !IsTerminal(p.w) {
		return
	}
	options := []progressbar.Option{
		progressbar.OptionSetWriter(p.w), progressbar.OptionSetDescription(what), progressbar.OptionSetPredictTime(true),
		progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionSetItsString(p.unit),
		progressbar.OptionThrottle(100 * time.Millisecond), progressbar.OptionSetWidth(20), progressbar.OptionClearOnFinish(),
	}
	if p.unit == "B" {
		options = append(options, progressbar.OptionShowBytes(true))
	}
	if total < 1 {
		total = -1
	}
	p.bar = progressbar.NewOptions64(total, options...)
}

// line is the state of the work in words.
func (p *Progress) line(now time.Time, what string) string {
	s := "lethe: " + what
	if p.total > 0 {
		s += fmt.Sprintf(": %d %%", 100*p.done/p.total)
	}
	spent := now.Sub(p.began).Seconds()
	if spent <= 0 || p.done <= 0 {
		return s
	}
	rate := float64(p.done) / spent
	s += fmt.Sprintf(", %s/s", p.amount(rate))
	if p.total > p.done {
		left := time.Duration(float64(p.total-p.done) / rate * float64(time.Second))
		s += fmt.Sprintf(", about %s left", left.Round(time.Second))
	}
	return s
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

// Finish ends the bar, if there is one.
func (p *Progress) Finish() {
	if p.bar != nil {
		_ = p.bar.Finish()
		p.bar = nil
	}
}
