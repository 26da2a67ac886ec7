package train_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/lethe-ml/lethe/datasets/images"
	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/engine/enginetest"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/tabular"
	"github.com/lethe-ml/lethe/lib/model/vision"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/train"
)

// cropFlip is the customary augmentation of images of 8 x 8 pixels, drawn from
// the named stream of the epoch and the record.
type cropFlip struct {
	images.Augmentation
	Seed engine.Root
}

func (a cropFlip) Augment(dst, src []float32, epoch, id int) error {
	return a.Row(dst, src, [3]int{1, 8, 8}, a.Seed.Stream(engine.StreamAugment, uint64(epoch), uint64(id)))
}

func testImages(n int) train.Term {
	t := train.Term{Name: "pictures", X: array.New[float32](n, 64)}
	y := make([]int, n)
	for i := range n {
		y[i] = i % 3
		t.IDs = append(t.IDs, 1000-7*i)
		for j := range t.X.Row(i) {
			t.X.Row(i)[j] = float32((i*31+j*17+j*j*3)%61-30) / 16
		}
	}
	t.Targets = []train.Target{train.CrossEntropy(y, 3, 1)}
	return t
}

func runner(t *testing.T, arch model.Architecture, chunk int) *model.Runner {
	t.Helper()
	e, err := enginetest.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	r, err := model.NewRunner(e.WithChunkRows(chunk), arch)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func begin(arch model.Architecture) nn.Params {
	return model.InitialWeights(arch, engine.Root(4).Stream(engine.StreamInit))
}

var (
	plain  = vision.SmallCNN{Side: 8, Width: 2, Hidden: 4, Outputs: 3}
	normed = vision.SmallCNN{Side: 8, Width: 2, Hidden: 4, Outputs: 3, Norm: true}
)

// Training with augmentation is training on records that were changed by hand
// before every epoch, to the last bit, in batches, in one batch and where a term
// enters every step whole.
func TestAugmentedTrainingIsTrainingOnAugmentedRecords(t *testing.T) {
	a := cropFlip{Augmentation: images.Augmentation{Border: 1}, Seed: 5}
	for _, arch := range []vision.SmallCNN{plain, normed} {
		for _, c := range []train.Config{{Epochs: 3, Batch: 7, Seed: 3}, {Epochs: 3, Seed: 3}, {Epochs: 3, Batch: 7, Seed: 3, Order: train.Paired}} {
			for _, whole := range []bool{false, true} {
				r := runner(t, arch, 4)
				swept, other := testImages(22), testImages(9)
				other.Whole = whole
				byHand := train.Plan{Passes: func(epoch int) ([]train.Objective, error) {
					return []train.Objective{{changed(t, swept, a, epoch), changed(t, other, a, epoch)}}, nil
				}}
				want, history, err := train.FitPlan(context.Background(), r, begin(arch), byHand, c, train.Hooks{})
				if err != nil {
					t.Fatal(err)
				}
				swept.Augment, other.Augment = a, a
				got, h, err := train.Fit(context.Background(), r, begin(arch), train.Objective{swept, other}, c, train.Hooks{})
				if err != nil {
					t.Fatal(err)
				}
				if got.Hash() != want.Hash() || fmt.Sprint(h) != fmt.Sprint(history) {
					t.Errorf("norm %t, whole %t, %+v: another result than by hand", arch.Norm, whole, c)
				}
			}
		}
	}
}

func changed(t *testing.T, term train.Term, a train.Augmenter, epoch int) train.Term {
	t.Helper()
	x := array.New[float32](term.X.Rows, term.X.Cols)
	for i := range x.Rows {
		if err := a.Augment(x.Row(i), term.X.Row(i), epoch, term.IDs[i]); err != nil {
			t.Fatal(err)
		}
	}
	term.X = x
	return term
}

// What the augmenter is asked for is one form of each record per epoch, whatever
// the cut.
func TestAugmentationDoesNotDependOnTheCut(t *testing.T) {
	asked := func(batch, chunk int) string {
		var mu sync.Mutex
		forms := map[[2]int]string{}
		term := testImages(22)
		a := cropFlip{Seed: 5}
		term.Augment = train.AugmentFunc(func(dst, src []float32, epoch, id int) error {
			err := a.Augment(dst, src, epoch, id)
			mu.Lock()
			forms[[2]int{epoch, id}] = fmt.Sprint(dst)
			mu.Unlock()
			return err
		})
		c := train.Config{Epochs: 2, Batch: batch, Seed: 3}
		if _, _, err := train.Fit(context.Background(), runner(t, plain, chunk), begin(plain), train.Objective{term}, c, train.Hooks{}); err != nil {
			t.Fatal(err)
		}
		if len(forms) != 2*22 {
			t.Errorf("batches of %d: %d records were augmented, want 22 in each of 2 epochs", batch, len(forms))
		}
		return fmt.Sprint(forms)
	}
	want := asked(7, 4)
	for _, cut := range [][2]int{{7, 2}, {3, 32}, {0, 32}, {0, 5}} {
		if asked(cut[0], cut[1]) != want {
			t.Errorf("batches of %d in chunks of %d: other records", cut[0], cut[1])
		}
	}
}

func TestAugmentedTrainingResumesWithTheSameBits(t *testing.T) {
	r, term := runner(t, normed, 32), testImages(22)
	term.Augment = cropFlip{Seed: 5}
	c := train.Config{Epochs: 4, Batch: 7, Seed: 3, Optimizer: nn.SGD{LR: 0.05, Momentum: 0.9}}
	var saved []*train.State
	keep := train.Hooks{SaveEvery: 1, Save: func(s *train.State) error { saved = append(saved, s); return nil }}
	want, _, err := train.Fit(context.Background(), r, begin(normed), train.Objective{term}, c, keep)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range saved {
		got, _, err := train.Fit(context.Background(), r, begin(normed), train.Objective{term}, c, train.Hooks{Resume: s})
		if err != nil {
			t.Fatal(err)
		}
		if got.Hash() != want.Hash() {
			t.Errorf("resumed after epoch %d: another result", s.Done)
		}
	}
	if len(saved) != 4 {
		t.Errorf("%d states", len(saved))
	}
}

func TestAFailingAugmentationNamesTheRecord(t *testing.T) {
	for name, c := range map[string]struct {
		augment train.AugmentFunc
		words   []string
	}{
		"an error": {func(_, _ []float32, epoch, id int) error {
			if epoch == 1 && id == 993 {
				return errors.New("no such crop")
			}
			return nil
		}, []string{`"pictures"`, "record 993", "epoch 2", "no such crop"}},
		"NaN": {func(dst, _ []float32, _, _ int) error {
			dst[3] = float32(math.NaN())
			return nil
		}, []string{`"pictures"`, "epoch 1", "augmented data", "column 3 is NaN"}},
	} {
		t.Run(name, func(t *testing.T) {
			term := testImages(22)
			term.Augment = c.augment
			_, _, err := train.Fit(context.Background(), runner(t, plain, 32), begin(plain), train.Objective{term}, train.Config{Epochs: 2}, train.Hooks{})
			if err == nil {
				t.Fatal("no error")
			}
			for _, w := range c.words {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("error %q does not say %q", err, w)
				}
			}
		})
	}
}

