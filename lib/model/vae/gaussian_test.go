// Tests of gaussian.go.

package vae

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/datasets/images"
	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/modeltest"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/train"
)

func open(t testing.TB, m Gaussian) (*model.Runner, nn.Params) {
	t.Helper()
	return modeltest.OpenRunner(t, m), model.InitialWeights(m, engine.Root(1).Stream(engine.StreamInit))
}

func autoencode(x array.Matrix[float32]) train.Objective {
	return train.Objective{{Name: "images", X: x, Targets: []train.Target{train.OutputTarget(loss.GaussianELBO{Beta: 0.2}, x, 1)}}}
}

// digits are MNIST's where the file is, and what the data set generates instead
// where it is not.
func digits(t *testing.T, train, test int) (in, out array.Matrix[float32]) {
	t.Helper()
	rows := func(n int) []int {
		list := make([]int, n)
		for i := range list {
			list[i] = i
		}
		return list
	}
	m, err := images.LoadRows(context.Background(), "mnist", rows(train), rows(test))
	if err != nil {
		if m, err = images.LoadRows(context.Background(), "glyphs", rows(train), rows(test)); err != nil {
			t.Fatal(err)
		}
	}
	return m.Train.X, m.Test.X
}

// The first brick of a generative paper: one file for the network and one for
// its loss, and everything that is trained is trained by the same loop.
func TestAnAutoencoderLearnsDigits(t *testing.T) {
	in, out := digits(t, 400, 100)
	m := Gaussian{Features: in.Cols, Hidden: 64, Latent: 6}
	r, fresh := open(t, m)
	held := autoencode(out)
	before, err := train.Evaluate(context.Background(), r, fresh, held)
	if err != nil {
		t.Fatal(err)
	}
	plan := train.Plan{
		Passes:     func(int) ([]train.Objective, error) { return []train.Objective{autoencode(in)}, nil },
		Validation: &train.Validation{Objective: held, Patience: 5},
		Transforms: train.Chain{train.ClipNorm{Max: 50}},
	}
	p, history, err := train.FitPlan(context.Background(), r, fresh, plan, train.Config{Epochs: 30, Batch: 20, Optimizer: nn.Adam{LR: 3e-3}, Seed: 1}, train.Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	after, err := train.Evaluate(context.Background(), r, p, held)
	if err != nil {
		t.Fatal(err)
	}
	// What knows nothing of the record reconstructs the mean image.
	blind := 0.0
	for j := range in.Cols {
		var mean float64
		for i := range in.Rows {
			mean += float64(in.Row(i)[j]) / float64(in.Rows)
		}
		for i := range out.Rows {
			blind += math.Pow(float64(out.Row(i)[j])-mean, 2) / 2 / float64(out.Rows)
		}
	}
	t.Logf("negative ELBO of held-out images: %.2f at the start, %.2f after %d epochs, %.2f for the mean image", before, after, len(history), blind)
	if !(after < blind && after < before) {
		t.Errorf("the negative ELBO of held-out images is %v after training, %v before, %v for the mean image", after, before, blind)
	}
	pred, err := r.Predict(p, out)
	if err != nil {
		t.Fatal(err)
	}
	for name, w := range model.OutputWidths(m) {
		if o := pred.Outputs[name]; o.Rows != out.Rows || o.Cols != w {
			t.Errorf("output %s is %d x %d", name, o.Rows, o.Cols)
		}
	}
	if _, err := r.Classes(); err == nil || !strings.Contains(err.Error(), "is not a classifier") {
		t.Errorf("an autoencoder has classes: %v", err)
	}
}

// In training the latent variables are drawn, anew in every step and the same in
// every run; the gradient is that of the drawn objective.
func TestTheLatentVariablesAreDrawn(t *testing.T) {
	x, _ := digits(t, 8, 1)
	r, p := open(t, Gaussian{Features: x.Cols, Hidden: 5, Latent: 3})
	at := func(seed engine.Root, training bool) float64 {
		g, err := train.Gradient(context.Background(), r, p, autoencode(x), 0, train.Mode{Training: training, Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		var sum float64
		for _, v := range g[4] { // of the log variance, which only draws and the prior reach
			sum += math.Abs(v)
		}
		return sum
	}
	if at(1, true) == at(2, true) || at(1, true) != at(1, true) || at(1, true) == at(1, false) {
		t.Error("the draws do not follow the seed, or are there in inference")
	}
}

func TestPerExampleGradientsOfTheELBOAreThoseOfALoop(t *testing.T) {
	x, _ := digits(t, 6, 1)
	r, p := open(t, Gaussian{Features: x.Cols, Hidden: 5, Latent: 3})
	norms, err := train.GradientNorms(t.Context(), r, p, autoencode(x), train.Mode{})
	if err != nil {
		t.Fatal(err)
	}
	for i, got := range norms {
		g, err := train.Gradient(context.Background(), r, p, autoencode(x.Gather([]int{i})), 0, train.Mode{})
		if err != nil {
			t.Fatal(err)
		}
		var want float64
		for _, v := range g {
			for _, w := range v {
				want += w * w
			}
		}
		if want = math.Sqrt(want); math.Abs(got-want) > 1e-5*want {
			t.Errorf("record %d: norm %v, of a batch of one %v", i, got, want)
		}
	}
}

// The encoder's gradient comes through the reconstruction and through the
// divergence, once each: it is the slope of the objective.
func TestTheGradientIsTheSlope(t *testing.T) {
	x, _ := digits(t, 8, 1)
	r, p := open(t, Gaussian{Features: x.Cols, Hidden: 5, Latent: 3})
	grads, err := train.Gradient(context.Background(), r, p, autoencode(x), 0, train.Mode{})
	if err != nil {
		t.Fatal(err)
	}
	const h = 1e-3                                // small, because units of the encoder switch on and off
	for _, tensor := range []int{1, 2, 4, 6, 8} { // of the encoder, the mean, the log variance, the decoder, the output
		rng, want := engine.Root(3).Stream("test", uint64(tensor)), 0.0
		up, down := p.Clone(), p.Clone()
		for j, g := range grads[tensor] {
			d := rng.NormFloat64()
			want += g * d
			up[tensor].Data[j] += float32(h * d)
			down[tensor].Data[j] -= float32(h * d)
		}
		above, err := train.Evaluate(context.Background(), r, up, autoencode(x))
		if err != nil {
			t.Fatal(err)
		}
		below, err := train.Evaluate(context.Background(), r, down, autoencode(x))
		if err != nil {
			t.Fatal(err)
		}
		if got := (above - below) / (2 * h); math.Abs(got-want) > 1e-2*(1+math.Abs(want)) {
			t.Errorf("%s: the slope is %v, the gradient says %v", p[tensor].Name, got, want)
		}
	}
}

// A model that knows nothing of its records, z = 3 eps, and returns z: of records
// that are 0 the reconstruction error is half the variance of z.
func TestTheLatentVariablesHaveTheirDeviation(t *testing.T) {
	const n, sd = 4000, 3.0
	r, p := open(t, Gaussian{Features: 1, Hidden: 2, Latent: 1})
	for _, v := range p {
		clear(v.Data)
	}
	s := 2 * math.Log(sd)
	p[5].Data[0] = float32(s)                         // log variance
	p[6].Data[0], p[6].Data[1] = 1, -1                // decoder: relu(z), relu(-z)
	p[8].Data[0], p[8].Data[1] = 1, -1                // output: their difference
	objective := autoencode(array.New[float32](n, 1)) // beta 0.2
	_, history, err := train.Fit(context.Background(), r, p, objective, train.Config{Epochs: 1, Optimizer: nn.SGD{LR: 1e-12}, Seed: 2}, train.Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	want := sd*sd/2 + 0.2*(math.Exp(s)-s-1)/2
	if got, se := history[0].Loss, sd*sd/math.Sqrt(2*n); math.Abs(got-want) > 4*se {
		t.Errorf("the objective is %v, want %v, standard error %v", got, want, se)
	}
}
