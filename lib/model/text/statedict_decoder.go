// Hugging Face's names of GPT-2's weights, and the reading of published weights.

package text

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/store/safetensors"
)

const decoderPrefix = "transformer."

// NameStateDict implements model.StateDictNamer, for GPT2LMHeadModel of Hugging Face's transformers
// (5.24.0), whose dense layers store their weights in x out, without the tied tensor
// lm_head.weight, which its files leave out too.
func (m Decoder) NameStateDict(d *nn.StateDict) {
	d.Module("token", decoderPrefix+"wte")
	d.Module("position", decoderPrefix+"wpe")
	for l := range defaults.Fill(m).Layers {
		ours, theirs := layerName(l), fmt.Sprintf("%sh.%d.", decoderPrefix, l)
		d.Module(ours+"attention.norm", theirs+"ln_1")
		d.MultiHeadConv1D(ours+"attention", theirs+"attn", "c_attn", "c_proj")
		d.Module(ours+"ffn.norm", theirs+"ln_2")
		d.Conv1D(ours+"ffn.up", theirs+"mlp.c_fc")
		d.Conv1D(ours+"ffn.down", theirs+"mlp.c_proj")
	}
	d.Module("norm", decoderPrefix+"ln_f")
}

// ReadWeights reads the weights from a safetensors file of Hugging Face's GPT2LMHeadModel or
// GPT2Model, such as the published ones. like are weights of the network: they give names and
// shapes.
//
// notes says what of the file is not used: buffers with the causal mask. Any other tensor that is
// missing, unknown or of another shape is an error, which lists the first.
func (m Decoder) ReadWeights(f *safetensors.File, like nn.Params) (p nn.Params, notes []string, err error) {
	r := &reading{tensors: slices.Clone(f.Tensors)}
	bare := slices.ContainsFunc(r.tensors, func(t safetensors.Tensor) bool { return t.Name == "wte.weight" })
	for i, t := range r.tensors {
		if bare && t.Name != decoderHead {
			r.tensors[i].Name = decoderPrefix + t.Name
		}
	}
	r.drop("buffers", func(name string) bool {
		return strings.HasSuffix(name, ".attn.bias") || strings.HasSuffix(name, ".attn.masked_bias")
	})
	wrong := r.untie(map[string]string{decoderHead: decoderPrefix + "wte.weight"})
	d := nn.NewStateDict(like)
	m.NameStateDict(&d)
	p, more := d.Read(&safetensors.File{Tensors: r.tensors}, like)
	if wrong = append(wrong, more...); len(wrong) > 0 {
		m = defaults.Fill(m)
		return nil, nil, fmt.Errorf("the file does not fit %s of %d layers and width %d: %s", m.Name(), m.Layers, m.Width, nn.FirstFaults(wrong))
	}
	return p, r.notes, nil
}

// decoderHead is the copy of the tied embedding.
const decoderHead = "lm_head.weight"
