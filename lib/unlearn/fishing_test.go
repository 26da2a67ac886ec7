// Tests of the methods of "Fishing for Privacy".

package unlearn_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/engine/enginetest"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/modeltest"
	"github.com/lethe-ml/lethe/lib/model/vae"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/privacy"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
	"github.com/lethe-ml/lethe/lib/unlearn/unlearntest"
)

func distance(p, from nn.Params) float64 {
	total := 0.0
	for i, v := range p {
		for j, x := range v.Data {
			total += math.Pow(float64(x)-float64(from[i].Data[j]), 2)
		}
	}
	return math.Sqrt(total)
}

// With a large rate the sample's loss goes up and down; the epoch with the lowest is
// returned.
func TestRetainTuningReturnsItsBestEpoch(t *testing.T) {
	y := unlearntest.NewGenerativeToy(t)
	r, asked := y.Request, [][]int(nil)
	r.Objective = func(d unlearn.Data) (train.Objective, error) {
		asked = append(asked, d.IDs)
		return y.Request.Objective(d)
	}
	p, rep := apply(t, unlearn.RetainTuning{LR: 0.05, Epochs: 40, Batch: 4, Patience: 5}, r)
	sample := without(r.Retain, without(r.Retain, asked[1]).IDs)
	best := slices.MinFunc(rep.History, func(a, b train.Epoch) int { return cmpValid(a, b) })
	if best.Epoch == len(rep.History) {
		t.Fatalf("the last epoch is the best of %d: this test looks at nothing", len(rep.History))
	}
	if got := y.Loss(t, p, sample); math.Abs(got-*best.Valid) > 1e-5*got {
		t.Errorf("the sample's loss is %v, after epoch %d it was %v", got, best.Epoch, *best.Valid)
	}
	if want := fmt.Sprintf("epoch %d of %d", best.Epoch, len(rep.History)); rep.Note != want {
		t.Errorf("the note is %q, want %q", rep.Note, want)
	}
}

func cmpValid(a, b train.Epoch) int {
	if *a.Valid < *b.Valid {
		return -1
	}
	return 1
}

// The sample is of the retain set, min(1000, n // 10) of n as in the program (train_retain_finetune.py, line 129), or fewer; with
// Apart it is not trained on.
func TestRetainTuningDrawsItsSample(t *testing.T) {
	r := unlearntest.NewGenerativeToy(t).Request
	inner := r.Objective
	for _, m := range []unlearn.RetainTuning{{Epochs: 1}, {Epochs: 1, Sample: 3}, {Epochs: 1, Sample: 3, Apart: true}, {Epochs: 1, Apart: true}} {
		var asked [][]int
		r.Objective = func(d unlearn.Data) (train.Objective, error) {
			asked = append(asked, d.IDs)
			return inner(d)
		}
		apply(t, m, r)
		trained, sample := asked[0], asked[1]
		size, left := 4, 40 // of forty
		if m.Sample != 0 {
			size = m.Sample
		}
		if m.Apart {
			left -= size
		}
		if len(sample) != size || len(trained) != left {
			t.Errorf("%+v: %d records trained on, a sample of %d; want %d and %d", m, len(trained), len(sample), left, size)
		}
		for _, id := range sample {
			if !slices.Contains(r.Retain.IDs, id) || slices.Contains(trained, id) == m.Apart {
				t.Errorf("%+v: record %d of the sample", m, id)
			}
		}
	}
}

// As coded the ascent is ten steps of length 1e-5.
func TestTheAscentIsBoundedAsCoded(t *testing.T) {
	y := unlearntest.NewGenerativeToy(t)
	r := y.Request
	for i := range r.Forget.X.Data {
		r.Forget.X.Data[i] *= 3 // so that the gradient is longer than 1
	}
	p, rep := apply(t, unlearn.AscentTuning{LR: 1e-3, Untuned: true}, r)
	if d := distance(p, r.Original); d > 1.001e-2 || d < 0.5e-2 {
		t.Errorf("ten steps of at most 1e-3 moved the weights by %v", d)
	}
	if want := fmt.Sprintf("moved the weights by %.3g", distance(p, r.Original)); !strings.Contains(rep.Note, want) {
		t.Errorf("the note is %q, want %q", rep.Note, want)
	}
	coded, _ := apply(t, unlearn.AscentTuning{Untuned: true}, r)
	if d := distance(coded, r.Original); d > 1.01e-4 {
		t.Errorf("as coded the weights have moved by %v", d)
	}
	free, _ := apply(t, unlearn.AscentTuning{LR: 1e-3, Clip: new(0.0), Untuned: true}, r)
	if before, bound, after := y.Loss(t, r.Original, r.Forget), y.Loss(t, p, r.Forget), y.Loss(t, free, r.Forget); !(after > bound && bound > before) {
		t.Errorf("the forget set's loss was %v, is %v after a bounded ascent and %v after a free one", before, bound, after)
	}
}

