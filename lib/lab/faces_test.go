// Tests of faces and of forget sets of whole groups.

package lab

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/datasets/images"
	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/model/vision"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// facesSetting forgets a share of the people of the sketches.
func facesSetting(fraction float64) Setting {
	return Setting{
		Data: Faces{images.Identities{Set: "sketches"}}, Forget: RandomGroups{Column: images.IdentityColumn, Fraction: fraction},
		Model: vision.ResNet18{Width: 2}, Fit: train.Config{Epochs: 1, Batch: 32},
	}
}

// people returns who is on the given rows of a part, ascending.
func people(c *Case, part datasets.Part, rows []int) []int32 {
	var out []int32
	for _, row := range rows {
		out = append(out, c.About.Columns[0].Codes[part.IDs[row]])
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Of forty people 1, 2 and 4 are forgotten with all of their images; nobody is forgotten, retained
// and held out at a time, and the more are forgotten the same are among them.
func TestPeopleAreForgottenWhole(t *testing.T) {
	l := newLab(t)
	var before []int32
	for fraction, want := range map[float64]int{0.025: 1, 0.05: 2, 0.1: 4} {
		c := mustCase(t, l, facesSetting(fraction))
		forget, retain, held := people(c, c.Problem.Train, c.Forget), people(c, c.Problem.Train, c.Retain), people(c, c.Test, allRowsOf(c.Test))
		if len(forget) != want || len(c.Forget) != 10*want || len(retain) != 36-want || len(held) != 4 || len(c.Test.IDs) != 40 {
			t.Errorf("%g: %d people with %d images forgotten, %d retained, %d held out", fraction, len(forget), len(c.Forget), len(retain), len(held))
		}
		if all := slices.Concat(forget, retain, held); len(slices.Compact(slices.Sorted(slices.Values(all)))) != 40 {
			t.Errorf("%g: somebody is in two sets", fraction)
		}
		small, large := before, forget
		if len(small) > len(large) {
			small, large = large, small
		}
		for _, p := range small {
			if !slices.Contains(large, p) {
				t.Errorf("%v are not among %v", small, large)
			}
		}
		before = forget
	}
}

func allRowsOf(p datasets.Part) []int {
	out := make([]int, p.X.Rows)
	for i := range out {
		out[i] = i
	}
	return out
}

// The oracle is trained on no image of who is forgotten or held out, the original on none of who is
// held out: other pixels there change neither.
func TestNoModelIsTrainedOnWhoIsHeldOut(t *testing.T) {
	hashes := func(change func(c *Case)) (original, oracle string) {
		c := mustCase(t, newLab(t), facesSetting(0.05))
		change(c)
		a, _, err := c.Weights(t.Context(), unlearn.NoOp{})
		if err != nil {
			t.Fatal(err)
		}
		b, _, err := c.Weights(t.Context(), unlearn.Retrain{})
		if err != nil {
			t.Fatal(err)
		}
		return a.Hash(), b.Hash()
	}
	blacken := func(p datasets.Part, rows []int) {
		for _, i := range rows {
			p.Y[i] = 1 - p.Y[i]
			for k := range p.X.Row(i) {
				p.X.Row(i)[k] = 7
			}
		}
	}
	original, oracle := hashes(func(*Case) {})
	if a, b := hashes(func(c *Case) { blacken(c.Test, allRowsOf(c.Test)) }); a != original || b != oracle {
		t.Error("a model changed with the images of people who are held out")
	}
	if a, b := hashes(func(c *Case) { blacken(c.Problem.Train, c.Forget) }); a == original || b != oracle {
		t.Error("the oracle changed with the images of people who are forgotten, or the original did not")
	}
}

// A shifted lab holds out and forgets others; a field of the division is in every name and key.
func TestTheDivisionOfFacesIsInEveryKey(t *testing.T) {
	l := newLab(t)
	base := facesSetting(0.05)
	id := func(s Setting) string {
		name, err := s.ID(s.Original())
		if err != nil {
			t.Fatal(err)
		}
		return name
	}
	for what, d := range map[string]images.Identities{
		"HeldOut": {Set: "sketches", HeldOut: 0.2}, "Seed": {Set: "sketches", Seed: 7}, "Side": {Set: "sketches", Side: 8},
	} {
		other := base
		other.Data = Faces{d}
		if id(other) == id(base) || keysOf(t, l, other) == keysOf(t, l, base) {
			t.Errorf("%s is in no name or in no key", what)
		}
	}
	other := base
	other.Forget = RandomGroups{Column: images.IdentityColumn, Fraction: 0.05, Seed: 3}
	if keysOf(t, l, other) == keysOf(t, l, base) || other.Forget.Name() == base.Forget.Name() {
		t.Error("the seed of the groups is in no key")
	}
	shifted := newLab(t)
	shifted.Shift = 1
	a, b := mustCase(t, l, base), mustCase(t, shifted, base)
	if slices.Equal(people(a, a.Test, allRowsOf(a.Test)), people(b, b.Test, allRowsOf(b.Test))) || slices.Equal(people(a, a.Problem.Train, a.Forget), people(b, b.Problem.Train, b.Forget)) {
		t.Error("a shifted lab holds out or forgets the same people")
	}
}

// grouped are six records of the train part and two of the test part, with a column of numbers.
func grouped(cells ...float64) *datasets.Prepared {
	return &datasets.Prepared{
		About: datasets.About{Columns: []datasets.Column{{Name: "patient", Kind: datasets.Number, Numbers: cells}}},
		Train: datasets.Part{X: array.Matrix[float32]{Rows: 6}, IDs: []int{0, 1, 2, 4, 5, 7}}, Test: datasets.Part{IDs: []int{3, 6}},
	}
}

// A third of three patients is one of them, with all of the records in the train part.
func TestGroupsOfATableAreItsValues(t *testing.T) {
	p, seen := grouped(9, 8, 9, 5, 8, 7, 8, 7), map[string]bool{}
	for seed := range 30 {
		rows, err := RandomGroups{Column: "patient", Fraction: 0.33, Seed: uint32(seed + 1)}.Rows(p)
		if err != nil {
			t.Fatal(err)
		}
		seen[fmt.Sprint(rows)] = true
	}
	if len(seen) != 3 || !seen["[0 2]"] || !seen["[1 3]"] || !seen["[4 5]"] {
		t.Errorf("%v", seen)
	}
	if rows, err := (RandomGroups{Column: "patient", Fraction: 0.01, Least: 2}).Rows(p); err != nil || len(rows) != 4 {
		t.Errorf("at least two of three patients have the rows %v, %v", rows, err)
	}
	if a, b := (RandomGroups{Column: "patient"}).Name(), (RandomGroups{Column: "patient", Least: 2}).Name(); a == b {
		t.Errorf("both are called %s", a)
	}
	for want, f := range map[string]RandomGroups{
		"3 of 3 groups by patient":      {Column: "patient", Least: 3},
		`there is no column "patients"`: {Column: "patients"}, "the share of groups to forget is 2": {Column: "patient", Fraction: 2},
		"the share of groups to forget is NaN": {Column: "patient", Fraction: math.NaN()},
	} {
		if _, err := f.Rows(p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
