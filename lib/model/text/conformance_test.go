// Tests that every network must pass.

package text

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/core/tensors"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/modeltest"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/train"
)

func TestCheckNamesWhatCannotBeBuilt(t *testing.T) {
	for _, m := range []BERT{{}, tiny, Small(2000, 64)} {
		if err := m.Check(); err != nil {
			t.Errorf("%+v: %v", m, err)
		}
	}
	for words, change := range map[string]func(m *BERT){
		"records of 12 tokens, possible are 2 to 11": func(m *BERT) { m.Tokens = 12 },
		"records of 1 tokens":                        func(m *BERT) { m.Tokens = 1 },
		"10 positions to predict":                    func(m *BERT) { m.Predicted = 10 },
		"-1 positions to predict":                    func(m *BERT) { m.Predicted = -1 },
		"-2 layers":                                  func(m *BERT) { m.Layers = -2 },
		"1000000 layers":                             func(m *BERT) { m.Layers = 1000000 },
		"5 heads do not divide width 12":             func(m *BERT) { m.Heads = 5 },
		"-3 hidden units":                            func(m *BERT) { m.Hidden = -3 },
		"a vocabulary of 1 tokens":                   func(m *BERT) { m.Vocabulary = 1 },
		"a vocabulary of 20000000 tokens":            func(m *BERT) { m.Vocabulary = 20000000 },
		"the padding is token 30":                    func(m *BERT) { m.Pad = 30 },
		"dropout 1 is not":                           func(m *BERT) { m.Dropout = new(1.0) },
		"dropout NaN is not":                         func(m *BERT) { m.Dropout = new(math.NaN()) },
		"epsilon 1 is not":                           func(m *BERT) { m.Eps = 1 },
		"is too large":                               func(m *BERT) { m.Width, m.Heads = 120000, 1 },
	} {
		m := tiny
		change(&m)
		if err := m.Check(); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%+v: error %v, want %q", m, err, words)
		}
	}
}

// The zero value is MiniLM-L6 with a head: 22.7 million weights less the pooler, and the keys'
// biases.
func TestTheDefaultsAreMiniLMs(t *testing.T) {
	const d, h, v = 384, 1536, 30522
	layer := 4*d*d + 3*d + 2*d*h + h + d + 4*d
	want := (v+512+2)*d + 2*d + 6*layer + d*d + d + 2*d + v
	p := model.InitialWeights(BERT{}, seeded(1))
	if got := p.Size(); got != want {
		t.Errorf("%d weights, want %d", got, want)
	}
	if m := (BERT{}); m.Inputs() != 128+20 || m.Loss().Vocabulary != v || model.OutputWidths(m)[loss.MaskedLogits] != 20*v {
		t.Errorf("%d inputs, outputs %v", m.Inputs(), model.OutputWidths(m))
	}
	for _, r := range model.RandomInputs((BERT{})) {
		if r.Rate != 0.1 {
			t.Errorf("%s has rate %v", r.Name, r.Rate)
		}
	}
	for _, r := range model.RandomInputs((BERT{Dropout: new(0.0)})) {
		if r.Rate != 0 {
			t.Errorf("switched off, %s has rate %v", r.Name, r.Rate)
		}
	}
	if m := (defaults.Fill(BERT{Tokens: 9})); m.Predicted != 2 || defaults.Fill(m) != model.Architecture(m) {
		t.Errorf("the defaults are %+v", m)
	}
}

func TestInitIsFixedByItsSeed(t *testing.T) {
	p, names := model.InitialWeights(tiny, seeded(1)), map[string]bool{}
	if err := p.Check(); err != nil {
		t.Error(err)
	}
	for _, v := range p {
		if names[v.Name] {
			t.Errorf("two tensors are called %s", v.Name)
		}
		names[v.Name] = true
	}
	if model.InitialWeights(tiny, seeded(1)).Hash() != p.Hash() {
		t.Error("same seed, other weights")
	}
	if model.InitialWeights(tiny, seeded(2)).Hash() == p.Hash() {
		t.Error("other seed, same weights")
	}
}

// differs returns the largest difference of two rows.
func differs(a, b []float32) (worst float64) {
	for k := range a {
		worst = math.Max(worst, math.Abs(float64(a[k]-b[k])))
	}
	return worst
}

func predict(t *testing.T, r *model.Runner, p nn.Params, x array.Matrix[float32]) *model.Prediction {
	t.Helper()
	pred, err := r.Predict(p, x)
	if err != nil {
		t.Fatal(err)
	}
	return pred
}

// A record gives the same alone, among others and in another order.
func TestRecordsDoNotMix(t *testing.T) {
	r, p := modeltest.OpenRunner(t, tiny), weights(tiny, 1)
	x, _ := masked(t, tiny, sentences(t, tiny, 70), 0)
	all := predict(t, r, p, x)
	back := make([]int, x.Rows)
	for i := range back {
		back[i] = x.Rows - 1 - i
	}
	turned := predict(t, r, p, x.Gather(back))
	for i := range x.Rows {
		one := turned
		k := back[i]
		if i%9 == 0 {
			one, k = predict(t, r, p, x.Gather([]int{i})), 0
		}
		if d := differs(one.Embedding.Row(k), all.Embedding.Row(i)); d > 1e-5 {
			t.Errorf("the embedding of record %d is %g apart", i, d)
		}
		if d := differs(one.Outputs[loss.MaskedLogits].Row(k), all.Outputs[loss.MaskedLogits].Row(i)); d > 1e-5 {
			t.Errorf("the scores of record %d are %g apart", i, d)
		}
	}
}

