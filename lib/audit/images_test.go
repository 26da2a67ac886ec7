package audit

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/datasets/images"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/vision"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// pictures is a small case of images.
func pictures() Setting {
	return Setting{
		DataSet: "glyphs", MaxRows: 200, TestRows: 60, Fraction: 0.1,
		Fit: train.Config{Epochs: 6, Batch: 50, Optimizer: nn.SGD{LR: 0.05, Momentum: 0.9}, Schedule: train.Cosine()},
		Arch: func(f, c int) model.Architecture {
			return vision.SmallCNN{Channels: 1, Side: 16, Outputs: c, Width: 4, Hidden: 32, Norm: true}
		},
	}
}

func TestEveryLensSeesAModelOfImages(t *testing.T) {
	c := openCase(t, newLab(t), pictures())
	if len(c.Forget) != 20 || len(c.Retain) != 180 || c.Test.X.Rows != 60 {
		t.Fatalf("%d and %d of %d images", len(c.Forget), len(c.Retain), c.Test.X.Rows)
	}
	for _, lens := range append(FirstLenses(), Subsets{Draws: 4}) {
		if _, err := lens.Look(c, c.Oracle); err != nil {
			t.Errorf("%s: %v", lens.Name(), err)
		}
	}
	m, err := c.Unlearn(t.Context(), unlearn.RandomLabel{})
	if err != nil || m.Report.Displacement == 0 {
		t.Errorf("%+v, %v", m, err)
	}
}

func TestAKilledTrainingKeepsTheWeightsThatWereToBeKept(t *testing.T) {
	l := newLab(t)
	s := pictures().withDefaults()
	p, err := l.ImageProblem(t.Context(), "glyphs", 120, 40, s.Arch)
	if err != nil {
		t.Fatal(err)
	}
	p.Augment = NewAugmenter(p.Prepared, images.Augmentation{}, 0)
	rows := everyRow(p.Prepared)
	want, err := l.TrainedCourse(t.Context(), p, s.Fit, rows, 0, []int{1, 3, 5})
	if err != nil {
		t.Fatal(err)
	}
	again := newLab(t)
	ctx, cancel := context.WithCancel(t.Context())
	again.Progress = func(now Progress) {
		if now.Done == 4 {
			cancel()
		}
	}
	if _, err := again.TrainedCourse(ctx, p, s.Fit, rows, 0, []int{1, 3, 5}); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	again.Progress = func(now Progress) {
		if now.Done < 4 {
			t.Errorf("epoch %d was computed again", now.Done)
		}
	}
	got, err := again.TrainedCourse(t.Context(), p, s.Fit, rows, 0, []int{1, 3, 5})
	if err != nil {
		t.Fatal(err)
	}
	for _, epoch := range []int{1, 3, 5} {
		if got.At[epoch].Hash() != want.At[epoch].Hash() || got.At[epoch].Hash() == got.Final.Hash() {
			t.Errorf("the weights after epoch %d differ, or are those of the end", epoch)
		}
	}
	plain, err := l.Trained(t.Context(), p, s.Fit, rows, 0)
	if err != nil || got.Final.Hash() != want.Final.Hash() || plain.Hash() != want.Final.Hash() {
		t.Errorf("keeping weights changed the training (%v)", err)
	}
}

func TestEpochsThatCannotBeKeptAreRefused(t *testing.T) {
	for _, keep := range [][]int{{0}, {6}, {2, 2}, {3, 1}} {
		if err := checkKeep(keep, 6); err == nil || !strings.Contains(err.Error(), "from 1 to 5") {
			t.Errorf("%v: %v", keep, err)
		}
	}
}

func TestANetworkIsFittedToGreyAndColouredImages(t *testing.T) {
	f, err := Network("resnet-18")
	if err != nil {
		t.Fatal(err)
	}
	if a := ForImages(f)(3072, 10).(vision.ResNet18); a.Channels != 3 || a.Side != 32 {
		t.Errorf("%+v", a)
	}
	if a := ForImages(f)(784, 10).(vision.ResNet18); a.Channels != 1 || a.Side != 28 {
		t.Errorf("%+v", a)
	}
	if _, err := Network("resnet-19"); err == nil {
		t.Error("an unknown network was found")
	}
}
