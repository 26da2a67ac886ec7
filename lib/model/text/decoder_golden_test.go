// Comparison with Hugging Face's GPT2LMHeadModel.

package text

import (
	"math"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/modeltest"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
)

var goldenDecoder = Decoder{Tokens: 12, Layers: 2, Width: 64, Heads: 4, Vocabulary: 100, Positions: 16}

// goldenDecoderWeights are those of golden_gpt2.py.
func goldenDecoderWeights() nn.Params {
	p := weights(goldenDecoder, 1)
	for i, v := range p {
		for k := range v.Data {
			x := float64(k)
			y := 0.2 * math.Sin(0.7*x+0.0013*x*x/float64(len(v.Data))+1.3*float64(i)+0.5)
			if strings.HasSuffix(v.Name, "norm.weight") {
				y++
			}
			v.Data[k] = float32(y)
		}
	}
	return p
}

// goldenPassages are those of golden_gpt2.py.
func goldenPassages(t *testing.T) array.Matrix[float32] {
	t.Helper()
	lengths, given := []int{12, 7, 10}, []int{0, 3, 6}
	var all []Passage
	for r, n := range lengths {
		tokens := make([]int, n)
		for k := range tokens {
			tokens[k] = (17*k + 31*r + 3*k*k) % 100
		}
		all = append(all, Passage{tokens[:given[r]], tokens[given[r]:]})
	}
	x, err := goldenDecoder.Records(all)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// Outputs, loss and gradients by all weights are those of Hugging Face's GPT2LMHeadModel, whose keys
// have a bias there and whose padding is masked.
func TestDecoderIsHuggingFaces(t *testing.T) {
	want := readGolden(t, "testdata/decoder.json")
	r, p, x := modeltest.OpenRunner(t, goldenDecoder), goldenDecoderWeights(), goldenPassages(t)
	in, err := goldenDecoder.NextInputs(x)
	if err != nil {
		t.Fatal(err)
	}
	pred := predict(t, r, p, x)
	near := func(what string, got float32, want, tolerance float64) {
		t.Helper()
		if !(math.Abs(float64(got)-want) <= tolerance) {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	for i, row := range want.Embedding {
		for k, v := range row {
			near("an entry of the embedding", pred.Embedding.Row(i)[8*k], v, 1e-5)
		}
	}
	k := 0
	for i := range x.Rows {
		for pos, w := range in[loss.NextWeights].Row(i) {
			if w == 0 {
				continue
			}
			for c, v := range want.Logits[k] {
				near("a logit", pred.Outputs[loss.NextLogits].Row(i)[9*c*11+pos], v, 1e-5)
			}
			k++
		}
	}
	if k != len(want.Logits) || k != 11+4+4 {
		t.Fatalf("%d positions, the file has %d", k, len(want.Logits))
	}
	mean, grads := newStep(t, r, x, in).gradient(p, nil)
	near("the loss", float32(mean), want.Loss, 2e-6)
	compareGradients(t, p, grads, want)
}

// The names and shapes of the state_dict are those that golden_gpt2.py printed.
func TestNamesAreGPT2s(t *testing.T) {
	d := model.StateDict(goldenDecoder, goldenDecoderWeights())
	shapes := map[string][]int{}
	for _, s := range d {
		shapes[s.Name] = s.Shape
	}
	for name, want := range map[string][]int{
		"transformer.wte.weight": {100, 64}, "transformer.wpe.weight": {16, 64},
		"transformer.h.0.ln_1.weight": {64}, "transformer.h.1.ln_1.bias": {64},
		"transformer.h.0.attn.c_attn.weight": {64, 192}, "transformer.h.1.attn.c_attn.bias": {192},
		"transformer.h.0.attn.c_proj.weight": {64, 64}, "transformer.h.0.attn.c_proj.bias": {64},
		"transformer.h.0.ln_2.weight": {64}, "transformer.h.0.ln_2.bias": {64},
		"transformer.h.1.mlp.c_fc.weight": {64, 256}, "transformer.h.1.mlp.c_fc.bias": {256},
		"transformer.h.0.mlp.c_proj.weight": {256, 64}, "transformer.h.0.mlp.c_proj.bias": {64},
		"transformer.ln_f.weight": {64}, "transformer.ln_f.bias": {64},
	} {
		if got := shapes[name]; len(got) != len(want) || got[0] != want[0] || got[len(got)-1] != want[len(want)-1] {
			t.Errorf("%s has shape %v, want %v", name, got, want)
		}
	}
	if want := 2 + 2*12 + 2; len(d) != want {
		t.Errorf("%d tensors, Hugging Face has %d without the tied one", len(d), want)
	}
}
