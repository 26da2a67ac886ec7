package train

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/vae"
	"github.com/lethe-ml/lethe/lib/model/vision"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/privacy"
)

// labelled is an objective that can be private.
func labelled(x array.Matrix[float32], y []int) Objective {
	return Objective{{X: x, Targets: []Target{CrossEntropy(y, 3, 1)}}}
}

// releasedIn are the gradients of the steps of an epoch of private training, at
// weights that do not move: the rate is too small for a float32.
func releasedIn(t *testing.T, chunk int, o Objective, p *Private, batch int, seed engine.Root) [][][]float64 {
	t.Helper()
	var out [][][]float64
	plan := Plan{Passes: singlePass(o), Private: p, Transforms: Chain{transformFunc(func(grads [][]float64) {
		var step [][]float64
		for _, g := range grads {
			step = append(step, slices.Clone(g))
		}
		out = append(out, step)
	})}}
	c := Config{Epochs: 1, Batch: batch, Optimizer: nn.SGD{LR: 1e-30}, Seed: seed}
	if _, _, err := FitPlan(context.Background(), openRunner(t, still, chunk), initial(still), plan, c, Hooks{}); err != nil {
		t.Fatal(err)
	}
	return out
}

func released(t *testing.T, o Objective, p *Private, batch int, seed engine.Root) [][][]float64 {
	t.Helper()
	return releasedIn(t, 32, o, p, batch, seed)
}

// alone returns the gradient of one record.
func alone(t *testing.T, x array.Matrix[float32], y []int, i int) [][]float64 {
	t.Helper()
	return captured(t, Plan{Passes: singlePass(labelled(x.Gather([]int{i}), y[i:i+1]))}, 1)
}

func minus(a, b [][]float64) (out []float64) {
	for k := range a {
		for j, v := range a[k] {
			out = append(out, v-b[k][j])
		}
	}
	return out
}

// checkSpread demands that draws are normal ones of a standard deviation.
func checkSpread(t *testing.T, draws []float64, want float64) {
	t.Helper()
	n, sum, squares := float64(len(draws)), 0.0, 0.0
	for _, v := range draws {
		sum, squares = sum+v, squares+v*v
	}
	if sd := math.Sqrt(squares / n); math.Abs(sd-want) > 4*want/math.Sqrt(2*n) || math.Abs(sum/n) > 4*want/math.Sqrt(n) {
		t.Errorf("%v draws have mean %v and standard deviation %v, want 0 and %v", n, sum/n, sd, want)
	}
}

// The twin takes one record after another: its own gradient, clipped, into the sum of
// the step whose batch it entered, divided by the size to be expected.
func TestRecordsAreClippedAsInALoop(t *testing.T) {
	x, y := toy(1, 21, 5, 3)
	o := labelled(x, y)
	bound := length(alone(t, x, y, 0)) * 0.99
	for _, batch := range []int{0, 6} {
		c := Config{Batch: batch, Seed: 5}
		steps, err := (&Private{}).sample(c, o, 0)
		if err != nil {
			t.Fatal(err)
		}
		got := released(t, o, &Private{Norm: bound}, batch, 5)
		if len(got) != len(steps) {
			t.Fatalf("%d steps, %d batches", len(got), len(steps))
		}
		over, in := 0, 0
		for s, b := range steps {
			rows := b[0].rows
			if batch == 0 {
				rows = everything(21)
			}
			want := newGradientSum(initial(still)).grads
			for _, i := range rows {
				g := alone(t, x, y, i)
				if in++; length(g) > bound {
					over++
				}
				scale(g, math.Min(1, bound/length(g))*float64(len(steps))/21)
				for k := range g {
					for j, v := range g[k] {
						want[k][j] += v
					}
				}
			}
			if d := worst(got[s], want); !(d < 1e-5) {
				t.Errorf("batches of %d, step %d: the clipped gradient is %g off the loop's", batch, s, d)
			}
		}
		if over == 0 || over == in {
			t.Errorf("%d of %d records are clipped: this test looks at nothing", over, in)
		}
	}
}

func everything(n int) (out []int) {
	for i := range n {
		out = append(out, i)
	}
	return out
}

