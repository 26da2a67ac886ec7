// Tests that every half of a bottleneck must pass.

package ib

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/train"
)

// The suite's bottlenecks are on images of 6 x 6 pixels, with codes of 4 x 4, and tell
// 3 classes apart.
const features, latent, classes = 36, 16, 3

// tested is a half under test: a small instance, and instances that Check must refuse
// for those images with these words.
type tested struct {
	half    SubNetwork
	refused map[string]SubNetwork
}

var table = []tested{
	{half: MLP{Hidden: 9}, refused: map[string]SubNetwork{"-2 hidden units": MLP{Hidden: -2}}},
	{half: ResNet{Channels: 1, Width: 4}, refused: map[string]SubNetwork{
		"images of -1 channels":                              ResNet{Channels: -1},
		"36 values do not form a square image of 3 channels": ResNet{},
		"width -2": ResNet{Channels: 1, Width: -2},
	}},
	{half: ResNet{Channels: 1, Width: 4, Standard: true}},
	{half: ViT{Channels: 1, Patch: 2, Width: 12, Heads: 2, Hidden: 9, Blocks: 2}, refused: map[string]SubNetwork{
		"images of -1 channels":                                 ViT{Channels: -1},
		"36 values do not form a square image of 3 channels":    ViT{},
		"patches of 4 x 4 pixels do not fill an image of 6 x 6": ViT{Channels: 1, Patch: 4},
		"patches of -1 x -1 pixels":                             ViT{Channels: 1, Patch: -1},
		"4 blocks of width -4":                                  ViT{Channels: 1, Width: -4},
		"-1 blocks":                                             ViT{Channels: 1, Blocks: -1},
		"-3 hidden units":                                       ViT{Channels: 1, Hidden: -3},
		"5 heads do not divide width 64":                        ViT{Channels: 1, Heads: 5},
		"-1 heads do not divide":                                ViT{Channels: 1, Heads: -1},
	}},
}

// conformance has the table's lines, and one for every half of the list that has none
// there, which is tested as it comes.
var conformance = func() []tested {
	all := table
	for _, h := range All() {
		if !listed(h.Name()) {
			all = append(all, tested{half: h})
		}
	}
	return all
}()

func listed(name string) bool {
	for _, c := range table {
		if c.half.Name() == name {
			return true
		}
	}
	return false
}

// both is a bottleneck of one kind of halves.
func both(h SubNetwork) Bottleneck {
	return Bottleneck{Features: features, Latent: latent, Outputs: classes, Compressor: h, Approximator: h}
}

func weights(a model.Architecture, seed engine.Root) nn.Params {
	return model.InitialWeights(a, seed.Stream(engine.StreamInit))
}

// forEachNetwork runs a test for every line of the table.
func forEachNetwork(t *testing.T, f func(t *testing.T, m Bottleneck)) {
	t.Helper()
	for _, c := range conformance {
		t.Run(fmt.Sprintf("%s %+v", c.half.Name(), c.half), func(t *testing.T) { f(t, both(c.half)) })
	}
}

// toy is a set of noisy images that are bright in the third that their label names.
func toy(rows int) (array.Matrix[float32], []int) {
	rng := engine.Root(3).Stream(engine.StreamToy)
	x, y := array.New[float32](rows, features), make([]int, rows)
	for i := range y {
		y[i] = i % classes
		for j := range x.Row(i) {
			x.Row(i)[j] = float32(0.5 * rng.NormFloat64())
			if classes*j/features == y[i] {
				x.Row(i)[j] += 2
			}
		}
	}
	return x, y
}

func noise(rows int) array.Matrix[float32] {
	rng, eps := engine.Root(4).Stream(engine.StreamToy), array.New[float32](rows, latent)
	for i := range eps.Data {
		eps.Data[i] = float32(rng.NormFloat64())
	}
	return eps
}

// compressing is BlindU's objective, with a divergence that counts.
func compressing(x array.Matrix[float32], y []int) train.Objective {
	return train.Objective{{X: x, Targets: []train.Target{
		train.CrossEntropy(y, classes, 1), {Loss: loss.LatentDivergence{}, Weight: 0.01 / latent},
	}}}
}

func TestTheListHasEveryHalfOfTheTable(t *testing.T) {
	names := map[string]bool{}
	for _, h := range All() {
		if names[h.Name()] || h.About() == "" || strings.ContainsAny(h.Name(), " .") {
			t.Errorf("%q: %q", h.Name(), h.About())
		}
		names[h.Name()] = true
		if !reflect.ValueOf(h).IsZero() {
			t.Errorf("%s is listed as %+v, not in its default setting", h.Name(), h)
		}
		if err := h.Check(147, 10); err != nil {
			t.Errorf("%s by default does not take codes of 3 x 7 x 7: %v", h.Name(), err)
		}
	}
	for _, c := range table {
		if !names[c.half.Name()] {
			t.Errorf("%s is not in the list", c.half.Name())
		}
	}
}

