// Tests that every network must pass.

package tabular

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/modeltest"
	"github.com/lethe-ml/lethe/lib/nn"
)

// tested is a network under test: a small instance, and instances that Check must
// refuse with these words.
type tested struct {
	arch    model.Architecture
	refused map[string]model.Architecture
}

// conformance has a line for every network of the package; one that has none in
// the table is tested as it comes.
var conformance = func() []tested {
	var all []tested
	for _, f := range All() {
		line := tested{arch: f.New(5, 3)}
		for _, c := range table {
			if c.arch.Name() == f.Name {
				line = c
			}
		}
		all = append(all, line)
	}
	return all
}()

var table = []tested{
	{
		arch: MLP{Features: 5, Outputs: 3, Hidden: 12},
		refused: map[string]model.Architecture{
			"0 features":               MLP{Outputs: 2},
			"1 outputs":                MLP{Features: 2, Outputs: 1},
			"-3 hidden":                MLP{Features: 2, Outputs: 2, Hidden: -3},
			"dropout 1 is not below 1": MLP{Features: 2, Outputs: 2, Dropout: new(1.0)},
		},
	},
	{
		arch: ResMLP{Features: 5, Outputs: 3, Width: 12},
		refused: map[string]model.Architecture{
			"0 features":                 ResMLP{Outputs: 2},
			"1 outputs":                  ResMLP{Features: 2, Outputs: 1},
			"-3 hidden":                  ResMLP{Features: 2, Outputs: 2, Hidden: -3},
			"width -1":                   ResMLP{Features: 2, Outputs: 2, Width: -1, Hidden: 3},
			"-2 blocks":                  ResMLP{Features: 2, Outputs: 2, Blocks: -2},
			"dropout 1.5 is not below 1": ResMLP{Features: 2, Outputs: 2, Dropout: new(1.5)},
			"epsilon -1":                 ResMLP{Features: 2, Outputs: 2, Eps: -1},
		},
	},
	{
		arch: FTTransformer{Features: 5, Outputs: 3, Width: 12, Heads: 3},
		refused: map[string]model.Architecture{
			"0 features":             FTTransformer{Outputs: 2},
			"1 outputs":              FTTransformer{Features: 2, Outputs: 1},
			"-3 hidden":              FTTransformer{Features: 2, Outputs: 2, Hidden: -3},
			"7 heads do not divide":  FTTransformer{Features: 2, Outputs: 2, Heads: 7},
			"-1 heads do not divide": FTTransformer{Features: 2, Outputs: 2, Heads: -1},
			"-2 blocks":              FTTransformer{Features: 2, Outputs: 2, Blocks: -2},
			"attention dropout 1":    FTTransformer{Features: 2, Outputs: 2, Attention: new(1.0)},
			"dropout 1 is not":       FTTransformer{Features: 2, Outputs: 2, Dropout: new(1.0)},
			"epsilon 1":              FTTransformer{Features: 2, Outputs: 2, Eps: 1},
		},
	},
	{
		arch: OneHidden{Features: 5, Outputs: 3, Hidden: 12},
		refused: map[string]model.Architecture{
			"0 features": OneHidden{Outputs: 2},
			"1 outputs":  OneHidden{Features: 2, Outputs: 1},
			"-3 hidden":  OneHidden{Features: 2, Outputs: 2, Hidden: -3},
		},
	},
	{
		arch: Blocks{Features: 5, Outputs: 3, Hidden: []int{12, 7}},
		refused: map[string]model.Architecture{
			"0 features":                    Blocks{Outputs: 2},
			"1 outputs":                     Blocks{Features: 2, Outputs: 1},
			"0 hidden units in block 1":     Blocks{Features: 2, Outputs: 2, Hidden: []int{3, 0}},
			"linear, with hidden layers of": Blocks{Features: 2, Outputs: 2, Hidden: []int{3}, Linear: true},
			"dropout 1 is not below 1":      Blocks{Features: 2, Outputs: 2, Dropout: new(1.0)},
		},
	},
}

// forEachNetwork runs a test for every line of the table, on an engine of its own.
func forEachNetwork(t *testing.T, f func(t *testing.T, r *model.Runner)) {
	t.Helper()
	for _, c := range conformance {
		t.Run(c.arch.Name(), func(t *testing.T) { f(t, modeltest.OpenRunner(t, c.arch)) })
	}
}

func weights(arch model.Architecture, seed engine.Root) nn.Params {
	return model.InitialWeights(arch, seed.Stream(engine.StreamInit))
}

// toy is a table whose label is the third of the first column that a record is in.
func toy(rows, features int) (array.Matrix[float32], []int) {
	rng := engine.Root(3).Stream("toy")
	x, y := array.New[float32](rows, features), make([]int, rows)
	for i := range x.Data {
		x.Data[i] = float32(rng.NormFloat64())
	}
	for i := range y {
		switch v := x.Row(i)[0]; {
		case v > 0.43:
			y[i] = 2
		case v > -0.43:
			y[i] = 1
		}
	}
	return x, y
}

