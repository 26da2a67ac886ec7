// Package losstest is the conformance suite of losses. A loss of your own passes it with one line in
// a test:
//
//	func TestMine(t *testing.T) { losstest.Run(t, Mine{}, nil) }
//
// It checks the name and the key; that missing, unknown and malformed inputs are refused; that the
// graph of the loss is built with the outputs that Inputs asks for and no others; that there is one
// finite number per record, which depends on that record only, on every input that is asked for, and neither
// on the number of records nor on their order; and that the derivatives agree with central differences,
// near zero and far from it.
//
// The error of Inputs for a network without the outputs must hold the name of the loss, as
// loss.OutputWidth says it.
package losstest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/engine/enginetest"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
)

// outputs are those of a network that has every output.
var outputs = map[string]int{
	nn.Logits: 3, nn.Output: 4, loss.LatentMean: 2, loss.LatentLogVar: 2,
	loss.Proportion: 4, loss.LogDispersion: 4, loss.DropoutLogits: 4,
	loss.PairScores: 3, loss.MaskedLogits: 6, loss.TeacherLogits: 6, loss.NextLogits: 6, loss.SecondLogits: 6,
	loss.NextTeacherLogits: 6, loss.TokenActivations: 6, loss.TeacherActivations: 6,
}

const records = 5

// Run runs the suite on a loss. values
// makes the inputs of the loss; nil: random probabilities, positive library sizes and
// standard normal numbers for everything else.
func Run(t *testing.T, l loss.Loss, values func(name string, width int) array.Matrix[float32]) {
	t.Helper()
	s := &suite{l: l, outputs: map[string]array.Matrix[float32]{}, inputs: map[string]array.Matrix[float32]{}}
	e, err := enginetest.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	s.engine = e
	want, err := l.Inputs(outputs)
	if err != nil {
		t.Fatalf("error for a network with every output: %v", err)
	}
	s.drawValues(want, values)
	t.Run("name", s.checkName)
	t.Run("inputs", s.checkInputs)
	if !t.Run("finite", func(t *testing.T) { s.checkFinite(t, "of standard normal outputs", s.outputs) }) {
		return // what follows compares numbers
	}
	t.Run("declared", s.checkDeclared)
	t.Run("own", s.checkIndependence)
	t.Run("per record", s.checkPerRecord)
	t.Run("uses its inputs", s.checkInputsUsed)
	t.Run("derivatives", func(t *testing.T) { s.checkDerivatives(t, s.outputs) })
	t.Run("derivatives far from zero", func(t *testing.T) { s.checkDerivatives(t, s.farOutputs()) })
	t.Run("padding", s.checkPadding)
}

// drawValues makes the outputs of the network, and the inputs of these widths.
func (s *suite) drawValues(want map[string]int, values func(name string, width int) array.Matrix[float32]) {
	for i, name := range slices.Sorted(maps.Keys(outputs)) {
		s.outputs[name] = normal(uint64(i), outputs[name])
	}
	s.outputs[loss.Proportion] = distributions(outputs[loss.Proportion])
	for i, name := range slices.Sorted(maps.Keys(want)) {
		switch {
		case values != nil:
			s.inputs[name] = values(name, want[name])
		case name == loss.Probabilities:
			s.inputs[name] = distributions(want[name])
		case name == loss.Library:
			s.inputs[name] = exponentials(normal(99, want[name]))
		default:
			s.inputs[name] = normal(uint64(100+i), want[name])
		}
	}
}

type suite struct {
	l               loss.Loss
	engine          *engine.Engine
	outputs, inputs map[string]array.Matrix[float32]
}

func normal(part uint64, cols int) array.Matrix[float32] {
	rng := engine.Root(8).Stream("losstest", part)
	m := array.New[float32](records, cols)
	for i := range m.Data {
		m.Data[i] = float32(rng.NormFloat64())
	}
	return m
}

func distributions(cols int) array.Matrix[float32] {
	m := normal(99, cols)
	for i := range m.Rows {
		var total float64
		for _, v := range m.Row(i) {
			total += math.Exp(float64(v))
		}
		for c, v := range m.Row(i) {
			m.Row(i)[c] = float32(math.Exp(float64(v)) / total)
		}
	}
	return m
}

func exponentials(m array.Matrix[float32]) array.Matrix[float32] {
	for i, v := range m.Data {
		m.Data[i] = float32(math.Exp(float64(v)))
	}
	return m
}

func (s *suite) checkName(t *testing.T) {
	if s.l.Name() == "" || strings.ToLower(s.l.Name()) != s.l.Name() || strings.ContainsAny(s.l.Name(), " \t") {
		t.Errorf("the name is %q", s.l.Name())
	}
	if s.l.About() == "" {
		t.Error("About is empty")
	}
	key, err := loss.Key(s.l)
	if err != nil || !json.Valid([]byte(key)) || !strings.Contains(key, s.l.Name()) {
		t.Errorf("the key is %s: %v", key, err)
	}
}