// The target of an autoencoder is its record. It may lie in the same memory, and is the
// record as it was where what enters the network is another form of it.
func TestTheTargetOfAnAutoencoderMayBeItsInput(t *testing.T) {
	arch := tabular.MLP{Features: 6, Outputs: 6, Hidden: 5}
	term := testImages(22)
	x := array.New[float32](22, 6)
	for i := range x.Rows {
		copy(x.Row(i), term.X.Row(i))
	}
	other := array.Matrix[float32]{Rows: x.Rows, Cols: x.Cols, Data: slices.Clone(x.Data)}
	halved := train.AugmentFunc(func(dst, src []float32, _, _ int) error {
		for i, v := range src {
			dst[i] = v / 2
		}
		return nil
	})
	fit := func(target array.Matrix[float32], a train.Augmenter) string {
		o := train.Objective{{Name: "all", X: x, IDs: term.IDs, Augment: a, Targets: []train.Target{train.OutputTarget(loss.SquaredError{Output: nn.Logits}, target, 1)}}}
		p, _, err := train.Fit(context.Background(), runner(t, arch, 32), begin(arch), o, train.Config{Epochs: 2, Batch: 7}, train.Hooks{})
		if err != nil {
			t.Fatal(err)
		}
		return p.Hash()
	}
	if fit(x, nil) != fit(other, nil) {
		t.Error("a target in the records' own memory is another target")
	}
	if fit(x, halved) != fit(other, halved) {
		t.Error("an augmented record is its own target")
	}
}
