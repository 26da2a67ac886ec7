// Comparison with PyTorch.

package ib

import (
	_ "embed"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
)

// torch.json was written by testdata/golden_torch.py with torch 2.15.0 in float64;
// its transformers are made of nn.TransformerEncoderLayer with norm_first.
//
//go:embed testdata/torch.json
var torchJSON []byte

type golden struct {
	Mean, LogVar, Logits []float64 // inference
	Loss                 float64   // training
	Drawn                []float64 // logits in training
	Tensors              [][]float64
}

var goldens = map[string]Bottleneck{
	"program": {Features: 768, Outputs: 4, Latent: 27, Compressor: ResNet{Width: 4}, Approximator: ResNet{Width: 4}},
	"standard": {Features: 768, Outputs: 4, Latent: 27,
		Compressor: ResNet{Width: 4, Standard: true}, Approximator: ResNet{Width: 4, Standard: true}},
	"hybrid": {Features: 49, Outputs: 4, Latent: 9, Compressor: ResNet{Channels: 1, Width: 4},
		Approximator: ViT{Channels: 1, Width: 8, Heads: 2, Hidden: 12, Blocks: 2}},
	"transformers": {Features: 72, Outputs: 4, Latent: 8, Compressor: ViT{Channels: 2, Patch: 3, Width: 8, Heads: 2, Hidden: 12, Blocks: 3},
		Approximator: ViT{Channels: 2, Patch: 2, Width: 8, Heads: 4, Hidden: 6, Blocks: 1}},
}

// wave is sin(pace k^2 + phase).
func wave(k int, pace, phase float64) float64 {
	return math.Sin(float64(pace*float64(k*k)) + phase)
}

func waved(rows, cols int, pace, phase float64) array.Matrix[float32] {
	m := array.New[float32](rows, cols)
	for k := range m.Data {
		m.Data[k] = float32(wave(k, pace, phase))
	}
	return m
}

// planted fills the tensors as golden_torch.py does.
func planted(m Bottleneck) nn.Params {
	p := model.InitialWeights(m, engine.Root(1).Stream(engine.StreamInit))
	for i, v := range p {
		for k := range v.Data {
			w := wave(k, 0.37, float64(i))
			switch {
			case len(v.Shape) > 1:
				w /= math.Sqrt(float64(len(v.Data) / v.Shape[0]))
			case strings.HasSuffix(v.Name, ".running_var"), strings.HasSuffix(v.Name, ".weight"):
				w = 1 + float64(0.3*w)
			default:
				w *= 0.2
			}
			v.Data[k] = float32(w)
		}
	}
	return p
}

func TestBottlenecksForImagesArePyTorchs(t *testing.T) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(torchJSON, &all); err != nil {
		t.Fatal(err)
	}
	for name, m := range goldens {
		t.Run(name, func(t *testing.T) {
			var want golden
			if err := json.Unmarshal(all[name], &want); err != nil {
				t.Fatal(err)
			}
			const rows = 16
			p := planted(m)
			x, eps := waved(rows, m.Features, 0.011, 0.5), waved(rows, m.Latent, 2.1, 0.2)
			pred, err := runner(t, m).Predict(p, x)
			if err != nil {
				t.Fatal(err)
			}
			torchs(t, "means", some(pred.Outputs[loss.LatentMean].Data), want.Mean, 1e-5)
			torchs(t, "log variances", some(pred.Outputs[loss.LatentLogVar].Data), want.LogVar, 1e-5)
			torchs(t, "logits", some(pred.Logits().Data), want.Logits, 1e-5)

			labels := loss.Labels([]int{0, 3, 2, 1, 0, 3, 2, 1, 0, 3, 2, 1, 0, 3, 2, 1}, 4)
			value, got := newStep(t, engineOf(t), m, false).evaluate(p, x, eps, labels)
			torchs(t, "loss", []float32{value}, []float64{want.Loss}, 1e-5)
			drawn := make([]float32, 4*rows)
			for i, v := range got[len(p)] { // [4, rows]
				drawn[i%rows*4+i/rows] = v
			}
			torchs(t, "logits in training", drawn, want.Drawn, 5e-4)
			if len(p) != len(want.Tensors) {
				t.Fatalf("%d tensors, PyTorch has %d", len(p), len(want.Tensors))
			}
			for i, v := range p {
				about := got[i]
				if v.State {
					nn.UpdateRunning(v.Data, about)
					about = v.Data
				}
				torchs(t, v.Name, some(about), want.Tensors[i], 1e-3)
			}
		})
	}
}

// some are a dozen values or a few more, evenly spaced.
func some(all []float32) (out []float32) {
	for k := 0; k < len(all); k += max(1, len(all)/12) {
		out = append(out, all[k])
	}
	return out
}

// torchs compares with a tolerance relative to the largest value; in training 36
// normalisations one behind another scale float32's noise up.
func torchs(t *testing.T, what string, got []float32, want []float64, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d values, PyTorch has %d", what, len(got), len(want))
		return
	}
	scale, worst := 0.0, 0.0
	for i, w := range want {
		scale, worst = max(scale, math.Abs(w)), max(worst, math.Abs(float64(got[i])-w))
	}
	if !(worst <= tolerance*scale) {
		t.Errorf("%s: %v apart of %v", what, worst, scale)
	}
}

// The numbers that torch counts in the same networks, over all weights.
func TestTheDefaultsHaveTheWeightsOfTheProgram(t *testing.T) {
	for _, c := range []struct {
		half    SubNetwork
		in, out int
		want    int
	}{
		{ResNet{}, 3072, 294, 5747558}, {ResNet{}, 147, 10, 5601866},
		{ResNet{Standard: true}, 3072, 294, 11319654}, {ResNet{Standard: true}, 147, 10, 11173962},
		{ViT{}, 147, 10, 137866}, {MLP{}, 784, 98, 84866}, {MLP{}, 49, 10, 5770},
	} {
		if got := halfWeights(c.half, c.in, c.out).Size(); got != c.want {
			t.Errorf("%+v from %d to %d has %d weights, torch's %d", c.half, c.in, c.out, got, c.want)
		}
	}
	m := Bottleneck{Features: 3072, Latent: 147, Compressor: ResNet{}, Approximator: ResNet{}}
	if err := m.Check(); err != nil || m.Name() != "bottleneck-resnet-resnet" || !m.UsesBatchStats() || m.MaxBatch() != 32 {
		t.Errorf("%s: %v", m.Name(), err)
	}
}