// One cell in the paper's kind of network: whatever it is, and with draws, its
// gradient over all weights has exactly the bound's length.
func TestACellsGradientOverAllWeightsIsClipped(t *testing.T) {
	arch := vae.Cells{Genes: 7, Hidden: []int{6, 5}, Latent: 2}
	x := array.New[float32](1, 7)
	for i := range x.Data {
		x.Data[i] = float32(i * i)
	}
	in := map[string]array.Matrix[float32]{loss.Target: x, loss.Library: {Rows: 1, Cols: 1, Data: []float32{91}}}
	o := Objective{{X: x, Targets: []Target{
		{Loss: loss.NegativeBinomial{}, Inputs: in, Weight: 1}, {Loss: loss.LatentDivergence{}, Weight: 1},
	}}}
	var whole, clipped [][]float64
	for _, norm := range []float64{1e9, 0.125} {
		var got [][]float64
		plan := Plan{Passes: singlePass(o), Private: &Private{Norm: norm}, Transforms: Chain{transformFunc(func(g [][]float64) { got = g })}}
		_, _, err := FitPlan(context.Background(), openRunner(t, arch, 0), model.InitialWeights(arch, engine.Root(1).Stream("test")), plan, Config{Epochs: 1}, Hooks{})
		if err != nil {
			t.Fatal(err)
		}
		whole, clipped = clipped, got
	}
	if l := length(clipped); math.Abs(l-0.125) > 1e-6 {
		t.Errorf("the clipped gradient is %v long", l)
	}
	scale(whole, 0.125/length(whole))
	if d := worst(clipped, whole); !(d < 1e-5) {
		t.Errorf("clipping turns the gradient: %g off", d)
	}
}

