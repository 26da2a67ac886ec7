// Tensors of a state_dict that have several parameters, and those stored in x out.

package nn

import (
	"slices"

	"github.com/lethe-ml/lethe/lib/array"
)

// Conv1D is Module for a dense layer that is a Conv1D of Hugging Face's, whose weight is in x out.
func (d StateDict) Conv1D(ours, torch string) {
	d.Module(ours, torch)
	i := d.index(torch + ".weight")
	shape := d[i].Shape
	d[i].Shape, d[i].Transposed = []int{shape[1], shape[0]}, true
}

// MultiHeadConv1D maps the projections of an attention to the modules of Hugging Face's GPT-2: one
// Conv1D with queries, keys and values after each other, and one for the result. Its keys have a
// bias, which has no effect (see [MultiHead]).
func (d *StateDict) MultiHeadConv1D(ours, torch, all, out string) {
	width := (*d)[d.index(ours+".key.weight")].Shape[0]
	name := func(part, word string) string { return ours + "." + part + "." + word }
	weights := []string{name("query", "weight"), name("key", "weight"), name("value", "weight")}
	biases := []string{name("query", "bias"), "", name("value", "bias")}
	*d = slices.DeleteFunc(*d, func(s StateTensor) bool {
		return slices.Contains(weights, s.Name) || s.Name != "" && slices.Contains(biases, s.Name)
	})
	*d = append(*d, StateTensor{Name: torch + "." + all + ".weight", Shape: []int{width, 3 * width}, Params: weights, Transposed: true},
		StateTensor{Name: torch + "." + all + ".bias", Shape: []int{3 * width}, Params: biases})
	d.Conv1D(ours+".out", torch+"."+out)
}

// data returns the numbers of a tensor.
func (s StateTensor) data(params map[string][]float32) []float32 {
	if s.Params == nil {
		return make([]float32, shapeSize(s.Shape))
	}
	rest := shapeSize(s.Shape)
	for _, name := range s.Params {
		rest -= len(params[name])
	}
	var data []float32
	for _, name := range s.Params {
		if name == "" {
			data = append(data, make([]float32, rest)...)
			continue
		}
		data = append(data, params[name]...)
	}
	if s.Transposed {
		data = transposed(data, s.Shape[1], s.Shape[0])
	}
	return data
}

// transposed returns a matrix [rows, cols] as [cols, rows].
func transposed(data []float32, rows, cols int) []float32 {
	return array.Matrix[float32]{Rows: rows, Cols: cols, Data: data}.Transpose().Data
}

// split puts the numbers of a tensor of a file into the parameters that it has; like has their
// sizes.
func (s StateTensor) split(data []float32, like Params, parts map[string][]float32) {
	if s.Transposed {
		data = transposed(data, s.Shape[0], s.Shape[1])
	}
	rest, sizes := len(data), make([]int, len(s.Params))
	for k, name := range s.Params {
		if name != "" {
			sizes[k] = shapeSize(like[slices.IndexFunc(like, func(p Param) bool { return p.Name == name })].Shape)
			rest -= sizes[k]
		}
	}
	for k, name := range s.Params {
		n := sizes[k]
		if name == "" {
			data = data[rest:]
			continue
		}
		parts[name], data = data[:n:n], data[n:]
	}
}
