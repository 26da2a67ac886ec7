// Tests of the decoder: what every network must pass, padding, order, records.

package text

import (
	"fmt"
	"math"
	"reflect"
	"slices"
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

// small is the decoder of most tests: 9 tokens, of which 8 are predicted.
var small = Decoder{Tokens: 9, Layers: 2, Width: 12, Heads: 3, Hidden: 20, Vocabulary: 30, Positions: 11}

// passage returns n tokens, of which some are given.
func passage(i, n, given int) Passage {
	var tokens []int
	for k := range n {
		tokens = append(tokens, (5+7*i+3*k+k*k)%30)
	}
	return Passage{tokens[:given], tokens[given:]}
}

// passages returns records of 3 to 9 tokens and the inputs of their loss.
func passages(t testing.TB, m Decoder, n int) (array.Matrix[float32], map[string]array.Matrix[float32]) {
	t.Helper()
	var all []Passage
	for i := range n {
		all = append(all, passage(i, 3+i%7, i%3))
	}
	x, err := m.Records(all)
	if err != nil {
		t.Fatal(err)
	}
	in, err := m.NextInputs(x)
	if err != nil {
		t.Fatal(err)
	}
	if err := loss.CheckInputs(m.Loss(), model.OutputWidths(m), in, x.Rows); err != nil {
		t.Fatal(err)
	}
	return x, in
}

func TestDecoderCheckNamesWhatCannotBeBuilt(t *testing.T) {
	for _, m := range []Decoder{{}, small, {Tokens: 1024, Layers: 12, Width: 768, Heads: 12}} {
		if err := m.Check(); err != nil {
			t.Errorf("%+v: %v", m, err)
		}
	}
	for words, change := range map[string]func(m *Decoder){
		"records of 12 tokens, possible are 2 to 11": func(m *Decoder) { m.Tokens, m.Predicted = 12, 3 },
		"9 tokens to predict, possible are 1 to 8":   func(m *Decoder) { m.Predicted = 9 },
		"-1 tokens to predict":                       func(m *Decoder) { m.Predicted = -1 },
		"-2 layers":                                  func(m *Decoder) { m.Layers = -2 },
		"5 heads do not divide width 12":             func(m *Decoder) { m.Heads = 5 },
		"-3 hidden units":                            func(m *Decoder) { m.Hidden = -3 },
		"a vocabulary of 1 tokens":                   func(m *Decoder) { m.Vocabulary = 1 },
		"dropout 1 is not":                           func(m *Decoder) { m.Dropout = new(1.0) },
		"epsilon NaN is not":                         func(m *Decoder) { m.Eps = math.NaN() },
		"is too large":                               func(m *Decoder) { m.Width, m.Heads = 120000, 1 },
	} {
		m := small
		change(&m)
		if err := m.Check(); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%+v: error %v, want %q", m, err, words)
		}
	}
}

// GPT-2 small has 124,439,808 weights; here the keys' biases are missing.
func TestTheSizesAreGPT2s(t *testing.T) {
	m := Decoder{Tokens: 1024, Layers: 12, Width: 768, Heads: 12}
	p, err := model.WeightShapes(m)
	if err != nil {
		t.Fatal(err)
	}
	var got int
	for _, v := range p {
		size := 1
		for _, d := range v.Shape {
			size *= d
		}
		got += size
	}
	if want := 124439808 - 12*768; got != want {
		t.Errorf("%d weights, want %d", got, want)
	}
	d := defaults.Fill(Decoder{})
	if !reflect.DeepEqual(d, Decoder{128, 127, 4, 256, 4, 1024, 50257, 128, new(0.1), 1e-5}) || !reflect.DeepEqual(defaults.Fill(d), d) {
		t.Errorf("the defaults are %+v", d)
	}
	for _, r := range model.RandomInputs(Decoder{Vocabulary: 9, Dropout: new(0.0)}) {
		if r.Rate != 0 {
			t.Errorf("switched off, %s has rate %v", r.Name, r.Rate)
		}
	}
}

