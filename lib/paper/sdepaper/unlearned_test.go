package sdepaper

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/verify/sde"
)

// logits are sure of the labels of the given rows and of nothing else.
func logits(y []int, classes int, sure []int) array.Matrix[float32] {
	z := array.New[float32](len(y), classes)
	for _, i := range sure {
		z.Row(i)[y[i]] = 9
	}
	return z
}

// A model that is sure of one kind of images alone is right on these, and on the others for those of the class
// that it says without a reason.
func TestAccuraciesAreOfTheirImages(t *testing.T) {
	j := opened(t, environment(t), 0)
	c := j.c
	share := func(y []int) (zero float64) { // of class 0
		for _, label := range y {
			if label == 0 {
				zero += 1 / float64(len(y))
			}
		}
		return zero
	}
	other := ImageAccuracies{share(gatherRows(c.Train.Y, c.Retain)), share(gatherRows(c.Train.Y, c.Forget)), share(c.Test.Y)}
	for name, of := range map[string]struct {
		train, test []int
		want        ImageAccuracies
	}{
		"retained":  {c.Retain, nil, ImageAccuracies{1, other.Forget, other.Test}},
		"forgotten": {c.Forget, nil, ImageAccuracies{other.Retain, 1, other.Test}},
		"test":      {nil, firstRows(len(c.Test.Y)), ImageAccuracies{other.Retain, other.Forget, 1}},
	} {
		predicted := func(y, sure []int) *model.Prediction {
			return &model.Prediction{Outputs: map[string]array.Matrix[float32]{nn.Logits: logits(y, c.Problem.Classes(), sure)}}
		}
		got := j.accuracies(predicted(c.Train.Y, of.train), predicted(c.Test.Y, of.test))
		for k, want := range []float64{of.want.Retain, of.want.Forget, of.want.Test} {
			if have := imageKinds()[k].of(got); math.Abs(have-want) > 1e-12 {
				t.Errorf("sure of the %s images: %v of the %s ones are right, not %v", name, have, imageKinds()[k].name, want)
			}
		}
	}
}

// The roles of known members, known non-members, judged records and references: exchanging any
// two changes the result.
func TestTheAttackOfTableFourJudgesTheForgottenImages(t *testing.T) {
	p := opened(t, environment(t), 0).c
	forget, retain := p.Forget, p.Retain
	everybody := append(append([]int{}, forget...), retain...)
	nonmembers := logits(p.Test.Y, p.Problem.Classes(), nil)
	for name, c := range map[string]struct {
		sureOf []int
		want   float64
	}{
		"an original": {everybody, 1},
		"an oracle":   {retain, 0},
	} {
		var u Unlearned
		if err := u.runAttack(p, logits(p.Train.Y, p.Problem.Classes(), c.sureOf), nonmembers, firstRows(len(p.Test.Y))); err != nil {
			t.Fatal(err)
		}
		if u.ASR.Value != c.want || u.ASR.N != len(forget) || u.HeldOut.Value != 0 || u.HeldOut.N != len(p.Test.Y)-len(p.Test.Y)/2 {
			t.Errorf("%s: %+v of the forgotten and %+v of the held-out images pass for members, expected %v and 0", name, u.ASR, u.HeldOut, c.want)
		}
	}
	// Over-unlearned: the non-members are memorised, the forgotten are not.
	var u Unlearned
	known := logits(p.Test.Y, p.Problem.Classes(), firstRows(len(p.Test.Y)))
	if err := u.runAttack(p, logits(p.Train.Y, p.Problem.Classes(), everybody), known, firstRows(len(p.Test.Y))); err != nil {
		t.Fatal(err)
	}
	if u.ASR.Value != u.HeldOut.Value {
		t.Errorf("images that look alike pass for members in %v and %v of the cases", u.ASR.Value, u.HeldOut.Value)
	}
}

