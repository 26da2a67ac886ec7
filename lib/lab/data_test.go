// Tests of data and forget sets that are not Lethe's own, and of cases made by hand.

package lab

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/model/tabular"
	"github.com/lethe-ml/lethe/lib/model/vision"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// parity are numbers with the class of their parity.
type parity struct {
	Records, Bad int
}

func (parity) Name() string { return "parity" }

func (d parity) Info() (datasets.Info, error) {
	if d.Records == 0 {
		return datasets.Info{}, errors.New("there are no numbers")
	}
	return datasets.Info{Rows: d.Records, Features: 2, Classes: []string{"even", "odd"}}, nil
}

func (d parity) Prepare(context.Context, int) (*datasets.Prepared, error) {
	part := func(from, n int) datasets.Part {
		p := datasets.Part{X: array.New[float32](n, 2)}
		for i := range n {
			k := from + i
			p.X.Row(i)[0], p.X.Row(i)[1] = float32(k%2), float32(k)/float32(d.Records)
			p.Y, p.IDs = append(p.Y, k%2), append(p.IDs, k)
		}
		return p
	}
	test := d.Records / 5
	out := &datasets.Prepared{About: datasets.About{Name: "parity", Classes: []string{"even", "odd"}}, Train: part(test, d.Records-test), Test: part(0, test)}
	out.Norm = datasets.Normalisation{Mean: []float64{0, 0}, SD: []float64{1, 1}}
	switch d.Bad {
	case 1:
		out.Train.Y[3] = 2
	case 2:
		out.Test.IDs = out.Test.IDs[1:]
	case 3:
		out.Train.X.Cols, out.Train.X.Rows = 1, 2*out.Train.X.Rows
	case 4:
		return nil, nil
	case 6:
		out.About.Columns = []datasets.Column{{Name: "half", Kind: datasets.Number, Numbers: make([]float64, 30)}}
	case 5:
		out.Test.X.Row(2)[1] = float32(math.NaN())
	case 7: // one other number, under the same name and without a hash
		out.Train.X.Row(3)[1]++
	case 9:
		out.Test.IDs[1] = out.Train.IDs[4]
	}
	return out, nil
}

// multiples forgets the multiples of a number.
type multiples struct{ Of int }

func (f multiples) Name() string { return fmt.Sprintf("multiples-of-%d", f.Of) }

func (f multiples) Rows(p *datasets.Prepared) (out []int, err error) {
	for i, id := range p.Train.IDs {
		if id%f.Of == 0 {
			out = append(out, i)
		}
	}
	if f.Of == 9 {
		slices.Reverse(out)
	}
	return out, nil
}

