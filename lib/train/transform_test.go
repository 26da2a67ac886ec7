package train

import (
	"context"
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

func (f transformFunc) Transform(s *GradientStep) error {
	f(s.Grads)
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
	if clipped != fitted(Plan{Transforms: Chain{ClipNorm{Max: 0.1}}}, Config{}) || clipped == fitted(Plan{}, Config{}) {
		t.Error("clipping by the configuration is not that of the transform")
	}
	if fitted(Plan{Passes: singlePass(alone)}, Config{Clip: 0.1}) != fitted(Plan{Passes: singlePass(alone), Transforms: Chain{ClipNorm{Max: 0.1}}}, Config{}) ||
		fitted(Plan{Passes: singlePass(alone)}, Config{Clip: 0.1}) == fitted(Plan{Passes: singlePass(alone)}, Config{}) {
		t.Error("a gradient of one execution is clipped otherwise")
	}
	if fitted(Plan{Passes: singlePass(alone), Transforms: Chain{ClipNorm{Max: 0.1}, Decay{Rate: 3}}}, Config{}) == fitted(Plan{Passes: singlePass(alone)}, Config{Clip: 0.1}) {
		t.Error("a transform after clipping is left out of a gradient of one execution")
	}
	both := fitted(Plan{Transforms: Chain{Decay{Rate: 3}}}, Config{Clip: 0.1})
	if both != fitted(Plan{Transforms: Chain{Decay{Rate: 3}, ClipNorm{Max: 0.1}}}, Config{}) {
		t.Error("the configuration clips before the plan's transform")
	}
	if _, _, err := Fit(context.Background(), r, initial(still), o, Config{Clip: -1}, Hooks{}); err == nil {
		t.Error("gradients no longer than -1 were accepted")
	}
}

// The chain of a training is Private's step, the plan's transforms in their order and the
// clipping of the configuration. In any other order the weights are others.
func TestTransformsHaveOneOrder(t *testing.T) {
	x, y := toy(3, 40, 5, 3)
	r, start, private := openRunner(t, still, 32), initial(still), Private{Norm: 0.5, Noise: 0.9}
	chain := Chain{L1{Weight: 0.05}, Mask{Open: checkered(start)}, Decay{Rate: 0.3}}
	plan, c := Plan{Passes: singlePass(labelled(x, y)), Private: &private, Transforms: chain}, Config{Epochs: 1, Optimizer: nn.SGD{LR: 1}, Clip: 0.4, Seed: 7}
	got, history, err := FitPlan(t.Context(), r, start, plan, c, Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	// The mean of the records' clipped gradients, without noise.
	var mean [][]float64
	plan.Private = &Private{Norm: private.Norm}
	plan.Transforms = Chain{transformFunc(func(grads [][]float64) {
		for _, g := range grads {
			mean = append(mean, slices.Clone(g))
		}
	})}
	_, clean, err := FitPlan(t.Context(), r, start, plan, c, Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	alone := func(chain Chain) (nn.Params, float64) {
		s := GradientStep{Params: start, Loss: clean[0].Loss * 40, Epochs: 1, Seed: 7, records: 40}
		for _, g := range mean {
			s.Grads = append(s.Grads, slices.Clone(g))
		}
		scale(s.Grads, 40)
		if err := chain.Apply(&s); err != nil {
			t.Fatal(err)
		}
		p := start.Clone()
		if err := (nn.SGD{LR: 1}).Step(p, s.Grads, nn.NewOptimizerState(nn.SGD{}, p), nil); err != nil {
			t.Fatal(err)
		}
		return p, s.Loss
	}
	chain = slices.Concat(Chain{privateStep{private}}, chain, Chain{ClipNorm{Max: 0.4}})
	want, loss := alone(chain)
	if d := far(want, got); !(d < 1e-6) || math.Abs(loss-history[0].Loss) > 1e-9 {
		t.Errorf("the chain of the training is another: weights are %g off, the loss is %v, want %v", d, history[0].Loss, loss)
	}
	for j := range chain {
		for i := range j {
			other := slices.Clone(chain)
			other[i], other[j] = chain[j], chain[i]
			if p, _ := alone(other); far(p, got) < 1e-3 {
				t.Errorf("with %T and %T exchanged the weights are the same", chain[i], chain[j])
			}
		}
	}
}

func TestTransformsWorkAlone(t *testing.T) {
	p := nn.Params{{Name: "w", Shape: []int{3}, Data: []float32{2, -4, 0}}, {Name: "running", Shape: []int{1}, Data: []float32{9}, State: true}}
	step := func() *GradientStep {
		return &GradientStep{Params: p, Grads: [][]float64{{1, 1, 1}, nil}, Loss: 10, Epoch: 1, Epochs: 4, Step: 5, Seed: 3, records: 4}
	}
	mask := Mask{Open: [][]bool{{true, false, true}, nil}}
	for _, c := range []struct {
		of   GradientTransform
		want []float64
		loss float64
	}{
		{L1{Weight: 0.5}, []float64{1.5, 0.5, 1}, 13},
		{L1{Weight: 0.5, Falling: true}, []float64{1.375, 0.625, 1}, 12.25},
		{mask, []float64{1, 0, 1}, 10},
		{Decay{Rate: 0.5}, []float64{2, -1, 1}, 10},
		{ClipNorm{Max: math.Sqrt(3) / 2}, []float64{0.5, 0.5, 0.5}, 10},
		{privateStep{Private{Norm: 2}}, []float64{0.25, 0.25, 0.25}, 2.5},
	} {
		s := step()
		if err := c.of.Transform(s); err != nil || worst([][]float64{s.Grads[0]}, [][]float64{c.want}) > 1e-12 || s.Loss != c.loss {
			t.Errorf("%T: gradient %v, want %v; loss %v, want %v; %v", c.of, s.Grads[0], c.want, s.Loss, c.loss, err)
		}
	}
	a, b, other := step(), step(), step()
	other.Step++
	for _, s := range []*GradientStep{a, b, other} {
		if err := (AddNoise{Std: 1}).Transform(s); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(a.Grads[0], b.Grads[0]) || slices.Equal(a.Grads[0], other.Grads[0]) {
		t.Error("noise is not that of the step")
	}
	for restore, want := range map[bool]float32{false: 8, true: -4} {
		q := p.Clone()
		o := nn.NewOptimizerState(nn.SGD{}, q)
		mask.Restore = restore
		after := mask.BeforeStep(q, o)
		copy(q[0].Data, []float32{7, 8, 9})
		copy(o.Slots[0][0].Data, []float32{1, 1, 1})
		after()
		if !slices.Equal(q[0].Data, []float32{7, want, 9}) || (o.Slots[0][0].Data[1] == 0) != restore || o.Slots[0][0].Data[0] != 1 {
			t.Errorf("restoring %t, weights are %v and momentum %v", restore, q[0].Data, o.Slots[0][0].Data)
		}
	}
	for words, bad := range map[string]GradientTransform{
		"maximal gradient norm": ClipNorm{}, "L1 term": L1{Weight: -1}, "a mask of 1 tensors": Mask{Open: mask.Open[:1]}, "deviation": AddNoise{Std: -1},
	} {
		wantWords(t, Chain{bad}.Apply(step()), words)
	}
}

func TestClippingShortensALongGradientOnly(t *testing.T) {
	o := mixed(40, 6, 5)
	full := captured(t, Plan{Passes: singlePass(o)}, 1)
	for _, c := range []struct{ max, want float64 }{{length(full) / 3, length(full) / 3}, {2 * length(full), length(full)}} {
		got := captured(t, Plan{Passes: singlePass(o), Transforms: Chain{ClipNorm{c.max}}}, 1)
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
		clean, noisy := captured(t, Plan{Passes: singlePass(o)}, 3), captured(t, Plan{Passes: singlePass(o), Transforms: Chain{AddNoise{0.5}}}, seed)
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
	quiet := captured(t, Plan{Passes: singlePass(o), Transforms: Chain{transform}}, 3)
	m.Epsilon = 2
	if transform, err = ReleaseGradients(m); err != nil {
		t.Fatal(err)
	}
	loud := captured(t, Plan{Passes: singlePass(o), Transforms: Chain{transform}}, 3)
	again := captured(t, Plan{Passes: singlePass(o), Transforms: Chain{transform}}, 3)
	other := captured(t, Plan{Passes: singlePass(o), Transforms: Chain{transform}}, 4)
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
	if err := (Decay{Rate: 0.5}).Transform(&GradientStep{Params: p, Grads: grads}); err != nil || grads[0][0] != 2 || grads[0][1] != -1 {
		t.Errorf("%v, %v", grads, err)
	}
	for _, rate := range []float64{-1, math.NaN(), math.Inf(1)} {
		if err := (Chain{Decay{Rate: rate}}).Apply(&GradientStep{Params: p, Grads: grads}); err == nil {
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
			c.inFloat32([][]float32{single})
			if err := c.Transform(&GradientStep{Grads: [][]float64{got}}); err != nil {
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
