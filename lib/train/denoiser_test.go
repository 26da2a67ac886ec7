package train_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/diffusion"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/store/safetensors"
	"github.com/lethe-ml/lethe/lib/train"
)

// denoiser returns a small denoiser with its initial weights. Its noise is a NoiseAugmenter.
func denoiser(t *testing.T) (*model.Runner, nn.Params) {
	t.Helper()
	arch := diffusion.UNet{Side: 8, Width: 4, Levels: 2}
	return runner(t, arch, 0), begin(arch)
}

// bars are images of 8 x 8 pixels with one bright row or column.
func bars(n int) array.Matrix[float32] {
	x := array.New[float32](n, 64)
	for i := range n {
		for j := range 64 {
			x.Row(i)[j] = -1
			if i%2 == 0 && j/8 == i/2%8 || i%2 == 1 && j%8 == i/2%8 {
				x.Row(i)[j] = 1
			}
		}
	}
	return x
}

func denoising(x array.Matrix[float32], l diffusion.EDM) train.Objective {
	return train.Objective{{Name: "images", X: x, Augment: l, Targets: []train.Target{{Loss: l, Weight: 1 / float64(x.Cols)}}}}
}

func TestADenoiserLearns(t *testing.T) {
	r, fresh := denoiser(t)
	c := train.Config{Epochs: 30, Batch: 8, Optimizer: nn.Adam{LR: 1e-2}, Schedule: train.Cosine()}
	p, history, err := train.Fit(context.Background(), r, fresh, denoising(bars(40), diffusion.EDM{}), c, train.Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	// The network starts at 0. Its target's variance is 1 at low noise and, for
	// the bars' mean square of 1 in place of 0.25, at most 4.
	if first := history[0].Loss; first < 1 || first > 4 {
		t.Errorf("the first epoch's loss is %v", first)
	}
	if last := history[29].Loss; last > 0.7*history[0].Loss {
		t.Errorf("the loss fell from %v to %v only", history[0].Loss, last)
	}
	const sigma = 0.4
	clean := bars(40)
	noisy := diffusion.AddNoise(clean, sigma, func(row int) *rand.Rand { return engine.Root(2).Stream("test", uint64(row)) })
	before := mse(t, diffusion.Denoiser{Runner: r, Weights: fresh}, noisy, clean, sigma)
	after := mse(t, diffusion.Denoiser{Runner: r, Weights: p}, noisy, clean, sigma)
	if after > before/2 {
		t.Errorf("the denoiser's squared error fell from %v to %v only", before, after)
	}
}

func mse(t *testing.T, d diffusion.Denoiser, noisy, clean array.Matrix[float32], sigma float64) float64 {
	t.Helper()
	y, _, err := d.Denoise(noisy, sigma)
	if err != nil {
		t.Fatal(err)
	}
	var s float64
	for i, v := range y.Data {
		s += math.Pow(float64(v-clean.Data[i]), 2) / float64(len(y.Data))
	}
	return s
}

// jolt moves the weights away from the start, at which the network is 0.
func jolt(p nn.Params) nn.Params {
	rng := engine.Root(4).Stream("test")
	for _, v := range p {
		for j := range v.Data {
			v.Data[j] += float32(0.1 * rng.NormFloat64())
		}
	}
	return p
}

// The weighted error of the denoiser, computed from its own images, is the loss.
func TestTheLossIsEDMsWeightedErrorOfTheDenoiser(t *testing.T) {
	r, p := denoiser(t)
	jolt(p)
	clean, l := bars(19), diffusion.EDM{Seed: 9}
	got, err := train.Evaluate(context.Background(), r, p, denoising(clean, l))
	if err != nil {
		t.Fatal(err)
	}
	want := 0.0
	for row := range clean.Rows {
		in := make([]float32, 65)
		if err := l.Augment(in, clean.Row(row), 0, row); err != nil {
			t.Fatal(err)
		}
		sigma := math.Exp(4 * float64(in[64]))
		s := l.Condition.ScalesAt(sigma)
		x := array.New[float32](1, 64)
		for j := range x.Data {
			x.Data[j] = float32(float64(in[j]) / s.In)
		}
		want += s.Weight * mse(t, diffusion.Denoiser{Runner: r, Weights: p}, x, clean.Gather([]int{row}), sigma) / float64(clean.Rows)
	}
	if math.Abs(got-want) > 1e-4*want {
		t.Errorf("the loss is %v, the weighted error %v", got, want)
	}
}

func TestTheGradientIsTheSlopeOfWhatIsEvaluated(t *testing.T) {
	r, p := denoiser(t)
	jolt(p)
	o, rng := denoising(bars(37), diffusion.EDM{}), engine.Root(5).Stream("test")
	direction := make([][]float64, len(p))
	for i, v := range p {
		for range v.Data {
			direction[i] = append(direction[i], rng.NormFloat64())
		}
	}
	at := func(step float64) float64 {
		q := p.Clone()
		for i, v := range q {
			for j := range v.Data {
				v.Data[j] += float32(step * direction[i][j])
			}
		}
		value, err := train.Evaluate(context.Background(), r, q, o)
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
	grads, err := train.Gradient(context.Background(), r, p, o, 0, train.Mode{})
	if err != nil {
		t.Fatal(err)
	}
	want := 0.0
	for i, g := range grads {
		for j, v := range g {
			want += v * direction[i][j]
		}
	}
	const h = 1e-3
	if got := (at(h) - at(-h)) / (2 * h); math.Abs(got-want) > 2e-3*math.Abs(want) {
		t.Errorf("the slope is %v, the gradient says %v", got, want)
	}
}

func TestNoiseLevelsAreLogNormal(t *testing.T) {
	l, in := diffusion.EDM{}, make([]float32, 2)
	var m, m2 float64
	for id := range 2000 {
		if err := l.Augment(in, []float32{0}, 0, id); err != nil {
			t.Fatal(err)
		}
		z := (4*float64(in[1]) + 1.2) / 1.2
		m, m2 = m+z/2000, m2+z*z/2000
	}
	// Standard errors: 0.022 and 0.032.
	if math.Abs(m) > 0.09 || math.Abs(m2-1) > 0.13 {
		t.Errorf("standardised ln sigma has mean %v and mean square %v", m, m2)
	}
	other := make([]float32, 2)
	if err := l.Augment(other, []float32{0}, 1, 1999); err != nil || other[1] == in[1] {
		t.Errorf("two epochs have the same noise level: %v", err)
	}
}

func TestAResumedDenoiserIsTheUninterruptedOne(t *testing.T) {
	c := train.Config{Epochs: 4, Batch: 16, Seed: 5, Schedule: train.Cosine()}
	fit := func(h train.Hooks) (nn.Params, []train.Epoch, error) {
		r, p := denoiser(t)
		return train.Fit(context.Background(), r, p, denoising(bars(40), diffusion.EDM{Seed: 5}), c, h)
	}
	want, _, err := fit(train.Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	halt := errors.New("halt")
	var f *safetensors.File
	var text []byte
	_, _, err = fit(train.Hooks{SaveEvery: 2, Save: func(s *train.State) error {
		var rec any
		f, rec = s.File()
		if text, err = json.Marshal(rec); err != nil {
			return err
		}
		return halt
	}})
	if !errors.Is(err, halt) {
		t.Fatal(err)
	}
	_, like := denoiser(t)
	s, err := train.LoadState(f, text, like)
	if err != nil {
		t.Fatal(err)
	}
	got, history, err := fit(train.Hooks{Resume: s})
	if err != nil || got.Hash() != want.Hash() || len(history) != 4 {
		t.Errorf("resumed after two epochs: other weights; %v", err)
	}
}

func TestADenoiserRefusesWhatItCannotUse(t *testing.T) {
	nan := math.NaN()
	r, p := denoiser(t)
	refused := func(o train.Objective, words string) {
		t.Helper()
		_, _, err := train.Fit(context.Background(), r, p, o, train.Config{Epochs: 1}, train.Hooks{})
		if err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("error %v, want one about %q", err, words)
		}
	}
	refused(denoising(bars(4), diffusion.EDM{Spread: -1}), "standard deviation -1")
	refused(denoising(bars(4), diffusion.EDM{Mean: &nan}), "mean NaN")
	refused(denoising(bars(4), diffusion.EDM{Condition: diffusion.Precondition{SigmaData: -3}}), "deviation is -3")
	refused(denoising(array.New[float32](2, 5), diffusion.EDM{}), "6 features, the model takes 65")
	unmade := denoising(bars(4), diffusion.EDM{})
	unmade[0].Targets[0].Loss = loss.CrossEntropy{}
	refused(unmade, `needs the output "logits"`)
}