// Data and forget sets of another package are trained on, unlearned and found again.
func TestOwnDataAndForgetSets(t *testing.T) {
	l := newLab(t)
	s := Setting{Data: parity{Records: 60}, Forget: multiples{7}, Fit: train.Config{Epochs: 2, Batch: 8}}
	c := mustCase(t, l, s)
	if len(c.Forget) != 7 || len(c.Retain) != 41 {
		t.Fatalf("%d to forget, %d to retain", len(c.Forget), len(c.Retain))
	}
	for _, i := range c.Forget {
		if c.Problem.Train.IDs[i]%7 != 0 {
			t.Errorf("record %d is to be forgotten", c.Problem.Train.IDs[i])
		}
	}
	m, err := c.Unlearn(t.Context(), unlearn.NegGrad{Epochs: 1})
	if err != nil {
		t.Fatal(err)
	}
	again, err := mustCase(t, &Lab{Engine: l.Engine, Store: l.Store}, s).Unlearn(t.Context(), unlearn.NegGrad{Epochs: 1})
	if runs, _ := l.Store.List(); err != nil || again.Weights.Hash() != m.Weights.Hash() || len(runs) != 2 {
		t.Errorf("asked again: %d runs (%v)", len(runs), err)
	}
	// Other numbers under the same name are other work, in names and in the store.
	name := func(s Setting) string {
		id, err := s.ID(s.Oracle())
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	for _, other := range []Setting{{Data: parity{Records: 80}, Forget: s.Forget, Fit: s.Fit}, {Data: s.Data, Forget: multiples{5}, Fit: s.Fit}} {
		if name(other) == name(s) || keysOf(t, l, other) == keysOf(t, l, s) {
			t.Errorf("%+v has the name or the keys of %+v", other, s)
		}
	}
}

// misdescribed are the numbers with another description.
type misdescribed struct {
	parity
	What string
}

func (d misdescribed) Info() (datasets.Info, error) {
	info, err := d.parity.Info()
	switch d.What {
	case "rows":
		info.Rows = 17
	case "test":
		info.TestRows = 13
	case "more":
		info.Classes = append(info.Classes, "neither")
	case "fewer":
		info.Classes, info.NumClasses = nil, 1
	case "names":
		info.Classes = []string{"odd", "even"}
	case "shape":
		info.Shape = [3]int{1, 1, 2}
	case "estimate":
		info.Rows, info.TestRows, info.Estimated = 70, 13, true
	case "count":
		info.Classes, info.NumClasses = nil, 2
	}
	return info, err
}

// A description that is not of the data is refused, and says what differs. Estimates of the number of
// records are not compared, and a number of classes stands for their names.
func TestADescriptionOfOtherDataIsRefused(t *testing.T) {
	l := newLab(t)
	for what, words := range map[string]string{
		"rows":  "there are 17 records, in both parts together; Prepare returns 60, 48 to train on and 12 to test on",
		"test":  "13 records are the test part, and Prepare returns 12",
		"more":  "the number of classes is 3, and Prepare returns 2",
		"fewer": "the number of classes is 1, and Prepare returns 2",
		"names": `the classes are ["odd" "even"], and Prepare returns ["even" "odd"]`,
		"shape": "the records have the shape [1 1 2], and Prepare returns [0 0 0]",
	} {
		_, err := l.Case(t.Context(), Setting{Data: misdescribed{parity{Records: 60}, what}, Fit: train.Config{Epochs: 1}})
		if err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: %v, want %q", what, err, words)
		}
	}
	for _, what := range []string{"nothing", "estimate", "count"} {
		if _, err := l.Problem(t.Context(), Setting{Data: misdescribed{parity{Records: 60}, what}}); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestWhatOwnDataCannotBeIsNamed(t *testing.T) {
	l := newLab(t)
	for words, s := range map[string]Setting{
		"there are no numbers":                                    {Data: parity{}},
		"record 3 of the train part has class 2 of 2":             {Data: parity{60, 1}},
		"the test part has 12 records, 12 labels and 11 IDs":      {Data: parity{60, 2}},
		"96 records of 1 features, want some of 2":                {Data: parity{60, 3}},
		"Prepare returned nothing":                                {Data: parity{60, 4}},
		"must be ascending":                                       {Data: parity{Records: 60}, Forget: multiples{9}},
		"nothing is retained":                                     {Data: parity{Records: 60}, Forget: multiples{1}},
		`no row of "multiples-of-100"`:                            {Data: parity{Records: 60}, Forget: multiples{100}},
		"record 1 of the test part has the ID 16, which":          {Data: parity{60, 9}},
		"in the test part: feature 1 is NaN after":                {Data: parity{60, 5}},
		"2 named records: 1 are in the test part":                 {Data: parity{Records: 60}, Forget: Records{5, 20}},
		"2 named records: 1 are in the test part, which no model": {Data: parity{Records: 60}, Forget: Mask(append(make([]bool, 58), false, true)).with(3)},
		"the column \"half\" has 30 cells, the greatest ID is 59": {Data: parity{60, 6}},
		"no record is named":                                      {Data: parity{Records: 60}, Forget: Records{}},
		"there is no record 60; records count from 0":             {Data: parity{Records: 60}, Forget: Records{12, 60}},
		"record 12 is named twice":                                {Data: parity{Records: 60}, Forget: Records{12, 12}},
		`1 named record: none is in the train part`:               {Data: parity{Records: 60}, Forget: Records{0}},
		"has 3 features, the data have 2":                         {Data: parity{Records: 60}, Model: tabular.MLP{Features: 3}},
		"small-cnn takes images, the data are records of 2":       {Data: parity{Records: 60}, Model: vision.SmallCNN{}},
		`use lab.Images{Set: "glyphs"}`:                           {Data: Table{Set: "glyphs"}},
		`use lab.Table{Set: "adult"}`:                             {Data: Cells{Set: "adult"}},
		`use lab.Cells{Set: "simulated_cells"}`:                   {Data: Images{Set: "simulated_cells"}},
		`a name has letters, digits`:                              {Data: renamed{parity{Records: 60}}},
	} {
		if _, err := l.Case(t.Context(), s); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%v, want %q", err, words)
		}
	}
}

// with returns the mask with one more record.
func (f Mask) with(record int) Mask {
	f[record] = true
	return f
}

// What is missing altogether is an error too.
func TestNothingIsNoLabAndNoMethod(t *testing.T) {
	for _, l := range []*Lab{nil, {}} {
		if _, err := l.Case(t.Context(), Setting{}); err == nil || !strings.Contains(err.Error(), "make it with lab.Open") {
			t.Errorf("%v", err)
		}
	}
	if _, err := (*Case)(nil).Unlearn(t.Context(), unlearn.SCRUB{}); err == nil || !strings.Contains(err.Error(), "there is no case") {
		t.Errorf("%v", err)
	}
	if _, err := mustCase(t, newLab(t), Setting{Data: parity{Records: 60}}).Unlearn(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "no method is named") {
		t.Errorf("%v", err)
	}
}

// renamed is data with a name that no file can have.
type renamed struct{ parity }

func (renamed) Name() string { return "../parity" }

// The numbers and the mask of records name the same ones.
func TestRecordsAreThoseOfTheMask(t *testing.T) {
	mask := make([]bool, 60)
	mask[20], mask[33] = true, true
	l := newLab(t)
	a := mustCase(t, l, Setting{Data: parity{Records: 60}, Forget: Records{33, 20}})
	b := mustCase(t, l, Setting{Data: parity{Records: 60}, Forget: Mask(mask)})
	if want := []int{20 - 12, 33 - 12}; !slices.Equal(a.Forget, want) || !slices.Equal(b.Forget, want) {
		t.Errorf("%v by numbers and %v by mask, want %v", a.Forget, b.Forget, want)
	}
}

// A case that somebody puts together works or says what it lacks.
func TestACaseMadeByHand(t *testing.T) {
	l := newLab(t)
	made := mustCase(t, l, Setting{Data: parity{Records: 60}, Fit: train.Config{Epochs: 1}})
	by := func(change func(*Case)) *Case {
		c := &Case{Lab: l, Setting: made.Setting, Problem: made.Problem, Forget: made.Forget, Retain: made.Retain}
		change(c)
		return c
	}
	if _, err := by(func(*Case) {}).Unlearn(t.Context(), unlearn.FineTuning{Epochs: 1}); err != nil {
		t.Error(err)
	}
	for words, change := range map[string]func(*Case){
		"the case has no lab":                  func(c *Case) { c.Lab = nil },
		"with an engine and a store":           func(c *Case) { c.Lab = &Lab{} },
		"no data or no compiled network":       func(c *Case) { c.Problem = nil },
		"no record is to be forgotten":         func(c *Case) { c.Forget = nil },
		"the forgotten rows must be ascending": func(c *Case) { c.Forget = []int{3, 3} },
		"entry 1 is 48":                        func(c *Case) { c.Retain = []int{0, 48} },
		"row 7 is to be forgotten and":         func(c *Case) { c.Forget, c.Retain = []int{7}, []int{6, 7} },
	} {
		if _, err := by(change).Unlearn(t.Context(), unlearn.FineTuning{Epochs: 1}); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%v, want %q", err, words)
		}
	}
}

