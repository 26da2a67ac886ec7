// Hugging Face's names of BERT's weights, and the reading of published weights.

package text

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/store/safetensors"
)

const (
	bodyPrefix   = "bert."
	poolerPrefix = bodyPrefix + "pooler."
	headPrefix   = "cls.predictions."
	classPrefix  = "classifier."
)

// NameStateDict implements model.StateDictNamer, for BertForMaskedLM of Hugging Face's
// transformers (5.24.0), without the tied tensors cls.predictions.decoder.weight and .bias,
// which its files leave out too.
func (m BERT) NameStateDict(d *nn.StateDict) {
	m.nameEncoder(d)
	d.Module("head.dense", headPrefix+"transform.dense")
	d.Module("head.norm", headPrefix+"transform.LayerNorm")
	d.Tensor("head.bias", headPrefix+"bias")
}

// NameStateDict implements model.StateDictNamer, for BertForSequenceClassification of Hugging
// Face's transformers (5.24.0) without its pooler: what a BertModel with add_pooling_layer=False
// under the name bert and a torch.nn.Linear under the name classifier have.
func (m Classifier) NameStateDict(d *nn.StateDict) {
	m.encoder().nameEncoder(d)
	d.Module("head", strings.TrimSuffix(classPrefix, "."))
}

// nameEncoder names the weights of the encoder.
func (m BERT) nameEncoder(d *nn.StateDict) {
	m = defaults.Fill(m)
	embeddings := bodyPrefix + "embeddings."
	d.Module("token", embeddings+"word_embeddings")
	d.Module("position", embeddings+"position_embeddings")
	d.Module("type", embeddings+"token_type_embeddings")
	d.Module("norm", embeddings+"LayerNorm")
	for l := range m.Layers {
		ours, theirs := layerName(l), fmt.Sprintf("%sencoder.layer.%d.", bodyPrefix, l)
		d.MultiHead(ours+"attention", theirs+"attention", "self.query", "self.key", "self.value", "output.dense")
		d.Module(ours+"attention.norm", theirs+"attention.output.LayerNorm")
		d.Module(ours+"ffn.up", theirs+"intermediate.dense")
		d.Module(ours+"ffn.down", theirs+"output.dense")
		d.Module(ours+"ffn.norm", theirs+"output.LayerNorm")
	}
}

// ReadWeights reads BERT's weights from a safetensors file of Hugging Face's BertModel,
// BertForMaskedLM or BertForPreTraining. initial are weights of the network: they give names
// and shapes, and the head where the file has none.
//
// notes says, one sentence each, what of the file is not used and what was not in it: the
// pooler, the head for the next sentence, buffers such as position_ids, a missing head. Any
// other tensor that is missing, unknown or of another shape is an error, which lists the first.
func (m BERT) ReadWeights(f *safetensors.File, initial nn.Params) (p nn.Params, notes []string, err error) {
	r := newReading(f)
	wrong := r.untie(map[string]string{
		headPrefix + "decoder.weight": bodyPrefix + "embeddings.word_embeddings.weight",
		headPrefix + "decoder.bias":   headPrefix + "bias",
	})
	return r.read(m, m, initial, wrong, headPrefix, "head for masked language modelling")
}

// ReadWeights reads the weights of the encoder, and of the linear layer where the file has one
// for the network, from a safetensors file of Hugging Face's BertModel, BertForMaskedLM,
// BertForPreTraining or BertForSequenceClassification, or from a network's own state_dict.
// initial and notes are as for BERT. The linear layer of a file with a pooler is not used: it
// reads the pooler's output.
func (m Classifier) ReadWeights(f *safetensors.File, initial nn.Params) (p nn.Params, notes []string, err error) {
	r := newReading(f)
	r.drop("the head for masked language modelling", func(name string) bool { return strings.HasPrefix(name, headPrefix) })
	if r.pooler {
		r.drop("the linear layer behind the pooler", func(name string) bool { return strings.HasPrefix(name, classPrefix) })
	}
	return r.read(m, m.encoder(), initial, nil, classPrefix, "linear layer of a classifier without pooler")
}

func isHead(p nn.Param) bool { return strings.HasPrefix(p.Name, "head.") }

// reading has the tensors of a file while they get the names of today's BertForMaskedLM.
type reading struct {
	tensors []safetensors.Tensor
	notes   []string
	pooler  bool // whether the file has one
}

