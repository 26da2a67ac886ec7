package text

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/model/modeltest"
	"github.com/lethe-ml/lethe/lib/nn/loss"
)

// The activations are those of the decoder's layer at a token's own position, the other outputs are
// the decoder's, and so are the weights.
func TestActivationsAreThoseOfTheLayer(t *testing.T) {
	m, p, x := goldenDecoder, goldenDecoderWeights(), goldenPassages(t)
	plain := modeltest.OpenRunner(t, m)
	want, err := plain.PredictLayers(p, x)
	if err != nil {
		t.Fatal(err)
	}
	scores, err := plain.PredictOutputs(p, x, loss.NextLogits)
	if err != nil {
		t.Fatal(err)
	}
	for layer := 1; layer <= 2; layer++ {
		shows, width, err := m.WithActivations(layer)
		if err != nil || width != 64 {
			t.Fatal(width, err)
		}
		got, err := modeltest.OpenRunner(t, shows).PredictOutputs(p, x, loss.TokenActivations, loss.NextLogits)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range got.Outputs[loss.NextLogits].Data {
			if v != scores.Outputs[loss.NextLogits].Data[i] {
				t.Fatalf("layer %d: score %d is %v, the decoder's %v", layer, i, v, scores.Outputs[loss.NextLogits].Data[i])
			}
		}
		// A layer of the decoder is that of the token before the last one that counts.
		places := len(x.Row(0)) - 12
		for i := range x.Rows {
			last := 0
			for k, at := range x.Row(i)[12:] {
				if at > 0 {
					last = k
				}
			}
			for c := range width {
				a := got.Outputs[loss.TokenActivations].Row(i)[c*places+last-1]
				b := want.Layers[fmt.Sprintf("layer%d", layer)].Row(i)[c]
				if math.Abs(float64(a-b)) > 1e-5 {
					t.Fatalf("layer %d, record %d, channel %d: %v, the decoder's %v", layer, i, c, a, b)
				}
			}
		}
	}
	for layer, words := range map[int]string{3: "layers 1 to 2", -1: "layers 1 to 2"} {
		if _, _, err := m.WithActivations(layer); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("layer %d: %v", layer, err)
		}
	}
}
