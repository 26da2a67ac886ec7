// Tests of statedict_decoder.go.

package text

import (
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/store/safetensors"
)

func publishedGPT2(p nn.Params) *safetensors.File { return model.StateDict(small, p).File(p) }

// tensor returns a tensor of a file.
func tensor(t *testing.T, f *safetensors.File, name string) []float32 {
	t.Helper()
	for _, s := range f.Tensors {
		if s.Name == name {
			data, err := s.Float32s()
			if err != nil {
				t.Fatal(err)
			}
			return data
		}
	}
	t.Fatalf("there is no %s", name)
	return nil
}

// Hugging Face's Conv1D has weights in x out; queries, keys and values stand side by side in it.
func TestConv1DHasWeightsInTimesOut(t *testing.T) {
	p := weights(small, 1)
	byName := map[string][]float32{}
	for _, v := range p {
		byName[v.Name] = v.Data
	}
	f := publishedGPT2(p)
	all, biases := tensor(t, f, "transformer.h.1.attn.c_attn.weight"), tensor(t, f, "transformer.h.1.attn.c_attn.bias")
	for part, name := range []string{"query", "key", "value"} {
		for in := range 12 {
			for out := range 12 {
				if got, want := all[in*36+12*part+out], byName["layer2.attention."+name+".weight"][out*12+in]; got != want {
					t.Fatalf("%s, from %d to %d: %v, want %v", name, in, out, got, want)
				}
			}
			var want float32 // keys have none
			if b := byName["layer2.attention."+name+".bias"]; b != nil {
				want = b[in]
			}
			if biases[12*part+in] != want {
				t.Errorf("bias %d of %s is %v, want %v", in, name, biases[12*part+in], want)
			}
		}
	}
	up := tensor(t, f, "transformer.h.0.mlp.c_fc.weight")
	for in := range 12 {
		for out := range 20 {
			if up[in*20+out] != byName["layer1.ffn.up.weight"][out*12+in] {
				t.Fatalf("c_fc from %d to %d is %v", in, out, up[in*20+out])
			}
		}
	}
}

func TestPublishedGPT2IsRead(t *testing.T) {
	p := weights(small, 1)
	p[5].Data[0] = 3 // a query's bias
	head := safetensors.FromFloat32("lm_head.weight", []int{30, 12}, tensor(t, publishedGPT2(p), "transformer.wte.weight"))
	full := publishedGPT2(p)
	full.Tensors = append(full.Tensors, head)
	bare := edited(publishedGPT2(p), func(t *safetensors.Tensor) bool {
		t.Name = strings.TrimPrefix(t.Name, "transformer.")
		if strings.HasSuffix(t.Name, "c_attn.bias") { // a key's bias, which is left out
			data, _ := t.Float32s()
			data[14] = 7
			*t = safetensors.FromFloat32(t.Name, t.Shape, data)
		}
		return true
	})
	bare.Tensors = append(bare.Tensors, float32s("h.0.attn.bias", 4), float32s("h.1.attn.masked_bias", 1))
	for name, c := range map[string]struct {
		file  *safetensors.File
		notes int
	}{"save_pretrained": {publishedGPT2(p), 0}, "with its tied head": {full, 0}, "GPT2Model with buffers": {bare, 1}} {
		got, notes, err := small.ReadWeights(c.file, weights(small, 2))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got.Hash() != p.Hash() || len(notes) != c.notes {
			t.Errorf("%s: other weights, or notes %q", name, notes)
		}
	}
}

func TestAGPT2ThatDoesNotFitIsRefusedByItsTensors(t *testing.T) {
	p := weights(small, 1)
	without := func(words string) *safetensors.File {
		return edited(publishedGPT2(p), func(t *safetensors.Tensor) bool { return !strings.Contains(t.Name, words) })
	}
	more, untied := publishedGPT2(p), publishedGPT2(p)
	more.Tensors = append(more.Tensors, float32s("transformer.h.2.ln_1.weight", 12))
	untied.Tensors = append(untied.Tensors, safetensors.FromFloat32("lm_head.weight", []int{30, 12}, make([]float32, 360)))
	turned := edited(publishedGPT2(p), func(t *safetensors.Tensor) bool {
		if strings.HasSuffix(t.Name, "h.0.mlp.c_fc.weight") {
			t.Shape = []int{20, 12}
		}
		return true
	})
	for words, f := range map[string]*safetensors.File{
		"transformer.h.1.attn.c_attn.bias [36] is missing":                      without("h.1.attn.c_attn.bias"),
		"transformer.h.2.ln_1.weight [12] is not a tensor of the network":       more,
		"lm_head.weight is not equal to transformer.wte.weight":                 untied,
		"transformer.h.0.mlp.c_fc.weight has shape [20 12], the network's is [": turned,
		"transformer.wte.weight [30 12] is missing":                             {},
	} {
		if got, _, err := small.ReadWeights(f, p); err == nil || got != nil || !strings.Contains(err.Error(), words) || !strings.Contains(err.Error(), "gpt-2 of 2 layers") {
			t.Errorf("error %v, want %q", err, words)
		}
	}
}