// Both projections that are added to the tokens begin with a deviation of 0.02/sqrt(2 Layers), other
// weights with 0.02, as in GPT2PreTrainedModel._init_weights of transformers 5.24.0.
func TestTheInitialWeightsAreGPT2s(t *testing.T) {
	m := Decoder{Tokens: 8, Layers: 2, Width: 64, Vocabulary: 60}
	p := model.InitialWeights(m, seeded(1))
	for _, v := range p {
		want := 0.02
		switch {
		case strings.HasSuffix(v.Name, "bias"):
			want = 0
		case strings.HasSuffix(v.Name, "norm.weight"):
			want = 1
		case strings.HasSuffix(v.Name, "attention.out.weight"), strings.HasSuffix(v.Name, "ffn.down.weight"):
			want = 0.01
		}
		var square float64
		for _, w := range v.Data {
			square += float64(w) * float64(w)
		}
		if got := math.Sqrt(square / float64(len(v.Data))); math.Abs(got-want) > 0.1*want {
			t.Errorf("%s has deviation %v, want %v", v.Name, got, want)
		}
	}
	if model.InitialWeights(m, seeded(1)).Hash() != p.Hash() || model.InitialWeights(m, seeded(2)).Hash() == p.Hash() {
		t.Error("the weights do not follow from the seed alone")
	}
}

func TestTheDecodersGradientIsTheLibrarys(t *testing.T) {
	r, p := modeltest.OpenRunner(t, small), weights(small, 1)
	x, in := passages(t, small, 12)
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
	s := newStep(t, r, x, in)
	masks := s.drawn(4)
	_, grads := s.gradient(p, masks)
	modeltest.IsSlope(t, p, grads, 2e-3, func(p nn.Params) float64 {
		loss, _ := s.gradient(p, masks)
		return loss
	})
	plain, _ := newStep(t, r, x, in).gradient(p, nil)
	for k, m := range model.RandomInputs(small) {
		drawn := s.drawn(1)
		for i, other := range model.RandomInputs(small) {
			if i != k {
				drawn[i] = ones(other.Units, x.Rows)
			}
		}
		if got, _ := s.gradient(p, drawn); math.Abs(got-plain) < 1e-6 {
			t.Errorf("%s changes nothing", m.Name)
		}
	}
}

func ones(units, n int) *tensors.Tensor {
	flat := make([]float32, units*n)
	for i := range flat {
		flat[i] = 1
	}
	return tensors.FromFlatDataAndDimensions(flat, units, n)
}

// scoresAt returns the scores from which token at of a record is predicted.
func scoresAt(t *testing.T, r *model.Runner, p nn.Params, tokens []int, at int) []float32 {
	t.Helper()
	m := r.Arch.(Decoder)
	x, err := m.Records([]Passage{{Follows: tokens}})
	if err != nil {
		t.Fatal(err)
	}
	all, out := predict(t, r, p, x).Outputs[loss.NextLogits].Row(0), []float32(nil)
	for v := range m.Vocabulary {
		out = append(out, all[v*(m.Tokens-1)+at-1])
	}
	return out
}

// A token is predicted from all tokens before it, their order and their places, and from no later
// one.
func TestATokenIsPredictedFromThoseBefore(t *testing.T) {
	r, p := modeltest.OpenRunner(t, small), weights(small, 1)
	plain := scoresAt(t, r, p, []int{4, 7, 2, 9, 8, 1}, 3)
	for what, tokens := range map[string][]int{
		"another first token": {5, 7, 2, 9, 8, 1}, "another second token": {4, 6, 2, 9, 8, 1},
		"another third token": {4, 7, 3, 9, 8, 1}, "exchanged tokens": {7, 4, 2, 9, 8, 1},
	} {
		if d := differs(plain, scoresAt(t, r, p, tokens, 3)); d < 1e-3 {
			t.Errorf("%s changes the scores by %g only", what, d)
		}
	}
	for _, later := range [][]int{{4, 7, 2, 0, 8, 1}, {4, 7, 2, 9, 8, 2}, {4, 7, 2, 9}, {4, 7, 2, 9, 8, 1, 3, 3, 3}} {
		if d := differs(plain, scoresAt(t, r, p, later, 3)); d != 0 {
			t.Errorf("later tokens %v change the scores by %g", later[3:], d)
		}
	}
}

