// Tests of control.go and choice.go.

package nb

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
)

// cellVariables are the variables of a cell with a control of each kind, of which two follow
// others.
type cellVariables struct {
	set, column string
	records     int
	forgotten   int
	rate        float64
	noise       bool
	note        string
}

func testControls(t *testing.T) (*cellVariables, controls) {
	t.Helper()
	v := &cellVariables{"adult", "hours", 100, 50, 0.1, false, ""}
	all, err := newControls([]Control{
		NewDropdown("data set", &v.set, "adult", "bank"),
		NewDropdown("column", &v.column).OptionsFrom(func() []string { return testColumns[v.set] }),
		NewSlider("records", &v.records, 10, 500).Step(10),
		NewSlider("forgotten", &v.forgotten, 1, 200).RangeFrom(func() (int, int) { return 1, v.records / 2 }),
		NewSlider("rate", &v.rate, 0.001, 1).Log(),
		NewCheckbox("noise", &v.noise),
		NewTextField("note", &v.note),
	})
	if err != nil {
		t.Fatal(err)
	}
	return v, all
}

func TestAControlFollowsThoseBeforeIt(t *testing.T) {
	v, all := testControls(t)
	for _, c := range []struct {
		wanted []any
		want   cellVariables
	}{
		{[]any{"adult", "age", 200.0, 100.0, 1.0, true, "x"}, cellVariables{"adult", "age", 200, 100, 1, true, "x"}},
		{[]any{"bank", "age", 200.0, 100.0, 1.0, true, "x"}, cellVariables{"bank", "age", 200, 100, 1, true, "x"}},         // also a column of bank
		{[]any{"adult", "job", 60.0, 100.0, 1.0, true, "x"}, cellVariables{"adult", "age", 60, 30, 1, true, "x"}},          // no job in adult; at most 30
		{[]any{"bank", "hours", 500.0, 200.0, 0.1, false, ""}, cellVariables{"bank", "balance", 500, 200, 0.1, false, ""}}, // NewSlider's range bounds RangeFrom's
	} {
		if !all.accepts(c.wanted) {
			t.Fatalf("%v is refused", c.wanted)
		}
		if err := all.setTo(c.wanted); err != nil || *v != c.want {
			t.Errorf("for %v the variables are %v, want %v; %v", c.wanted, *v, c.want, err)
		}
	}
	forms := all.forms()
	if got := fmt.Sprint(forms[1].Labels, forms[1].Value); got != "[balance age job]balance" {
		t.Errorf("the page offers %s", got)
	}
	if last := forms[3].Values[len(forms[3].Values)-1]; last != 200.0 {
		t.Errorf("the page's slider ends at %v", last)
	}
}

func TestWhatIsNoValueOfTheControlsIsRefused(t *testing.T) {
	_, all := testControls(t)
	good := all.values()
	if !all.accepts(good) {
		t.Fatalf("%v is refused", good)
	}
	for i, bad := range []any{1.0, nil, "10", math.NaN(), true, "yes", []any{}} {
		values := append([]any{}, good...)
		values[i] = bad
		if all.accepts(values) {
			t.Errorf("%v is accepted for the control %q", bad, all[i].name)
		}
	}
	if all.accepts(good[1:]) || all.accepts(nil) {
		t.Error("too few values are accepted")
	}
}

func TestAControlWithoutChoicesIsAnErrorThatNamesIt(t *testing.T) {
	set, column := "adult", "age"
	all, err := newControls([]Control{NewDropdown("data set", &set, "adult", "iris"),
		NewDropdown("column", &column).OptionsFrom(func() []string { return testColumns[set] })})
	if err != nil {
		t.Fatal(err)
	}
	if err := all.setTo([]any{"iris", "age"}); err == nil || !strings.Contains(err.Error(), `"column"`) {
		t.Errorf("error %v", err)
	}
}

// method is a type of a reader's own, with the words that a reader sees.
type method struct{ epochs int }

func (m method) String() string { return fmt.Sprintf("fine-tuning, %d epochs", m.epochs) }

func TestADropdownHoldsValuesOfAnyType(t *testing.T) {
	m := method{1}
	all, err := newControls([]Control{NewDropdown("method", &m, method{1}, method{5})})
	if err != nil {
		t.Fatal(err)
	}
	if err := all.setTo([]any{"fine-tuning, 5 epochs"}); err != nil || m != (method{5}) {
		t.Errorf("the variable is %v, %v", m, err)
	}
}

func TestALongTextIsCut(t *testing.T) {
	text := ""
	all, err := newControls([]Control{NewTextField("text", &text)})
	if err != nil {
		t.Fatal(err)
	}
	_ = all.setTo([]any{strings.Repeat("ä", maxText+1)})
	if text != strings.Repeat("ä", maxText) {
		t.Errorf("%d bytes are kept", len(text))
	}
}

func TestTheGridKeepsTheValuesOfTheCodeFirst(t *testing.T) {
	v, all := testControls(t)
	before := *v
	grid := all.grid()
	if len(grid) > maxStates || len(grid) < maxStates/2 || !reflect.DeepEqual(grid[0], all.values()) {
		t.Errorf("%d states, the first is %v", len(grid), grid[0])
	}
	if *v != before {
		t.Errorf("the variables are %v", *v)
	}
	for _, values := range grid {
		if err := all.setTo(values); err != nil || !reflect.DeepEqual(all.values(), values) {
			t.Errorf("the controls cannot stand at %v but at %v; %v", values, all.values(), err)
		}
	}
	for _, extreme := range [][]any{{"bank", "balance"}, {"adult", "age"}} {
		found := false
		for _, values := range grid {
			found = found || reflect.DeepEqual(values[:2], extreme)
		}
		if !found {
			t.Errorf("%v is not on the grid", extreme)
		}
	}
}

func TestAGridOfOneControlIsFine(t *testing.T) {
	for _, c := range []struct {
		initial, max, want int
	}{{7, 10, 10}, {7, 500, maxPoints}, {1, 2, 2}} {
		n := c.initial
		all, err := newControls([]Control{NewSlider("n", &n, 1, c.max)})
		if err != nil {
			t.Fatal(err)
		}
		grid := all.grid()
		seen := map[any]bool{}
		for _, values := range grid {
			seen[values[0]] = true
		}
		if len(grid) != c.want || !seen[1.0] || !seen[float64(c.max)] || grid[0][0] != float64(c.initial) {
			t.Errorf("1 to %d: %v", c.max, grid)
		}
	}
}