func TestCheckNamesWhatCannotBeBuilt(t *testing.T) {
	for _, c := range conformance {
		if err := both(c.half).Check(); err != nil {
			t.Errorf("%+v: %v", c.half, err)
		}
		for words, bad := range c.refused {
			m := Bottleneck{Features: features, Latent: latent, Compressor: bad}
			if err := m.Check(); err == nil || !strings.Contains(err.Error(), "the compressor: ") || !strings.Contains(err.Error(), words) {
				t.Errorf("%+v: error %v, want %q", bad, err, words)
			}
		}
	}
	m := Bottleneck{Features: features, Latent: 15, Approximator: ResNet{Channels: 1}}
	if err := m.Check(); err == nil || !strings.Contains(err.Error(), "the approximator: 15 values do not form a square image of 1 channels") {
		t.Errorf("codes that are no image: %v", err)
	}
}

// A setting's JSON with its defaults filled in is what keys hold.
func TestResolvedResolvesToItself(t *testing.T) {
	for _, h := range All() {
		r := defaults.Fill(h)
		if !reflect.DeepEqual(r, defaults.Fill(r)) || reflect.TypeOf(r) != reflect.TypeOf(h) || r.Name() != h.Name() {
			t.Errorf("%+v resolves to %+v, and that to %+v", h, r, defaults.Fill(r))
		}
		var fields map[string]any
		text, err := json.Marshal(r)
		if err == nil {
			err = json.Unmarshal(text, &fields)
		}
		for i := range reflect.TypeOf(r).NumField() {
			name, _, _ := strings.Cut(reflect.TypeOf(r).Field(i).Tag.Get("json"), ",")
			if _, there := fields[name]; !there && reflect.TypeOf(r).Field(i).Type.Kind() != reflect.Bool {
				t.Errorf("%+v leaves %q open: %v", r, name, err)
			}
		}
		if halfWeights(h, 147, 10).Hash() != halfWeights(r, 147, 10).Hash() {
			t.Errorf("%s: resolved, it is another network", h.Name())
		}
	}
}

// halfWeights draws a compressor's weights alone.
func halfWeights(h SubNetwork, in, out int) nn.Params {
	p, _ := nn.Declare(in, engine.Root(1).Stream(engine.StreamInit), func(b *nn.Builder, x *Node) { h.Build(b.Sub("compressor."), x, out) })
	return p
}

func TestTheSeedFixesTheWeights(t *testing.T) {
	forEachNetwork(t, func(t *testing.T, m Bottleneck) {
		p := weights(m, 1)
		if err := p.Check(); err != nil {
			t.Error(err)
		}
		if weights(m, 1).Hash() != p.Hash() || weights(m, 2).Hash() == p.Hash() {
			t.Error("the seed does not fix the weights")
		}
		names := map[string]bool{}
		for _, v := range p {
			if names[v.Name] {
				t.Errorf("two tensors are called %s", v.Name)
			}
			names[v.Name] = true
			if v.State != strings.Contains(v.Name, ".running_") {
				t.Errorf("%s: state %v", v.Name, v.State)
			}
		}
		alone := halfWeights(m.Compressor, features, 2*latent)
		front, back := SplitWeights(p)
		if front.Hash() != alone.Hash() || len(front)+len(back) != len(p) || !strings.HasPrefix(back[0].Name, "approximator.") {
			t.Errorf("of %d tensors %d are the compressor's and %d the approximator's", len(p), len(front), len(back))
		}
	})
}

func TestRecordsDoNotMixInInference(t *testing.T) {
	forEachNetwork(t, func(t *testing.T, m Bottleneck) {
		r, p := runner(t, m), weights(m, 1)
		x, _ := toy(67)
		all, err := r.Predict(p, x)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range []int{0, 31, 32, 64, 66} {
			one, err := r.Predict(p, x.Gather([]int{i}))
			if err != nil {
				t.Fatal(err)
			}
			for name, got := range one.Outputs {
				for c, v := range got.Row(0) {
					if d := math.Abs(float64(v - all.Outputs[name].Row(i)[c])); d > 1e-5 {
						t.Errorf("%s %d of record %d is %v alone and %v among others", name, c, i, v, all.Outputs[name].Row(i)[c])
					}
				}
			}
		}
	})
}

// The whole is its halves, one behind the other: at the mean in inference, at a code
// that was drawn by hand.
func TestTheApproximatorAloneSaysWhatTheWholeSays(t *testing.T) {
	forEachNetwork(t, func(t *testing.T, m Bottleneck) {
		p := weights(m, 1)
		x, _ := toy(9)
		whole, err := runner(t, m).Predict(p, x)
		if err != nil {
			t.Fatal(err)
		}
		_, back := SplitWeights(p)
		alone, err := runner(t, Approximator{m}).Predict(back, whole.Outputs[loss.LatentMean])
		if err != nil {
			t.Fatal(err)
		}
		var said []float64
		for _, v := range whole.Logits().Data {
			said = append(said, float64(v))
		}
		checkClose(t, "what the approximator alone says of the means", alone.Logits().Data, said...)
		// XLA may round otherwise where it has less of the network to look at.
		if engineOf(t).Info().Kind != "xla" && fmt.Sprint(alone.Logits()) != fmt.Sprint(whole.Logits()) {
			t.Error("the approximator alone says it in other bits")
		}
		if model.HasBatchStats(m) != m.Compressor.UsesBatchStats() || model.HasBatchStats(Approximator{m}) != m.Approximator.UsesBatchStats() {
			t.Error("a half couples records, and the whole does not say so")
		}
		if front, back := chunkRows(m.Compressor), chunkRows(m.Approximator); m.MaxBatch() != min(front, back) || (Approximator{m}).MaxBatch() != back {
			t.Error("a half's limit of records is not the whole's")
		}
	})
}

