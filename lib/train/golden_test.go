package train

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/tabular"
	"github.com/lethe-ml/lethe/lib/nn"
)

// golden is testdata/torch.json, made by testdata/golden_torch.py with PyTorch
// 2.15.0 in float64.
type golden struct {
	Fits map[string]struct {
		LR      float64
		Losses  []float64
		Weights [][]float64
	}
}

var goldenArch = tabular.MLP{Features: 3, Outputs: 2, Hidden: 4, Dropout: new(0.0)}

// goldenWeights repeats the formula of golden_torch.py; every value is exact in
// float32.
func goldenWeights(offset int) nn.Params {
	p := model.InitialWeights(goldenArch, engine.Root(0).Stream(engine.StreamInit))
	for k := range p {
		for i := range p[k].Data {
			p[k].Data[i] = float32((i*i*13+i*29+k*53+offset)%97-42) / 64
		}
	}
	return p
}

func goldenData(first, n int) (array.Matrix[float32], []int) {
	x, y := array.New[float32](n, 3), make([]int, n)
	for k := range n {
		i := first + k
		for j := range 3 {
			x.Row(k)[j] = float32((i*31+j*17+5)%61-30) / 16
		}
		y[k] = (i/2 + i%3) % 2
	}
	return x, y
}

// The objectives of the paper's methods, ten full-batch steps of Adam each with
// dropout off. The teacher of the distilling ones is a third model, because a
// student that equals its teacher has no gradient but rounding noise, which
// Adam would blow up to whole steps.
func TestFitAgreesWithPyTorch(t *testing.T) {
	b, err := os.ReadFile("testdata/torch.json")
	if err != nil {
		t.Fatal(err)
	}
	var want golden
	if err := json.Unmarshal(b, &want); err != nil {
		t.Fatal(err)
	}
	r := openRunner(t, goldenArch, 0)
	xr, yr := goldenData(0, 10)
	xf, yf := goldenData(10, 4)
	teach := func(x array.Matrix[float32], weight float64) Target {
		out, err := r.Predict(goldenWeights(40), x)
		if err != nil {
			t.Fatal(err)
		}
		return Distillation(out.Logits(), 2, weight)
	}
	objectives := map[string]Objective{
		"cross-entropy":   {{X: xr, Targets: []Target{CrossEntropy(yr, 2, 1)}}},
		"fine-tuning":     {{X: xr, Targets: []Target{CrossEntropy(yr, 2, 1)}}},
		"gradient-ascent": {{X: xf, Targets: []Target{CrossEntropy(yf, 2, -1)}}},
		"neggrad": {
			{X: xr, Targets: []Target{CrossEntropy(yr, 2, 0.6)}},
			{X: xf, Targets: []Target{CrossEntropy(yf, 2, -0.4)}, Whole: true}},
		"scrub": {
			{X: xr, Targets: []Target{teach(xr, 0.6)}},
			{X: xf, Targets: []Target{teach(xf, -0.4)}, Whole: true}},
		"bad-teacher": {
			{X: xr, Targets: []Target{CrossEntropy(yr, 2, 0.6), teach(xr, 0.4)}},
			{X: xf, Targets: []Target{teach(xf, 1)}, Whole: true}},
	}
	if len(want.Fits) != len(objectives) {
		t.Fatalf("%d golden fits for %d objectives", len(want.Fits), len(objectives))
	}
	for name, o := range objectives {
		t.Run(name, func(t *testing.T) {
			w := want.Fits[name]
			c := Config{Epochs: len(w.Losses), Optimizer: nn.Adam{LR: w.LR}}
			p, history, err := Fit(context.Background(), r, goldenWeights(7), o, c, Hooks{})
			if err != nil {
				t.Fatal(err)
			}
			for i, h := range history {
				if math.Abs(h.Loss-w.Losses[i]) > 2e-6 {
					t.Errorf("epoch %d: loss %v, PyTorch %v", h.Epoch, h.Loss, w.Losses[i])
				}
			}
			for k := range p {
				for j, v := range p[k].Data {
					if math.Abs(float64(v)-w.Weights[k][j]) > 2e-6 {
						t.Errorf("%s element %d: %v, PyTorch %v", p[k].Name, j, v, w.Weights[k][j])
					}
				}
			}
		})
	}
}