// What stands after the last token of a record has no effect on anything, nor has a longer record.
func TestWhatFollowsTheLastTokenIsNotRead(t *testing.T) {
	long := small
	long.Tokens = 11
	p := weights(small, 1)
	x, _ := passages(t, small, 5)
	r := modeltest.OpenRunner(t, small)
	want := predict(t, r, p, x)
	y := array.Matrix[float32]{Rows: x.Rows, Cols: x.Cols, Data: slices.Clone(x.Data)}
	for i := range 5 {
		for k := 3 + i%7; k < 9; k++ {
			y.Row(i)[k] = 29
		}
	}
	got := predict(t, r, p, y)
	if d := differs(got.Embedding.Data, want.Embedding.Data); d != 0 {
		t.Errorf("other padding changes the embedding by %g", d)
	}
	z, err := long.Records([]Passage{passage(3, 6, 0)})
	if err != nil {
		t.Fatal(err)
	}
	other := predict(t, modeltest.OpenRunner(t, long), p, z)
	if d := differs(other.Embedding.Row(0), want.Embedding.Row(3)); d > 1e-5 {
		t.Errorf("in a longer record the embedding is %g apart", d)
	}
}

// The embedding and the layers are those of the token from which the last one is predicted; of a
// record that is cut there it is the last token's.
func TestTheEmbeddingPredictsTheLastToken(t *testing.T) {
	r, p := modeltest.OpenRunner(t, small), weights(small, 1)
	tokens := passage(1, 7, 0).Follows
	x, err := small.Records([]Passage{{tokens[:3], tokens[3:]}, {tokens[:5], append(slices.Clone(tokens[5:6]), 20)}, {tokens[:2], tokens[2:4]}})
	if err != nil {
		t.Fatal(err)
	}
	pred, err := r.PredictLayers(p, x)
	if err != nil {
		t.Fatal(err)
	}
	if d := differs(pred.Embedding.Row(0), pred.Embedding.Row(1)); d > 1e-6 {
		t.Errorf("two records of the same tokens but the last are %g apart", d)
	}
	if d := differs(pred.Embedding.Row(0), pred.Embedding.Row(2)); d < 1e-2 {
		t.Errorf("two records of other tokens are %g apart", d)
	}
	if fmt.Sprint(r.LayerNames()) != "[layer1 layer2]" {
		t.Errorf("the layers are %v", r.LayerNames())
	}
	for name, m := range pred.Layers {
		if err := m.Check(name); err != nil || m.Cols != 12 || differs(m.Row(0), m.Row(1)) > 1e-5 || differs(m.Row(0), m.Row(2)) < 1e-2 {
			t.Errorf("%s is %v (%v)", name, m, err)
		}
	}
}

func TestADecodersRecordsDoNotMix(t *testing.T) {
	r, p := modeltest.OpenRunner(t, small), weights(small, 1)
	x, _ := passages(t, small, 40)
	all := predict(t, r, p, x)
	for _, i := range []int{0, 7, 21, 39} {
		one := predict(t, r, p, x.Gather([]int{i}))
		if d := differs(one.Outputs[loss.NextLogits].Row(0), all.Outputs[loss.NextLogits].Row(i)); d > 1e-5 {
			t.Errorf("the scores of record %d are %g apart", i, d)
		}
	}
}

