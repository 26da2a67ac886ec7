package train

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/engine/kernels"
	"github.com/lethe-ml/lethe/lib/model/tabular"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/privacy"
)

// still has no dropout, so that a step can be computed in parts.
var still = tabular.MLP{Features: 5, Outputs: 3, Hidden: 9, Dropout: new(0.0)}

func singlePass(o Objective) func(int) ([]Objective, error) {
	return func(int) ([]Objective, error) { return []Objective{o}, nil }
}

// captured returns the gradients of the steps of one epoch under a plan.
func captured(t *testing.T, plan Plan, seed engine.Root) [][]float64 {
	t.Helper()
	r := openRunner(t, still, 32)
	var got [][]float64
	plan.Transforms = append(plan.Transforms, transformFunc(func(grads [][]float64) {
		for _, g := range grads {
			got = append(got, slices.Clone(g))
		}
	}))
	_, _, err := FitPlan(context.Background(), r, initial(still), plan, Config{Epochs: 1, Optimizer: nn.SGD{LR: 1}, Seed: seed}, Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

type transformFunc func(grads [][]float64)

func (s transformFunc) Transform(_ nn.Params, grads [][]float64, _ func(int) *rand.Rand) error {
	s(grads)
	return nil
}

func length(g [][]float64) float64 { return math.Sqrt(gradientDot(g, g)) }

// Config.Clip is ClipNorm after the plan's transforms.
func TestAConfigurationMayClip(t *testing.T) {
	o, r := mixed(40, 6, 5), openRunner(t, still, 32)
	alone := Objective{o[1]} // in one execution, whose gradient is in float32
	fitted := func(plan Plan, c Config) string {
		if plan.Passes == nil {
			plan.Passes = singlePass(o)
		}
		c.Epochs, c.Optimizer = 3, nn.SGD{LR: 1}
		p, _, err := FitPlan(context.Background(), r, initial(still), plan, c, Hooks{})
		if err != nil {
			t.Fatal(err)
		}
		return p.Hash()
	}
	clipped := fitted(Plan{}, Config{Clip: 0.1})
	if clipped != fitted(Plan{Transforms: []GradientTransform{ClipNorm{Max: 0.1}}}, Config{}) || clipped == fitted(Plan{}, Config{}) {
		t.Error("clipping by the configuration is not that of the transform")
	}
	if fitted(Plan{Passes: singlePass(alone)}, Config{Clip: 0.1}) != fitted(Plan{Passes: singlePass(alone), Transforms: []GradientTransform{ClipNorm{Max: 0.1}}}, Config{}) ||
		fitted(Plan{Passes: singlePass(alone)}, Config{Clip: 0.1}) == fitted(Plan{Passes: singlePass(alone)}, Config{}) {
		t.Error("a gradient of one execution is clipped otherwise")
	}
	both := fitted(Plan{Transforms: []GradientTransform{Decay{Rate: 3}}}, Config{Clip: 0.1})
	if both != fitted(Plan{Transforms: []GradientTransform{Decay{Rate: 3}, ClipNorm{Max: 0.1}}}, Config{}) {
		t.Error("the configuration clips before the plan's transform")
	}
	if _, _, err := Fit(context.Background(), r, initial(still), o, Config{Clip: -1}, Hooks{}); err == nil {
		t.Error("gradients no longer than -1 were accepted")
	}
}

func TestClippingShortensALongGradientOnly(t *testing.T) {
	o := mixed(40, 6, 5)
	full := captured(t, Plan{Passes: singlePass(o)}, 1)
	for _, c := range []struct{ max, want float64 }{{length(full) / 3, length(full) / 3}, {2 * length(full), length(full)}} {
		got := captured(t, Plan{Passes: singlePass(o), Transforms: []GradientTransform{ClipNorm{c.max}}}, 1)
		if math.Abs(length(got)-c.want) > 1e-9*c.want {
			t.Errorf("clipped to %v the gradient has length %v, want %v", c.max, length(got), c.want)
		}
		if cosine := gradientDot(got, full) / length(got) / length(full); math.Abs(cosine-1) > 1e-9 {
			t.Errorf("clipping turns the gradient: cosine %v", cosine)
		}
	}
}

func TestNoiseHasItsSizeAndFollowsTheSeed(t *testing.T) {
	o := mixed(40, 6, 5)
	noise := func(seed engine.Root) []float64 {
		clean, noisy := captured(t, Plan{Passes: singlePass(o)}, 3), captured(t, Plan{Passes: singlePass(o), Transforms: []GradientTransform{AddNoise{0.5}}}, seed)
		var out []float64
		for i, g := range noisy {
			for j, v := range g {
				out = append(out, v-clean[i][j])
			}
		}
		return out
	}
	a := noise(3)
	var sum float64
	for _, v := range a {
		sum += v * v
	}
	if sd := math.Sqrt(sum / float64(len(a))); math.Abs(sd-0.5) > 0.5*4/math.Sqrt(2*float64(len(a))) {
		t.Errorf("%d draws have the standard deviation %v", len(a), sd)
	}
	if !slices.Equal(a, noise(3)) {
		t.Error("the same seed gives other noise")
	}
}

// The noise on a gradient is that of the mechanism on the vector, all tensors together.
func TestAGradientIsReleasedAsOneVector(t *testing.T) {
	o := mixed(40, 6, 5)
	clean := captured(t, Plan{Passes: singlePass(o)}, 3)
	norm := 0.0
	for _, g := range clean {
		for _, v := range g {
			norm += math.Abs(v)
		}
	}
	m := privacy.Laplace{Clip: norm / 4, Epsilon: 1e9} // hardly any noise, and shortened to a quarter
	transform, err := ReleaseGradients(m)
	if err != nil {
		t.Fatal(err)
	}
	quiet := captured(t, Plan{Passes: singlePass(o), Transforms: []GradientTransform{transform}}, 3)
	m.Epsilon = 2
	if transform, err = ReleaseGradients(m); err != nil {
		t.Fatal(err)
	}
	loud := captured(t, Plan{Passes: singlePass(o), Transforms: []GradientTransform{transform}}, 3)
	again := captured(t, Plan{Passes: singlePass(o), Transforms: []GradientTransform{transform}}, 3)
	other := captured(t, Plan{Passes: singlePass(o), Transforms: []GradientTransform{transform}}, 4)
	size, draws := 0.0, 0
	for i, g := range clean {
		for j, v := range g {
			if math.Abs(quiet[i][j]-v/4) > 1e-6*norm {
				t.Fatalf("tensor %d, element %d is %v, want a quarter of %v", i, j, quiet[i][j], v)
			}
			size, draws = size+math.Abs(loud[i][j]-quiet[i][j]), draws+1
		}
		if !slices.Equal(loud[i], again[i]) || len(g) > 0 && slices.Equal(loud[i], other[i]) {
			t.Errorf("tensor %d: the noise does not follow the seed", i)
		}
	}
	// The mean of |noise| is its scale, its standard deviation too.
	if mean, want := size/float64(draws), m.Scale(); math.Abs(mean-want) > 4*want/math.Sqrt(float64(draws)) {
		t.Errorf("the noise has the mean size %v, want %v", mean, want)
	}
	if _, err := ReleaseGradients(privacy.Gaussian{Clip: -1}); err == nil {
		t.Error("a mechanism that cannot be is a transform")
	}
}

func TestDecayAddsTheWeightsToTheirGradient(t *testing.T) {
	p := nn.Params{{Name: "w", Shape: []int{2}, Data: []float32{2, -4}}, {Name: "running", Shape: []int{1}, Data: []float32{9}, State: true}}
	grads := [][]float64{{1, 1}, nil}
	if err := (Decay{Rate: 0.5}).Transform(p, grads, nil); err != nil || grads[0][0] != 2 || grads[0][1] != -1 {
		t.Errorf("%v, %v", grads, err)
	}
	for _, rate := range []float64{-1, math.NaN(), math.Inf(1)} {
		if err := (Decay{Rate: rate}).Transform(p, grads, nil); err == nil {
			t.Errorf("a decay of %v is accepted", rate)
		}
	}
}

// The gradient of a step that is one execution goes to the optimiser without a sum, that of
// several executions as a sum. With a transform that does nothing it is always added up in
// float64; the bits are the same.
func TestOneExecutionsGradientIsItsSum(t *testing.T) {
	o := mixed(40, 6, 5)[:1]
	for _, opt := range []nn.Optimizer{nn.SGD{LR: 0.1, Momentum: 0.9}, nn.Adam{}, nn.AdamW{}, nn.Fisher{}} {
		for _, batch := range []int{0, 16} {
			fitted := func(rows int, s ...GradientTransform) string {
				c := Config{Epochs: 3, Batch: batch, Optimizer: opt}
				p, _, err := FitPlan(context.Background(), openRunner(t, still, rows), initial(still), Plan{Passes: singlePass(o), Transforms: s}, c, Hooks{})
				if err != nil {
					t.Fatal(err)
				}
				return p.Hash()
			}
			for _, rows := range []int{64, 8} {
				if fitted(rows) != fitted(rows, transformFunc(func([][]float64) {})) {
					t.Errorf("%s, batches of %d in chunks of %d: without a sum, a gradient gives other weights", opt.Name(), batch, rows)
				}
			}
		}
	}
}

// A gradient with a norm close to the maximum is clipped by the factor from the sum of squares
// in order, and only if that norm is above the maximum; in float32 as in float64.
func TestClippingKnowsAHairsBreadth(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 50 {
		g, sum := make([]float64, 1000), 0.0
		for i := range g {
			g[i] = float64(float32(rng.NormFloat64()))
			sum += float64(g[i] * g[i])
		}
		norm := math.Sqrt(sum)
		for _, by := range []float64{-1e-3, -1e-7, -1e-12, -1e-15, 0, 1e-15, 1e-12, 1e-7, 1e-3} {
			most, factor, got, single := norm*(1+by), 1.0, slices.Clone(g), make([]float32, len(g))
			kernels.Narrow(single, g)
			if norm > most {
				factor = most / norm
			}
			c := ClipNorm{Max: most}
			if err := errors.Join(c.Transform(nil, [][]float64{got}, nil), c.single([][]float32{single})); err != nil {
				t.Fatal(err)
			}
			for i, v := range g {
				if got[i] != v*factor || single[i] != float32(v*factor) {
					t.Fatalf("at most %v of %v: %v became %v and %v, not %v", most, norm, v, got[i], single[i], v*factor)
				}
			}
		}
	}
}
