// Progress in a terminal, where one line is drawn anew, and in a log, where a plain line
// comes every few seconds.

package show

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/lethe-ml/lethe/lib/progress"
)

const barWidth = 20

// line shows progress on a stream.
type line struct {
	w     io.Writer
	width func() int // of the terminal, 0 where there is none
	drawn bool       // whether a line is on the screen
}

// terminalWidth returns the width of the terminal f, 0 if f is none that can erase a line.
func terminalWidth(f *os.File) int {
	if !isTerminal(f) {
		return 0
	}
	n, _, err := term.GetSize(int(f.Fd()))
	if err != nil || n < 1 {
		return 80
	}
	return n
}

func isTerminal(f *os.File) bool {
	return term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb"
}

// Draw implements progress.Display.
func (l *line) Draw(s progress.State) {
	screen := l.width()
	if screen == 0 {
		fmt.Fprintln(l.w, "lethe: "+s.Name()+s.Text())
		return
	}
	l.drawn = true
	fmt.Fprint(l.w, "\r\x1b[K", bar(s, screen-1))
}

// Erase implements progress.Display.
func (l *line) Erase() {
	if l.drawn {
		fmt.Fprint(l.w, "\r\x1b[K")
		l.drawn = false
	}
}

// End implements progress.Display.
func (l *line) End(progress.State) { l.Erase() }

// bar returns the state in one line that fits the screen. The name of the innermost work goes
// first where there is no room.
func bar(s progress.State, screen int) string {
	text := s.Text()
	if s.Known && screen > 2*barWidth+len(text) {
		full := int(s.Share * barWidth)
		text += " " + strings.Repeat("█", full) + strings.Repeat("░", barWidth-full)
	}
	room := screen - len([]rune(text))
	name := []rune(s.Name())
	for n := len(s.What) - 1; n > 0 && len(name) > room; n-- {
		s.What = s.What[:n]
		name = []rune(s.Name())
	}
	if len(name) > room {
		name = append(name[:max(0, room-1)], '…')
	}
	all := []rune(string(name) + text)
	return string(all[:min(len(all), max(0, screen))])
}
