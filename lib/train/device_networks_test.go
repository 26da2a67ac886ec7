package train

import (
	"context"
	"errors"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/engine/enginetest"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/diffusion"
	"github.com/lethe-ml/lethe/lib/model/ib"
	"github.com/lethe-ml/lethe/lib/model/tabular"
	"github.com/lethe-ml/lethe/lib/model/text"
	"github.com/lethe-ml/lethe/lib/model/vae"
	"github.com/lethe-ml/lethe/lib/model/vision"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
)

// deviceNetworks are networks of every family with an objective: dropout, normal random inputs,
// batch statistics, running means, several outputs, an input that is the target, and an augmenter
// that makes the inputs of the loss.
func deviceNetworks() map[string]struct {
	arch model.Architecture
	o    Objective
} {
	x, y := toy(3, 18, 6, 3)
	images, labels := toy(4, 18, 64, 3)
	large, ys := toy(6, 20, 256, 3)
	bert, masked := maskedWindows()
	decoder, answers := answeredQuestions()
	ownEncoder := ib.Bottleneck{Features: 6, Outputs: 3, Latent: 4, Compressor: ib.MLP{Hidden: 5}, Approximator: ib.MLP{Hidden: 5}}
	return map[string]struct {
		arch model.Architecture
		o    Objective
	}{
		"residual MLP":           {tabular.ResMLP{Features: 6, Outputs: 3}, labelled(x, y)},
		"FT-Transformer":         {tabular.FTTransformer{Features: 6, Outputs: 3, Width: 8, Heads: 2, Blocks: 2}, labelled(x, y)},
		"information bottleneck": {ownEncoder, withDivergence(labelled(x, y))},
		"Gaussian VAE":           {vae.Gaussian{Features: 6, Hidden: 5, Latent: 2}, Objective{{X: x, Targets: []Target{OutputTarget(loss.GaussianELBO{}, x, 1)}}}},
		"cells":                  {vae.Cells{Genes: 7, Hidden: []int{5, 4}, Latent: 2}, withDivergence(counts(18, 7))},
		"small CNN":              {vision.SmallCNN{Channels: 1, Side: 8, Outputs: 3, Width: 3, Hidden: 6}, labelled(images, labels)},
		"AllCNN":                 {vision.AllCNN{Channels: 1, Side: 8, Outputs: 3, Width: 2}, labelled(images, labels)},
		"ResNet-18":              {vision.ResNet18{Channels: 1, Side: 16, Outputs: 3, Width: 2}, labelled(large, ys)},
		"BERT":                   {bert, masked},
		"decoder":                {decoder, answers},
		"classifier of texts":    {textClassifier(bert), labelled(masked[0].X.FirstColumns(bert.Tokens), y)},
		"denoiser": {diffusion.UNet{Side: 8, Width: 4, Levels: 2}, Objective{
			{X: images, Augment: diffusion.EDM{}, Targets: []Target{{Loss: diffusion.EDM{}, Weight: 1.0 / 64}}},
		}},
	}
}

// counts returns an objective of cells.
func counts(n, genes int) Objective {
	rng := engine.Root(5).Stream("cells")
	x, library := array.New[float32](n, genes), array.New[float32](n, 1)
	for i := range n {
		for j := range genes {
			x.Row(i)[j] = float32(rng.IntN(6))
			library.Data[i] += x.Row(i)[j]
		}
		library.Data[i]++
	}
	inputs := map[string]array.Matrix[float32]{loss.Target: x, loss.Library: library}
	return Objective{{X: x, Targets: []Target{{Loss: loss.LibrarySquaredError{}, Inputs: inputs, Weight: 1}}}}
}

// withDivergence adds the divergence of the latent variables to the first term.
func withDivergence(o Objective) Objective {
	o[0].Targets = append(o[0].Targets, Target{Loss: loss.LatentDivergence{}, Weight: 0.1})
	return o
}

// shortOnXLA are the cases of the short tests on XLA, which compiles each for seconds. Its plugin for
// the CPU runs convolutions in a loop twenty times slower than outside.
var shortOnXLA = []string{
	"mini-batches, the last short", "full batches", "two terms, one whole", "MGDA", "private", "augmented in the graph",
	"a game with extra steps", "everything that changes a weight", // plans
	"mini-batches", "two terms", // side by side
	"FT-Transformer", "Gaussian VAE", "cells", // networks
}

// skipOnXLA skips a case that the short tests on XLA do not have.
func skipOnXLA(t *testing.T, name string) {
	t.Helper()
	if testing.Short() && strings.HasPrefix(os.Getenv(enginetest.Variable), "xla") && !slices.Contains(shortOnXLA, name) {
		t.Skip("not among the short tests on XLA")
	}
}