func TestTrainingLowersTheLossAndIsDeterministic(t *testing.T) {
	forEachNetwork(t, func(t *testing.T, m Bottleneck) {
		r := runner(t, m)
		x, y := toy(48)
		c := train.Config{Epochs: 16, Batch: 16, Seed: 1, Optimizer: nn.Adam{LR: 1e-2}, Clip: 5}
		var hash string
		for range 2 {
			p, history, err := train.Fit(context.Background(), r, weights(m, 1), compressing(x, y), c, train.Hooks{})
			if err != nil {
				t.Fatal(err)
			}
			if first, last := history[0].Loss, history[len(history)-1].Loss; !(last < 0.6*first) {
				t.Errorf("loss %v at the start, %v at the end", first, last)
			}
			if hash != "" && hash != p.Hash() {
				t.Error("the same training twice gives other weights")
			}
			hash = p.Hash()
		}
	})
}

// The tape's steps are held, tensor by tensor, against the library's derivatives, and
// either half's gradient against the loss itself: the central difference along it,
// which the loss in float32 and kinks of ReLU leave to a tenth.
func TestTheGradientIsTheSlopeOfTheLoss(t *testing.T) {
	forEachNetwork(t, func(t *testing.T, m Bottleneck) {
		e, p := engineOf(t), weights(m, 1)
		x, y := toy(24)
		eps, labels := noise(24), loss.Labels(y, classes)
		s := newStep(t, e, m, false)
		_, tape := s.evaluate(p, x, eps, labels)
		_, library := newStep(t, e, m, true).evaluate(p, x, eps, labels)
		squares := map[string]float64{}
		for i, v := range p {
			if v.State {
				continue
			}
			square, apart := 0.0, 0.0
			for j, g := range tape[i] {
				square += float64(g) * float64(g)
				apart += float64(g-library[i][j]) * float64(g-library[i][j])
			}
			if apart > 1e-6*square+1e-10 {
				t.Errorf("%s: %v of %v apart from the library's", v.Name, math.Sqrt(apart), math.Sqrt(square))
			}
			half, _, _ := strings.Cut(v.Name, ".")
			squares[half] += square
		}
		for half, square := range squares {
			at := func(rise float64) float64 {
				q := p.Clone()
				for i, v := range q {
					for j := range v.Data {
						if strings.HasPrefix(v.Name, half+".") && !v.State {
							v.Data[j] += float32(rise * float64(tape[i][j]) / square)
						}
					}
				}
				value, _ := s.evaluate(q, x, eps, labels)
				return float64(value)
			}
			const rise = 2e-3
			if got := at(rise) - at(-rise); math.Abs(got-2*rise) > 0.1*2*rise {
				t.Errorf("along the %s's gradient the loss rises by %v, not %v", half, got, 2*rise)
			}
		}
	})
}

// A half whose normalisation mixes records refuses by a weight's name; of the others
// every record's own gradient is that of a batch of one.
func TestARecordsOwnGradientIsThatOfABatchOfOneOrRefused(t *testing.T) {
	forEachNetwork(t, func(t *testing.T, m Bottleneck) {
		a := Approximator{m}
		r, p := runner(t, a), weights(a, 1)
		_, y := toy(3)
		z := noise(3)
		norms, err := train.GradientNorms(t.Context(), r, p, train.Objective{{X: z, Targets: []train.Target{train.CrossEntropy(y, classes, 1)}}}, train.Mode{})
		if m.Approximator.UsesBatchStats() {
			if err == nil || !strings.Contains(err.Error(), "mixes the records of a batch") || !strings.Contains(err.Error(), "approximator.") {
				t.Errorf("error %v", err)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		for i, got := range norms {
			one := train.Objective{{X: z.Gather([]int{i}), Targets: []train.Target{train.CrossEntropy(y[i:i+1], classes, 1)}}}
			grads, err := train.Gradient(context.Background(), r, p, one, 0, train.Mode{})
			if err != nil {
				t.Fatal(err)
			}
			want := 0.0
			for _, g := range grads {
				for _, v := range g {
					want += v * v
				}
			}
			if want = math.Sqrt(want); math.Abs(got-want) > 1e-5*want {
				t.Errorf("record %d: norm %v, of a batch of one %v", i, got, want)
			}
		}
	})
}