func TestEveryLayerIsNamedAndFinite(t *testing.T) {
	r := modeltest.OpenRunner(t, tiny)
	x := sentences(t, tiny, 9)
	pred, err := r.PredictLayers(weights(tiny, 1), x)
	if err != nil {
		t.Fatal(err)
	}
	if len(pred.Layers) != 2 || fmt.Sprint(pred.Layers["layer2"]) != fmt.Sprint(pred.Embedding) {
		t.Errorf("%d layers; the last is not the embedding", len(pred.Layers))
	}
	for name, m := range pred.Layers {
		if err := m.Check(name); err != nil || m.Rows != x.Rows || m.Cols != 12 {
			t.Errorf("%s is %d x %d: %v", name, m.Rows, m.Cols, err)
		}
	}
	again := predict(t, r, weights(tiny, 1), x)
	if fmt.Sprint(again.Outputs, again.Embedding) != fmt.Sprint(pred.Outputs, pred.Embedding) {
		t.Error("two predictions differ")
	}
}

// apart is the largest difference of two gradients of one tensor, relative to the largest
// entry of the whole gradient.
func apart(p nn.Params, got, want [][]float64) (worst float64, name string) {
	var scale float64
	for i := range want {
		for _, v := range want[i] {
			scale = math.Max(scale, math.Abs(v))
		}
	}
	for i := range want {
		for j, v := range want[i] {
			if d := math.Abs(got[i][j]-v) / scale; !(d <= worst) {
				worst, name = d, p[i].Name
			}
		}
	}
	return worst, name
}

func TestTheGradientIsTheLibrarys(t *testing.T) {
	r, p := modeltest.OpenRunner(t, tiny), weights(tiny, 1)
	x, in := masked(t, tiny, sentences(t, tiny, 12), 0)
	for _, dropout := range []bool{false, true} {
		tape, library := newStep(t, r, x, in), newStep(t, r, x, in)
		library.library = true
		var masks []*tensors.Tensor
		if dropout {
			masks = tape.drawn(4)
		}
		_, got := tape.gradient(p, masks)
		_, want := library.gradient(p, masks)
		if d, name := apart(p, got, want); !(d < 1e-5) {
			t.Errorf("dropout %v: %s is %g apart", dropout, name, d)
		}
	}
}

// The central difference of the loss along the gradient's own direction in each tensor.
func TestTheGradientIsTheSlopeOfTheLoss(t *testing.T) {
	r, p := modeltest.OpenRunner(t, tiny), weights(tiny, 1)
	x, in := masked(t, tiny, sentences(t, tiny, 12), 0)
	s := newStep(t, r, x, in)
	masks := s.drawn(4)
	_, grads := s.gradient(p, masks)
	modeltest.IsSlope(t, p, grads, 2e-3, func(p nn.Params) float64 {
		loss, _ := s.gradient(p, masks)
		return loss
	})
}

func TestMasksOfOnesAreInference(t *testing.T) {
	r, p := modeltest.OpenRunner(t, tiny), weights(tiny, 1)
	x, in := masked(t, tiny, sentences(t, tiny, 12), 0)
	var ones []*tensors.Tensor
	for _, m := range model.RandomInputs(tiny) {
		flat := make([]float32, m.Units*x.Rows)
		for i := range flat {
			flat[i] = 1
		}
		ones = append(ones, tensors.FromFlatDataAndDimensions(flat, m.Units, x.Rows))
	}
	plain, _ := newStep(t, r, x, in).gradient(p, nil)
	s := newStep(t, r, x, in)
	if got, _ := s.gradient(p, ones); math.Abs(got-plain) > 1e-6 {
		t.Errorf("loss %v without masks, %v with masks of ones", plain, got)
	}
	// Every mask has an effect.
	for k := range ones {
		drawn := append([]*tensors.Tensor(nil), ones...)
		drawn[k] = s.drawn(1)[k]
		if got, _ := s.gradient(p, drawn); math.Abs(got-plain) < 1e-6 {
			t.Errorf("%s changes nothing", model.RandomInputs(tiny)[k].Name)
		}
	}
}

// The embedding of the tokens is shared with the head, so that gradients per record do not
// add up from layers. They are refused, not computed wrongly.
func TestGradientsPerRecordAreRefused(t *testing.T) {
	r := modeltest.OpenRunner(t, tiny)
	x, in := masked(t, tiny, sentences(t, tiny, 5), 0)
	o := train.Objective{{X: x, Targets: []train.Target{{Loss: tiny.Loss(), Inputs: in, Weight: 1}}}}
	_, err := train.GradientNorms(t.Context(), r, weights(tiny, 1), o, train.Mode{})
	if err == nil || !strings.Contains(err.Error(), "per-record gradient") {
		t.Errorf("error %v", err)
	}
}