func TestADecodersRecordThatIsNoneIsNamed(t *testing.T) {
	for words, p := range map[string]Passage{
		"record 1: gpt-2: token 1 has the number 30, the vocabulary ends at 29: it is not the": {[]int{3}, []int{30}},
		"record 1: gpt-2: token 0 has the number -1":                                           {[]int{-1}, []int{3}},
		"record 1: gpt-2: a record of 0 tokens has none to predict":                            {},
		"record 1: gpt-2: a record of 2 tokens has none to predict":                            {[]int{3, 4}, nil},
		"record 1: gpt-2: a record of 1 tokens has none to predict":                            {nil, []int{3}},
		"record 1: gpt-2: 10 tokens, a record has at most 9":                                   passage(0, 10, 2),
		"record 1: gpt-2: 4 tokens to predict, a record has room for 3":                        passage(0, 5, 0),
	} {
		m := small
		m.Predicted = 3
		if _, err := m.Records([]Passage{passage(0, 5, 2), p}); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("error %v, want %q", err, words)
		}
	}
	if err := small.Record(make([]float32, 3), passage(0, 5, 2)); err == nil || !strings.Contains(err.Error(), "has 17 numbers") {
		t.Errorf("too little memory: %v", err)
	}
	for words, change := range map[string]func(row []float32){
		"record 1: 9 is no position of a token":                     func(row []float32) { row[9] = 9 },
		"record 1: 1.5 is no position":                              func(row []float32) { row[9] = 1.5 },
		"record 1: -1 is no position":                               func(row []float32) { row[9] = -1 },
		"record 1: gpt-2: the record has no token to predict":       func(row []float32) { clear(row[9:]) },
		"record 1: a position that is not used stands before posit": func(row []float32) { row[9] = 0 },
	} {
		x, _ := passages(t, small, 3)
		change(x.Row(1))
		if _, err := small.NextInputs(x); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("error %v, want %q", err, words)
		}
	}
	if _, err := small.ForData(model.Sizes{Features: 10}); err == nil || !strings.Contains(err.Error(), "9 tokens and 8 positions") {
		t.Errorf("records of another size: %v", err)
	}
	a, err := model.Fit(Decoder{Layers: 1}, model.Sizes{Features: 17, Vocabulary: 30})
	if err != nil || a.(Decoder).Tokens != 9 || a.(Decoder).Vocabulary != 30 {
		t.Errorf("%+v, %v", a, err)
	}
	if _, err := model.Fit(small, model.Sizes{Features: 17, Vocabulary: 31}); err == nil || !strings.Contains(err.Error(), "31 tokens") {
		t.Errorf("a larger vocabulary: %v", err)
	}
}

// The loss of a record is the mean over its own tokens: by hand from the scores.
func TestTheLossIsTheMeanOverTheTokensThatFollow(t *testing.T) {
	r, p := modeltest.OpenRunner(t, small), weights(small, 1)
	tokens := []int{4, 7, 2, 9, 8}
	x, err := small.Records([]Passage{{tokens[:3], tokens[3:]}})
	if err != nil {
		t.Fatal(err)
	}
	in, err := small.NextInputs(x)
	if err != nil {
		t.Fatal(err)
	}
	got, _ := newStep(t, r, x, in).gradient(p, nil)
	var want float64
	for at := 3; at < 5; at++ {
		scores, sum := scoresAt(t, r, p, tokens, at), 0.0
		for _, z := range scores {
			sum += math.Exp(float64(z))
		}
		want += (math.Log(sum) - float64(scores[tokens[at]])) / 2
	}
	if math.Abs(got-want) > 1e-5 {
		t.Errorf("the loss is %v, want %v", got, want)
	}
}

func TestADecodersGradientsPerRecordAreRefused(t *testing.T) {
	r := modeltest.OpenRunner(t, small)
	x, in := passages(t, small, 5)
	o := train.Objective{{X: x, Targets: []train.Target{{Loss: small.Loss(), Inputs: in, Weight: 1}}}}
	_, err := train.GradientNorms(t.Context(), r, weights(small, 1), o, train.Mode{})
	if err == nil || !strings.Contains(err.Error(), "per-record gradient") {
		t.Errorf("error %v", err)
	}
}
