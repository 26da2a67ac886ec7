package rulerpaper

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/datasets/images"
	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/verify/ruler"
)

// tinyFaces is the smallest study of faces.
func tinyFaces(t *testing.T) Study {
	t.Helper()
	s, err := faceStudy(tiny())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// peopleOn returns who is on the images of a part, ascending.
func peopleOn(columns []datasets.Column, part datasets.Part) []int32 {
	var out []int32
	for _, id := range part.IDs {
		out = append(out, identityOf(columns).Codes[id])
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Every cell forgets 1, 2 or 4 of forty people, holds out four, and shares nobody between the
// sets; another seed draws others. At one seed all fractions share their original.
func TestEveryCellOfFacesForgetsAndHoldsOutPeople(t *testing.T) {
	e, s := newEnv(t, t.TempDir(), 0), tinyFaces(t)
	held := map[int][]int32{}
	for _, k := range s.cells() {
		c, err := e.open(t.Context(), s, k)
		if err != nil {
			t.Fatal(err)
		}
		forget, retain := peopleOn(c.About.Columns, c.Problem.Train.Gather(c.Forget)), peopleOn(c.About.Columns, c.Problem.Train.Gather(c.Retain))
		out := peopleOn(c.About.Columns, c.Test)
		if want := int(40*k.fraction + .5); len(forget) != want || len(c.Forget) != 10*want || len(out) != 4 || len(forget)+len(retain) != 36 {
			t.Errorf("%+v: %d people with %d images forgotten, %d retained, %d held out", k, len(forget), len(c.Forget), len(retain), len(out))
		}
		all := slices.Concat(forget, retain, out)
		if slices.Sort(all); len(slices.Compact(all)) != 40 {
			t.Errorf("%+v: somebody is in two sets", k)
		}
		if before, seen := held[k.seed]; seen && !slices.Equal(before, out) {
			t.Errorf("%+v: other people are held out than at another fraction", k)
		}
		held[k.seed] = out
	}
	if slices.Equal(held[0], held[1]) {
		t.Error("two seeds hold out the same people")
	}
}

// M4 of untouched people is that of so many images of the test part among the retained images, and
// differs from M4 of the forgotten ones only in whose images are ranked.
func TestUntouchedPeopleAreMeasuredLikeTheForgotten(t *testing.T) {
	e, s := newEnv(t, t.TempDir(), 0), tinyFaces(t)
	c, err := e.open(t.Context(), s, cellKey{dataSet: "sketches", seed: 1, fraction: 0.05, forgetSeed: 999})
	if err != nil {
		t.Fatal(err)
	}
	weights := c.InitialWeights(3)
	onTrain, err := c.Runner.Predict(weights, c.Train.X)
	if err != nil {
		t.Fatal(err)
	}
	onTest, err := c.Runner.Predict(weights, c.Test.X)
	if err != nil {
		t.Fatal(err)
	}
	got, err := e.untouchedPeople(c, onTrain, onTest)
	if err != nil {
		t.Fatal(err)
	}
	// The same by hand: the first twenty images of the test part, in place of the forgotten ones.
	u := array.Convert[float64](onTrain.Embedding)
	for i, row := range c.Forget {
		for j, v := range onTest.Embedding.Row(i) {
			u.Row(row)[j] = float64(v)
		}
	}
	want, _, err := ruler.M4(ruler.Evidence{Unlearned: &u, Forget: c.Forget, Retain: c.Retain}, e.options(s))
	if err != nil {
		t.Fatal(err)
	}
	if got.M4 != want.Value || got.Images != len(c.Forget) || got.Forgotten != 2 {
		t.Errorf("%+v, by hand %v of %d images", got, want.Value, len(c.Forget))
	}
	if s.Faces = nil; got != nil {
		c.study = s
		if other, err := e.untouchedPeople(c, onTrain, onTest); other != nil || err != nil {
			t.Errorf("a study without faces has %+v, %v", other, err)
		}
	}
}

// People whose images are not side by side are taken one after the other all the same.
func TestUntouchedImagesAreTakenPersonByPerson(t *testing.T) {
	columns := []datasets.Column{{Name: images.IdentityColumn, Kind: datasets.Category, Codes: []int32{2, 0, 1, 0, 2, 1}, Values: []string{"a", "b", "c"}}}
	test := datasets.Part{IDs: []int{0, 1, 3, 4, 5}}
	for n, want := range map[int][]int{2: {1, 2}, 3: {1, 2, 4}, 9: {1, 2, 4, 0, 3}} {
		if got := untouchedRows(columns, test, n); !slices.Equal(got, want) {
			t.Errorf("%d: %v, want %v", n, got, want)
		}
	}
	if n := countPeople(columns, test); n != 3 {
		t.Errorf("%d people", n)
	}
}

// What the notes say follows from the settings and the rows.
func TestNotesOfFacesSayWhatTheRunWas(t *testing.T) {
	s := tinyFaces(t)
	s.Faces.Set, s.Faces.Width, s.Fit.Epochs = "olivetti_idx", 16, 7
	c := &Collected{Study: s}
	for _, seed := range s.Seeds {
		for i, f := range s.Fractions {
			c.Rows = append(c.Rows, Row{Variant: NoOp, Fraction: f, Seed: seed, Forget: 10 << i, RetainAcc: 0.75, ForgetAcc: 0.5, TestAcc: 0.25,
				Untouched: &UntouchedPeople{Images: 10 << i, Forgotten: 1 << i}})
		}
	}
	text := func() string {
		notes, err := faceNotes(c)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(notes, " ")
	}
	for _, want := range []string{
		"400 images of 8 x 8 pixels; the task is arbitrary group, drawn by seed 41; not gender. Nobody labelled these people",
		"They stand in for the paper's LFW", "Forgotten are 1 at 2.5 % (10 images), 2 at 5 % (20 images) and 4 at 10 % (40 images) of the people in the train part",
		"10 % of all people are held out", "Batches of 32 and 7 epochs", "16 channels in the first convolution and an embedding of 128; the paper's has 64 and 512",
		"0.75 on retained images, 0.50 on the people to forget, 0.25 on untouched people; in arbitrary groups of equal size a guess has 0.5",
	} {
		if !strings.Contains(text(), want) {
			t.Errorf("%q is not in\n%s", want, text())
		}
	}
	c.Rows[0].Forget, c.Rows[0].Untouched = 12, &UntouchedPeople{Images: 11, Forgotten: 1}
	s.Faces.Set, s.Faces.Width, s.Faces.Side = "lfw", 0, 0
	for want, is := range map[string]bool{
		"(10 to 12 images)": true, "Where more images are forgotten than untouched people have": true, "lists of names of Afifi and Abdelhamed": true,
		"4324 images of 64 x 64 pixels; the task is gender": true, "They stand in": false, "narrow": false, "guess": false,
	} {
		if strings.Contains(text(), want) != is {
			t.Errorf("%q in %v: %s", want, is, text())
		}
	}
}

// LFW is taken where it is, else Olivetti, else the error names LFW.
func TestTheStandInOfLFW(t *testing.T) {
	t.Setenv("LETHE_DATA", t.TempDir())
	for scale, want := range map[*FaceScale]string{{}: "lfw", {Set: "olivetti"}: "olivetti", {Set: "sketches"}: "sketches"} {
		if got, err := scale.set(); got != want || err != nil {
			t.Errorf("%q without files: %q, %v", scale.Set, got, err)
		}
	}
	if _, err := (FaceScale{Set: "nobody"}).set(); err == nil {
		t.Error("an unknown set is no error")
	}
	if r := (Row{Diverged: "yes"}); !math.IsNaN(r.m4OfUntouched()) {
		t.Error("a diverged row has an M4 of untouched people")
	}
}