func (s *suite) checkInputs(t *testing.T) {
	if err := loss.CheckInputs(s.l, outputs, s.inputs, records); err != nil {
		t.Errorf("error for valid inputs: %v", err)
	}
	if _, err := s.l.Inputs(map[string]int{"something": 3}); err == nil || !strings.Contains(err.Error(), s.l.Name()) {
		t.Errorf("a network without the outputs: error %v, want one that names the loss", err)
	}
	for name := range s.inputs {
		corrupted := maps.Clone(s.inputs)
		delete(corrupted, name)
		s.wantRefused(t, corrupted, name)
		for what, bad := range map[string]func(m array.Matrix[float32]) array.Matrix[float32]{
			"a row too few":    func(m array.Matrix[float32]) array.Matrix[float32] { return m.Gather([]int{0, 1}) },
			"a column too few": func(m array.Matrix[float32]) array.Matrix[float32] { return array.New[float32](m.Rows, m.Cols-1) },
			"not a number":     func(m array.Matrix[float32]) array.Matrix[float32] { m.Data[1] = float32(math.NaN()); return m },
		} {
			m := s.inputs[name]
			corrupted[name] = bad(array.Matrix[float32]{Rows: m.Rows, Cols: m.Cols, Data: slices.Clone(m.Data)})
			if err := loss.CheckInputs(s.l, outputs, corrupted, records); err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("%s, %s: error %v", name, what, err)
			}
		}
	}
	more := maps.Clone(s.inputs)
	more["unheard of"] = normal(5, 1)
	s.wantRefused(t, more, "unheard of")
}

func (s *suite) wantRefused(t *testing.T, in map[string]array.Matrix[float32], word string) {
	t.Helper()
	if err := loss.CheckInputs(s.l, outputs, in, records); err == nil || !strings.Contains(err.Error(), word) {
		t.Errorf("error %v, want one about %q", err, word)
	}
}

// build builds the loss. An error names the loss: it panics, or its value has other shapes than
// loss.Value says.
func (s *suite) build(g loss.Batch) (v loss.Value, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the loss %s: its graph is not built: %v", s.l.Name(), p)
		}
	}()
	return loss.Build(s.l, g), nil
}

// evaluate returns the losses of the records and the derivatives of their sum.
func (s *suite) evaluate(t *testing.T, out map[string]array.Matrix[float32]) (losses []float64, derivatives map[string][]float64) {
	t.Helper()
	losses, derivatives, err := s.tryEvaluate(out)
	if err != nil {
		t.Fatal(err)
	}
	return losses, derivatives
}

func (s *suite) tryEvaluate(out map[string]array.Matrix[float32]) (losses []float64, derivatives map[string][]float64, err error) {
	names, given := slices.Sorted(maps.Keys(out)), slices.Sorted(maps.Keys(s.inputs))
	var in []any
	for _, name := range names {
		in = append(in, featureMajor(out[name]))
	}
	for _, name := range given {
		in = append(in, featureMajor(s.inputs[name]))
	}
	var with []string
	var fault error
	got, err := CallOnceN(s.engine.Backend(), func(in []*Node) []*Node {
		g := loss.Batch{Outputs: map[string]*Node{}, Inputs: map[string]*Node{}}
		for i, name := range names {
			g.Outputs[name] = in[i]
		}
		for i, name := range given {
			g.Inputs[name] = in[len(names)+i]
		}
		var v loss.Value
		if v, fault = s.build(g); fault != nil {
			return in[:1]
		}
		with = slices.Sorted(maps.Keys(v.Adjoints))
		all := []*Node{v.Losses}
		for _, name := range with {
			all = append(all, v.Adjoints[name])
		}
		return all
	}, in...)
	if err := cmp.Or(fault, err); err != nil {
		return nil, nil, err
	}
	derivatives = map[string][]float64{}
	for k, tensor := range got {
		values, err := flat(tensor)
		switch {
		case err != nil:
			return nil, nil, err
		case k == 0:
			losses = values
		default:
			derivatives[with[k-1]] = values
		}
	}
	return losses, derivatives, nil
}

// flat returns the elements of a tensor.
func flat(tensor *tensors.Tensor) (values []float64, err error) {
	err = tensors.ConstFlatData(tensor, func(flat []float32) {
		for _, v := range flat {
			values = append(values, float64(v))
		}
	})
	return values, err
}

func featureMajor(m array.Matrix[float32]) *tensors.Tensor {
	return tensors.FromFlatDataAndDimensions(m.Transpose().Data, m.Cols, m.Rows)
}

// checkPadding checks that a record whose inputs are all 0, as in the padding of a batch,
// gives finite numbers: its weight 0 would not remove a NaN.
func (s *suite) checkPadding(t *testing.T) {
	padded := *s
	padded.inputs = map[string]array.Matrix[float32]{}
	for name, m := range s.inputs {
		padded.inputs[name] = array.New[float32](m.Rows, m.Cols)
	}
	padded.checkFinite(t, "of a record of zeros", s.outputs)
}

// checkFinite checks that losses and derivatives are finite.
func (s *suite) checkFinite(t *testing.T, what string, out map[string]array.Matrix[float32]) {
	t.Helper()
	losses, derivatives := s.evaluate(t, out)
	for i, v := range losses {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			t.Errorf("the loss, %s, is %v for record %d", what, v, i)
		}
	}
	for name, values := range derivatives {
		if k := slices.IndexFunc(values, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }); k >= 0 {
			t.Errorf("the derivative by %s, %s, is %v for record %d", name, what, values[k], k%records)
		}
	}
}