func TestTheListHasEveryNetworkOfTheTable(t *testing.T) {
	listed := map[string]bool{}
	for _, f := range All() {
		listed[f.Name] = true
		if a := f.New(3, 2); a.Name() != f.Name || a.Inputs() != 3 || model.OutputWidths(a)[nn.Logits] != 2 || a.Check() != nil {
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

func TestTheDefaultEmbeddingHasThePapersWidth(t *testing.T) {
	for _, arch := range []model.Architecture{
		MLP{Features: 4, Outputs: 2}, ResMLP{Features: 4, Outputs: 2}, FTTransformer{Features: 4, Outputs: 2}, OneHidden{Features: 4, Outputs: 2},
	} {
		r := modeltest.OpenRunner(t, arch)
		x, _ := toy(2, 4)
		pred, err := r.Predict(weights(arch, 1), x)
		if err != nil {
			t.Fatal(err)
		}
		if pred.Embedding.Cols != 128 {
			t.Errorf("%s: width %d", arch.Name(), pred.Embedding.Cols)
		}
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
		}
		if weights(c.arch, 1).Hash() != p.Hash() {
			t.Errorf("%s: same seed, other weights", c.arch.Name())
		}
		if weights(c.arch, 2).Hash() == p.Hash() {
			t.Errorf("%s: other seed, same weights", c.arch.Name())
		}
	}
}

func TestTheEmbeddingIsTheInputOfTheLastLayer(t *testing.T) {
	forEachNetwork(t, func(t *testing.T, r *model.Runner) {
		p := weights(r.Arch, 1)
		x, _ := toy(50, 5)
		pred, err := r.Predict(p, x)
		if err != nil {
			t.Fatal(err)
		}
		w, b := p[len(p)-2], p[len(p)-1]
		if w.Name != "head.weight" || b.Name != "head.bias" {
			t.Fatalf("the last tensors are %s and %s", w.Name, b.Name)
		}
		for i := range x.Rows {
			for c, got := range pred.Logits().Row(i) {
				want := float64(b.Data[c])
				for j, e := range pred.Embedding.Row(i) {
					want += float64(e) * float64(w.Data[c*pred.Embedding.Cols+j])
				}
				if math.Abs(float64(got)-want) > 1e-5 {
					t.Fatalf("record %d, class %d: %v, from the embedding %v", i, c, got, want)
				}
			}
		}
	})
}

func TestRecordsDoNotMix(t *testing.T) {
	forEachNetwork(t, func(t *testing.T, r *model.Runner) {
		p := weights(r.Arch, 1)
		x, _ := toy(70, 5)
		all, err := r.Predict(p, x)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range []int{0, 1, 33, 63, 64, 69} {
			one, err := r.Predict(p, x.Gather([]int{i}))
			if err != nil {
				t.Fatal(err)
			}
			for c, v := range one.Logits().Row(0) {
				if d := math.Abs(float64(v - all.Logits().Row(i)[c])); d > 1e-6 {
					t.Errorf("record %d alone has logit %v, among others %v", i, v, all.Logits().Row(i)[c])
				}
			}
		}
	})
}

func TestEveryLayerIsNamedAndFinite(t *testing.T) {
	forEachNetwork(t, func(t *testing.T, r *model.Runner) {
		x, _ := toy(9, 5)
		pred, err := r.PredictLayers(weights(r.Arch, 1), x)
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(pred.Layers["logits"]) != fmt.Sprint(pred.Logits()) {
			t.Error("the layer called logits is something else")
		}
		embedded := false
		for name, m := range pred.Layers {
			if name == "" || m.Rows != x.Rows {
				t.Errorf("layer %q has %d rows", name, m.Rows)
			}
			if err := m.Check(name); err != nil {
				t.Error(err)
			}
			embedded = embedded || fmt.Sprint(m) == fmt.Sprint(pred.Embedding)
		}
		if !embedded || len(pred.Layers) < 2 {
			t.Errorf("%d layers, embedding among them: %v", len(pred.Layers), embedded)
		}
	})
}

func TestInferenceIsDeterministic(t *testing.T) {
	forEachNetwork(t, func(t *testing.T, r *model.Runner) {
		p := weights(r.Arch, 1)
		x, _ := toy(40, 5)
		a, err := r.Predict(p, x)
		if err != nil {
			t.Fatal(err)
		}
		b, err := r.Predict(p, x)
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(a) != fmt.Sprint(b) {
			t.Error("two predictions differ")
		}
	})
}

func TestTrainingReducesTheLoss(t *testing.T) {
	forEachNetwork(t, func(t *testing.T, r *model.Runner) {
		x, y := toy(60, 5)
		s := newStep(t, r, x, y)
		p := weights(r.Arch, 1)
		state := nn.NewOptimizerState(nn.Adam{}, p)
		first, _ := s.gradient(p, nil)
		for epoch := range 30 {
			_, grads := s.gradient(p, s.drawn(uint64(epoch)))
			if err := (nn.Adam{LR: 1e-2}).Step(p, grads, state, nil); err != nil {
				t.Fatal(err)
			}
		}
		if last, _ := s.gradient(p, nil); !(last < 0.6*first) {
			t.Errorf("loss %v at the start, %v after 30 epochs", first, last)
		}
	})
}
