//go:build unix

// Tests of interact.go.

package nb

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// inBrowser is the environment of a kernel that a notebook server has started.
var inBrowser = []string{"JPY_SESSION_NAME=test.ipynb", "GONB_JUPYTER_KERNEL_ID=1234", HeadlessEnv + "="}

func TestInteractDrawsForTheNewestPositionOnly(t *testing.T) {
	t.Parallel()
	at := func(rate, epochs float64) []any { return []any{rate, epochs} }
	k := &fakeKernel{t: t}
	k.browser = func(say func(message)) {
		say(message{Number: 1, Values: at(0.1, 5)})
		k.ready(1)
		say(message{Number: 2, Values: at(1, 9)}) // this drawing waits to be cancelled
		k.until("drawing for 1 9")
		say(message{Number: 3, Values: at(1, 10)})
		say(message{Number: 2, Values: at(0.001, 1)}) // overtaken
		k.ready(3)
		say(message{Number: 4, Values: at(1, 10), Done: true})
	}
	k.start("turn", inBrowser...)
	events, code := k.wait()
	if got := printed(events, "stdout"); got != "drawing for 1 9\nafter 1 10\n" || code != 0 {
		t.Errorf("exit code %d, printed %q, said %q", code, got, printed(events, "stderr"))
	}
	last := map[string]string{}
	for _, o := range shownEvents(events) {
		last[o.id] = fmt.Sprint(o.data["text/plain"])
		if strings.Contains(last[o.id], "nobody wants") || strings.Contains(last[o.id], "0.001") {
			t.Errorf("%q was drawn", last[o.id])
		}
	}
	left := slices.Collect(maps.Values(last))
	for _, want := range []string{"drawn for 1 and 10", "Drawn for rate = 1, epochs = 10.", "The sliders are closed. The controls move among the 2 states that were drawn."} {
		if !slices.Contains(left, want) {
			t.Errorf("the notebook keeps %q, not %q", left, want)
		}
	}
}

func TestInteractLetsWaitingCellsRun(t *testing.T) {
	t.Parallel()
	k := &fakeKernel{t: t}
	k.browser = func(say func(message)) { say(message{Number: 1, Values: []any{0.1}, Waiting: true}) }
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
