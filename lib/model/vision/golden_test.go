// Comparison with PyTorch.

package vision

import (
	"context"
	_ "embed"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/train"
)

// torch.json was written by testdata/golden_torch.py with torch 2.15.0.
//
//go:embed testdata/torch.json
var torchJSON []byte

type golden struct {
	Before  []float64            `json:"before"`
	Losses  []float64            `json:"losses"`
	Tensors map[string][]float64 `json:"tensors"`
	After   []float64            `json:"after"`
}

// wave is a sine of the place, as in golden_torch.py.
func wave(n int, phase, step float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = math.Sin(float64(step*float64(i)) + phase)
	}
	return out
}

// waveWeights fills the architecture's tensors as golden_torch.py does.
func waveWeights(arch model.Architecture) nn.Params {
	p := weights(arch, 1)
	for i, v := range p {
		w := wave(len(v.Data), float64(i), 1.7)
		for j := range w {
			switch {
			case len(v.Shape) > 1:
				w[j] /= math.Sqrt(float64(len(v.Data) / v.Shape[0]))
			case strings.HasSuffix(v.Name, ".running_var"), strings.HasSuffix(v.Name, ".weight") && strings.Contains(v.Name, "bn"):
				w[j] = 1 + 0.3*w[j]
			default:
				w[j] *= 0.2
			}
			v.Data[j] = float32(w[j])
		}
	}
	return p
}

func TestForwardPassAndTrainingStepsArePyTorchs(t *testing.T) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(torchJSON, &all); err != nil {
		t.Fatal(err)
	}
	for name, arch := range map[string]model.Architecture{
		"small":      SmallCNN{Side: 16, Width: 4, Hidden: 9},
		"small norm": SmallCNN{Side: 16, Width: 4, Hidden: 9, Norm: true},
		"all":        AllCNN{Side: 16, Width: 6},
		"all plain":  AllCNN{Side: 16, Width: 6, Plain: true},
		"resnet":     ResNet18{Side: 16, Width: 4},
	} {
		t.Run(name, func(t *testing.T) {
			var want golden
			if err := json.Unmarshal(all[name], &want); err != nil {
				t.Fatal(err)
			}
			const rows = 20
			x, y := array.New[float32](rows, arch.Inputs()), make([]int, rows)
			for i := range x.Data {
				place := float64(i)
				x.Data[i] = float32(math.Sin(float64(float64(0.008*place)*place) + 0.5))
			}
			for i := range y {
				y[i] = i * 7 % 10
			}
			r, p := openRunner(t, arch), waveWeights(arch)
			nearLogits(t, "before", r, p, x, want.Before)
			o := train.Objective{{X: x, Targets: []train.Target{train.CrossEntropy(y, 10, 1)}}}
			c := train.Config{Epochs: 2, Optimizer: nn.SGD{LR: 0.01, Momentum: 0.9, WeightDecay: 5e-4}}
			p, history, err := train.Fit(context.Background(), r, p, o, c, train.Hooks{})
			if err != nil {
				t.Fatal(err)
			}
			for i, h := range history {
				checkClose(t, "loss", h.Loss, want.Losses[i])
			}
			if len(p) != len(want.Tensors) {
				t.Errorf("%d tensors, want %d", len(p), len(want.Tensors))
			}
			for _, v := range p {
				step := max(1, len(v.Data)/12)
				for k, w := range want.Tensors[v.Name] {
					checkClose(t, v.Name, float64(v.Data[k*step]), w)
				}
			}
			nearLogits(t, "after", r, p, x, want.After)
		})
	}
}

func nearLogits(t *testing.T, what string, r *model.Runner, p nn.Params, x array.Matrix[float32], want []float64) {
	t.Helper()
	pred, err := r.Predict(p, x)
	if err != nil {
		t.Fatal(err)
	}
	for i, w := range want {
		checkClose(t, what, float64(pred.Logits().Data[i]), w)
	}
}

func checkClose(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-4*(1+math.Abs(want))) {
		t.Errorf("%s: %v, PyTorch has %v", what, got, want)
	}
}
