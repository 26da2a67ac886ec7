// Comparison with Hugging Face's BertForMaskedLM.

package text

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/modeltest"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
)

// golden is testdata/bert.json or testdata/minilm.json, which testdata/golden.py makes, or
// testdata/decoder.json, which testdata/golden_gpt2.py makes.
type golden struct {
	CLS         [][]float64 `json:"cls"`       // BERT's embedding, per record, every 8th number
	Embedding   [][]float64 `json:"embedding"` // the decoder's
	Logits      [][]float64 `json:"logits"`    // per position that is predicted, every 9th token
	Loss        float64     `json:"loss"`      // the mean over records of the mean over positions
	Norms       []float64   `json:"gradient norms"`
	Projections []float64   `json:"gradient projections"` // products with sin(1.1 k + 0.3)
}

func readGolden(t *testing.T, path string) (out golden) {
	t.Helper()
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(file, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

var goldenBERT = BERT{Tokens: 12, Predicted: 3, Layers: 2, Width: 128, Heads: 4, Hidden: 256, Vocabulary: 100, Positions: 16}

// goldenWeights are those of golden.py.
func goldenWeights() nn.Params {
	p := weights(goldenBERT, 1)
	fillGolden(p, 0)
	return p
}

// fillGolden sets the weights from one on to those of golden.py.
func fillGolden(p nn.Params, from int) {
	for i, v := range p {
		if i < from {
			continue
		}
		gain := v.Name == "norm.weight" || len(v.Name) > 12 && v.Name[len(v.Name)-12:] == ".norm.weight"
		for k := range v.Data {
			x := float64(k)
			y := 0.12 * math.Sin(0.7*x+0.0013*x*x/float64(len(v.Data))+1.3*float64(i)+0.5)
			if gain {
				y++
			}
			v.Data[k] = float32(y)
		}
	}
}

// goldenRecords are those of golden.py for a network, and the inputs of the loss: tokens from first on,
// and those that begin and end a record.
func goldenRecords(t *testing.T, m BERT, first, begin, end int) (array.Matrix[float32], map[string]array.Matrix[float32]) {
	t.Helper()
	m = defaults.Fill(m)
	lengths, positions := []int{12, 7, 10}, [][]int{{2, 5, 9}, {1, 4}, {3, 8}}
	var windows [][]int
	for r, n := range lengths {
		tokens := make([]int, n)
		for k := range tokens {
			tokens[k] = first + (17*k+31*r+3*k*k)%(m.Vocabulary-first)
		}
		tokens[0], tokens[n-1] = begin, end
		windows = append(windows, tokens)
	}
	x, err := m.Records(windows)
	if err != nil {
		t.Fatal(err)
	}
	in := map[string]array.Matrix[float32]{loss.MaskedTokens: array.New[float32](3, 3), loss.MaskedWeights: array.New[float32](3, 3)}
	for r, all := range positions {
		for p, k := range all {
			x.Row(r)[12+p] = float32(k)
			in[loss.MaskedTokens].Row(r)[p] = float32((7*r + 11*k + 13) % m.Vocabulary)
			in[loss.MaskedWeights].Row(r)[p] = 1 / float32(len(all))
		}
	}
	return x, in
}

// Outputs, loss and gradients by all weights, with padding, are those of Hugging Face's
// BertForMaskedLM, whose keys have a bias there.
func TestBERTIsHuggingFaces(t *testing.T) {
	x, in := goldenRecords(t, goldenBERT, 5, clsToken, sepToken)
	compareBERT(t, goldenBERT, goldenWeights(), x, in, 9, readGolden(t, "testdata/bert.json"))
}

// compareBERT compares embeddings, the scores of every step-th token, loss and gradients.
func compareBERT(t *testing.T, m BERT, p nn.Params, x array.Matrix[float32], in map[string]array.Matrix[float32], step int, want golden) {
	t.Helper()
	r := modeltest.OpenRunner(t, m)
	pred, err := r.Predict(p, x)
	if err != nil {
		t.Fatal(err)
	}
	compare := func(what string, got, want, tolerance float64) {
		t.Helper()
		if !(math.Abs(got-want) <= tolerance) {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	for i, row := range want.CLS {
		for k, v := range row {
			compare("an entry of the embedding", float64(pred.Embedding.Row(i)[8*k]), v, 1e-5)
		}
	}
	k := 0
	for i := range x.Rows {
		for pos, w := range in[loss.MaskedWeights].Row(i) {
			if w == 0 {
				continue
			}
			for c, v := range want.Logits[k] {
				compare("a logit", float64(pred.Outputs[loss.MaskedLogits].Row(i)[step*c*3+pos]), v, 1e-5)
			}
			k++
		}
	}
	if k != len(want.Logits) {
		t.Fatalf("%d positions, the file has %d", k, len(want.Logits))
	}
	mean, grads := newStep(t, r, x, in).gradient(p, nil)
	compare("the loss", mean, want.Loss, 2e-6)
	compareGradients(t, p, grads, want)
}

// compareGradients compares the norm of every weight's gradient and its product with a wave.
func compareGradients(t *testing.T, p nn.Params, grads [][]float64, want golden) {
	t.Helper()
	if len(want.Norms) != len(p) || len(want.Projections) != len(p) {
		t.Fatalf("%d weights, the file has %d and %d", len(p), len(want.Norms), len(want.Projections))
	}
	for i, g := range grads {
		var norm, projection float64
		for k, v := range g {
			norm += v * v
			projection += v * math.Sin(1.1*float64(k)+0.3)
		}
		scale := want.Norms[i] + 2e-3 // small gradients are differences of larger numbers
		if got := math.Sqrt(norm); !(math.Abs(got-want.Norms[i]) <= 2e-5*scale) {
			t.Errorf("the gradient's norm of %s is %v, want %v", p[i].Name, got, want.Norms[i])
		}
		if !(math.Abs(projection-want.Projections[i]) <= 1e-4*scale) {
			t.Errorf("the gradient's projection of %s is %v, want %v", p[i].Name, projection, want.Projections[i])
		}
	}
}

// The names and shapes of the state_dict are those that golden.py printed.
func TestNamesAreHuggingFaces(t *testing.T) {
	d := model.StateDict(goldenBERT, goldenWeights())
	names := map[string][]int{}
	for _, s := range d {
		names[s.Name] = s.Shape
	}
	for name, shape := range map[string]int{
		"bert.embeddings.word_embeddings.weight": 100 * 128, "bert.embeddings.position_embeddings.weight": 16 * 128,
		"bert.embeddings.token_type_embeddings.weight": 2 * 128, "bert.embeddings.LayerNorm.weight": 128, "bert.embeddings.LayerNorm.bias": 128,
		"bert.encoder.layer.1.attention.self.query.weight": 128 * 128, "bert.encoder.layer.1.attention.self.key.bias": 128,
		"bert.encoder.layer.0.attention.output.dense.weight": 128 * 128, "bert.encoder.layer.0.attention.output.LayerNorm.bias": 128,
		"bert.encoder.layer.1.intermediate.dense.weight": 256 * 128, "bert.encoder.layer.1.output.dense.bias": 128, "bert.encoder.layer.1.output.LayerNorm.weight": 128,
		"cls.predictions.bias": 100, "cls.predictions.transform.dense.weight": 128 * 128, "cls.predictions.transform.LayerNorm.bias": 128,
	} {
		size := 1
		for _, s := range names[name] {
			size *= s
		}
		if names[name] == nil || size != shape {
			t.Errorf("%s has shape %v", name, names[name])
		}
	}
	if want := 5 + 2*16 + 5; len(d) != want {
		t.Errorf("%d tensors, Hugging Face has %d without the tied ones", len(d), want)
	}
}
