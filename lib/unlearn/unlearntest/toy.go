// The toy problem of the suite.

package unlearntest

import (
	"context"
	"math"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/ib"
	"github.com/lethe-ml/lethe/lib/model/tabular"
	"github.com/lethe-ml/lethe/lib/model/text"
	"github.com/lethe-ml/lethe/lib/model/vae"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// Sizes of the toy problem: small enough for a fast suite, with labels noisy enough that
// forgetting a record has an effect.
const (
	toyRecords  = 48
	toyForget   = 8
	toyHeldOut  = 30
	toyFeatures = 4
	toyClasses  = 3
	toyHidden   = 12
)

// Toy is a small trained model, with a checkpoint before the last epoch and a request to
// forget 8 of its 48 records; 30 more are held out.
type Toy struct {
	Request unlearn.Request

	draw func(seed engine.Root, n int) unlearn.Data
}

// NewToy draws the data and trains the original, a classifier; it is the same in every run.
func NewToy(t testing.TB) *Toy {
	t.Helper()
	return newToy(t, tabular.MLP{Features: toyFeatures, Outputs: toyClasses, Hidden: toyHidden}, nil)
}

// NewGenerativeToy is NewToy with a variational autoencoder; its records have no labels.
func NewGenerativeToy(t testing.TB) *Toy {
	t.Helper()
	arch := vae.Gaussian{Features: toyFeatures, Hidden: toyHidden, Latent: 2}
	return newToy(t, arch, func(d unlearn.Data) (train.Objective, error) {
		return train.Objective{{Name: "cells", X: d.X, IDs: d.IDs, Targets: []train.Target{
			train.OutputTarget(loss.SquaredError{}, d.X, 0.5), {Loss: loss.LatentDivergence{}, Weight: 0.2},
		}}}, nil
	})
}

// NewBottleneckToy is NewToy with an information bottleneck.
func NewBottleneckToy(t testing.TB) *Toy {
	t.Helper()
	half := ib.MLP{Hidden: toyHidden}
	arch := ib.Bottleneck{Features: toyFeatures, Outputs: toyClasses, Latent: 2, Compressor: half, Approximator: half}
	return newToy(t, arch, func(d unlearn.Data) (train.Objective, error) {
		return train.Objective{{Name: "records", X: d.X, IDs: d.IDs, Targets: []train.Target{
			train.CrossEntropy(d.Y, toyClasses, 1), {Loss: loss.LatentDivergence{}, Weight: 1e-3},
		}}}, nil
	})
}

// NewLanguageToy is NewToy with a language model that predicts the next token. A record is a text of
// two tokens that are given and two to four that follow, from a vocabulary of 12.
func NewLanguageToy(t testing.TB) *Toy {
	t.Helper()
	arch := text.Decoder{Tokens: 6, Predicted: 4, Layers: 2, Width: 8, Heads: 2, Vocabulary: 12}
	return newToy(t, arch, func(d unlearn.Data) (train.Objective, error) {
		in, err := arch.NextInputs(d.X)
		return train.Objective{{Name: "texts", X: d.X, IDs: d.IDs, Targets: []train.Target{{Loss: arch.Loss(), Inputs: in, Weight: 1}}}}, err
	})
}

// drawTexts makes n texts for a decoder. Their numbers are neither sorted nor dense.
func drawTexts(t testing.TB, m text.Decoder, seed engine.Root, n int) unlearn.Data {
	t.Helper()
	rng := seed.Stream(engine.StreamToy)
	d := unlearn.Data{IDs: rng.Perm(10 * n)[:n]}
	tokens := func(n int) []int {
		out := make([]int, n)
		for k := range out {
			out[k] = rng.IntN(m.Vocabulary)
		}
		return out
	}
	var all []text.Passage
	for range n {
		all = append(all, text.Passage{Given: tokens(2), Follows: tokens(2 + rng.IntN(3))})
	}
	var err error
	if d.X, err = m.Records(all); err != nil {
		t.Fatal(err)
	}
	return d
}

func newToy(t testing.TB, arch model.Architecture, objective func(unlearn.Data) (train.Objective, error)) *Toy {
	t.Helper()
	e, err := engine.Open("auto")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	runner, err := model.NewRunner(e, arch)
	if err != nil {
		t.Fatal(err)
	}
	y := &Toy{draw: drawRecords}
	if m, is := arch.(text.Decoder); is {
		y.draw = func(seed engine.Root, n int) unlearn.Data { return drawTexts(t, m, seed, n) }
	}
	all := y.draw(1, toyRecords)
	r := unlearn.Request{
		Runner:  runner,
		Forget:  rowRange(all, 0, toyForget),
		Retain:  rowRange(all, toyForget, toyRecords),
		HeldOut: y.draw(4, toyHeldOut),
		Fit:     train.Config{Epochs: 40, Optimizer: nn.Adam{LR: 5e-3}, Seed: 3},
		Seed:    100,

		Objective: objective,
	}
	r.Refusals = y.draw(5, toyForget)
	copy(r.Refusals.IDs, r.Forget.IDs)
	if _, is := arch.(model.Classifier); !is {
		r.Refusals.Y = nil
		all.Y, r.Forget.Y, r.Retain.Y, r.HeldOut.Y = nil, nil, nil, nil
	}
	y.Request = r
	y.train(t, all)
	return y
}

// train trains the original on the records and keeps a checkpoint from before the last epoch.
func (y *Toy) train(t testing.TB, all unlearn.Data) {
	t.Helper()
	r := &y.Request
	o := y.Objective(t, all)
	fresh := model.InitialWeights(r.Runner.Arch, r.Fit.Seed.Stream(engine.StreamInit))
	watch := train.Hooks{SaveEvery: 1, Save: func(s *train.State) error {
		if s.Done == r.Fit.Epochs-1 {
			r.Earlier = &unlearn.Checkpoint{Params: s.Params.Clone(), Epoch: s.Done}
		}
		return nil
	}}
	var err error
	if r.Original, _, err = train.Fit(context.Background(), r.Runner, fresh, o, r.Fit, watch); err != nil {
		t.Fatal(err)
	}
}

// Objective returns the original's objective on records d.
func (y *Toy) Objective(t testing.TB, d unlearn.Data) train.Objective {
	t.Helper()
	if y.Request.Objective == nil {
		return train.Objective{{Name: "train", X: d.X, IDs: d.IDs, Targets: []train.Target{train.CrossEntropy(d.Y, toyClasses, 1)}}}
	}
	o, err := y.Request.Objective(d)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// Loss returns the value of that objective under the model p, with nothing drawn.
func (y *Toy) Loss(t testing.TB, p nn.Params, d unlearn.Data) float64 {
	t.Helper()
	v, err := train.Evaluate(context.Background(), y.Request.Runner, p, y.Objective(t, d))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// drawRecords makes n labelled records. Their numbers are neither sorted nor dense.
func drawRecords(seed engine.Root, n int) unlearn.Data {
	rng := seed.Stream(engine.StreamToy)
	d := unlearn.Data{X: array.New[float32](n, toyFeatures), Y: make([]int, n), IDs: rng.Perm(10 * n)[:n]}
	for i := range n {
		d.Y[i] = rng.IntN(toyClasses)
		for j := range toyFeatures {
			d.X.Row(i)[j] = float32(rng.NormFloat64())
		}
		d.X.Row(i)[0] += float32(d.Y[i])
	}
	return d
}

func rowRange(d unlearn.Data, from, to int) unlearn.Data {
	out := unlearn.Data{X: array.New[float32](to-from, d.X.Cols)}
	copy(out.X.Data, d.X.Data[from*d.X.Cols:to*d.X.Cols])
	if d.Y != nil {
		out.Y = append(out.Y, d.Y[from:to]...)
	}
	out.IDs = append(out.IDs, d.IDs[from:to]...)
	return out
}

// request returns a deep copy of the toy's request, which a test may change.
func (y *Toy) request() unlearn.Request {
	r := y.Request
	r.Original = r.Original.Clone()
	r.Earlier = &unlearn.Checkpoint{Params: r.Earlier.Params.Clone(), Epoch: r.Earlier.Epoch}
	r.Forget = rowRange(r.Forget, 0, r.Forget.X.Rows)
	r.Retain = rowRange(r.Retain, 0, r.Retain.X.Rows)
	r.HeldOut = rowRange(r.HeldOut, 0, r.HeldOut.X.Rows)
	r.Refusals = rowRange(r.Refusals, 0, r.Refusals.X.Rows)
	return r
}

// CrossEntropy returns the mean over the records of -log p(label) under the model p,
// dropout off, in float64.
func (y *Toy) CrossEntropy(t testing.TB, p nn.Params, d unlearn.Data) float64 {
	t.Helper()
	var total float64
	for i, z := range y.logits(t, p, d) {
		total -= math.Log(softmax(z, 1)[d.Y[i]])
	}
	return total / float64(len(d.Y))
}

// Divergence returns the mean over the records of T^2 KL(teacher || p), both outputs
// softened by T, dropout off, in float64.
func (y *Toy) Divergence(t testing.TB, teacher, p nn.Params, d unlearn.Data, temperature float64) float64 {
	t.Helper()
	var total float64
	student := y.logits(t, p, d)
	for i, z := range y.logits(t, teacher, d) {
		q := softmax(student[i], temperature)
		for c, pr := range softmax(z, temperature) {
			total += temperature * temperature * pr * math.Log(pr/q[c])
		}
	}
	return total / float64(len(d.Y))
}

func (y *Toy) logits(t testing.TB, p nn.Params, d unlearn.Data) [][]float64 {
	t.Helper()
	out, err := y.Request.Runner.Predict(p, d.X)
	if err != nil {
		t.Fatal(err)
	}
	z := make([][]float64, d.X.Rows)
	for i := range z {
		for _, v := range out.Logits().Row(i) {
			z[i] = append(z[i], float64(v))
		}
	}
	return z
}

func softmax(z []float64, temperature float64) []float64 {
	p := make([]float64, len(z))
	var total float64
	for c, v := range z {
		p[c] = math.Exp(v / temperature)
		total += p[c]
	}
	for c := range p {
		p[c] /= total
	}
	return p
}