// The last stage is RetainTuning from the weights of the first.
func TestTheTuningGoesOnFromTheAscent(t *testing.T) {
	r := unlearntest.NewGenerativeToy(t).Request
	m := unlearn.AscentTuning{LR: 1e-3, Clip: new(0.0), Tune: unlearn.RetainTuning{Epochs: 4}}
	got, rep := apply(t, m, r)
	half := m
	half.Untuned = true
	r.Original, _ = apply(t, half, r)
	want, _ := apply(t, unlearn.RetainTuning{Epochs: 4}, r)
	if got.Hash() != want.Hash() || rep.Epochs != 4 {
		t.Errorf("another result than of the two stages one after another, after %d epochs", rep.Epochs)
	}
}

// The published dampening, written out anew.
func TestSSDIsAsCoded(t *testing.T) {
	r := unlearntest.NewGenerativeToy(t).Request
	squares := func(d unlearn.Data, batch int) [][]float64 {
		o, err := r.Objective(d)
		if err != nil {
			t.Fatal(err)
		}
		var out [][]float64
		err = train.EachGradient(context.Background(), r.Runner, r.Original, o, batch, train.Mode{Training: true, Seed: r.Seed}, func(g [][]float64, n int) {
			for i := range g {
				if len(out) <= i {
					out = append(out, make([]float64, len(g[i])))
				}
				for j, v := range g[i] {
					out[i][j] += v * v
				}
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range out {
			for j := range g {
				g[j] = g[j]/float64(d.X.Rows) + 1e-5
			}
		}
		return out
	}
	f, back := squares(r.Forget, 0), squares(r.Retain, 16)
	got, rep := apply(t, unlearn.SSD{Alpha: 3, Batch: 16, Untuned: true}, r)
	mean := 0.0
	for i, p := range got {
		top := 0.0
		for j := range f[i] {
			top = math.Max(top, f[i][j]/(back[i][j]+1e-10))
		}
		for j, v := range p.Data {
			dampening := 3 * f[i][j] / (back[i][j] + 1e-10) / top
			mean += dampening / float64(got.Size())
			if want := float64(r.Original[i].Data[j]) * (1 - dampening); math.Abs(float64(v)-want) > 1e-6 {
				t.Errorf("%s, element %d: %v, want %v", p.Name, j, v, want)
			}
		}
	}
	if want := fmt.Sprintf("mean dampening %.4g", mean); rep.Note != want {
		t.Errorf("the note is %q, want %q", rep.Note, want)
	}
}

// cells asks a network of cells, with a dispersion head that the squared error never
// reaches, to forget three of twelve cells.
func cells(t *testing.T) unlearn.Request {
	t.Helper()
	e, err := enginetest.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	arch := vae.Cells{Genes: 5, Hidden: []int{6}, Latent: 2}
	runner, err := model.NewRunner(e, arch)
	if err != nil {
		t.Fatal(err)
	}
	rng := engine.Root(8).Stream(engine.StreamToy)
	draw := func(first, n int) unlearn.Data {
		d := unlearn.Data{X: array.New[float32](n, 5)}
		for i := range n {
			d.IDs = append(d.IDs, first+i)
			for j := range d.X.Row(i) {
				d.X.Row(i)[j] = float32(math.Abs(rng.NormFloat64()))
			}
		}
		return d
	}
	return unlearn.Request{
		Runner: runner, Original: model.InitialWeights(arch, engine.Root(2).Stream(engine.StreamInit)), Forget: draw(0, 3), Retain: draw(3, 9), Seed: 4,
		Objective: func(d unlearn.Data) (train.Objective, error) {
			library := array.New[float32](d.X.Rows, 1)
			for i := range library.Data {
				for _, v := range d.X.Row(i) {
					library.Data[i] += v
				}
			}
			in := map[string]array.Matrix[float32]{loss.Target: d.X, loss.Library: library}
			return train.Objective{{X: d.X, IDs: d.IDs, Targets: []train.Target{
				{Loss: loss.LibrarySquaredError{}, Inputs: in, Weight: 1}, {Loss: loss.LatentDivergence{}, Weight: 1},
			}}}, nil
		},
	}
}

// A head that the loss never reaches is multiplied by 1 - alpha, whatever the data:
// with alpha 1 it is cleared, with alpha 5 turned over.
func TestSSDDampensADeadHeadByAlpha(t *testing.T) {
	r := cells(t)
	for _, alpha := range []float64{1, 5} {
		p, _ := apply(t, unlearn.SSD{Alpha: alpha, Tune: unlearn.RetainTuning{Epochs: 2}}, r)
		dead := 0
		for i, v := range p {
			if !strings.HasPrefix(v.Name, "dispersion.") {
				continue
			}
			for j, got := range v.Data {
				dead++
				if want := float64(r.Original[i].Data[j]) * (1 - alpha); math.Abs(float64(got)-want) > 1e-6 {
					t.Errorf("alpha %v, %s: %v, want %v", alpha, v.Name, got, want)
				}
			}
		}
		if dead == 0 {
			t.Fatal("the network has no dispersion head")
		}
	}
}

// The selection written out over records; exchanged sets are another answer.
func TestSSDFosterSelects(t *testing.T) {
	r := cells(t)
	squares := func(d unlearn.Data) [][]float64 {
		o, err := r.Objective(d)
		if err != nil {
			t.Fatal(err)
		}
		var out [][]float64
		err = train.EachGradient(context.Background(), r.Runner, r.Original, o, 1, train.Mode{}, func(g [][]float64, n int) {
			for i := range g {
				if len(out) <= i {
					out = append(out, make([]float64, len(g[i])))
				}
				for j, v := range g[i] {
					out[i][j] += v * v
				}
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	f, back := squares(r.Forget), squares(r.Retain)
	got, _ := apply(t, unlearn.SSDFoster{Alpha: 2, Lambda: 0.7}, r)
	selected := 0
	for i, p := range got {
		for j, v := range p.Data {
			want, all, mine := float64(r.Original[i].Data[j]), (f[i][j]+back[i][j])/12, f[i][j]/3
			if mine > 2*all {
				want *= min(0.7*all/mine, 1)
				selected++
			}
			if math.Abs(float64(v)-want) > 1e-5*(1+math.Abs(want)) {
				t.Errorf("%s, element %d: %v, want %v", p.Name, j, v, want)
			}
		}
	}
	if selected == 0 || selected == got.Size() {
		t.Errorf("%d of %d weights are selected: this test looks at nothing", selected, got.Size())
	}
	r.Forget, r.Retain = r.Retain, r.Forget
	if other, _ := apply(t, unlearn.SSDFoster{Alpha: 2, Lambda: 0.7}, r); other.Hash() == got.Hash() {
		t.Error("with forget and retain set exchanged it is the same")
	}
}

func TestFishingsSettingsThatMakeNoSenseAreRefused(t *testing.T) {
	r := cells(t)
	for words, m := range map[string]unlearn.Method{
		"patience -1":           unlearn.RetainTuning{Patience: -1},
		"a sample of -2":        unlearn.RetainTuning{Sample: -2},
		"maximal gradient norm": unlearn.AscentTuning{Clip: new(-1.0)},
		"batches of -3":         unlearn.SSD{Batch: -3},
		"lambda -1":             unlearn.SSDFoster{Lambda: -1},
		"learning rate -0.5":    unlearn.AscentTuning{LR: -0.5},
		"a damping of -1e-05":   unlearn.SSD{Damping: -1e-5},
	} {
		if _, _, err := unlearn.Apply(context.Background(), m, r); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%+v: error %v, want %q", m, err, words)
		}
	}
}

// As coded the weight of the forget set cancels: it has an Adam of its own. In one
// step with the retain set it does not.
func TestTheWeightOfTheForgetSetCancelsAsCoded(t *testing.T) {
	r := cells(t) // whose dropout gives the forget set a gradient from the start
	at := func(weight float64, joint bool) nn.Params {
		p, _ := apply(t, unlearn.SCRUBLatent{Forget: weight, Joint: joint, LR: 1e-2, Clip: new(0.0), Epochs: 6, Untuned: true}, r)
		return p
	}
	moved := distance(at(1, false), r.Original)
	if d := distance(at(100, false), at(1, false)); d > 1e-4*moved {
		t.Errorf("weights 1 and 100 are %v apart, both moved by %v", d, moved)
	}
	if d := distance(at(100, true), at(1, true)); d < 0.1*moved {
		t.Errorf("in one step weights 1 and 100 are %v apart, as coded both moved by %v", d, moved)
	}
}

// An epoch of SCRUB is five ascent and ten descent steps, whatever the number of records.
func TestSCRUBLatentIsAGameOfTwo(t *testing.T) {
	y := unlearntest.NewGenerativeToy(t)
	r := y.Request
	up := train.Objective{{Name: "forget", X: r.Forget.X, IDs: r.Forget.IDs, Whole: true, Targets: []train.Target{matching(t, r, r.Forget, -1)}}}
	down := y.Objective(t, r.Retain)
	down[0].Targets = append(down[0].Targets, matching(t, r, r.Retain, 2))
	// Two epochs by hand, with an optimiser for each player. In the first the ascent has no
	// gradient: student and teacher are equal.
	c := train.Config{Epochs: 2, Batch: 4, Optimizer: nn.Adam{LR: 1e-3}, Seed: r.Seed}
	game := &train.Game{Steps: 1, Players: []train.Player{{Name: "a", Objective: up, Updates: 5}, {Name: "b", Objective: down, Updates: 10}}}
	plan := train.Plan{Game: game, Transforms: train.Chain{train.ClipNorm{Max: 1}}}
	want, history, err := train.FitPlan(context.Background(), r.Runner, r.Original, plan, c, train.Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	if history[0].Steps != 15 || history[1].Steps != 30 {
		t.Errorf("%d and %d steps", history[0].Steps, history[1].Steps)
	}
	r.Batch = 4
	got, _ := apply(t, unlearn.SCRUBLatent{Keep: new(2.0), LR: 1e-3, Epochs: 2, Untuned: true}, r)
	if got.Hash() != want.Hash() {
		t.Errorf("the weights are %v away from the game's", distance(got, want))
	}
}

// matching returns the divergence from the original's latent variables.
func matching(t *testing.T, r unlearn.Request, d unlearn.Data, weight float64) train.Target {
	t.Helper()
	pred, err := r.Runner.Predict(r.Original, d.X)
	if err != nil {
		t.Fatal(err)
	}
	in := map[string]array.Matrix[float32]{}
	for _, name := range []string{loss.LatentMean, loss.LatentLogVar} {
		in[name] = pred.Outputs[name]
	}
	return train.Target{Loss: loss.LatentMatch{}, Inputs: in, Weight: weight}
}

// Before the tuning only the encoder has moved: the forget set's latent variables
// towards the prior, the retain set's less.
func TestLatentContrastMovesTheEncoderAlone(t *testing.T) {
	y := unlearntest.NewGenerativeToy(t)
	r := y.Request
	p, _ := apply(t, unlearn.LatentContrast{LR: 3e-3, Untuned: true}, r)
	for i, v := range p {
		same := slices.Equal(v.Data, r.Original[i].Data)
		if decoder := strings.HasPrefix(v.Name, "decoder") || strings.HasPrefix(v.Name, "output"); same != decoder {
			t.Errorf("%s: it has moved: %v", v.Name, !same)
		}
	}
	prior := func(p nn.Params, d unlearn.Data) float64 {
		v, err := train.Evaluate(context.Background(), r.Runner, p, train.Objective{{X: d.X, Targets: []train.Target{{Loss: loss.LatentDivergence{}, Weight: 1}}}})
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	forget := prior(p, r.Forget) / prior(r.Original, r.Forget)
	retain := prior(p, r.Retain) / prior(r.Original, r.Retain)
	if !(forget < 0.9 && forget < retain) {
		t.Errorf("the divergence from the prior is %v of the original's on the forget set, %v on the retain set", forget, retain)
	}
}

// The first step written out, and the bound of all.
func TestFisherScrubStepsAsCoded(t *testing.T) {
	y := unlearntest.NewGenerativeToy(t)
	r := y.Request
	mode := train.Mode{Training: true, Seed: r.Seed}
	up, err := train.Gradient(context.Background(), r.Runner, r.Original, y.Objective(t, r.Forget), 0, mode)
	if err != nil {
		t.Fatal(err)
	}
	f := make([][]float64, len(r.Original))
	err = train.EachGradient(context.Background(), r.Runner, r.Original, y.Objective(t, r.Retain), 16, mode, func(g [][]float64, n int) {
		for i := range g {
			if f[i] == nil {
				f[i] = make([]float64, len(g[i]))
			}
			for j, v := range g[i] {
				f[i][j] += math.Pow(float64(n)*v, 2) / 40
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	m := unlearn.FisherScrub{Rate: 1e-2, Bound: 3e-3, Batch: 16, Steps: 1, Untuned: true}
	got, _ := apply(t, m, r)
	bounded, free := 0, 0
	for i, p := range got {
		for j, v := range p.Data {
			step := 1e-2 * 8 * up[i][j] / (f[i][j] + 0.1)
			if math.Abs(step) > 3e-3 {
				step = math.Copysign(3e-3, step)
				bounded++
			} else {
				free++
			}
			if d := float64(v) - float64(r.Original[i].Data[j]); math.Abs(d-step) > 1e-6 {
				t.Errorf("%s, element %d moves by %v, want %v", p.Name, j, d, step)
			}
		}
	}
	if bounded == 0 || free == 0 {
		t.Errorf("%d elements are bounded, %d are not: this test looks at nothing", bounded, free)
	}
	m.Steps = 7
	got, _ = apply(t, m, r)
	for i, p := range got {
		for j, v := range p.Data {
			if d := math.Abs(float64(v) - float64(r.Original[i].Data[j])); d > 7*3e-3+1e-5 {
				t.Errorf("%s, element %d has moved by %v in seven steps", p.Name, j, d)
			}
		}
	}
}

// On a device the steps are part of the graph.
func TestFisherScrubOnADevice(t *testing.T) {
	r := unlearntest.NewGenerativeToy(t).Request
	m := unlearn.FisherScrub{Rate: 1e-2, Bound: 3e-3, Batch: 16, Steps: 5, Untuned: true}
	want, _ := apply(t, m, r)
	r.Runner = modeltest.NewRunner(t, r.Runner.Arch, enginetest.OpenDevice)
	got, _ := apply(t, m, r)
	for i, p := range got {
		for j, v := range p.Data {
			if d := math.Abs(float64(v - want[i].Data[j])); !(d < 1e-4) {
				t.Fatalf("%s, element %d is %v on a device, %v on the host", p.Name, j, v, want[i].Data[j])
			}
		}
	}
}

// As coded the reconstruction of the last stage is a mean over elements, of four
// here; with Sum it is the original's objective.
func TestFisherScrubsTuningIsAsCoded(t *testing.T) {
	y := unlearntest.NewGenerativeToy(t)
	r := y.Request
	start, _ := apply(t, unlearn.FisherScrub{Untuned: true}, r)
	for _, sum := range []bool{false, true} {
		o := y.Objective(t, r.Retain)
		if !sum {
			o[0].Targets[0].Weight /= 4
		}
		c := train.Config{Epochs: 3, Batch: 256, Optimizer: nn.Adam{LR: 1e-4}, Seed: r.Seed}
		want, _, err := train.Fit(context.Background(), r.Runner, start, o, c, train.Hooks{})
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := apply(t, unlearn.FisherScrub{Epochs: 3, Sum: sum}, r); got.Hash() != want.Hash() {
			t.Errorf("sum %v: another fine-tuning", sum)
		}
	}
}

// Methods that need latent variables refuse a classifier.
func TestGenerativeMethodsRefuseAClassifier(t *testing.T) {
	r := unlearntest.NewToy(t).Request
	for _, m := range unlearn.Generative() {
		if _, _, err := unlearn.Apply(context.Background(), m, r); err == nil || !strings.Contains(err.Error(), "needs a variational autoencoder") {
			t.Errorf("%s: %v", m.Info().Name, err)
		}
	}
}

// The share that is trained on and the rest, and the initial weights of the
// original's own seed.
func TestRetrainShareLeavesOutAShare(t *testing.T) {
	y := unlearntest.NewGenerativeToy(t)
	r, inner, asked := y.Request, y.Request.Objective, [][]int(nil)
	r.Objective = func(d unlearn.Data) (train.Objective, error) {
		asked = append(asked, d.IDs)
		return inner(d)
	}
	_, rep := apply(t, unlearn.RetrainShare{Epochs: 2}, r)
	if len(asked[0]) != 34 || len(asked[1]) != 6 || rep.Epochs != 2 {
		t.Errorf("%d records trained on, %d to choose by", len(asked[0]), len(asked[1]))
	}
	all := slices.Concat(asked[0], asked[1])
	slices.Sort(all)
	want := slices.Sorted(slices.Values(r.Retain.IDs))
	if !slices.Equal(all, want) {
		t.Error("the two parts are not the retain set")
	}
	if _, _, err := unlearn.Apply(context.Background(), unlearn.RetrainShare{Share: 1}, r); err == nil || !strings.Contains(err.Error(), "0 for validation") {
		t.Errorf("everything: %v", err)
	}
}

// The larger part is trained on, and the smaller one chooses the epoch.
func TestDPRetrainSetsASampleAside(t *testing.T) {
	y := unlearntest.NewGenerativeToy(t)
	r, inner, asked := y.Request, y.Request.Objective, [][]int(nil)
	r.Batch = 8
	r.Objective = func(d unlearn.Data) (train.Objective, error) {
		asked = append(asked, d.IDs)
		return inner(d)
	}
	_, rep := apply(t, unlearn.DPRetrain{Epochs: 2, Sample: 3}, r)
	if n := len(asked); n != 2 || len(asked[0]) != 3 || len(asked[1]) != r.Retain.X.Rows-3 || rep.Steps != 2*((r.Retain.X.Rows-3+7)/8) {
		t.Errorf("%v, %d steps", asked, rep.Steps)
	}
}

// The private training written out: exactly on all retained records, as coded on 36
// of forty, with the noise of other steps than are taken.
func TestDPRetrainIsPrivateTraining(t *testing.T) {
	y := unlearntest.NewGenerativeToy(t)
	r, inner, asked := y.Request, y.Request.Objective, [][]int(nil)
	r.Batch = 8
	r.Objective = func(d unlearn.Data) (train.Objective, error) {
		asked = append(asked, d.IDs)
		return inner(d)
	}
	for _, c := range []struct {
		exact                 bool
		records, steps        int
		meantRate, rate, upTo float64
	}{{true, 40, 5, 1. / 5, 1. / 5, 10}, {false, 36, 4, 8. / 36, 1. / 5, 20}} {
		asked = nil
		got, rep := apply(t, unlearn.DPRetrain{Exact: c.exact, Epochs: 12, Patience: 12}, r)
		on := asked[len(asked)-1]
		if len(on) != c.records {
			t.Fatalf("exact %v: trained on %d records", c.exact, len(on))
		}
		var d unlearn.Data
		for _, id := range on {
			i := slices.Index(r.Retain.IDs, id)
			d.IDs, d.X.Data, d.X.Rows = append(d.IDs, id), append(d.X.Data, r.Retain.X.Row(i)...), d.X.Rows+1
		}
		d.X.Cols = r.Retain.X.Cols
		noise, err := privacy.Noise(10, 1e-5, c.meantRate, 12*c.steps)
		if err != nil {
			t.Fatal(err)
		}
		plan := train.Plan{Passes: func(int) ([]train.Objective, error) { return []train.Objective{y.Objective(t, d)}, nil },
			Private: &train.Private{Norm: 1, Noise: noise}}
		if !c.exact {
			plan.Validation = &train.Validation{Objective: y.Objective(t, without(r.Retain, on))}
		}
		config := train.Config{Epochs: 12, Batch: 8, Optimizer: nn.Adam{LR: 1e-3}, Seed: r.Fit.Seed}
		want, history, err := train.FitPlan(context.Background(), r.Runner, model.InitialWeights(r.Runner.Arch, r.Fit.Seed.Stream(engine.StreamInit)), plan, config, train.Hooks{})
		if err != nil {
			t.Fatal(err)
		}
		spent := history[11].Privacy
		if got.Hash() != want.Hash() || !slices.Equal(rep.History[11].Privacy, spent) || spent[0].Rate != c.rate {
			t.Errorf("exact %v: another training; accounts %+v, want %+v", c.exact, rep.History[11].Privacy, spent)
		}
		all, err := spent.RDP(1e-5)
		if err != nil || all.Epsilon > c.upTo || all.Epsilon < 9.99 {
			t.Errorf("exact %v: epsilon %v (%v)", c.exact, all.Epsilon, err)
		}
		if want := fmt.Sprintf("epsilon %.4f by RDP", all.Epsilon); !strings.Contains(rep.Note, want) || strings.Contains(rep.Note, "not in it") == c.exact {
			t.Errorf("exact %v: the note is %q, want %q", c.exact, rep.Note, want)
		}
	}
}

// without returns the records that are not among ids.
func without(d unlearn.Data, ids []int) (out unlearn.Data) {
	out.X.Cols = d.X.Cols
	for i, id := range d.IDs {
		if !slices.Contains(ids, id) {
			out.IDs, out.X.Data, out.X.Rows = append(out.IDs, id), append(out.X.Data, d.X.Row(i)...), out.X.Rows+1
		}
	}
	return out
}

// With Exact it passes the suite too.
func TestDPRetrainConformsWithoutAChoice(t *testing.T) {
	unlearntest.RunGenerative(t, unlearn.DPRetrain{Exact: true}, unlearntest.LowersObjective(sinceTheStart))
	if _, _, err := unlearn.Apply(context.Background(), unlearn.DPRetrain{Patience: -1}, cells(t)); err == nil || !strings.Contains(err.Error(), "patience -1") {
		t.Errorf("patience -1: %v", err)
	}
	if _, _, err := unlearn.Apply(context.Background(), unlearn.DPRetrain{Epsilon: 1e-9}, cells(t)); err == nil || !strings.Contains(err.Error(), "privacy:") {
		t.Errorf("next to no epsilon: %v", err)
	}
}

// For as many steps as on 40 retained cells in batches of 4, which are 10 an epoch, a
// method on 9 in batches of 2, 5 an epoch, is itself with twice the epochs and twice the
// patience, to the last bit; by all cells, 12, it would be fewer.
func TestStepMatchedIsTheMethodWithMoreEpochs(t *testing.T) {
	r := cells(t)
	r.Batch = 2
	tune := func(epochs int) unlearn.RetainTuning {
		return unlearn.RetainTuning{Epochs: epochs, Patience: epochs / 3, LR: 0.05}
	}
	for _, c := range []struct{ matched, longer unlearn.Method }{
		{matchedTo40(tune(6)), tune(12)},
		{matchedTo40(unlearn.AscentTuning{Tune: tune(6)}), unlearn.AscentTuning{Tune: tune(12)}},
		{matchedTo40(unlearn.SSD{Tune: tune(6)}), unlearn.SSD{Tune: tune(12)}},
		{matchedTo40(unlearn.SCRUBLatent{Epochs: 2, Tune: tune(6)}), unlearn.SCRUBLatent{Epochs: 2, Tune: tune(12)}},
		{matchedTo40(unlearn.SCRUBLatent{Epochs: 2, Joint: true, Tune: tune(6)}), unlearn.SCRUBLatent{Epochs: 2, Joint: true, Tune: tune(12)}},
		{matchedTo40(unlearn.LatentContrast{Epochs: 3, Tune: tune(6)}), unlearn.LatentContrast{Epochs: 6, Tune: tune(12)}},
		{matchedTo40(unlearn.FisherScrub{Steps: 2, Epochs: 3}), unlearn.FisherScrub{Steps: 2, Epochs: 6}},
		{matchedTo40(unlearn.FrozenCritics{Epochs: 2}), unlearn.FrozenCritics{Epochs: 4}},
	} {
		got, rep := apply(t, c.matched, r)
		want, longer := apply(t, c.longer, r)
		if got.Hash() != want.Hash() || rep.Steps != longer.Steps || rep.Note != longer.Note {
			t.Errorf("%s: %d steps, %q; with twice the epochs %d, %q", c.matched.Info().Name, rep.Steps, rep.Note, longer.Steps, longer.Note)
		}
	}
	both := unlearn.StepMatched[unlearn.RetainTuning]{Records: 40, Retained: 40}
	if _, _, err := unlearn.Apply(t.Context(), both, r); err == nil || !strings.Contains(err.Error(), "40 records and 40 retained") {
		t.Errorf("counted both ways: %v", err)
	}
	if _, _, err := unlearn.Apply(t.Context(), unlearn.StepMatched[unlearn.RetainTuning]{Retained: -1}, r); err == nil {
		t.Error("a negative number of retained records was accepted")
	}
	for want, m := range map[string]unlearn.StepMatched[unlearn.RetainTuning]{
		"its 28094 retained records": {Retained: 28094}, "its 50,000 images": {}, "its 480 records": {Records: 480},
	} {
		if does := m.Info().Does; !strings.HasSuffix(does, want) {
			t.Errorf("%q does not end in %q", does, want)
		}
	}
}

func matchedTo40[M unlearn.Method](m M) unlearn.Method {
	return unlearn.StepMatched[M]{Of: m, Retained: 40, Batch: 4}
}

// Without noise everything else of the private training stays: batches, clipping, steps and
// cells; with less and less noise the noisy one converges to it. No privacy is accounted
// for.
func TestPrivateTrainingWithoutNoise(t *testing.T) {
	y := unlearntest.NewGenerativeToy(t)
	r := y.Request
	r.Batch = 8
	for _, exact := range []bool{true, false} {
		m := unlearn.DPRetrain{Exact: exact, Epochs: 6, Noise: new(0.0)}
		plain, rep := apply(t, m, r)
		if rep.History[5].Privacy != nil || strings.Contains(rep.Note, "epsilon") || !strings.Contains(rep.Note, "nothing is private") {
			t.Errorf("exact %v: accounts %v, %q", exact, rep.History[5].Privacy, rep.Note)
		}
		last := math.Inf(1)
		for _, noise := range []float64{1, 1e-6, 1e-12} {
			m.Noise = new(noise)
			noisy, other := apply(t, m, r)
			d := distance(noisy, plain)
			if other.Steps != rep.Steps || other.Epochs != rep.Epochs || other.History[5].Privacy.Steps() != rep.Steps || d >= last {
				t.Errorf("exact %v, noise %v: %d steps, want %d; %v away, before %v", exact, noise, other.Steps, rep.Steps, d, last)
			}
			last = d
		}
		if size := distance(plain, r.Original); last > 1e-3*size {
			t.Errorf("exact %v: with next to no noise the weights are %v away of %v", exact, last, size)
		}
	}
	d := r.Retain
	plan := train.Plan{Passes: func(int) ([]train.Objective, error) { return []train.Objective{y.Objective(t, d)}, nil }, Private: &train.Private{Norm: 1}}
	c := train.Config{Epochs: 6, Batch: 8, Optimizer: nn.Adam{LR: 1e-3}, Seed: r.Fit.Seed}
	want, _, err := train.FitPlan(t.Context(), r.Runner, model.InitialWeights(r.Runner.Arch, r.Fit.Seed.Stream(engine.StreamInit)), plan, c, train.Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := apply(t, unlearn.DPRetrain{Exact: true, Epochs: 6, Noise: new(0.0)}, r); got.Hash() != want.Hash() {
		t.Error("another training than that of clipped gradients")
	}
	if other, _ := apply(t, unlearn.DPRetrain{Exact: true, Epochs: 6, Noise: new(0.0), Norm: 0.01}, r); other.Hash() == want.Hash() {
		t.Error("nothing is clipped")
	}
}
