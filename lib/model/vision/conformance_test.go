// Tests that every network must pass.

package vision

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine/enginetest"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/store/safetensors"
	"github.com/lethe-ml/lethe/lib/train"
)

// tested is a network under test: a small instance, its layers' widths ("": not
// known), and instances that Check must refuse with these words.
type tested struct {
	arch    model.Architecture
	layers  string
	refused map[string]model.Architecture
}

// conformance has lines for every network of the package; one that has none in
// the table is tested as it comes.
var conformance = func() []tested {
	all := slices.Clone(table)
	for _, f := range All() {
		if !slices.ContainsFunc(table, func(c tested) bool { return c.arch.Name() == f.Name }) {
			all = append(all, tested{arch: f.New(1, 12, 3)})
		}
	}
	return all
}()

var table = []tested{
	{
		arch:   SmallCNN{Side: 12, Width: 2, Hidden: 6, Outputs: 3},
		layers: "h1:72 h2:36 h3:8 hp:6 h:3",
		refused: map[string]model.Architecture{
			"images of -1 channels": SmallCNN{Channels: -1},
			"images of 7 x 7":       SmallCNN{Side: 7},
			"1 outputs":             SmallCNN{Outputs: 1},
			"width -2":              SmallCNN{Width: -2},
			"-3 hidden":             SmallCNN{Hidden: -3},
		},
	},
	{
		arch:   SmallCNN{Channels: 2, Side: 12, Width: 2, Hidden: 6, Outputs: 3, Norm: true},
		layers: "h1:72 h2:36 h3:8 hp:6 h:3",
	},
	{
		arch:   AllCNN{Channels: 1, Side: 12, Width: 2, Outputs: 3},
		layers: "h1:288 h2:144 h3:36 h4:36 hp:4 h:3",
		refused: map[string]model.Architecture{
			"images of -1 channels": AllCNN{Channels: -1},
			"images of 3 x 3":       AllCNN{Side: 3},
			"1 outputs":             AllCNN{Outputs: 1},
			"width -2":              AllCNN{Width: -2},
		},
	},
	{
		arch:   AllCNN{Channels: 1, Side: 12, Width: 2, Outputs: 3, Plain: true},
		layers: "h1:288 h2:144 h3:36 h4:36 hp:4 h:3",
	},
	{
		arch:   ResNet18{Channels: 1, Side: 12, Width: 2, Outputs: 3},
		layers: "h1:288 h2:144 h3:72 h4:64 hp:16 h:3",
		refused: map[string]model.Architecture{
			"images of -1 channels": ResNet18{Channels: -1},
			"images of 5 x 5":       ResNet18{Side: 5},
			"1 outputs":             ResNet18{Outputs: 1},
			"width -2":              ResNet18{Width: -2},
		},
	},
}

// forEachNetwork runs a test for every line of the table, on an engine of its own.
func forEachNetwork(t *testing.T, f func(t *testing.T, r *model.Runner)) {
	t.Helper()
	for _, c := range conformance {
		t.Run(fmt.Sprintf("%+v", c.arch), func(t *testing.T) { f(t, openRunner(t, c.arch)) })
	}
}

// toy is a set of images that are bright in the half that their label names.
func toy(arch model.Architecture, rows int) (array.Matrix[float32], []int) {
	x, y := noise(arch, rows)
	for i := range y {
		y[i] = i % 2
		row := x.Row(i)
		for j := range row {
			if 2*j/len(row) == y[i] {
				row[j] += 1
			}
		}
	}
	return x, y
}

func objective(x array.Matrix[float32], y []int, classes int) train.Objective {
	return train.Objective{{X: x, Targets: []train.Target{train.CrossEntropy(y, classes, 1)}}}
}

func TestAxesHaveAsManyNumbersAsInputs(t *testing.T) {
	for _, c := range conformance {
		s, ok := c.arch.(model.Shaped)
		if !ok {
			t.Errorf("%s: its records are images and have no axes", c.arch.Name())
			continue
		}
		n := 1
		for _, d := range s.Axes() {
			n *= d
		}
		if n != s.Inputs() {
			t.Errorf("%s: axes %v of %d numbers", s.Name(), s.Axes(), s.Inputs())
		}
	}
}

func TestTheListHasEveryNetworkOfTheTable(t *testing.T) {
	listed := map[string]bool{}
	for _, f := range All() {
		listed[f.Name] = true
		if a := f.New(2, 16, 4); a.Name() != f.Name || a.Inputs() != 512 || model.OutputWidths(a)[nn.Logits] != 4 || a.Check() != nil {
			t.Errorf("%s makes %s of %d features and %d outputs: %v", f.Name, a.Name(), a.Inputs(), model.OutputWidths(a)[nn.Logits], a.Check())
		}
	}
	for _, c := range table {
		if !listed[c.arch.Name()] {
			t.Errorf("%s is not in the list", c.arch.Name())
		}
	}
}

