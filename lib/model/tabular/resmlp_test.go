package tabular

import (
	"fmt"
	"math"
	"testing"

	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/modeltest"
)

// Golden values: torch 2.15.0, functional linear, layer_norm and relu in float32,
// gradients by autograd.
func TestResMLPIsPyTorchs(t *testing.T) {
	checkGolden(t, ResMLP{Features: 3, Outputs: 2, Width: 8}, golden{
		logits: []float64{
			-0.5396349, 0.4648138, -0.5899223, 0.4279332, -0.5489329, 0.4694794, -0.5830313, 0.4228869,
		},
		embedding: []float64{
			0.8204775, 1.227538, 0.9443613, 0, 0, 0, 0, 0,
		},
		loss: 0.8127353,
		norms: []float64{
			0.01004526, 0.02033781, 0.01562452, 0.03571507, 0.01786014, 0.009720904, 0.05920664, 0.007983508,
			0.0221848, 0.02293937, 0.00950994, 0.007129846, 0.01560882, 0.008026792, 0.1511885, 0.1780621,
			0.5739981, 0.3299964,
		},
	})
}

func TestResMLPsDefaultsAreItsDocuments(t *testing.T) {
	m := ResMLP{Features: 3, Outputs: 2}
	if masks := model.RandomInputs(m); fmt.Sprint(masks) != "[{dropout1 0 256 0.2} {dropout2 0 256 0.2}]" {
		t.Errorf("masks %v", masks)
	}
	const block = 2*128 + 2*128*256 + 256 + 128
	if got, want := weights(m, 1).Size(), 4*128+2*block+2*128+2*128+2; got != want {
		t.Errorf("%d weights, want %d", got, want)
	}
	if masks := model.RandomInputs((ResMLP{Features: 3, Outputs: 2, Dropout: new(0.0)})); masks[0].Rate != 0 {
		t.Errorf("switched off: %v", masks)
	}
}

// The scale of what a normalisation takes in does not matter, but for epsilon:
// at 1e-3 the same network gives another answer.
func TestEpsilonIsAnOptionThatMatters(t *testing.T) {
	x, _ := toy(4, 3)
	for i := range x.Data {
		x.Data[i] *= 1e-2
	}
	logits := func(eps float64) float64 {
		m := ResMLP{Features: 3, Outputs: 2, Width: 8, Eps: eps}
		p := weights(m, 1)
		clear(p[1].Data) // so that the first norm sees small numbers only
		pred, err := modeltest.OpenRunner(t, m).Predict(p, x)
		if err != nil {
			t.Fatal(err)
		}
		return float64(pred.Logits().Data[0])
	}
	def, pytorch, gomlx := logits(0), logits(1e-5), logits(1e-3)
	if def != pytorch {
		t.Errorf("the default gives %v, 1e-5 gives %v", def, pytorch)
	}
	if math.Abs(pytorch-gomlx) < 1e-3 {
		t.Errorf("1e-5 gives %v, 1e-3 gives %v", pytorch, gomlx)
	}
}