// Whoever asks to be forgotten was trained on, wherever the split puts their records; the
// other records stay where they were.
func TestWhoeverAsksToBeForgottenIsInTheTrainPart(t *testing.T) {
	l := newLab(t)
	plain := mustCase(t, l, Setting{Data: Table{Set: "two_moons", MaxRows: 100}})
	asks := Records{plain.Test.IDs[0], plain.Test.IDs[5], plain.Problem.Train.IDs[3]}
	c := mustCase(t, l, Setting{Data: Table{Set: "two_moons", MaxRows: 100}, Forget: asks})
	if len(c.Forget) != 3 || c.Test.X.Rows != plain.Test.X.Rows-2 || c.Problem.Train.X.Rows != plain.Problem.Train.X.Rows+2 {
		t.Fatalf("%d to forget, %d in the test part of %d", len(c.Forget), c.Test.X.Rows, plain.Test.X.Rows)
	}
	for _, row := range c.Forget {
		if !slices.Contains(asks, c.Problem.Train.IDs[row]) {
			t.Errorf("record %d is to be forgotten", c.Problem.Train.IDs[row])
		}
	}
	for _, id := range c.Test.IDs {
		if !slices.Contains(plain.Test.IDs, id) || slices.Contains(asks, id) {
			t.Errorf("record %d is in the test part", id)
		}
	}
	if c.Hash == plain.Hash {
		t.Error("other parts have the same hash")
	}
	// If all of them are in the train part anyway, nothing changes.
	same := mustCase(t, l, Setting{Data: Table{Set: "two_moons", MaxRows: 100}, Forget: Records{plain.Problem.Train.IDs[3]}})
	if same.Hash != plain.Hash {
		t.Error("the parts changed without need")
	}
}

