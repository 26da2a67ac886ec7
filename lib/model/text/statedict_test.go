// Tests of statedict.go.

package text

import (
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/store/safetensors"
)

// published returns a file of weights under Hugging Face's names.
func published(p nn.Params) *safetensors.File { return model.StateDict(tiny, p).File(p) }

// edited returns a file with every tensor changed; false leaves a tensor out.
func edited(f *safetensors.File, change func(t *safetensors.Tensor) bool) *safetensors.File {
	out := &safetensors.File{}
	for _, t := range f.Tensors {
		if change(&t) {
			out.Tensors = append(out.Tensors, t)
		}
	}
	return out
}

func float32s(name string, n int) safetensors.Tensor {
	return safetensors.FromFloat32(name, []int{n}, make([]float32, n))
}

func TestPublishedWeightsAreRead(t *testing.T) {
	p, initial := weights(tiny, 1), weights(tiny, 2)
	table := published(p).Tensors[slices.IndexFunc(published(p).Tensors, func(t safetensors.Tensor) bool { return t.Name == "bert.embeddings.word_embeddings.weight" })]
	tied := table
	tied.Name = "cls.predictions.decoder.weight"

	full := published(p)
	full.Tensors = append(full.Tensors, tied, float32s("bert.pooler.dense.bias", 12), float32s("cls.seq_relationship.bias", 2),
		safetensors.FromInt64("bert.embeddings.position_ids", []int{1, 11}, make([]int64, 11)))
	old := edited(published(p), func(t *safetensors.Tensor) bool {
		if path, ok := strings.CutSuffix(t.Name, "LayerNorm.weight"); ok {
			t.Name = path + "LayerNorm.gamma"
		}
		if path, ok := strings.CutSuffix(t.Name, "LayerNorm.bias"); ok {
			t.Name = path + "LayerNorm.beta"
		}
		if t.Name == "cls.predictions.bias" {
			t.Name = "cls.predictions.decoder.bias"
		}
		return true
	})
	body := edited(published(p), func(t *safetensors.Tensor) bool {
		t.Name = strings.TrimPrefix(t.Name, "bert.")
		return !strings.HasPrefix(t.Name, "cls.")
	})
	body.Tensors = append(body.Tensors, float32s("pooler.dense.bias", 12), float32s("embeddings.position_ids", 11))

	for name, c := range map[string]struct {
		file  *safetensors.File
		head  nn.Params
		notes []string
	}{
		"BertForMaskedLM":    {published(p), p, nil},
		"BertForPreTraining": {full, p, []string{"position_ids", "pooler", "next sentence"}},
		"from TensorFlow":    {old, p, nil},
		"BertModel":          {body, initial, []string{"position_ids", "pooler", "no head for masked language modelling"}},
	} {
		got, notes, err := tiny.ReadWeights(c.file, initial)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		first := len(p) - 5 // of the head
		want := append(p[:first:first], c.head[first:]...)
		if got.Hash() != want.Hash() {
			t.Errorf("%s: other weights", name)
		}
		if len(notes) != len(c.notes) {
			t.Errorf("%s: notes %q, want %q", name, notes, c.notes)
		}
		for k, words := range c.notes {
			if k < len(notes) && !strings.Contains(notes[k], words) {
				t.Errorf("%s: note %q, want %q", name, notes[k], words)
			}
		}
	}
}

func TestWeightsThatDoNotFitAreRefusedByTheirTensors(t *testing.T) {
	p := weights(tiny, 1)
	without := func(words string) *safetensors.File {
		return edited(published(p), func(t *safetensors.Tensor) bool { return !strings.Contains(t.Name, words) })
	}
	more := published(p)
	more.Tensors = append(more.Tensors, float32s("bert.encoder.layer.2.output.dense.bias", 12))
	untied := published(p)
	untied.Tensors = append(untied.Tensors, safetensors.FromFloat32("cls.predictions.decoder.weight", []int{30, 12}, make([]float32, 360)))
	other := edited(published(p), func(t *safetensors.Tensor) bool {
		if t.Name == "bert.embeddings.word_embeddings.weight" {
			*t = safetensors.FromFloat32(t.Name, []int{31, 12}, make([]float32, 31*12))
		}
		return true
	})
	for words, f := range map[string]*safetensors.File{
		"bert.encoder.layer.1.attention.self.value.bias [12] is missing":               without("layer.1.attention.self.value.bias"),
		"cls.predictions.transform.dense.bias [12] is missing":                         without("transform.dense.bias"),
		"bert.encoder.layer.2.output.dense.bias [12] is not a tensor of the network":   more,
		"cls.predictions.decoder.weight is not equal to bert.embeddings.word":          untied,
		"bert.embeddings.word_embeddings.weight has shape [31 12], the network's is [": other,
		"bert.embeddings.word_embeddings.weight [30 12] is missing":                    {},
	} {
		if got, _, err := tiny.ReadWeights(f, p); err == nil || got != nil || !strings.Contains(err.Error(), words) || !strings.Contains(err.Error(), "bert of 2 layers") {
			t.Errorf("error %v, want %q", err, words)
		}
	}
}