// With nothing to clip, no noise and all records in every step it is plain training.
func TestWithoutClippingNoiseAndSamplingItIsPlainTraining(t *testing.T) {
	r := openRunner(t, small, 32)
	x, y := toy(1, 70, 5, 3)
	c := Config{Epochs: 6, Seed: 3}
	want, plain, err := Fit(context.Background(), r, initial(small), labelled(x, y), c, Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	plan := Plan{Passes: singlePass(labelled(x, y)), Private: &Private{Norm: 1e6}}
	got, history, err := FitPlan(context.Background(), r, initial(small), plan, c, Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	if d := worst(float64s(got), float64s(want)); !(d < 1e-5) {
		t.Errorf("the weights are %g apart", d)
	}
	for i, h := range history {
		if math.Abs(h.Loss-plain[i].Loss) > 1e-6 || h.Privacy != nil {
			t.Errorf("epoch %d: %+v, plain %+v", i+1, h, plain[i])
		}
	}
}

// Noise is added to the sum of a step: once, whatever the chunks, in units of the
// clipping norm, after clipping, and divided by the size to be expected, not by the
// batch's own.
func TestNoiseIsAddedOnceToTheSum(t *testing.T) {
	x, y := toy(1, 50, 5, 3)
	o := labelled(x, y)
	for _, c := range []struct {
		norm, noise float64
		batch       int
		expected    float64
	}{{0.01, 2, 0, 50}, {0.02, 2, 0, 50}, {0.01, 6, 0, 50}, {0.01, 2, 13, 12.5}} {
		clean := released(t, o, &Private{Norm: c.norm}, c.batch, 3)
		var first []float64
		for _, chunk := range []int{4, 32, 500} {
			noisy := releasedIn(t, chunk, o, &Private{Norm: c.norm, Noise: c.noise}, c.batch, 3)
			var draws []float64
			for s := range noisy {
				draws = append(draws, minus(noisy[s], clean[s])...)
			}
			checkSpread(t, draws, c.noise*c.norm/c.expected)
			if first == nil {
				first = draws
			}
			for i, v := range draws {
				if math.Abs(v-first[i]) > 1e-7 {
					t.Fatalf("chunks of %d: other noise", chunk)
				}
			}
		}
		if other := released(t, o, &Private{Norm: c.norm, Noise: c.noise}, c.batch, 4); slices.Equal(minus(other[0], clean[0]), first[:len(first)/len(clean)]) {
			t.Error("another seed has the same noise")
		}
	}
}

// Blocks of noise differ, and a tensor of several has the same noise on any number of
// cores: every element is drawn once.
func TestEveryElementHasNoiseOfItsOwn(t *testing.T) {
	g := [][]float64{make([]float64, 5*noiseBlock+7), nil, make([]float64, 40)}
	(&Private{Norm: 3, Noise: 0.5}).noise(g, 9, 2)
	checkSpread(t, g[0], 1.5)
	seen := map[float64]bool{}
	for _, v := range slices.Concat(g[0], g[2]) {
		seen[v] = true
	}
	if n := len(g[0]) + len(g[2]); len(seen) < n-2 || seen[0] {
		t.Errorf("%d numbers for %d elements", len(seen), n)
	}
}

// Records enter on their own: each at the rate, and batches of binomial sizes.
func TestBatchesAreSampledRecordByRecord(t *testing.T) {
	const n, batch, epochs = 83, 10, 400
	c := Config{Batch: batch, Seed: 8}
	o := labelled(array.New[float32](n, 5), make([]int, n))
	steps, rate := 9, 1./9
	per, together, squares, total := make([]float64, n), 0.0, 0.0, 0.0
	for e := range epochs {
		drawn, err := (&Private{}).sample(c, o, e)
		if err != nil {
			t.Fatal(err)
		}
		if len(drawn) != steps {
			t.Fatalf("%d steps", len(drawn))
		}
		for _, b := range drawn {
			rows := b[0].rows
			if rows == nil || !slices.IsSorted(rows) || len(slices.Compact(slices.Clone(rows))) != len(rows) {
				t.Fatalf("rows %v", rows)
			}
			for i, row := range rows {
				per[row]++
				if i > 0 && rows[i-1] == row-1 {
					together++
				}
			}
			total += float64(len(rows))
			squares += math.Pow(float64(len(rows))-n*rate, 2)
		}
	}
	draws := float64(steps * epochs)
	within := func(what string, got, p, n float64) {
		if sd := math.Sqrt(p * (1 - p) / n); math.Abs(got/n-p) > 4*sd {
			t.Errorf("%s: %v of %v, want a share of %v", what, got, n, p)
		}
	}
	within("all records", total, rate, draws*n)
	within("neighbours together", together, rate*rate, draws*(n-1))
	for i, v := range per {
		within(fmt.Sprint("record ", i), v, rate, draws)
	}
	// The variance of sizes is that of a binomial one; its relative error is about sqrt(2/draws).
	if v := squares / draws; math.Abs(v/(n*rate*(1-rate))-1) > 5*math.Sqrt(2/draws) {
		t.Errorf("the sizes have the variance %v, want %v", v, n*rate*(1-rate))
	}
}

// An empty batch is a step too, of noise alone.
func TestAnEmptyBatchIsAStepOfNoise(t *testing.T) {
	x, y := toy(1, 3, 5, 3)
	o := labelled(x, y)
	empty := 0
	var draws []float64
	for seed := range engine.Root(12) {
		steps, err := (&Private{}).sample(Config{Batch: 1, Seed: seed}, o, 0)
		if err != nil {
			t.Fatal(err)
		}
		clean, noisy := released(t, o, &Private{Norm: 1}, 1, seed), released(t, o, &Private{Norm: 1, Noise: 4}, 1, seed)
		for s, b := range steps {
			if len(b[0].rows) > 0 {
				continue
			}
			empty++
			if length(clean[s]) != 0 {
				t.Errorf("seed %d, step %d: nobody's gradient has length %v", seed, s, length(clean[s]))
			}
			draws = append(draws, minus(noisy[s], clean[s])...)
		}
	}
	if empty == 0 {
		t.Fatal("no batch is empty: this test looks at nothing")
	}
	checkSpread(t, draws, 4)
}

func private(t testing.TB) (Objective, Plan, Config) {
	x, y := toy(1, 40, 5, 3)
	o := labelled(x, y)
	return o, Plan{Passes: singlePass(o), Private: &Private{Norm: 0.5, Noise: 0.9}}, Config{Epochs: 5, Batch: 7, Seed: 3}
}

func epsilon(t testing.TB, h privacy.History) float64 {
	t.Helper()
	spent, err := h.RDP(1e-5)
	if err != nil {
		t.Fatal(err)
	}
	return spent.Epsilon
}

// Every saved state has the privacy history of the steps so far, and a resumed training has
// the bits and the epsilon of one that was not stopped.
func TestAPrivateFitResumesWithItsPrivacyHistory(t *testing.T) {
	r := openRunner(t, small, 32)
	_, plan, c := private(t)
	var saved []*State
	keep := Hooks{SaveEvery: 1, Save: func(s *State) error { saved = append(saved, s); return nil }}
	want, history, err := FitPlan(context.Background(), r, initial(small), plan, c, keep)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range saved {
		again := throughFile(t, s)
		hand := privacy.History{{Rate: 1. / 6, Noise: 0.9, Times: 6 * s.Done}}
		if got := again.Privacy(); epsilon(t, got) != epsilon(t, hand) || got.Steps() != again.steps() {
			t.Errorf("after epoch %d the checkpoint says %+v, want %+v", s.Done, got, hand)
		}
		p, h, err := FitPlan(context.Background(), r, initial(small), plan, c, Hooks{Resume: again})
		if err != nil {
			t.Fatal(err)
		}
		if p.Hash() != want.Hash() || fmt.Sprint(h) != fmt.Sprint(history) {
			t.Errorf("resumed after epoch %d: another result", s.Done)
		}
	}
}

// Steps with other noise are added to the earlier ones.
func TestThePrivacyHistoryContinuesWithOtherNoise(t *testing.T) {
	r := openRunner(t, small, 32)
	_, plan, c := private(t)
	var at *State
	stop := Hooks{SaveEvery: 2, Save: func(s *State) error {
		if at == nil {
			at = s
		}
		return nil
	}}
	if _, _, err := FitPlan(context.Background(), r, initial(small), plan, c, stop); err != nil {
		t.Fatal(err)
	}
	plan.Private = &Private{Norm: 0.5, Noise: 2}
	_, history, err := FitPlan(context.Background(), r, initial(small), plan, c, Hooks{Resume: at})
	if err != nil {
		t.Fatal(err)
	}
	want := privacy.History{{Rate: 1. / 6, Noise: 0.9, Times: 12}, {Rate: 1. / 6, Noise: 2, Times: 18}}
	if got := history[4].Privacy; !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	plan.Private = nil
	_, _, err = FitPlan(context.Background(), r, initial(small), plan, c, Hooks{Resume: at})
	wantWords(t, err, "12 of its steps are private")
	plan.Private = &Private{Norm: 0.5, Noise: 2}
	for i := range at.History {
		at.History[i].Privacy = nil
	}
	_, _, err = FitPlan(context.Background(), r, initial(small), plan, c, Hooks{Resume: at})
	wantWords(t, err, "0 of its 12 steps")
}

func TestWhatIsNotPrivateIsRefused(t *testing.T) {
	x, y := toy(1, 40, 5, 3)
	o := labelled(x, y)
	good := Private{Norm: 1, Noise: 1}
	refused := func(a model.Architecture, o Objective, plan Plan, c Config, words ...string) {
		t.Helper()
		if plan.Game == nil {
			plan.Passes = singlePass(o)
		}
		if c.Epochs = 1; plan.Private == nil {
			plan.Private = &good
		}
		_, _, err := FitPlan(context.Background(), openRunner(t, a, 0), model.InitialWeights(a, engine.Root(4).Stream(engine.StreamInit)), plan, c, Hooks{})
		wantWords(t, err, words...)
	}
	for _, bad := range []Private{{}, {Norm: -1}, {Norm: math.NaN()}, {Norm: math.Inf(1)}, {Norm: 1, Noise: -1}, {Norm: 1, Noise: math.NaN()}} {
		refused(still, o, Plan{Private: &bad}, Config{}, "private training with norm")
	}
	refused(still, o, Plan{}, Config{EarlyStop: EarlyStop{Patience: 3}}, "accounting does not cover")
	refused(still, o, Plan{}, Config{EarlyStop: EarlyStop{Best: true}}, "accounting does not cover")
	refused(still, o, Plan{}, Config{Order: Paired}, "draws its own batches")
	refused(still, o, Plan{}, Config{Batch: 4, DropLast: true}, "drop_last does not apply")
	refused(still, o, Plan{Combiner: MGDA{}}, Config{}, "a game or a gradient combiner")
	refused(still, o, Plan{Game: &Game{Players: []Player{{Name: "a", Objective: o}}}}, Config{}, "a game or a gradient combiner")
	refused(still, mixed(40, 6, 5), Plan{}, Config{}, "one term", "2 terms")
	whole := labelled(x, y)
	whole[0].Whole = true
	refused(still, whole, Plan{}, Config{Batch: 8}, "or a Whole one")
	coupled := vision.SmallCNN{Norm: true}
	images := array.New[float32](4, coupled.Inputs())
	refused(coupled, Objective{{X: images, Targets: []Target{CrossEntropy(make([]int, 4), coupled.Classes(), 1)}}}, Plan{}, Config{Batch: 2},
		"mixes the records of a batch")
}

// A lower bound of epsilon: an adversary that sees every step's gradient and knows all
// records but one guesses whether that one was there, by the gradients' component along its
// gradient. Its success bounds epsilon from below, with confidence. The bound must not be
// above the accountant's epsilon, and not far below it, or the test has no power. (With
// normal noise the two error rates give the distance of the two normal distributions, that
// is the noise of a single step: Dong, Roth and Su 2022.)
func TestACanaryFindsNoMoreThanTheAccountantSays(t *testing.T) {
	if testing.Short() {
		t.Skip("800 trainings")
	}
	x, y := toy(1, 5, 5, 3)
	canary := alone(t, x, y, 4)
	bound := length(canary) / 2
	r := openRunner(t, still, 0)
	const runs, epochs, noise = 400, 3, 2.0
	scores := func(rows []int, from engine.Root) (out []float64) {
		of := make([]int, len(rows))
		for i, row := range rows {
			of[i] = y[row]
		}
		o := labelled(x.Gather(rows), of)
		for run := range engine.Root(runs) {
			score := 0.0
			plan := Plan{Passes: singlePass(o), Private: &Private{Norm: bound, Noise: noise}, Transforms: Chain{transformFunc(func(g [][]float64) {
				score += gradientDot(g, canary) * float64(len(rows)) / bound / length(canary)
				for i := range g {
					clear(g[i])
				}
			})}}
			if _, _, err := FitPlan(context.Background(), r, initial(still), plan, Config{Epochs: epochs, Seed: from + run}, Hooks{}); err != nil {
				t.Fatal(err)
			}
			out = append(out, score/epochs)
		}
		return out
	}
	with, without := scores(everything(5), 0), scores(everything(4), 10_000)
	mean := func(v []float64) (m float64) {
		for _, s := range v {
			m += s / float64(len(v))
		}
		return m
	}
	threshold := (mean(with) + mean(without)) / 2
	above := func(v []float64) (share float64) {
		for _, s := range v {
			if s > threshold {
				share += 1 / float64(len(v))
			}
		}
		return share
	}
	quantile := func(p float64) float64 { return math.Sqrt2 * math.Erfinv(2*p-1) }
	hits, alarms := above(with), above(without)
	sd := math.Sqrt((hits*(1-hits) + alarms*(1-alarms)) / runs / 2)
	apart := func(slack float64) float64 { return quantile(hits-slack) - quantile(alarms+slack) }
	found := func(apart float64) float64 { return epsilon(t, privacy.History{{Rate: 1, Noise: 1 / apart, Times: 1}}) }
	stated := epsilon(t, privacy.History{{Rate: 1, Noise: noise, Times: epochs}})
	t.Logf("hits %.3f, false alarms %.3f: epsilon between %.2f and %.2f, stated %.2f", hits, alarms, found(apart(3*sd)), found(apart(-3*sd)), stated)
	if low := found(apart(3 * sd)); low > stated {
		t.Errorf("the adversary finds epsilon %v, %v is stated", low, stated)
	}
	if high := found(apart(-3 * sd)); high < stated {
		t.Errorf("the adversary finds at most epsilon %v of the %v stated: the audit is blind, or there is more noise than is accounted for", high, stated)
	}
}
