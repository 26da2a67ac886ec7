// What the tests share: a small network, records of it, its loss and gradient.

package text

import (
	"maps"
	"slices"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
)

// tiny is the network of most tests: 9 tokens, of which 2 are predicted.
var tiny = BERT{Tokens: 9, Layers: 2, Width: 12, Heads: 3, Hidden: 20, Vocabulary: 30, Positions: 11}

// The numbers of special tokens in tests.
const (
	maskToken = 4
	clsToken  = 2
	sepToken  = 3
)

// weights are initial weights, ten times as large, so that the network is not nearly linear.
func weights(arch model.Architecture, seed engine.Root) nn.Params {
	p := model.InitialWeights(arch, seed.Stream(engine.StreamInit))
	for _, v := range p {
		for k := range v.Data {
			if v.Data[k] != 1 {
				v.Data[k] *= 10
			}
		}
	}
	return p
}

// sentence returns tokens between [CLS] and [SEP], n in all; a token follows from the one
// before it.
func sentence(i, n, vocabulary int) []int {
	out := []int{clsToken}
	for k := 1; k < n-1; k++ {
		out = append(out, 5+(i+3*k)%(vocabulary-5))
	}
	return append(out, sepToken)
}

// sentences returns records of 4 to Tokens tokens.
func sentences(t testing.TB, m BERT, n int) array.Matrix[float32] {
	t.Helper()
	m = defaults.Fill(m)
	var all [][]int
	for i := range n {
		all = append(all, sentence(i, 4+i%(m.Tokens-3), m.Vocabulary))
	}
	x, err := m.Records(all)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// masked returns records with hidden tokens and the inputs of the loss.
func masked(t testing.TB, m BERT, x array.Matrix[float32], epoch int) (array.Matrix[float32], map[string]array.Matrix[float32]) {
	t.Helper()
	masking := m.Masking(1, maskToken, clsToken, sepToken)
	width, inputs := masking.Widths(x.Cols)
	out, in := array.New[float32](x.Rows, width), map[string]array.Matrix[float32]{}
	for name, w := range inputs {
		in[name] = array.New[float32](x.Rows, w)
	}
	for i := range x.Rows {
		rows := map[string][]float32{}
		for name, v := range in {
			rows[name] = v.Row(i)
		}
		if err := masking.Corrupt(out.Row(i), rows, x.Row(i), epoch, i); err != nil {
			t.Fatal(err)
		}
	}
	if err := loss.CheckInputs(m.Loss(), model.OutputWidths(m), in, x.Rows); err != nil {
		t.Fatal(err)
	}
	return out, in
}

// step computes the mean loss of records and its gradient by all weights.
type step struct {
	t       testing.TB
	r       *model.Runner
	records int
	names   []string // of the loss's inputs
	inputs  []any
	library bool // the gradient is the library's own, not the tape's
	exec    *Exec
}

func newStep(t testing.TB, r *model.Runner, x array.Matrix[float32], in map[string]array.Matrix[float32]) *step {
	t.Helper()
	s := &step{t: t, r: r, records: x.Rows}
	s.names = slices.Sorted(maps.Keys(in))
	for _, m := range append([]array.Matrix[float32]{x}, valuesOf(in, s.names)...) {
		s.inputs = append(s.inputs, tensors.FromFlatDataAndDimensions(m.Transpose().Data, m.Cols, m.Rows))
	}
	return s
}

func valuesOf(in map[string]array.Matrix[float32], names []string) (out []array.Matrix[float32]) {
	for _, name := range names {
		out = append(out, in[name])
	}
	return out
}

// lossOf returns the loss that a network is trained with.
func lossOf(a model.Architecture) loss.Loss {
	switch m := a.(type) {
	case BERT:
		return m.Loss()
	case Decoder:
		return m.Loss()
	}
	return loss.CrossEntropy{}
}

func (s *step) graph(in []*Node) []*Node {
	n := len(s.r.WeightShapes())
	p, x, given, masks := in[:n], in[n], in[n+1:n+1+len(s.names)], in[n+1+len(s.names):]
	if len(masks) == 0 {
		masks = nil
	}
	tape := &nn.Tape{}
	output := s.r.Arch.Returns()[0].Name
	z := model.Forward(s.r.Arch, tape, p, x, masks).Outputs[output]
	batch := loss.Batch{Outputs: map[string]*Node{output: z}, Inputs: map[string]*Node{}}
	for k, name := range s.names {
		batch.Inputs[name] = given[k]
	}
	v := loss.Build(lossOf(s.r.Arch), batch)
	mean := DivScalar(ReduceAllSum(v.Losses), float64(s.records))
	if s.library {
		return append([]*Node{mean}, Gradient(mean, p...)...)
	}
	adjoint := DivScalar(v.Adjoints[output], float64(s.records))
	return append([]*Node{mean}, tape.Backward(nn.Adjoints{z: adjoint}, p)...)
}

// gradient returns the loss and its gradient; nil masks are inference.
func (s *step) gradient(p nn.Params, masks []*tensors.Tensor) (float64, [][]float64) {
	s.t.Helper()
	if s.exec == nil {
		exec, err := NewExec(s.r.Engine.Backend(), s.graph)
		if err != nil {
			s.t.Fatal(err)
		}
		s.exec = exec
	}
	var in []any
	for _, v := range p {
		in = append(in, tensors.FromFlatDataAndDimensions(v.Data, v.Shape...))
	}
	in = append(in, s.inputs...)
	for _, m := range masks {
		in = append(in, m)
	}
	out, err := s.exec.Call(in...)
	if err != nil {
		s.t.Fatal(err)
	}
	grads := make([][]float64, len(p))
	for i := range p {
		for _, v := range tensors.MustCopyFlatData[float32](out[1+i]) {
			grads[i] = append(grads[i], float64(v))
		}
	}
	return float64(tensors.ToScalar[float32](out[0])), grads
}

// drawn returns dropout masks.
func (s *step) drawn(key uint64) []*tensors.Tensor {
	var out []*tensors.Tensor
	for k, m := range model.RandomInputs(s.r.Arch) {
		flat := make([]float32, m.Units*s.records)
		m.Fill(flat, key*31+uint64(k), 0, s.records)
		out = append(out, tensors.FromFlatDataAndDimensions(flat, m.Units, s.records))
	}
	return out
}