func TestEveryNetworkTrainsOnDeviceAsOnTheHost(t *testing.T) {
	for name, of := range deviceNetworks() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			skipOnXLA(t, name)
			p := model.InitialWeights(of.arch, engine.Root(2).Stream("init"))
			// The last batch is short: a network that mixes records has a run of its own for it.
			c := Config{Epochs: 2, Batch: 7, Seed: 2, Optimizer: nn.SGD{LR: 0.003, Momentum: 0.9}}
			want := lastState(t, openRunner(t, of.arch, 32), p, of.o, c, nil)
			got := lastState(t, onDevice(t, of.arch), p, of.o, c, nil)
			sameState(t, want, got, 3e-3) // ResNet-18 normalises few pixels
			if far(p, want.Params) < 1e-3 {
				t.Error("nothing moved")
			}
		})
	}
}

// TestAnEpochThatIsInterruptedOnDeviceLeavesTheLastFinishedOne ends the context after the second
// epoch: the saved state is that after it, and the training goes on from there with the same bits.
func TestAnEpochThatIsInterruptedOnDeviceLeavesTheLastFinishedOne(t *testing.T) {
	x, y := toy(3, 40, 5, 3)
	c := Config{Epochs: 5, Batch: 8, Seed: 2}
	whole := lastState(t, onDevice(t, small), initial(small), labelled(x, y), c, nil)
	ctx, stop := context.WithCancel(t.Context())
	var saved *State
	h := Hooks{Save: func(s *State) error { saved = s; return nil }, Progress: func(e Epoch) {
		if e.Epoch == 2 {
			stop()
		}
	}}
	if _, _, err := Fit(ctx, onDevice(t, small), initial(small), labelled(x, y), c, h); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if saved == nil || saved.Done != 2 {
		t.Fatalf("the saved state is %+v", saved)
	}
	again := lastState(t, onDevice(t, small), initial(small), labelled(x, y), c, throughFile(t, saved))
	if fingerprint(again) != fingerprint(whole) {
		t.Error("the resumed training has other bits")
	}
}