// newReading returns the tensors of a file under today's names, without those that no network of
// this package has.
func newReading(f *safetensors.File) *reading {
	r := &reading{tensors: slices.Clone(f.Tensors)}
	r.rename()
	r.drop("buffers", func(name string) bool {
		return strings.HasSuffix(name, ".position_ids") || strings.HasSuffix(name, ".token_type_ids")
	})
	r.pooler = r.drop("the pooler", func(name string) bool { return strings.HasPrefix(name, poolerPrefix) })
	r.drop("the head for the next sentence", func(name string) bool { return strings.HasPrefix(name, "cls.seq_relationship.") })
	return r
}

// read reads the weights of a network with this encoder. Without any tensor of the prefix head
// the head keeps its initial weights; what says what it is. wrong is what was found before.
func (r *reading) read(m model.Architecture, encoder BERT, initial nn.Params, wrong []string, head, what string) (nn.Params, []string, error) {
	d, rest := model.StateDict(m, initial), nn.Params(nil)
	if !slices.ContainsFunc(r.tensors, func(t safetensors.Tensor) bool { return strings.HasPrefix(t.Name, head) }) {
		r.note("The file has no %s: the head keeps its initial weights.", what)
		d = slices.DeleteFunc(d, func(s nn.StateTensor) bool { return strings.HasPrefix(s.Name, head) })
		rest = initial[slices.IndexFunc(initial, isHead):]
		initial = initial[:len(initial)-len(rest)]
	}
	p, more := d.Read(&safetensors.File{Tensors: r.tensors}, initial)
	if wrong = append(wrong, more...); len(wrong) > 0 {
		encoder = defaults.Fill(encoder)
		return nil, nil, fmt.Errorf("the file does not fit %s of %d layers and width %d: %s",
			m.Name(), encoder.Layers, encoder.Width, nn.FirstFaults(wrong))
	}
	return append(p, rest.Clone()...), r.notes, nil
}

func (r *reading) note(format string, args ...any) {
	r.notes = append(r.notes, fmt.Sprintf(format, args...))
}

// rename gives the tensors of a BertModel the prefix of BertForMaskedLM, and those of files
// from TensorFlow today's names of a normalisation.
func (r *reading) rename() {
	bare := slices.ContainsFunc(r.tensors, func(t safetensors.Tensor) bool { return t.Name == "embeddings.word_embeddings.weight" })
	for i, t := range r.tensors {
		if path, ok := strings.CutSuffix(t.Name, "LayerNorm.gamma"); ok {
			t.Name = path + "LayerNorm.weight"
		}
		if path, ok := strings.CutSuffix(t.Name, "LayerNorm.beta"); ok {
			t.Name = path + "LayerNorm.bias"
		}
		if bare && !strings.HasPrefix(t.Name, "cls.") && !strings.HasPrefix(t.Name, classPrefix) {
			t.Name = bodyPrefix + t.Name
		}
		r.tensors[i].Name = t.Name
	}
}

// drop removes tensors that the network does not have, and says so. It reports whether there
// were any.
func (r *reading) drop(what string, unused func(name string) bool) bool {
	var names []string
	r.tensors = slices.DeleteFunc(r.tensors, func(t safetensors.Tensor) bool {
		if unused(t.Name) {
			names = append(names, t.Name)
			return true
		}
		return false
	})
	if len(names) > 0 {
		r.note("Not used: %s (%s).", what, strings.Join(names, ", "))
	}
	return len(names) > 0
}

// untie removes the copies of tied tensors, each of the one that it is a copy of. A copy with other
// numbers is an error: the network has no place for it.
func (r *reading) untie(copies map[string]string) (wrong []string) {
	for copied, of := range copies {
		i, k := r.index(copied), r.index(of)
		switch {
		case i < 0:
			continue
		case k < 0 && strings.HasSuffix(copied, "bias"):
			r.tensors[i].Name = of // the only one there is
			continue
		case k >= 0 && !slices.Equal(r.tensors[i].Data, r.tensors[k].Data):
			wrong = append(wrong, copied+" is not equal to "+of+", to which it is tied here")
		}
		r.tensors = slices.Delete(r.tensors, i, i+1)
	}
	slices.Sort(wrong)
	return wrong
}

func (r *reading) index(name string) int {
	return slices.IndexFunc(r.tensors, func(t safetensors.Tensor) bool { return t.Name == name })
}
