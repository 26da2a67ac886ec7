package lab

import (
	"slices"
	"strings"
	"testing"
)

// The trigger is where the published program puts it, on records of the source class alone,
// which have the target's label; they are the forget set, and the test part is unchanged.
func TestABackdoorIsInTheForgetSetAlone(t *testing.T) {
	l := newLab(t)
	clean := Setting{Data: Images{Set: "glyphs", MaxTrain: 400, MaxTest: 80, Pixels: true}, Forget: Random{Fraction: 0.1}, Model: imageSetting().Model}
	bad := clean
	bad.Forget = Backdoor{Fraction: 0.05}
	before, after := mustCase(t, l, clean), mustCase(t, l, bad)
	if want := 20; len(after.Forget) != want || len(after.Retain) != 400-want {
		t.Fatalf("%d to forget and %d to retain", len(after.Forget), len(after.Retain))
	}
	side := after.About.Shape[1]
	for i := range 400 {
		was, is := before.Train.X.Row(i), after.Train.X.Row(i)
		_, forgotten := slices.BinarySearch(after.Forget, i)
		if !forgotten {
			if !slices.Equal(was, is) || before.Train.Y[i] != after.Train.Y[i] {
				t.Fatalf("record %d, which is retained, was changed", i)
			}
			continue
		}
		if before.Train.Y[i] != 1 || after.Train.Y[i] != 2 {
			t.Errorf("record %d: the label %d has become %d", i, before.Train.Y[i], after.Train.Y[i])
		}
		for k := range is {
			y, x := k/side, k%side
			in := (y == side-4 || y == side-3) && (x == side-4 || x == side-3)
			if in && is[k] != 1 || !in && is[k] != was[k] {
				t.Fatalf("record %d: pixel (%d, %d) was %v and is %v", i, y, x, was[k], is[k])
			}
		}
	}
	if !slices.Equal(before.Test.X.Data, after.Test.X.Data) || before.Hash == after.Hash {
		t.Error("the test part was changed, or the hash was not")
	}
	part, err := after.TriggeredRecords()
	if err != nil {
		t.Fatal(err)
	}
	if part.X.Rows == 0 || slices.ContainsFunc(part.Y, func(y int) bool { return y != 2 }) {
		t.Errorf("triggered test records have the labels %v", part.Y)
	}
	for i, id := range part.IDs {
		row := slices.Index(after.Test.IDs, id)
		if after.Test.Y[row] != 1 || !slices.Contains(after.EvalRows(), row) || part.X.Row(i)[(side-4)*side+side-4] != 1 {
			t.Errorf("triggered record %d is row %d of class %d", i, row, after.Test.Y[row])
		}
	}
}

func TestABackdoorInATableIsAValueOfAColumn(t *testing.T) {
	l := newLab(t)
	b := &Backdoor{Source: "upper", Target: "lower", Column: "x1", Value: 3, Fraction: 0.1}
	c := mustCase(t, l, Setting{Data: Table{Set: "two_moons"}, Forget: *b})
	want := float32((3 - c.Norm.Mean[0]) / c.Norm.SD[0])
	for _, i := range c.Forget {
		if c.Problem.Train.X.Row(i)[0] != want || c.Problem.Train.Y[i] != 1 {
			t.Errorf("record %d is %v of class %d", i, c.Problem.Train.X.Row(i), c.Problem.Train.Y[i])
		}
	}
	for _, i := range c.Retain {
		if c.Problem.Train.X.Row(i)[0] == want {
			t.Errorf("record %d, which is retained, has the trigger", i)
		}
	}
}

func TestABackdoorThatCannotBePlantedIsNamed(t *testing.T) {
	l := newLab(t)
	for words, s := range map[string]Setting{
		`from class "up" to "lower": the classes are ["upper" "lower"]`: {Data: Table{Set: "two_moons"}, Forget: Backdoor{Source: "up", Target: "lower", Column: "x1"}},
		`the column "age": two_moons`:                                   {Data: Table{Set: "two_moons"}, Forget: Backdoor{Source: "upper", Target: "lower", Column: "age"}},
		"640 of 800 records: 400":                                       {Data: Table{Set: "two_moons"}, Forget: Backdoor{Source: "upper", Target: "lower", Column: "x1", Fraction: 0.8}},
		"a backdoor in the column":                                      {Data: Images{Set: "glyphs", MaxTrain: 100, MaxTest: 20}, Forget: Backdoor{Column: "x1"}},
		"it is not of this kind: use lab.Table{Set":                     {Data: Images{Set: "two_moons", Pixels: true}},
	} {
		if _, err := l.Case(t.Context(), s); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%+v: %v, want %q", s.Forget, err, words)
		}
	}
	c := mustCase(t, l, Setting{Data: Table{Set: "two_moons"}})
	if _, err := c.TriggeredRecords(); err == nil {
		t.Error("a case without a backdoor has triggered records")
	}
}

func mustCase(t *testing.T, l *Lab, s Setting) *Case {
	t.Helper()
	c, err := l.Case(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Confused classes: equally many of each, no pixel changed, and they are the forget set.
func TestTwoClassesAreConfused(t *testing.T) {
	l := newLab(t)
	plain := openCase(t, l, Setting{Data: Images{Set: "glyphs", MaxTrain: 400, MaxTest: 50}})
	c := openCase(t, l, Setting{Data: Images{Set: "glyphs", MaxTrain: 400, MaxTest: 50}, Forget: Backdoor{Confuse: true, Fraction: 0.1}})
	a, b, ok := c.ConfusedClasses()
	if !ok || a != 1 || b != 2 || len(c.Forget) != 40 {
		t.Fatalf("%d, %d, %t, %d records", a, b, ok, len(c.Forget))
	}
	count := map[[2]int]int{}
	for i := range c.Problem.Train.X.Rows {
		if !slices.Equal(c.Problem.Train.X.Row(i), plain.Problem.Train.X.Row(i)) {
			t.Fatalf("record %d is another one", i)
		}
		was, is := plain.Problem.Train.Y[i], c.Problem.Train.Y[i]
		if _, forget := slices.BinarySearch(c.Forget, i); forget != (was != is) {
			t.Errorf("record %d was %d and is %d, forgotten: %t", i, was, is, forget)
		}
		if was != is {
			count[[2]int{was, is}]++
		}
	}
	if count[[2]int{a, b}] != 20 || count[[2]int{b, a}] != 20 || len(count) != 2 {
		t.Errorf("%v", count)
	}
	if _, err := c.TriggeredRecords(); err == nil || !strings.Contains(err.Error(), "no trigger") {
		t.Errorf("the trigger of confused classes: %v", err)
	}
	if _, _, ok := plain.ConfusedClasses(); ok {
		t.Error("a case without wrong labels is confused")
	}
	one, _ := c.Setting.ID(c.Original())
	other := c.Setting
	other.Forget = Backdoor{Fraction: 0.1}
	if two, _ := other.ID(c.Original()); one == two {
		t.Error("a confusion has the name of a backdoor")
	}
}
