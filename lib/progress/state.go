// The state of running work as a display shows it, and as text.

package progress

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
)

// State is what a display shows.
type State struct {
	What    []string      // the running work, from the outside in; never empty
	Known   bool          // whether the total is known, and with it Share
	Share   float64       // done, 0 to 1
	Rate    float64       // in units per second; 0 where it is not known
	Unit    string        // of Rate; "" if the rate means nothing to a reader
	Left    time.Duration // estimate of the time that the rest takes; 0 where there is none
	Spent   time.Duration // since the work began
	Count   int           // how many pieces of work there were, one after the other
	Ended   bool          // the work is over
	Stopped bool          // and was interrupted
}

// state returns the state of the oldest work. The caller holds the lock, and there is work.
//
// The bar belongs to the outermost task whose total is known. A name that is a part of the one
// around it, "scrub" in "scrub on adult", says nothing new and is left out.
func (s *screen) state(now time.Time) State {
	var chain []*Task
	for t := s.roots[0]; t != nil; t = t.newestChild() {
		chain = append(chain, t)
	}
	out := State{Count: s.count, Spent: now.Sub(s.busy)}
	named := chain
	if chain[0].command.Load() && slices.ContainsFunc(chain[1:], func(t *Task) bool { return t.what != "" }) {
		named = chain[1:]
	}
	for _, t := range named {
		if t.what != "" && (len(out.What) == 0 || !strings.Contains(out.What[len(out.What)-1], t.what)) {
			out.What = append(out.What, t.what)
		}
	}
	if len(out.What) == 0 {
		out.What = []string{"working"}
	}
	measured := chain[0]
	for _, t := range chain {
		if t.total.Load() >= 1 {
			measured = t
			break
		}
	}
	out.measure(measured, now)
	return out
}

// newestChild returns the part of a task that began last, nil if it has none.
func (t *Task) newestChild() *Task {
	if len(t.children) == 0 {
		return nil
	}
	return t.children[len(t.children)-1]
}

// measure fills in how far a task is. The rate is the task's pace; without one the mean since
// the task began, without what was done already.
func (s *State) measure(t *Task, now time.Time) {
	s.Share, s.Known = t.share()
	s.Unit = t.unit
	if t.pace > 0 {
		s.Rate = t.pace
		s.leave((1 - s.Share) * float64(t.total.Load()) / t.pace)
		return
	}
	spent := now.Sub(t.began).Seconds()
	if spent <= 0 {
		return
	}
	if s.Unit != "" {
		units := float64(t.done.Load())
		if s.Known {
			units = s.Share * float64(t.total.Load())
		}
		s.Rate = max(0, (units-t.skippedUnits())/spent)
	}
	worked := s.Share - t.skippedShare()
	if !s.Known || worked <= 0 || s.Share >= 1 || spent < 1 {
		return
	}
	s.leave(spent * (1 - s.Share) / worked)
}

// leave sets the time left. One too long for a time.Duration is cut.
func (s *State) leave(seconds float64) {
	s.Left = time.Duration(min(seconds*float64(time.Second), 1<<62))
}

// Name returns what runs: the outermost and what is inside it.
func (s State) Name() string { return strings.Join(s.What, " · ") }

// Text returns how far the work is: ": 40 %, 25 records/s, about 3 s left", or where there is
// no estimate the time spent.
func (s State) Text() string {
	out := ""
	if s.Known {
		out = fmt.Sprintf(": %d %%", int(100*s.Share))
	}
	if s.Unit != "" && s.Rate > 0 {
		out += fmt.Sprintf(", %s/s", amount(s.Rate, s.Unit))
	}
	if s.Left > 0 {
		return out + ", about " + FormatDuration(s.Left) + " left"
	}
	return out + ", " + FormatDuration(s.Spent)
}

// Final returns the line that stays when the work is over: "training: done in 12 s".
func (s State) Final() string {
	name := s.What[0]
	if s.Count > 1 {
		name = fmt.Sprintf("%d pieces of work, the last %s", s.Count, name)
	}
	took := FormatDuration(s.Spent)
	switch {
	case s.Stopped && s.Known:
		return fmt.Sprintf("%s: stopped at %d %% after %s", name, int(100*s.Share), took)
	case s.Stopped:
		return fmt.Sprintf("%s: stopped after %s", name, took)
	}
	return fmt.Sprintf("%s: done in %s", name, took)
}

func amount(n float64, unit string) string {
	switch {
	case unit == "B":
		return FormatBytes(int64(n))
	case n < 10:
		return fmt.Sprintf("%.2g %s", n, unit)
	}
	return fmt.Sprintf("%.0f %s", n, unit)
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

// FormatBytes prints a number of bytes in powers of 1000: "1.5 MB".
func FormatBytes(n int64) string {
	v, unit := float64(n), "B"
	for _, next := range []string{"kB", "MB", "GB", "TB"} {
		if v < 1000 {
			break
		}
		v, unit = v/1000, next
	}
	if unit == "B" {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %s", v, unit)
}

// oneLine returns a name without line ends and characters that move a cursor or turn the
// reading direction.
func oneLine(s string) string {
	plain := func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return ' '
		}
		return r
	}
	return strings.Join(strings.Fields(strings.Map(plain, strings.ToValidUTF8(s, "?"))), " ")
}
