package denoise

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/engine/enginetest"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/diffusion"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/store/safetensors"
	"github.com/lethe-ml/lethe/lib/train"
)

var goEngine = sync.OnceValues(func() (*engine.Engine, error) { return enginetest.Open() })

func small(t *testing.T) (*model.Runner, nn.Params) {
	t.Helper()
	e, err := goEngine()
	if err != nil {
		t.Fatal(err)
	}
	r, err := model.NewRunner(e, diffusion.UNet{Side: 8, Width: 4, Levels: 2})
	if err != nil {
		t.Fatal(err)
	}
	return r, r.Arch.Init(engine.Root(1).Stream(engine.StreamInit))
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

func fit(t *testing.T, c Config, h train.Hooks) (nn.Params, []train.Epoch) {
	t.Helper()
	r, p := small(t)
	p, history, err := Fit(context.Background(), r, p, bars(40), c, h)
	if err != nil {
		t.Fatal(err)
	}
	return p, history
}

func TestTrainingLearnsToDenoise(t *testing.T) {
	r, fresh := small(t)
	p, history := fit(t, Config{Epochs: 30, Batch: 8, Optimizer: nn.Adam{LR: 1e-2}}, train.Hooks{})
	if len(history) != 30 || history[29].Steps != 150 {
		t.Fatalf("history %+v", history)
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

// The weighted error of the denoiser, computed from its own images, is the loss.
func TestTheLossIsEDMsWeightedErrorOfTheDenoiser(t *testing.T) {
	r, p := small(t)
	rng := engine.Root(4).Stream("test")
	for _, v := range p {
		for j := range v.Data {
			v.Data[j] += float32(0.1 * rng.NormFloat64())
		}
	}
	clean, rows := bars(19), []int{3, 18, 7, 0, 11}
	c := Config{Seed: 9}.WithDefaults()
	b := c.noisy(clean, rows, 2)
	l, err := newLoss(r)
	if err != nil {
		t.Fatal(err)
	}
	got, err := l.at(p, b)
	if err != nil {
		t.Fatal(err)
	}
	want := 0.0
	for k, row := range rows {
		sigma := math.Exp(4 * float64(b.in.Row(k)[64]))
		s := c.Condition.At(sigma)
		x := array.New[float32](1, 64)
		for j := range x.Data {
			x.Data[j] = float32(float64(b.in.Row(k)[j]) / s.In)
		}
		want += s.Weight * mse(t, diffusion.Denoiser{Runner: r, Weights: p}, x, clean.Gather([]int{row}), sigma) / float64(len(rows))
	}
	if math.Abs(got.loss-want) > 1e-4*want {
		t.Errorf("the loss is %v, the weighted error %v", got.loss, want)
	}
}

func TestTheGradientIsTheLosssSlope(t *testing.T) {
	r, p := small(t)
	rng := engine.Root(4).Stream("test")
	direction := make([][]float64, len(p))
	for i, v := range p {
		for j := range v.Data {
			v.Data[j] += float32(0.1 * rng.NormFloat64())
			direction[i] = append(direction[i], rng.NormFloat64())
		}
	}
	b := Config{}.WithDefaults().noisy(bars(37), engine.Root(1).Stream("test").Perm(37), 0)
	l, err := newLoss(r)
	if err != nil {
		t.Fatal(err)
	}
	at := func(step float64) sum {
		q := p.Clone()
		for i, v := range q {
			for j := range v.Data {
				v.Data[j] += float32(step * direction[i][j])
			}
		}
		s, err := l.at(q, b)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	want := 0.0
	for i, g := range at(0).grads {
		for j, v := range g {
			want += v * direction[i][j]
		}
	}
	const h = 1e-3
	if got := (at(h).loss - at(-h).loss) / (2 * h); math.Abs(got-want) > 2e-3*math.Abs(want) {
		t.Errorf("the slope is %v, the gradient says %v", got, want)
	}
}

func TestNoiseLevelsAreLogNormal(t *testing.T) {
	c := Config{}.WithDefaults()
	images := array.New[float32](2000, 1)
	rows := make([]int, images.Rows)
	for i := range rows {
		rows[i] = i
	}
	b := c.noisy(images, rows, 0)
	var m, m2 float64
	for k := range rows {
		z := (4*float64(b.in.Row(k)[1]) + 1.2) / 1.2
		m, m2 = m+z/2000, m2+z*z/2000
	}
	// Standard errors: 0.022 and 0.032.
	if math.Abs(m) > 0.09 || math.Abs(m2-1) > 0.13 {
		t.Errorf("standardised ln sigma has mean %v and mean square %v", m, m2)
	}
	if other := c.noisy(images, rows, 1); other.in.Row(0)[1] == b.in.Row(0)[1] {
		t.Error("two epochs have the same noise level")
	}
}

func TestAResumedTrainingIsTheUninterruptedOne(t *testing.T) {
	c := Config{Epochs: 4, Batch: 16, Seed: 5}
	want, history := fit(t, c, train.Hooks{})
	for stop := 1; stop < 4; stop++ {
		var f *safetensors.File
		var state []byte
		halt := errors.New("halt")
		r, p := small(t)
		_, _, err := Fit(context.Background(), r, p, bars(40), c, train.Hooks{SaveEvery: 1, Save: func(s *train.State) error {
			if s.Done < stop {
				return nil
			}
			var rec any
			f, rec = s.File()
			var err error
			if state, err = json.Marshal(rec); err != nil {
				return err
			}
			return halt
		}})
		if !errors.Is(err, halt) {
			t.Fatal(err)
		}
		s, err := train.LoadState(f, state, p)
		if err != nil {
			t.Fatal(err)
		}
		got, again := fit(t, c, train.Hooks{Resume: s})
		if got.Hash() != want.Hash() || len(again) != len(history) || again[3] != history[3] {
			t.Errorf("resumed after epoch %d: other weights or history", stop)
		}
	}
}

func TestACancelledTrainingSavesItsLastWholeEpoch(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	r, p := small(t)
	before := p.Hash()
	var saved *train.State
	_, _, err := Fit(ctx, r, p, bars(40), Config{Epochs: 9}, train.Hooks{
		Progress: func(e train.Epoch) {
			if e.Epoch == 2 {
				stop()
			}
		},
		Save: func(s *train.State) error { saved = s; return nil },
	})
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "2 epochs are saved") {
		t.Errorf("error %v", err)
	}
	if saved == nil || saved.Done != 2 {
		t.Errorf("saved %+v", saved)
	}
	if p.Hash() != before {
		t.Error("the weights that Fit was given have changed")
	}
}

func TestTrainingTwiceGivesTheSameBits(t *testing.T) {
	c := Config{Epochs: 1, Batch: 40}
	one, _ := fit(t, c, train.Hooks{})
	for range 3 {
		if other, _ := fit(t, c, train.Hooks{}); other.Hash() != one.Hash() {
			t.Fatal("two trainings differ")
		}
	}
}

func TestBadInputIsRefused(t *testing.T) {
	nan := math.NaN()
	for want, c := range map[string]Config{
		"-1 epochs":             {Epochs: -1},
		"batches of -2":         {Batch: -2},
		"standard deviation -1": {Spread: -1},
		"mean NaN":              {Mean: &nan},
		"deviation is -3":       {Condition: diffusion.Precondition{SigmaData: -3}},
	} {
		r, p := small(t)
		if _, _, err := Fit(context.Background(), r, p, bars(4), c, train.Hooks{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one about %q", err, want)
		}
	}
	broken := bars(4)
	broken.Data[70] = float32(math.NaN())
	for want, x := range map[string]array.Matrix[float32]{
		"no images": array.New[float32](0, 64), "images of 5 values": array.New[float32](2, 5), "images": broken,
	} {
		r, p := small(t)
		if _, _, err := Fit(context.Background(), r, p, x, Config{}, train.Hooks{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one about %q", err, want)
		}
	}
	r, p := small(t)
	if _, _, err := Fit(context.Background(), r, p[1:], bars(4), Config{}, train.Hooks{}); err == nil || !strings.Contains(err.Error(), "tensors against") {
		t.Error(err)
	}
}