// If a variant has used half of the test images, neither the threshold nor the reference is from
// that half, because the variant may have memorised them. With the halves exchanged both are
// from nothing else.
func TestTheAttackOfTableFourLeavesOutWhatAVariantHasSeen(t *testing.T) {
	p := opened(t, environment(t), 0).c
	forget, retain := p.Forget, p.Retain
	var seen, unseen []int
	for i := range p.Test.Y {
		if i%2 == 0 {
			seen = append(seen, i)
		} else {
			unseen = append(unseen, i)
		}
	}
	everybody := append(append([]int{}, forget...), retain...)
	onTrain, onTest := logits(p.Train.Y, p.Problem.Classes(), everybody), logits(p.Test.Y, p.Problem.Classes(), seen)
	var right, exchanged Unlearned
	if err := errors.Join(right.runAttack(p, onTrain, onTest, unseen), exchanged.runAttack(p, onTrain, onTest, seen)); err != nil {
		t.Fatal(err)
	}
	if right.ASR.Value != 1 || right.HeldOut.Value != 0 || right.HeldOut.N != len(unseen)-len(unseen)/2 {
		t.Errorf("%+v of the forgotten, %+v of the held-out images pass for members", right.ASR, right.HeldOut)
	}
	if exchanged.ASR.Value-exchanged.HeldOut.Value != 0 {
		t.Error("images that are memorised are told from forgotten ones")
	}
}

// A study with variants that search their rate judges on the other half of the test images,
// and under another key; one without on all.
func TestOnlyAStudyWithTunedVariantsLeavesTestImagesOut(t *testing.T) {
	e := environment(t)
	s, err := StudyAt("quick")
	if err != nil {
		t.Fatal(err)
	}
	k := allCells(s)[0]
	c, err := e.Lab().Case(t.Context(), k.labSetting())
	if err != nil {
		t.Fatal(err)
	}
	tuned := s
	tuned.Untuned = !s.Untuned
	whole, half := s, tuned
	if !whole.Untuned {
		whole, half = half, whole
	}
	if len(whole.unseen(c)) != c.Test.X.Rows || !slices.Equal(half.unseen(c), c.EvalRows()) {
		t.Errorf("%d and %d of %d test images, %d of which no variant looks at", len(whole.unseen(c)), len(half.unseen(c)), c.Test.X.Rows, len(c.EvalRows()))
	}
	id := func(s Study) string {
		k.Study = s
		id, err := k.unlearnedKey(e.Lab(), c, s.Variants()[0]).ID()
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	if id(whole) == id(half) {
		t.Error("what is judged on other images has the same key")
	}
}

// Activations of retained images are spread wide and those of test images are
// not. Forgotten images that look like the first are in training, and out of it
// where they look like the second; F1 is 1, because the truth is plain. References
// that are exchanged turn all of it around.
func TestTableFoursReferencesStandWhereTheyBelong(t *testing.T) {
	const rows, size, dim = 120, 20, 8
	j := opened(t, environment(t), 0)
	j.UnlearnSize, j.Subsets, j.Draws = size, 20, 3
	forget := j.c.Forget
	var unseen []int
	for i := 1; i < rows; i += 2 {
		unseen = append(unseen, i)
	}
	cloud := func(part uint64, spread func(row int) float64) sde.Matrix {
		rng, m := engine.Root(6).Stream("test", part), array.New[float64](rows, dim)
		for i := range rows {
			for j := range dim {
				m.Row(i)[j] = spread(i) * rng.NormFloat64()
			}
		}
		return m
	}
	const wide, narrow = 3.0, 0.3
	for name, c := range map[string]struct{ forgotten, want float64 }{"in training": {wide, 0}, "out of it": {narrow, 1}} {
		a := activations{
			train: cloud(1, func(row int) float64 {
				if slices.Contains(forget, row) {
					return c.forgotten
				}
				return wide
			}),
			test: cloud(2, func(row int) float64 { // what a variant has seen looks like the training
				if row%2 == 0 {
					return wide
				}
				return narrow
			}),
		}
		u := Unlearned{Fraction: 0.3}
		if err := u.judge(t.Context(), j, "h", newLayerData(a), unseen); err != nil {
			t.Fatal(err)
		}
		if got := u.OTR("sde/h"); got.Rule != c.want || got.N != 3 || got.Void != 0 {
			t.Errorf("forgotten images that look %s: the rates of out are %+v, want %v", name, got, c.want)
		}
		if f := u.F1("h"); f.Rule != 1 {
			t.Errorf("forgotten images that look %s: F1 on images of which the truth is known is %+v", name, f)
		}
	}
}