func TestCheckNamesWhatCannotBeBuilt(t *testing.T) {
	for _, c := range conformance {
		if err := c.arch.Check(); err != nil {
			t.Errorf("%s: %v", c.arch.Name(), err)
		}
		for words, bad := range c.refused {
			if err := bad.Check(); err == nil || !strings.Contains(err.Error(), words) {
				t.Errorf("%+v: error %v, want %q", bad, err, words)
			}
		}
	}
}

// widths is every layer with its width, in the order in which it is reported.
func widths(t *testing.T, arch model.Architecture) string {
	t.Helper()
	e, err := enginetest.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	r := newRunner(t, e.WithChunkRows(2), arch) // no padding, which the full networks make dear
	x, _ := noise(arch, 2)
	pred, err := r.PredictLayers(weights(arch, 1), x)
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(pred.Layers["h"]) != fmt.Sprint(pred.Logits()) || fmt.Sprint(pred.Layers["hp"]) != fmt.Sprint(pred.Embedding) {
		t.Error("h is not the logits, or hp not the embedding")
	}
	var out []string
	for _, name := range []string{"h1", "h2", "h3", "h4", "hp", "h"} {
		if m, ok := pred.Layers[name]; ok {
			out = append(out, fmt.Sprintf("%s:%d", name, m.Cols))
		}
	}
	if len(out) != len(pred.Layers) {
		t.Errorf("%d layers, %d with known names", len(pred.Layers), len(out))
	}
	return strings.Join(out, " ")
}

func TestEveryLayerIsReported(t *testing.T) {
	for _, c := range conformance {
		if got := widths(t, c.arch); c.layers != "" && got != c.layers {
			t.Errorf("%+v: %s, want %s", c.arch, got, c.layers)
		}
	}
}

func TestLayersCanBeAskedForByName(t *testing.T) {
	forEachNetwork(t, func(t *testing.T, r *model.Runner) {
		p := waveWeights(r.Arch)
		x, _ := noise(r.Arch, 40)
		all, err := r.PredictLayers(p, x)
		if err != nil {
			t.Fatal(err)
		}
		some, err := r.PredictNamed(p, x, "h2", "h")
		if err != nil {
			t.Fatal(err)
		}
		if len(some.Layers) != 2 || fmt.Sprint(some.Logits()) != fmt.Sprint(all.Logits()) {
			t.Errorf("%d layers", len(some.Layers))
		}
		for name, m := range some.Layers {
			if fmt.Sprint(m) != fmt.Sprint(all.Layers[name]) {
				t.Errorf("%s asked for alone is something else", name)
			}
		}
		if _, err := r.PredictNamed(p, x, "h9"); err == nil || !strings.Contains(err.Error(), `"h9"; there are h1, h2`) {
			t.Errorf("a layer that is not there: %v", err)
		}
	})
}

// Table 6 of the SDE paper, for images of 3 x 32 x 32 pixels.
func TestTheDefaultsHaveThePapersWidths(t *testing.T) {
	for want, arch := range map[string]model.Architecture{
		"h1:65536 h2:32768 h3:16384 h4:8192 hp:512 h:10":  ResNet18{},
		"h1:98304 h2:49152 h3:12288 h4:12288 hp:192 h:10": AllCNN{},
		"h1:6272 h2:3136 h3:1152 hp:128 h:10":             SmallCNN{},
	} {
		if got := widths(t, arch); got != want {
			t.Errorf("%s: %s, want %s", arch.Name(), got, want)
		}
	}
	// The sum of torch's numel over the parameters of the same network.
	if n := weights(ResNet18{}, 1).Size(); n != 11173962 {
		t.Errorf("ResNet-18 has %d weights", n)
	}
}

func TestInitIsFixedByItsSeed(t *testing.T) {
	for _, c := range conformance {
		p := weights(c.arch, 1)
		if err := p.Check(); err != nil {
			t.Error(err)
		}
		names := map[string]bool{}
		for _, v := range p {
			if names[v.Name] {
				t.Errorf("%s: two tensors are called %s", c.arch.Name(), v.Name)
			}
			names[v.Name] = true
			if v.State != strings.Contains(v.Name, ".running_") {
				t.Errorf("%s: state %v", v.Name, v.State)
			}
		}
		if weights(c.arch, 1).Hash() != p.Hash() || weights(c.arch, 2).Hash() == p.Hash() {
			t.Errorf("%s: the seed does not fix the weights", c.arch.Name())
		}
	}
}

func TestRecordsDoNotMixInInference(t *testing.T) {
	forEachNetwork(t, func(t *testing.T, r *model.Runner) {
		p := waveWeights(r.Arch)
		x, _ := noise(r.Arch, 35)
		all, err := r.Predict(p, x)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range []int{0, 31, 32, 34} {
			one, err := r.Predict(p, x.Gather([]int{i}))
			if err != nil {
				t.Fatal(err)
			}
			for c, v := range one.Logits().Row(0) {
				if d := math.Abs(float64(v - all.Logits().Row(i)[c])); d > 1e-5 {
					t.Errorf("record %d alone has logit %v, among others %v", i, v, all.Logits().Row(i)[c])
				}
			}
		}
	})
}

