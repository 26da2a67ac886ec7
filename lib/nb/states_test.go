//go:build unix

// Tests of states.go and drawing.go.

package nb

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// storedConfig is the configuration of the script in a saved page.
type storedConfig struct {
	Controls []form
	Places   []outputPlace
	States   string
	Live     string
	states   []state
}

var configJSON = regexp.MustCompile(`(?s)\}\)\((\{.*\})\);\n</script>$`)

// readPage reads the states of a saved page.
func readPage(t *testing.T, page string) (c storedConfig) {
	t.Helper()
	m := configJSON.FindStringSubmatch(page)
	if m == nil {
		t.Fatalf("no configuration in %q", page)
	}
	if err := json.Unmarshal([]byte(m[1]), &c); err != nil {
		t.Fatal(err)
	}
	packed, err := base64.RawURLEncoding.DecodeString(c.States)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &c.states); err != nil {
		t.Fatal(err)
	}
	return c
}

// stateAt returns the state of some values.
func (c storedConfig) stateAt(values ...any) *state {
	for i, st := range c.states {
		if slices.Equal(st.Values, values) {
			return &c.states[i]
		}
	}
	return nil
}

// withStates is the environment of a cell that nobody watches and that has time for states.
func withStates(limit string) []string {
	return []string{HeadlessEnv + "=1", StatesEnv + "=" + limit}
}

func TestANotebookThatNobodyWatchesStoresStates(t *testing.T) {
	t.Parallel()
	events, code := runCell(t, "grid", withStates("15s")...)
	if got := printed(events, "stdout"); got != "drawing adult age 2\nafter adult age 2\n" || code != 0 {
		t.Fatalf("exit code %d, printed %q, said %q", code, got, printed(events, "stderr"))
	}
	outs := shownEvents(events)
	var kinds []string
	for _, o := range outs {
		kinds = append(kinds, fmt.Sprint(o.data["text/plain"])[:10])
	}
	// The controls, what the drawing showed beside it, its three parts, and the controls again.
	if len(outs) != 6 || outs[5].id != outs[0].id {
		t.Fatalf("the outputs are %q", kinds)
	}
	if got, want := fmt.Sprint(outs[5].data["text/plain"]), "Drawn for data set = adult, column = age, level = 2. With scripts, the controls move among 25 states."; got != want {
		t.Errorf("the notebook says %q, want %q", got, want)
	}
	c := readPage(t, fmt.Sprint(outs[5].data["text/html"]))
	if got := fmt.Sprint(c.Places); got != "[{2 image/png} {3 text/markdown} {4 text/html}]" {
		t.Errorf("the parts stand at %s", got)
	}
	if got := fmt.Sprint(c.Controls[1].Labels); got != "[age hours balance job]" {
		t.Errorf("the page offers the columns %s", got)
	}
	if len(c.states) != 25 || c.states[0].Parts != nil || !slices.Equal(c.states[0].Values, []any{"adult", "age", 2.0}) {
		t.Errorf("%d states, the first is %v", len(c.states), c.states[0])
	}
	bank := c.stateAt("bank", "job", 3.0)
	if bank == nil || len(bank.Parts) != 3 || !strings.HasPrefix(bank.Parts[0].SVG, "<svg") || bank.Parts[0].Alt != "Loss" ||
		bank.Parts[1].HTML != "<p><strong>job</strong> of bank</p>\n" || !strings.Contains(bank.Parts[2].HTML, "<table") {
		t.Errorf("a state holds %v", bank)
	}
	for level, why := range map[float64]string{4: "no level four", 5: "no level five"} {
		st := c.stateAt("adult", "age", level)
		if st == nil || len(st.Parts) != 1 || st.Parts[0].HTML != "<p>This did not work: "+why+"</p>\n" {
			t.Errorf("at level %v the state is %v", level, st)
		}
	}
	if c.stateAt("adult", "job", 2.0) != nil {
		t.Error("a state has a column that its data set does not have")
	}
}

func TestStatesEndWithTheirTime(t *testing.T) {
	t.Parallel()
	events, code := runCell(t, "grid", withStates("1ns")...)
	outs := shownEvents(events)
	if code != 0 || len(outs) != 5 {
		t.Fatalf("exit code %d, %d outputs", code, len(outs))
	}
	if _, script := outs[0].data["text/html"]; script {
		t.Error("one state needs no script")
	}
	if got := fmt.Sprint(outs[0].data["text/plain"]); !strings.HasPrefix(got, "Drawn once, for data set = adult, column = age, level = 2.") {
		t.Errorf("the notebook says %q", got)
	}
	events, code = runCell(t, "grid", withStates("soon")...)
	if got := printed(events, "stderr"); code != 1 || !strings.Contains(got, `LETHE_STATES="soon": expected a duration such as 20s`) {
		t.Errorf("exit code %d, said %q", code, got)
	}
}

