// Crash reports of the Go runtime: parsing and shortening.

package relay

import (
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"
)

// crash is a crash report of the Go runtime.
type crash struct {
	message string
	frames  []frame // of the goroutine that crashed, innermost first
	others  int     // goroutines that are not shown
}

// frame is one call on the stack.
type frame struct {
	call     string // "main.f", "created by main.main in goroutine 1"
	file     string
	line     int
	cell     int // of the notebook; 0 where it is not known
	cellLine int // line in the cell
}

var (
	goroutine = regexp.MustCompile(`^goroutine \d+ .*\[.*\]:$`)
	position  = regexp.MustCompile(`^\s+(?:\[\[ Cell \[(\d+)\] Line (\d+) \]\]\s+)?(\S.*?):(\d+)(?: \+0x[0-9a-f].*)?$`)
	// signalLine matches a line with machine addresses, which is left out.
	signalLine = regexp.MustCompile(`(?m)^\[signal [^\n]*\]$`)
	arguments  = regexp.MustCompile(`\([^()]*\)$`)
	ownCode    = regexp.MustCompile(`^(?:main|gonb_[0-9a-f]+)\.`)
	program    = regexp.MustCompile(`(?:^|/)gonb_[0-9a-f]+/main(?:_test)?\.go$`)
)

// parseCrash parses a crash report; false if the text is none.
func parseCrash(text string) (*crash, bool) {
	lines := strings.Split(colour.ReplaceAllString(text, ""), "\n")
	start := 0
	for start < len(lines) && !goroutine.MatchString(lines[start]) {
		start++
	}
	if start == len(lines) {
		return nil, false
	}
	head, _, _ := strings.Cut(strings.Join(lines[:start], "\n"), "\nruntime stack:\n")
	c := &crash{message: strings.TrimSpace(signalLine.ReplaceAllString(head, ""))}
	i := start + 1
	for ; i < len(lines) && lines[i] != ""; i++ {
		f := frame{call: lines[i]}
		if i+1 < len(lines) && f.locate(lines[i+1]) {
			i++
		}
		c.frames = append(c.frames, f)
	}
	for ; i < len(lines); i++ {
		if goroutine.MatchString(lines[i]) {
			c.others++
		}
	}
	return c, true
}

func (f *frame) locate(text string) bool {
	at := position.FindStringSubmatch(text)
	if at == nil {
		return false
	}
	f.cell, _ = strconv.Atoi(at[1])
	f.cellLine, _ = strconv.Atoi(at[2])
	f.file = at[3]
	f.line, _ = strconv.Atoi(at[4])
	return true
}

const modulePath = "github.com/lethe-ml/lethe/"

// failure shows the user's own frames and the library's first, and the others separately.
func (c *crash) failure(newest int, known *sources) *failure {
	var own, rest frameList
	for _, f := range c.frames {
		switch {
		case program.MatchString(f.file):
			own.add(f.inCells(newest, known)...)
		case strings.Contains(f.call, modulePath):
			own.add(f.plain())
		default:
			rest.add("    " + f.plain())
		}
	}
	out := &failure{Name: "panic", Value: known.hidePaths(c.message)}
	if first, after, ok := strings.Cut(out.Value, ": "); ok && (first == "panic" || first == "fatal error") {
		out.Name, out.Value = first, after
	}
	out.Trace = append(strings.Split(out.Name+": "+out.Value, "\n"), "")
	out.Trace = append(out.Trace, own.lines()...)
	if len(rest.entries) > 0 {
		out.Trace = append(append(out.Trace, "", "the rest of the stack:"), rest.lines()...)
	}
	if c.others > 0 {
		out.Trace = append(out.Trace, fmt.Sprintf("(other goroutines: %d, not shown)", c.others))
	}
	return out
}

// frameList is a list of frames in which repeated frames are counted.
type frameList struct {
	entries []string
	repeats []int
}

// maxFrames is how many different frames are shown.
const maxFrames = 20

func (l *frameList) add(lines ...string) {
	entry := strings.Join(lines, "\n")
	if n := len(l.entries); n > 0 && l.entries[n-1] == entry {
		l.repeats[n-1]++
		return
	}
	l.entries, l.repeats = append(l.entries, entry), append(l.repeats, 0)
}

func (l *frameList) lines() []string {
	var out []string
	for i, entry := range l.entries {
		if i == maxFrames {
			return append(out, fmt.Sprintf("    (%d more frames)", len(l.entries)-i))
		}
		out = append(out, strings.Split(entry, "\n")...)
		if l.repeats[i] > 0 {
			out = append(out, fmt.Sprintf("    (and %d times more)", l.repeats[i]))
		}
	}
	return out
}

// inCells locates a frame of GoNB's program in the notebook, with its code.
func (f *frame) inCells(newest int, known *sources) []string {
	cell, line, ok := f.cell, f.cellLine, f.cell > 0
	if !ok {
		cell, line, ok = known.find(f.line, newest)
	}
	if !ok {
		return []string{f.name() + ", in code that GoNB adds to the cell"}
	}
	out := []string{fmt.Sprintf("cell [%d], line %d, in %s", cell, line, f.name())}
	if code := known.line(cell, line); code != "" {
		out = append(out, "    "+code)
	}
	return out
}

// plain names a frame by its package, without folders of the machine.
func (f *frame) plain() string {
	if f.file == "" {
		return f.name()
	}
	return fmt.Sprintf("%s (%s:%d)", f.name(), path.Base(f.file), f.line)
}

// name returns the function without its arguments and without the cells' package.
func (f *frame) name() string {
	created, by := strings.CutPrefix(f.call, "created by ")
	call, _, _ := strings.Cut(created, " in goroutine")
	if !by {
		call = arguments.ReplaceAllString(call, "")
	}
	call = ownCode.ReplaceAllString(call, "")
	if by {
		return "the go statement of " + call
	}
	return call
}
