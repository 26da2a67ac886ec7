// Comparison with PyTorch.

package unlearn_test

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/modeltest"
	"github.com/lethe-ml/lethe/lib/model/tabular"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// goldenRequest repeats the formulas of testdata/golden_torch.py.
func goldenRequest(t *testing.T) unlearn.Request {
	t.Helper()
	arch := tabular.MLP{Features: 3, Outputs: 3, Hidden: 4, Dropout: new(0.0)}
	r := unlearn.Request{Runner: modeltest.OpenRunner(t, arch), Seed: 100, Fit: train.Config{Epochs: 5}}
	weights := func(offset int) nn.Params {
		p := model.InitialWeights(arch, engine.Root(0).Stream(engine.StreamInit))
		for k := range p {
			for i := range p[k].Data {
				p[k].Data[i] = float32((i*i*13+i*29+k*53+offset)%97-42) / 64
			}
		}
		return p
	}
	data := func(first, n int) unlearn.Data {
		d := unlearn.Data{X: array.New[float32](n, 3)}
		for k := range n {
			i := first + k
			for j := range 3 {
				d.X.Row(k)[j] = float32((i*31+j*17+5)%61-30) / 16
			}
			d.Y, d.IDs = append(d.Y, (i/2+i%3)%3), append(d.IDs, i)
		}
		return d
	}
	r.Original, r.Earlier = weights(7), &unlearn.Checkpoint{Params: weights(23), Epoch: 4}
	r.Retain, r.Forget = data(0, 10), data(10, 4)
	return r
}

// testdata/torch.json was made by testdata/golden_torch.py with PyTorch 2.15.0
// in float64: torch.optim.SGD on the methods' losses, three epochs, dropout off.
func TestMethodsAgreeWithPyTorch(t *testing.T) {
	b, err := os.ReadFile("testdata/torch.json")
	if err != nil {
		t.Fatal(err)
	}
	var golden struct {
		Methods map[string]struct {
			Losses  []float64
			Weights [][]float64
		}
	}
	if err := json.Unmarshal(b, &golden); err != nil {
		t.Fatal(err)
	}
	methods := map[string]unlearn.Method{
		"random-label":          unlearn.RandomLabel{Epochs: 3},
		"random-label together": unlearn.RandomLabel{Epochs: 3, SinglePass: true},
		"salun":                 unlearn.SalUn{Epochs: 3},
		"salun restored":        unlearn.SalUn{Epochs: 3, Restore: true},
		"l1-sparsity":           unlearn.L1Sparsity{Epochs: 3},
		"fine-tuning":           unlearn.FineTuning{Epochs: 3, SGD: &unlearn.Descent{}},
		"gradient-ascent":       unlearn.GradientAscent{Epochs: 3, SGD: &unlearn.Descent{}},
		"unroll":                unlearn.Unroll{},
		"unroll 50 times":       unlearn.Unroll{Times: 50},
	}
	if len(methods) != len(golden.Methods) {
		t.Fatalf("%d methods, %d in the golden file", len(methods), len(golden.Methods))
	}
	for name, m := range methods {
		t.Run(name, func(t *testing.T) {
			want := golden.Methods[name]
			p, rep, err := unlearn.Apply(context.Background(), m, goldenRequest(t))
			if err != nil {
				t.Fatal(err)
			}
			if len(rep.History) != len(want.Losses) {
				t.Fatalf("%d epochs, PyTorch has %d", len(rep.History), len(want.Losses))
			}
			for i, h := range rep.History {
				if math.Abs(h.Loss-want.Losses[i]) > 1e-6 {
					t.Errorf("epoch %d: loss %v, PyTorch %v", h.Epoch, h.Loss, want.Losses[i])
				}
			}
			for k := range p {
				for j, v := range p[k].Data {
					if math.Abs(float64(v)-want.Weights[k][j]) > 1e-6 {
						t.Errorf("%s element %d: %v, PyTorch %v", p[k].Name, j, v, want.Weights[k][j])
					}
				}
			}
		})
	}
}
