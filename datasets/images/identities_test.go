package images

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/datasets/datatest"
)

func divided(t *testing.T, d Identities) *datasets.Prepared {
	t.Helper()
	p, err := d.Prepare(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// peopleOf returns the people on the images of a part, ascending.
func peopleOf(p *datasets.Prepared, part datasets.Part) []int32 {
	var out []int32
	for _, id := range part.IDs {
		out = append(out, p.About.Columns[0].Codes[id])
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// A tenth of the people is held out with all of their images, and nobody is in both parts.
func TestPeopleAreHeldOutWhole(t *testing.T) {
	p := divided(t, Identities{Set: "sketches"})
	train, test := peopleOf(p, p.Train), peopleOf(p, p.Test)
	if len(train) != 36 || len(test) != 4 || p.Train.X.Rows != 360 || p.Test.X.Rows != 40 {
		t.Errorf("%d people with %d images and %d with %d", len(train), p.Train.X.Rows, len(test), p.Test.X.Rows)
	}
	if both := slices.Compact(slices.Sorted(slices.Values(slices.Concat(train, test)))); len(both) != 40 {
		t.Errorf("%d people in all", len(both))
	}
	// RandomState(999).permutation(40)[:4] of NumPy 2.4.6.
	if want := []int32{15, 17, 20, 22}; !slices.Equal(test, want) {
		t.Errorf("held out are %v, want %v", test, want)
	}
	other := divided(t, Identities{Set: "sketches", Seed: 1000})
	if slices.Equal(peopleOf(other, other.Test), test) || other.Hash == p.Hash {
		t.Error("another seed holds out the same people")
	}
	if n := len(peopleOf(divided(t, Identities{Set: "sketches", HeldOut: 0.5}), divided(t, Identities{Set: "sketches", HeldOut: 0.5}).Test)); n != 20 {
		t.Errorf("%d people are half of 40", n)
	}
	// Every channel is normalised with the statistics of the train part.
	if n, err := MeasureChannels(p.Train.X, p.About.Shape); err != nil || math.Abs(n.Mean[0]) > 1e-5 || math.Abs(n.SD[0]-1) > 1e-4 {
		t.Errorf("%+v, %v", n, err)
	}
}

// The labels of a person's images are one class, and each class has half of the people.
func TestALabelIsAPersonsOwn(t *testing.T) {
	p := divided(t, Identities{Set: "sketches"})
	class := map[int32]int{}
	for _, part := range []datasets.Part{p.Train, p.Test} {
		for i, id := range part.IDs {
			who := p.About.Columns[0].Codes[id]
			if y, seen := class[who]; seen && y != part.Y[i] {
				t.Errorf("person %d has two classes", who)
			}
			class[who] = part.Y[i]
		}
	}
	down := 0
	for _, y := range class {
		down += y
	}
	if down != 20 {
		t.Errorf("%d of %d people have class 1", down, len(class))
	}
}

func TestImagesAreScaled(t *testing.T) {
	p := divided(t, Identities{Set: "sketches", Side: 8})
	if p.About.Shape != [3]int{1, 8, 8} || p.Train.X.Cols != 64 {
		t.Errorf("shape %v, %d columns", p.About.Shape, p.Train.X.Cols)
	}
	// A whole factor: the mean of pixels two and more apart is symmetric, and constants stay.
	for _, v := range ScaleChannel(slices.Repeat([]byte{77}, 16*16), 16, 8) {
		if math.Abs(v-77) > 1e-9 {
			t.Fatalf("a grey image became %v", v)
		}
	}
}

func TestDivisionsThatCannotBeAreRefused(t *testing.T) {
	for want, d := range map[string]Identities{
		"there are mnist, ":                                {Set: "nobody at all"},
		"glyphs: the set has a test part of its own":       {Set: "glyphs"},
		"a share of 1 of the people is held out":           {Set: "sketches", HeldOut: 1},
		"a share of -0.1 of the people":                    {Set: "sketches", HeldOut: -0.1},
		"a share of NaN of the people":                     {Set: "sketches", HeldOut: math.NaN()},
		"images of 32 pixels a side; they have 16 and are": {Set: "sketches", Side: 32},
	} {
		if _, err := d.Prepare(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
		if _, err := d.Info(); err == nil {
			t.Errorf("%+v: Info refuses nothing", d)
		}
	}
}

// Olivetti has no labels but its people: the groups are arbitrary and called so.
func TestGroupsOfOlivettiAreArbitraryAndCalledSo(t *testing.T) {
	d := Identities{Set: "olivetti_idx", Side: 32}
	info, err := d.Info()
	if err != nil || info.Task != "arbitrary group, drawn by seed 41; not gender" || !d.Arbitrary() || (Identities{Set: "sketches"}).Arbitrary() {
		t.Errorf("%+v, %v", info, err)
	}
	datatest.Dir(t)
	p, err := d.Prepare(t.Context())
	if errors.Is(err, datasets.ErrMissing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if p.Train.X.Rows != 360 || p.Test.X.Rows != 40 || len(peopleOf(p, p.Train)) != 36 || p.About.Shape != [3]int{1, 32, 32} {
		t.Errorf("%d and %d images of shape %v", p.Train.X.Rows, p.Test.X.Rows, p.About.Shape)
	}
	other := d
	other.Groups = 42
	q := divided(t, other)
	if slices.Equal(p.Train.Y, q.Train.Y) || !slices.Equal(p.Train.IDs, q.Train.IDs) || p.Hash == q.Hash {
		t.Error("another seed of the groups changes the labels, and nothing else")
	}
}
