// Package show has the displays of progress and chooses one: a bar in a notebook, a line in a
// terminal, plain lines in a log.
package show

import (
	"io"
	"os"
	"time"

	"github.com/janpfeifer/gonb/gonbui"

	"github.com/lethe-ml/lethe/lib/progress"
)

// Env is the environment variable that turns progress off with the value "off".
const Env = "LETHE_PROGRESS"

// HeadlessEnv is the environment variable that says that nobody looks at the notebook
// (nb.HeadlessEnv): its outputs are kept, and times of this machine have no place in them.
const HeadlessEnv = "LETHE_HEADLESS"

// When work is shown: in a terminal, in a notebook, whose browser gets a message each time,
// and in a log.
var (
	drawn  = progress.Timing{After: progress.Patience, Every: 100 * time.Millisecond}
	inCell = progress.Timing{After: progress.Patience, Every: 250 * time.Millisecond}
	plain  = progress.Timing{After: 5 * time.Second, Every: 5 * time.Second}
)

// ChooseDisplay shows progress where the program runs: in the cell of a notebook that somebody
// looks at, or on standard error, which may be a terminal or a log. A display that is there
// already stays.
func ChooseDisplay() {
	if progress.HasDisplay() || os.Getenv(Env) == "off" {
		return
	}
	if gonbui.IsNotebook {
		if os.Getenv(HeadlessEnv) == "" {
			progress.Show(newNotebook(), inCell)
		}
		return
	}
	UseStderr()
}

// UseStderr shows progress on standard error, which may be a terminal or a log. A display that
// is there already stays.
func UseStderr() {
	if progress.HasDisplay() || os.Getenv(Env) == "off" {
		return
	}
	l := &line{w: os.Stderr, width: func() int { return terminalWidth(os.Stderr) }}
	timing := plain
	if isTerminal(os.Stderr) {
		timing = drawn
	}
	progress.Show(l, timing)
}

// Plain returns the display of a log, which writes one line per drawing to w.
func Plain(w io.Writer) progress.Display { return &line{w: w, width: func() int { return 0 }} }