func TestTrainingReducesTheLossAndIsDeterministic(t *testing.T) {
	forEachNetwork(t, func(t *testing.T, r *model.Runner) {
		x, y := toy(r.Arch, 40)
		c := train.Config{Epochs: 8, Batch: 20, Seed: 1, Optimizer: nn.SGD{LR: 0.05, Momentum: 0.9}, Schedule: train.Cosine()}
		var hash string
		for range 2 {
			p, history, err := train.Fit(context.Background(), r, weights(r.Arch, 1), objective(x, y, 3), c, train.Hooks{})
			if err != nil {
				t.Fatal(err)
			}
			if last := history[len(history)-1].Loss; !(last < 0.8*history[0].Loss) {
				t.Errorf("loss %v at the start, %v at the end", history[0].Loss, last)
			}
			if hash != "" && hash != p.Hash() {
				t.Error("the same training twice gives other weights")
			}
			hash = p.Hash()
		}
	})
}

// The last batch of an epoch is smaller, and a model with normalisation carries
// running statistics: both come back from a checkpoint bit for bit.
func TestAFitResumedAtAnyEpochHasTheSameBits(t *testing.T) {
	forEachNetwork(t, func(t *testing.T, r *model.Runner) {
		x, y := toy(r.Arch, 23)
		c := train.Config{Epochs: 3, Batch: 9, Seed: 1, Optimizer: nn.SGD{LR: 0.05, Momentum: 0.9, WeightDecay: 5e-4}}
		var saved []*train.State
		keep := train.Hooks{SaveEvery: 1, Save: func(s *train.State) error { saved = append(saved, s); return nil }}
		want, _, err := train.Fit(context.Background(), r, weights(r.Arch, 1), objective(x, y, 3), c, keep)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range saved[:2] {
			again, err := throughFile(s, weights(r.Arch, 1))
			if err != nil {
				t.Fatal(err)
			}
			p, _, err := train.Fit(context.Background(), r, weights(r.Arch, 1), objective(x, y, 3), c, train.Hooks{Resume: again})
			if err != nil {
				t.Fatal(err)
			}
			if p.Hash() != want.Hash() {
				t.Errorf("resumed after epoch %d: another result", s.Done)
			}
		}
	})
}

// A batch cut into chunks would be normalised chunk by chunk.
func TestABatchThatIsNormalisedIsNotCut(t *testing.T) {
	arch := SmallCNN{Side: 8, Width: 2, Hidden: 4, Outputs: 3, Norm: true}
	e, err := enginetest.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	x, y := toy(arch, 45)
	hashes := map[string]bool{}
	for _, rows := range []int{4, 512} {
		r := newRunner(t, e.WithChunkRows(rows), arch)
		p, _, err := train.Fit(context.Background(), r, weights(arch, 1), objective(x, y, 3), train.Config{Epochs: 2}, train.Hooks{})
		if err != nil {
			t.Fatal(err)
		}
		hashes[p.Hash()] = true
	}
	if len(hashes) != 1 {
		t.Error("the engine's chunks change the result")
	}
}

// A network whose normalisation mixes records refuses by a weight's name; of the
// others every record's own gradient is that of a batch of one.
func TestARecordsOwnGradientIsThatOfABatchOfOneOrRefused(t *testing.T) {
	refused, given := 0, 0
	forEachNetwork(t, func(t *testing.T, r *model.Runner) {
		x, y := toy(r.Arch, 3)
		classes, p := model.OutputWidths(r.Arch)[nn.Logits], weights(r.Arch, 1)
		norms, err := train.GradientNorms(t.Context(), r, p, train.Objective{{X: x, Targets: []train.Target{train.CrossEntropy(y, classes, 1)}}}, train.Mode{})
		if model.HasBatchStats(r.Arch) {
			refused++
			if err == nil || !strings.Contains(err.Error(), "mixes the records of a batch") || !strings.Contains(err.Error(), ".weight of "+r.Arch.Name()) {
				t.Errorf("error %v", err)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		given++
		for i, got := range norms {
			one := train.Objective{{X: x.Gather([]int{i}), Targets: []train.Target{train.CrossEntropy(y[i:i+1], classes, 1)}}}
			grads, err := train.Gradient(context.Background(), r, p, one, 0, train.Mode{})
			if err != nil {
				t.Fatal(err)
			}
			var want float64
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
	if refused == 0 || given == 0 {
		t.Errorf("%d networks refused, %d answered", refused, given)
	}
}

func throughFile(s *train.State, like nn.Params) (*train.State, error) {
	f, rest := s.File()
	b, err := safetensors.Encode(f)
	if err != nil {
		return nil, err
	}
	if f, err = safetensors.Decode(b); err != nil {
		return nil, err
	}
	text, err := json.Marshal(rest)
	if err != nil {
		return nil, err
	}
	return train.LoadState(f, text, like)
}
