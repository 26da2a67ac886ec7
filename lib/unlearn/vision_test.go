// Methods on image networks with batch normalisation.

package unlearn_test

import (
	"fmt"
	"math"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/lethe-ml/lethe/datasets/images"
	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/modeltest"
	"github.com/lethe-ml/lethe/lib/model/vision"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// pictureRequest is a network with batch normalisation on bars of 8 x 8 pixels:
// 9 to forget and 17 to retain, so that batches of 8 end with one record.
func pictureRequest(t *testing.T) unlearn.Request {
	t.Helper()
	arch := vision.SmallCNN{Side: 8, Width: 4, Hidden: 8, Outputs: 3, Norm: true}
	rng := engine.Root(1).Stream("bars")
	data := func(first, n int) unlearn.Data {
		d := unlearn.Data{X: array.New[float32](n, 64)}
		for i := range n {
			class := i % 3
			d.Y, d.IDs = append(d.Y, class), append(d.IDs, first+i)
			for j := range 64 {
				d.X.Row(i)[j] = float32(0.2 * rng.NormFloat64())
				if line, column := j/8, j%8; class == 0 && line == 4 || class == 1 && column == 4 || class == 2 && line == column {
					d.X.Row(i)[j]++
				}
			}
		}
		return d
	}
	p := func(seed engine.Root) nn.Params { return model.InitialWeights(arch, seed.Stream(engine.StreamInit)) }
	return unlearn.Request{
		Runner: modeltest.OpenRunner(t, arch), Original: p(1), Earlier: &unlearn.Checkpoint{Params: p(2), Epoch: 1},
		Forget: data(0, 9), Retain: data(100, 17), HeldOut: data(200, 12), Seed: 100, Batch: 8,
		Fit: train.Config{Epochs: 2, Batch: 8, Optimizer: nn.SGD{LR: 0.01}},
	}
}

// shifted counts its calls and crops and flips.
type shifted struct{ asked *atomic.Int64 }

func (s shifted) Augment(dst, src []float32, epoch, id int) error {
	s.asked.Add(1)
	return images.Augmentation{Border: 1}.Row(dst, src, [3]int{1, 8, 8}, engine.Root(7).Stream(engine.StreamAugment, uint64(epoch), uint64(id)))
}

// brief returns a shorter version of a method: with the steps for a hundred records instead
// of fifty thousand.
func brief(m unlearn.Method) unlearn.Method {
	switch m := m.(type) {
	case unlearn.RapidRetraining:
		m.Users = unlearn.Users{Rounds: 2, LocalEpochs: 2}
		return m
	case unlearn.StepMatched[unlearn.RandomLabel]:
		return unlearn.StepMatched[unlearn.RandomLabel]{Records: 100, Batch: 16}
	case unlearn.StepMatched[unlearn.SalUn]:
		return unlearn.StepMatched[unlearn.SalUn]{Records: 100, Batch: 16}
	}
	return m
}

func TestEveryMethodRunsOnImagesWithBatchNormalisation(t *testing.T) {
	r := pictureRequest(t)
	for _, m := range unlearn.All() {
		m = brief(m)
		t.Run(m.Info().Name, func(t *testing.T) {
			switch m.(type) {
			case unlearn.SSDFoster, unlearn.DPRetrain: // they need every record's own gradient
				if _, _, err := unlearn.Apply(t.Context(), m, r); err == nil || !strings.Contains(err.Error(), "mixes the records of a batch") {
					t.Errorf("%v", err)
				}
				return
			}
			plain, rep := apply(t, m, r)
			if again, _ := apply(t, m, r); again.Hash() != plain.Hash() {
				t.Error("the second run has another result")
			}
			trains := len(rep.History) > 0
			for i, v := range plain {
				if !v.State || m.Info().Name == "random-weights" {
					continue
				}
				if moved := fmt.Sprint(v.Data) != fmt.Sprint(r.Original[i].Data); moved != trains {
					t.Errorf("%s has moved: %t", v.Name, moved)
				}
				if strings.HasSuffix(v.Name, "running_var") {
					for _, x := range v.Data {
						if !(x > 0) {
							t.Errorf("%s is %v", v.Name, v.Data)
						}
					}
				}
			}
			var asked atomic.Int64
			a := r
			a.Augment = shifted{&asked}
			augmented, _ := apply(t, m, a)
			if changed := augmented.Hash() != plain.Hash(); changed != trains || (asked.Load() > 0) != trains {
				t.Errorf("augmentation was asked %d times and changed the result: %t", asked.Load(), changed)
			}
		})
	}
}

// SalUn chooses weights over the whole network, without state.
func TestSalUnOnImagesOpensHalfOfAllWeights(t *testing.T) {
	r := pictureRequest(t)
	p, _ := apply(t, unlearn.SalUn{Restore: true}, r)
	moved, all := 0, 0
	shares := map[string]float64{}
	for i, v := range p {
		if v.State {
			continue
		}
		here := 0
		for j, x := range v.Data {
			if x != r.Original[i].Data[j] {
				here++
			}
		}
		moved, all = moved+here, all+len(v.Data)
		shares[v.Name] = float64(here) / float64(len(v.Data))
	}
	if math.Abs(float64(moved)-float64(all)/2) > 0.02*float64(all) {
		t.Errorf("%d of %d weights moved", moved, all)
	}
	if shares["head.bias"] == 0.5 && shares["conv1.weight"] == 0.5 {
		t.Error("every tensor has its own half: the ranking is not over the whole network")
	}
}