// Data of another package have the key of their content, whatever they say of themselves.
func TestOwnDataOfOtherContentHaveAnotherKey(t *testing.T) {
	l := newLab(t)
	key := func(d Data) string {
		c := mustCase(t, l, Setting{Data: d, Fit: train.Config{Epochs: 1}})
		id, err := l.TrainKey(c.training(c.Original())).ID()
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	if a := key(parity{60, 0}); a != key(parity{60, 0}) || a == key(parity{60, 7}) {
		t.Error("the key is not that of the content")
	}
}

// mine embeds a forget set and forgets something else; kept embeds data and prepares others.
type (
	mine struct{ Random }
	kept struct{ Table }
	own  struct{ Random }
)

func (mine) Rows(*datasets.Prepared) ([]int, error) { return []int{0}, nil }
func (own) Rows(*datasets.Prepared) ([]int, error)  { return []int{0}, nil }
func (f own) Reseed(shift int) ForgetSet            { return f }

// What embeds a type of this module and overrides something of it is not replaced by it.
func TestWhatEmbedsOursDoesNotBecomeOurs(t *testing.T) {
	l := newLab(t)
	for words, s := range map[string]Setting{
		"lab.mine has the method Reseed of a type":         {Forget: mine{}},
		"lab.kept has the method PrepareKeeping of a type": {Data: kept{Table{Set: "two_moons"}}},
	} {
		if _, err := l.Case(t.Context(), s); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%v, want %q", err, words)
		}
	}
	if c, err := l.Case(t.Context(), Setting{Forget: own{}}); err != nil || !slices.Equal(c.Forget, []int{0}) {
		t.Errorf("with a method of its own: %v", err)
	}
	if inherits(&own{}, "Reseed") || !inherits(&mine{}, "Reseed") || inherits(Table{}, "PrepareKeeping") {
		t.Error("a method is taken for another type's")
	}
}
