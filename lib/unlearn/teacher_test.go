// Methods that distil, on a language model.

package unlearn_test

import (
	"math"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/modeltest"
	"github.com/lethe-ml/lethe/lib/model/text"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// speaker is a small language model; its tokens 0 to 4 are special.
var speaker = text.BERT{Tokens: 10, Predicted: 2, Layers: 1, Width: 8, Heads: 2, Vocabulary: 21}

// language returns a request to forget texts of the tokens 5 to 12 and keep others of 13 to 20.
func language(t *testing.T) unlearn.Request {
	t.Helper()
	texts := func(first, rows, number int) unlearn.Data {
		rng := engine.Root(9).Stream("texts", uint64(first))
		d := unlearn.Data{X: array.New[float32](rows, speaker.Inputs())}
		for i := range rows {
			d.IDs = append(d.IDs, number+i)
			row := d.X.Row(i)
			row[0], row[9] = 2, 3
			for k := 1; k < 9; k++ {
				row[k] = float32(first + rng.IntN(8))
			}
		}
		return d
	}
	masking := speaker.Masking(7, 4, 2, 3)
	r := unlearn.Request{
		Runner: modeltest.OpenRunner(t, speaker), Forget: texts(5, 8, 0), Retain: texts(13, 24, 8), Batch: 8, Seed: 5, Augment: masking,
		Objective: func(d unlearn.Data) (train.Objective, error) {
			return train.Objective{{Name: "texts", X: d.X, IDs: d.IDs, Augment: masking, Targets: []train.Target{{Loss: speaker.Loss(), Weight: 1}}}}, nil
		},
	}
	all := append(value(r.Objective(r.Forget))(t), value(r.Objective(r.Retain))(t)...)
	c := train.Config{Epochs: 20, Batch: 8, Seed: 1, Optimizer: nn.Adam{LR: 0.02}}
	p, _, err := train.Fit(t.Context(), r.Runner, model.InitialWeights(speaker, engine.Root(3).Stream(engine.StreamInit)), all, c, train.Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	r.Original = p
	return r
}

func value[T any](v T, err error) func(t *testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// apart returns the mean over hidden tokens of KL(a || b) of two models on records.
func apart(t *testing.T, r unlearn.Request, a, b nn.Params, d unlearn.Data) float64 {
	t.Helper()
	x, masking := array.New[float32](d.X.Rows, d.X.Cols), speaker.Masking(11, 4, 2, 3)
	for i := range x.Rows {
		in := map[string][]float32{loss.MaskedTokens: make([]float32, 2), loss.MaskedWeights: make([]float32, 2)}
		if err := masking.Corrupt(x.Row(i), in, d.X.Row(i), 0, i); err != nil {
			t.Fatal(err)
		}
	}
	p := value(r.Runner.PredictOutputs(a, x, loss.MaskedLogits))(t).Outputs[loss.MaskedLogits]
	q := value(r.Runner.PredictOutputs(b, x, loss.MaskedLogits))(t).Outputs[loss.MaskedLogits]
	var total float64
	for i := range x.Rows {
		logP, logQ := logSoftmax(p.Row(i)), logSoftmax(q.Row(i))
		for k, v := range logP {
			total += math.Exp(v) * (v - logQ[k]) / float64(x.Rows)
		}
	}
	return total
}

// logSoftmax returns the log probabilities of the first hidden token: every second score.
func logSoftmax(scores []float32) (out []float64) {
	var sum float64
	for k := 0; k < len(scores); k += 2 {
		out = append(out, float64(scores[k]))
		sum += math.Exp(float64(scores[k]))
	}
	for k := range out {
		out[k] -= math.Log(sum)
	}
	return out
}

func TestSCRUBLeavesALanguageModelOnTheForgetSetOnly(t *testing.T) {
	r := language(t)
	for _, m := range []unlearn.SCRUB{{LR: 0.02, Alpha: new(0.3)}, {LR: 0.02, Alpha: new(0.3), Batched: true, WeightDecay: 0.01}} {
		after, _, err := unlearn.Apply(t.Context(), m, r)
		if err != nil {
			t.Fatal(err)
		}
		if err := nn.SameShape(after, r.Original); err != nil {
			t.Fatal(err)
		}
		forget, retain := apart(t, r, r.Original, after, r.Forget), apart(t, r, r.Original, after, r.Retain)
		if !(forget > 1.5*retain) {
			t.Errorf("%+v: the original's outputs are %v away on the forget set, %v on the retain set", m, forget, retain)
		}
	}
}

func TestTheBadTeacherOfALanguageModelIsRandom(t *testing.T) {
	r := language(t)
	after, _, err := unlearn.Apply(t.Context(), unlearn.BadTeacher{LR: 5e-3}, r)
	if err != nil {
		t.Fatal(err)
	}
	teacher := model.InitialWeights(speaker, engine.Root(101).Stream(engine.StreamInit))
	before, now := apart(t, r, teacher, r.Original, r.Forget), apart(t, r, teacher, after, r.Forget)
	if !(now < 0.3*before) {
		t.Errorf("the teacher's outputs on the forget set are %v away, before %v", now, before)
	}
}

// A method that needs labels says so; one that distils works on the language model.
func TestALanguageModelHasNoLabels(t *testing.T) {
	_, _, err := unlearn.Apply(t.Context(), unlearn.RandomLabel{}, language(t))
	if err == nil || !strings.Contains(err.Error(), "needs a classifier and its labels") {
		t.Errorf("error %v", err)
	}
}
