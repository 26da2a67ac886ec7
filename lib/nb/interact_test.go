//go:build unix

// Tests of interact.go.

package nb

import (
	"fmt"
	"strings"
	"testing"
)

// inBrowser is the environment of a kernel that a notebook server has started.
var inBrowser = []string{"JPY_SESSION_NAME=test.ipynb", "GONB_JUPYTER_KERNEL_ID=1234", HeadlessEnv + "="}

// positionOf is where a slider stands at a value.
func positionOf(t *testing.T, k Slider, value float64) int {
	t.Helper()
	for i, v := range k.positions() {
		if v == value {
			return i
		}
	}
	t.Fatalf("the slider %q has no position for %v", k.name, value)
	return 0
}

func TestInteractDrawsForTheNewestPositionOnly(t *testing.T) {
	t.Parallel()
	rate, epochs := 0.1, 5
	one, two := NewSlider("rate", &rate, 0.001, 1).Log(), NewSlider("epochs", &epochs, 1, 10)
	at := func(r, e float64) []int { return []int{positionOf(t, one, r), positionOf(t, two, e)} }
	k := &fakeKernel{t: t}
	k.browser = func(say func(message)) {
		say(message{Number: 1, Positions: at(0.1, 5)})
		k.until("drawn for 0.1 and 5")
		say(message{Number: 2, Positions: at(1, 9)}) // this drawing waits to be cancelled
		k.until("drawing for 1 9")
		say(message{Number: 3, Positions: at(1, 10)})
		say(message{Number: 2, Positions: at(0.001, 1)}) // overtaken
		k.until("drawn for 1 and 10")
		say(message{Number: 4, Positions: at(1, 10), Done: true})
	}
	k.start("turn", inBrowser...)
	events, code := k.wait()
	if got := printed(events, "stdout"); got != "drawing for 1 9\nafter 1 10\n" || code != 0 {
		t.Errorf("exit code %d, printed %q, said %q", code, got, printed(events, "stderr"))
	}
	last := map[string]string{}
	for _, o := range shownEvents(events) {
		s := fmt.Sprint(o.data["text/plain"])
		if strings.Contains(s, "nobody wants") || strings.Contains(s, "0.001") {
			t.Errorf("%q was drawn", s)
		}
		last[o.id] = s
		if _, script := o.data["text/html"]; !script {
			last[o.id] += " (text alone)"
		}
	}
	var left []string
	for _, s := range last {
		left = append(left, s)
	}
	all := strings.Join(left, "\n")
	for _, want := range []string{"drawn for 1 and 10", "Drawn for rate = 1, epochs = 10. (text alone)", "The sliders are closed. (text alone)"} {
		if !strings.Contains(all, want) {
			t.Errorf("the notebook keeps\n%s\nwithout %q", all, want)
		}
	}
}

func TestInteractLetsWaitingCellsRun(t *testing.T) {
	t.Parallel()
	k := &fakeKernel{t: t}
	k.browser = func(say func(message)) { say(message{Number: 1, Positions: []int{0}, Waiting: true}) }
	k.start("turn", inBrowser...)
	events, code := k.wait()
	if got := printed(events, "stdout"); got != "after 0.1 5\n" || code != 0 {
		t.Errorf("exit code %d, printed %q", code, got)
	}
	k.until("Other cells were waiting")
}

func TestInteractDrawsOnceWithoutABrowser(t *testing.T) {
	t.Parallel()
	none := []string{"JPY_SESSION_NAME=", HeadlessEnv + "="}
	said := append([]string{}, inBrowser...)
	said[2] = HeadlessEnv + "=1"
	for _, env := range [][]string{none, said} {
		events, code := runCell(t, "turn", env...)
		want := "Drawn once, for rate = 0.1, epochs = 5. Sliders need JupyterLab in a browser; without one, change the values in the code.\nafter 0.1 5\n"
		if got := printed(events, "stdout"); got != want || code != 0 {
			t.Errorf("%v: exit code %d, printed %q", env, code, got)
		}
		if outs := shownEvents(events); len(outs) != 1 || outs[0].data["text/plain"] != "drawn for 0.1 and 5" {
			t.Errorf("%v: shown %v", env, outs)
		}
	}
}

func TestInteractGivesUpWhenNoBrowserAnswers(t *testing.T) {
	t.Parallel()
	events, code := runCell(t, "turn", inBrowser...)
	if got := printed(events, "stdout"); got != "after 0.1 5\n" || code != 0 {
		t.Errorf("exit code %d, printed %q", code, got)
	}
	for _, o := range shownEvents(events)[3:] {
		if _, script := o.data["text/html"]; script && o.id != "" && !strings.HasPrefix(o.id, "status-") {
			t.Errorf("a script is left behind")
		}
	}
}
