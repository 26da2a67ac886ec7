// Messages of the set-up, and how far it is.

package setup

import (
	"fmt"
	"io"

	"github.com/lethe-ml/lethe/lib/cli"
	"github.com/lethe-ml/lethe/lib/progress"
)

// reporter prints one line per piece of work; how far that is shows like all progress.
type reporter struct {
	w    io.Writer
	what string
	task *progress.Task
}

func newReporter(w io.Writer) *reporter { return &reporter{w: w} }

func (t *reporter) note(format string, args ...any) {
	fmt.Fprintln(t.w, cli.Printable("lethe: "+fmt.Sprintf(format, args...)))
}

// begin reports that work begins, and about how long it takes.
func (t *reporter) begin(what, howLong string) {
	t.note("%s, %s", what, howLong)
	t.what, t.task = what, progress.Begin(what, 0)
}

// progress reports the state of the work.
func (t *reporter) progress(format string, args ...any) {
	t.task.Describe(t.what + ", " + fmt.Sprintf(format, args...))
}

func (t *reporter) end() { t.task.Done() }
