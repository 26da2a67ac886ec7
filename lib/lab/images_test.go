// Tests of cases of images.

package lab

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/model/vision"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// imageSetting is a small case of images.
func imageSetting() Setting {
	return Setting{
		Data: Images{Set: "glyphs", MaxTrain: 200, MaxTest: 60}, Forget: Random{Fraction: 0.1},
		Fit:   train.Config{Epochs: 6, Batch: 50, Optimizer: nn.SGD{LR: 0.05, Momentum: 0.9}, Schedule: train.Cosine()},
		Model: vision.SmallCNN{Channels: 1, Side: 16, Width: 4, Hidden: 32, Norm: true},
	}
}

func TestAKilledTrainingKeepsTheWeightsThatWereToBeKept(t *testing.T) {
	l := newLab(t)
	s := imageSetting()
	s.Augment, s.Keep = true, []int{1, 3, 5}
	c := openCase(t, l, s)
	want, err := c.TrainedModel(t.Context(), c.Original())
	if err != nil {
		t.Fatal(err)
	}
	again := newLab(t)
	ctx, cancel := context.WithCancel(t.Context())
	again.AfterEpoch = func(e train.Epoch) {
		if e.Epoch == 4 {
			cancel()
		}
	}
	same := openCase(t, again, s)
	if _, err := same.TrainedModel(ctx, c.Original()); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	again.AfterEpoch = func(e train.Epoch) {
		if e.Epoch < 4 {
			t.Errorf("epoch %d was computed again", e.Epoch)
		}
	}
	got, err := same.TrainedModel(t.Context(), c.Original())
	if err != nil {
		t.Fatal(err)
	}
	for _, epoch := range s.Keep {
		if got.AtEpoch[epoch].Hash() != want.AtEpoch[epoch].Hash() || got.AtEpoch[epoch].Hash() == got.Final.Hash() {
			t.Errorf("the weights after epoch %d differ, or are those of the end", epoch)
		}
	}
	s.Keep = []int{2}
	other := openCase(t, l, s)
	plain, err := other.TrainedModel(t.Context(), c.Original())
	if err != nil || got.Final.Hash() != want.Final.Hash() || plain.Final.Hash() != want.Final.Hash() {
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

// The range of features is from black to white, as the network gets them, or three standard
// deviations.
func TestARequestSaysWhereFeaturesLie(t *testing.T) {
	l := newLab(t)
	drawings := Setting{Data: Images{Set: "glyphs", MaxTrain: 60, MaxTest: 20}, Fit: train.Config{Epochs: 1}}
	pixels := drawings
	pixels.Data = Images{Set: "glyphs", MaxTrain: 60, MaxTest: 20, Pixels: true}
	for name, c := range map[string]struct {
		setting Setting
		exact   bool // some record has a black and some a white pixel
	}{"images": {drawings, true}, "pixels": {pixels, true}, "a table": {Setting{Data: Table{Set: "two_moons"}, Fit: train.Config{Epochs: 1}}, false}} {
		of := mustCase(t, l, c.setting)
		r, err := of.Request(t.Context(), unlearn.AuxiliaryTuning{Auxiliary: unlearn.Noise})
		if err != nil {
			t.Fatal(err)
		}
		low, high := slices.Min(of.Problem.Train.X.Data), slices.Max(of.Problem.Train.X.Data)
		if low < r.Range.Low || high > r.Range.High || c.exact && (low != r.Range.Low || high != r.Range.High) {
			t.Errorf("%s lie between %v and %v, the request says %+v", name, low, high, r.Range)
		}
	}
}