func TestAFailedDrawingLeavesTheControlsRunning(t *testing.T) {
	t.Parallel()
	k := &fakeKernel{t: t}
	k.browser = func(say func(message)) {
		say(message{Number: 1, Values: []any{"adult", "age", 2.0}})
		k.ready(1)
		say(message{Number: 2, Values: []any{"adult", "age", 5.0}})
		k.ready(2)
		say(message{Number: 3, Values: []any{"bank", "hours", 3.0}}) // bank has no hours
		k.ready(3)
		say(message{Number: 4, Values: []any{"bank", 7.0, 3.0}}) // no column
		k.ready(4)
		say(message{Number: 5, Done: true})
	}
	k.start("grid", inBrowser...)
	events, code := k.wait()
	want := "drawing adult age 2\ndrawing adult age 5\ndrawing bank balance 3\nafter bank balance 3\n"
	if got := printed(events, "stdout"); got != want || code != 0 {
		t.Fatalf("exit code %d, printed %q, said %q", code, got, printed(events, "stderr"))
	}
	k.until("This did not work: no level five")
	var page, heard string
	for _, o := range shownEvents(events) {
		text := fmt.Sprint(o.data["text/html"])
		if strings.Contains(text, "lethe-states-") {
			page = text
		}
		if strings.Contains(text, "data-cell") {
			heard = text
		}
	}
	c := readPage(t, page)
	if got := fmt.Sprint(len(c.states), c.states[0].Values, c.states[1].Values, c.states[2].Values); got != "3 [bank balance 3] [adult age 5] [adult age 2]" {
		t.Errorf("the notebook keeps %s", got)
	}
	if !strings.Contains(heard, "&#34;labels&#34;:[&#34;balance&#34;,&#34;age&#34;,&#34;job&#34;],&#34;value&#34;:&#34;balance&#34;") {
		t.Errorf("the page hears %s", heard)
	}
}

func TestStatesAreBoundedInSize(t *testing.T) {
	noise := func(n int) string {
		b := make([]byte, n)
		rng := rand.New(rand.NewPCG(1, 2))
		for i := range b {
			b[i] = byte('!' + rng.IntN(90))
		}
		return string(b)
	}
	big := []state{{Values: []any{0.0}}}
	for i := range 10 {
		big = append(big, state{Values: []any{float64(i + 1)}, Parts: []statePart{{HTML: noise(100_000 + i)}}})
	}
	packed, kept := packStates(big)
	if kept < 3 || kept > 6 || len(packed) > maxStateBytes {
		t.Errorf("%d states in %d bytes", kept, len(packed))
	}
	if _, kept := packStates([]state{{}, {Parts: []statePart{{HTML: noise(2 << 20)}}}}); kept != 1 {
		t.Errorf("%d states are kept of one that is too large", kept)
	}
	if _, kept := packStates(make([]state, 2*maxStates)); kept != maxStates {
		t.Errorf("%d states are kept", kept)
	}
}

func TestAStoredPageIsTheSameEveryTime(t *testing.T) {
	_, all := testControls(t)
	states := []state{{Values: all.values()}, newState(all.values(), []any{testFigure(1), "text", testTable(), 7, nil})}
	first, _ := all.storedPage(states, nil, "<text>", "")
	second, _ := all.storedPage(states, nil, "<text>", "")
	if first != second || !strings.Contains(first, "&lt;text&gt;</div>") {
		t.Errorf("two pages differ, or the text is not escaped: %.200s", first)
	}
	parts := readPage(t, first).states[1].Parts
	if got := parts[3].HTML; got != "<p>cannot be drawn: part 4 to show is a int; a text, a table or a figure can be shown</p>" {
		t.Errorf("a number is stored as %q", got)
	}
}

func TestANotebookSavedWhileItsControlsWorkHasTheStates(t *testing.T) {
	t.Parallel()
	k := &fakeKernel{t: t}
	k.browser = func(say func(message)) {
		say(message{Number: 1, Values: []any{"adult", "age", 2.0}})
		k.ready(1)
		say(message{Number: 2, Values: []any{"bank", "job", 3.0}})
		k.ready(2)
		k.untilHTML("lethe-states-")
		say(message{Number: 3, Done: true})
	}
	k.start("grid", inBrowser...)
	events, _ := k.wait()
	for _, o := range shownEvents(events) {
		text := fmt.Sprint(o.data["text/html"])
		if !strings.Contains(text, "data-cell") || !strings.Contains(text, "lethe-states-") {
			continue
		}
		c := readPage(t, text)
		if got := fmt.Sprint(len(c.states), c.states[0].Values, c.Places, c.Live == "lethe-sliders-"+strings.TrimPrefix(o.id, "status-")); got != "2 [bank job 3] [{2 image/png} {3 text/markdown} {4 text/html}] true" {
			t.Errorf("the page has %s", got)
		}
		return
	}
	t.Error("the page never had the states")
}
