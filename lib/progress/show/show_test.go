// Tests of the displays: the line of a terminal, the lines of a log, the bar of a notebook.

package show

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/janpfeifer/gonb/gonbui/protocol"

	"github.com/lethe-ml/lethe/lib/progress"
)

func training() progress.State {
	return progress.State{
		What: []string{"a small network on moons_island", "training"}, Known: true, Share: 0.25, Rate: 250, Unit: "rows",
		Left: 30 * time.Second, Spent: 10 * time.Second, Count: 1,
	}
}

func TestTheBarFitsTheTerminal(t *testing.T) {
	for screen, want := range map[int]string{
		110: "a small network on moons_island · training: 25 %, 250 rows/s, about 30 s left █████░░░░░░░░░░░░░░░",
		80:  "a small network on moon…: 25 %, 250 rows/s, about 30 s left █████░░░░░░░░░░░░░░░",
		60:  "a small network on moons…: 25 %, 250 rows/s, about 30 s left",
		45:  "a small n…: 25 %, 250 rows/s, about 30 s left",
		10:  "…: 25 %, 2",
		0:   "",
	} {
		if got := bar(training(), screen); got != want {
			t.Errorf("%d columns: %q, want %q", screen, got, want)
		}
	}
	for screen := range 200 {
		if n := len([]rune(bar(training(), screen))); n > screen {
			t.Errorf("%d columns in %d", n, screen)
		}
	}
}

func TestOnATerminalTheLineIsWrittenAnewAndTakenAway(t *testing.T) {
	var out bytes.Buffer
	l := &line{w: &out, width: func() int { return 50 }}
	s := training()
	l.Erase()
	l.Draw(s)
	l.Draw(s)
	l.Erase()
	l.Erase()
	l.Draw(s)
	l.End(s)
	const erase, text = "\r\x1b[K", "a small netwo…: 25 %, 250 rows/s, about 30 s left"
	if want := erase + text + erase + text + erase + erase + text + erase; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

func TestALogHasPlainLines(t *testing.T) {
	var out bytes.Buffer
	l := Plain(&out)
	l.Draw(training())
	l.Erase()
	l.End(training())
	l.Draw(progress.State{What: []string{"reading"}, Spent: 7 * time.Second})
	want := "lethe: a small network on moons_island · training: 25 %, 250 rows/s, about 30 s left\nlethe: reading, 7 s\n"
	if out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

func TestANotebookHasOneBarThatLeavesALine(t *testing.T) {
	var sent []string
	synced := 0
	n := &notebook{send: func(id string, data map[protocol.MIMEType]any) {
		sent = append(sent, fmt.Sprintf("%v|%v|%v", id == "", data["text/plain"], data["text/html"]))
	}, sync: func() { synced++ }}
	s := training()
	s.What = []string{"a <b>"}
	n.Draw(s)
	first := n.id
	n.Draw(s) // the same
	s.Known = false
	n.Draw(s)
	n.Erase()
	s.Ended = true
	n.End(s)
	n.Draw(training()) // the next work of the cell
	if n.id != first || synced != 1 {
		t.Errorf("the cell has another bar, or its last line may be lost: %d", synced)
	}
	const text = ", 250 rows/s, about 30 s left"
	want := []string{
		`false|a <b>: 25 %` + text + `|<progress value="0.250" max="1"></progress> <code>a &lt;b&gt;: 25 %` + text + `</code>`,
		`false|a <b>` + text + `|<progress></progress> <code>a &lt;b&gt;` + text + `</code>`,
		`false|a <b>: done in 10 s|<nil>`,
	}
	for i := range want {
		if sent[i] != want[i] {
			t.Errorf("sent %q, want %q", sent[i], want[i])
		}
	}
	if len(sent) != 4 {
		t.Errorf("%d messages", len(sent))
	}
}

func TestOffIsOff(t *testing.T) {
	t.Setenv(Env, "off")
	ChooseDisplay()
	if progress.HasDisplay() {
		t.Error("progress is shown")
	}
	t.Setenv(Env, "")
	t.Cleanup(progress.Show(nil, progress.Timing{}))
	ChooseDisplay()
	if !progress.HasDisplay() {
		t.Error("progress is not shown")
	}
	mine := Plain(&bytes.Buffer{})
	defer progress.Show(mine, plain)()
	ChooseDisplay() // keeps it
	progress.Begin("work", 0).Done()
}