// TestWithoutHooksTheWeightsComeBack trains without a checkpoint or a validation: weights come to
// the host once, at the end.
func TestWithoutHooksTheWeightsComeBack(t *testing.T) {
	x, y := toy(3, 40, 5, 3)
	c := Config{Epochs: 3, Batch: 8, Seed: 2}
	p := initial(small)
	hash := p.Hash()
	got, _, err := Fit(t.Context(), onDevice(t, small), p, labelled(x, y), c, Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	if want := lastState(t, onDevice(t, small), p, labelled(x, y), c, nil); want.Params.Hash() != got.Hash() {
		t.Error("with a checkpoint in every epoch the weights differ")
	}
	if p.Hash() != hash {
		t.Error("the initial weights have changed")
	}
}

// movingNoise is an augmenter that makes inputs of the loss, and also has a graph.
type movingNoise struct {
	diffusion.EDM
	doublerInGraph
}

func (n movingNoise) Augment(dst, src []float32, epoch, id int) error {
	return n.EDM.Augment(dst, src, epoch, id)
}

// TestInputsOfLossesComeFromTheHost trains with an augmenter of both kinds.
func TestInputsOfLossesComeFromTheHost(t *testing.T) {
	of := deviceNetworks()["denoiser"]
	of.o[0].Augment = movingNoise{}
	p, c := model.InitialWeights(of.arch, engine.Root(2).Stream("init")), Config{Epochs: 1, Batch: 7, Seed: 2}
	sameState(t, lastState(t, openRunner(t, of.arch, 32), p, of.o, c, nil), lastState(t, onDevice(t, of.arch), p, of.o, c, nil), 3e-3)
}

// TestAFitThatFailsFreesItsWeights fails in a validation after an epoch, in a hook, and on the device.
func TestAFitThatFailsFreesItsWeights(t *testing.T) {
	x, y := toy(3, 40, 5, 3)
	failure := errors.New("a failure")
	plan := Plan{Passes: singlePass(labelled(x, y)), Validation: &Validation{
		Score: func(_ context.Context, _ nn.Params, epoch int) (float64, error) {
			if epoch == 2 {
				return 0, failure
			}
			return 1, nil
		},
	}}
	c := Config{Epochs: 3, Batch: 8, Seed: 2}
	before := holds.Load()
	_, _, err := FitPlan(t.Context(), onDevice(t, small), initial(small), plan, c, Hooks{})
	if n := holds.Load() - before; !errors.Is(err, failure) || n != 0 {
		t.Errorf("a validation: %d states hold weights: %v", n, err)
	}
	h := Hooks{SaveEvery: 1, Save: func(*State) error { return failure }}
	_, _, err = Fit(t.Context(), onDevice(t, small), initial(small), labelled(x, y), c, h)
	if n := holds.Load() - before; !errors.Is(err, failure) || n != 0 {
		t.Errorf("a hook: %d states hold weights: %v", n, err)
	}
	done := executions.Load() + 4
	beforeExecution = func(int) error {
		if executions.Load() >= done {
			return failure
		}
		return nil
	}
	defer func() { beforeExecution = nil }()
	_, _, err = Fit(t.Context(), onDevice(t, small), initial(small), labelled(x, y), c, Hooks{})
	if n := holds.Load() - before; !errors.Is(err, failure) || n != 0 {
		t.Errorf("the device: %d states hold weights: %v", n, err)
	}
}

// TestStepsInSeveralPiecesAreTheSame cuts an epoch in pieces by the memory of the steps and by time.
func TestStepsInSeveralPiecesAreTheSame(t *testing.T) {
	x, y := toy(3, 40, 5, 3)
	c := Config{Epochs: 2, Batch: 2, Seed: 2}
	whole := lastState(t, onDevice(t, small), initial(small), labelled(x, y), c, nil)
	before := stepBytes
	stepBytes = 40 // steps of 9 bytes
	defer func() { stepBytes = before }()
	pieces := lastState(t, onDevice(t, small), initial(small), labelled(x, y), c, nil)
	if fingerprint(pieces) != fingerprint(whole) {
		t.Error("pieces of four steps have other bits than one of twenty")
	}
}

func TestRoundUp(t *testing.T) {
	for n := 1; n < 5000; n++ {
		if up := roundUp(n); up < n || float64(up) > math.Max(float64(n), float64(n)*1.126) {
			t.Fatalf("%d is rounded up to %d", n, up)
		}
	}
}

// TestAnExecutionTakesTwoSecondsAtMost wants few steps after one that took long.
func TestAnExecutionTakesTwoSecondsAtMost(t *testing.T) {
	for _, of := range []struct {
		first, second    time.Duration // times of a step
		measuring, later int           // steps of the second execution, and of those that follow
	}{
		{20 * time.Second, 20 * time.Second, 1, 1},
		{20 * time.Second, time.Millisecond, 1, 1000}, // compiled in the first
		{time.Second, time.Second, 2, 1},
		{time.Millisecond, time.Millisecond, 8, 1000},
	} {
		m := newDeviceMemory()
		if n := m.stepsAtOnce("a program"); n != 1 {
			t.Errorf("%v: first %d steps", of, n)
		}
		m.measure("a program", of.first, 1)
		n := m.stepsAtOnce("a program")
		m.measure("a program", time.Duration(n)*of.second, n)
		if later := m.stepsAtOnce("a program"); n != of.measuring || later != of.later {
			t.Errorf("%v: %d steps, later %d", of, n, later)
		}
	}
}

// textClassifier has the encoder of a BERT.
func textClassifier(m text.BERT) text.Classifier {
	return text.Classifier{Tokens: m.Tokens, Outputs: 3, Layers: m.Layers, Width: m.Width, Heads: m.Heads, Hidden: m.Hidden,
		Vocabulary: m.Vocabulary, Positions: m.Positions}
}

// maskedWindows returns a small BERT and its masked-language objective on windows of different
// lengths.
func maskedWindows() (text.BERT, Objective) {
	m := text.BERT{Tokens: 7, Layers: 2, Width: 8, Heads: 2, Hidden: 12, Vocabulary: 20, Positions: 9}
	var windows [][]int
	for i := range 18 {
		w := []int{2}
		for k := range i%5 + 1 {
			w = append(w, 5+(3*i+k)%15)
		}
		windows = append(windows, append(w, 3))
	}
	x, err := m.Records(windows)
	if err != nil {
		panic(err) // the windows above fit
	}
	return m, Objective{{X: x, Augment: m.Masking(3, 4, 2, 3), Targets: []Target{{Loss: m.Loss(), Weight: 1}}}}
}

// answeredQuestions returns a decoder of short texts, and the objective of the tokens that follow.
func answeredQuestions() (text.Decoder, Objective) {
	m := text.Decoder{Tokens: 7, Layers: 2, Width: 8, Heads: 2, Hidden: 12, Vocabulary: 20, Positions: 9}
	var all []text.Passage
	for i := range 18 {
		p := text.Passage{Given: []int{i % 5}}
		for k := range i%6 + 1 {
			p.Follows = append(p.Follows, (3*i+k)%20)
		}
		all = append(all, p)
	}
	x, err := m.Records(all)
	if err != nil {
		panic(err) // the texts above fit
	}
	in, err := m.NextInputs(x)
	if err != nil {
		panic(err)
	}
	return m, Objective{{X: x, Targets: []Target{{Loss: m.Loss(), Inputs: in, Weight: 1}}}}
}
