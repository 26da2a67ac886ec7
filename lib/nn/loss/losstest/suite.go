// Package losstest is the conformance suite of losses.
package losstest

import (
	"encoding/json"
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

// Run tests a loss: its name and JSON, the checks of its inputs, that the loss of a record
// depends on that record only, and its derivatives against central differences. values
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
	t.Run("name", s.checkName)
	t.Run("inputs", s.checkInputs)
	t.Run("own", s.checkIndependence)
	t.Run("derivatives", s.checkDerivatives)
	t.Run("padding", s.checkPadding)
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

// evaluate returns the losses of the records and the derivatives of their sum.
func (s *suite) evaluate(t *testing.T, out map[string]array.Matrix[float32]) (losses []float64, derivatives map[string][]float64) {
	t.Helper()
	names, given := slices.Sorted(maps.Keys(out)), slices.Sorted(maps.Keys(s.inputs))
	var in []any
	for _, name := range names {
		in = append(in, featureMajor(out[name]))
	}
	for _, name := range given {
		in = append(in, featureMajor(s.inputs[name]))
	}
	var with []string
	got, err := CallOnceN(s.engine.Backend(), func(in []*Node) []*Node {
		g := loss.Batch{Outputs: map[string]*Node{}, Inputs: map[string]*Node{}}
		for i, name := range names {
			g.Outputs[name] = in[i]
		}
		for i, name := range given {
			g.Inputs[name] = in[len(names)+i]
		}
		v := loss.Build(s.l, g)
		with = slices.Sorted(maps.Keys(v.Adjoints))
		all := []*Node{v.Losses}
		for _, name := range with {
			all = append(all, v.Adjoints[name])
		}
		return all
	}, in...)
	if err != nil {
		t.Fatal(err)
	}
	derivatives = map[string][]float64{}
	for k, tensor := range got {
		err := tensors.ConstFlatData(tensor, func(flat []float32) {
			for _, v := range flat {
				if k == 0 {
					losses = append(losses, float64(v))
				} else {
					derivatives[with[k-1]] = append(derivatives[with[k-1]], float64(v))
				}
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(losses) != records {
		t.Fatalf("%d losses for %d records", len(losses), records)
	}
	return losses, derivatives
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
	losses, derivatives := padded.evaluate(t, s.outputs)
	derivatives["the losses"] = losses
	for name, values := range derivatives {
		for _, v := range values {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Errorf("a record of zeros gives %v among %s", v, name)
			}
		}
	}
}

// perturbed returns a copy of the outputs with one element changed.
func (s *suite) perturbed(name string, i, j int, by float64) map[string]array.Matrix[float32] {
	out := maps.Clone(s.outputs)
	m := out[name]
	m.Data = slices.Clone(m.Data)
	m.Row(i)[j] += float32(by)
	out[name] = m
	return out
}

func (s *suite) checkIndependence(t *testing.T) {
	before, _ := s.evaluate(t, s.outputs)
	for name := range s.outputs {
		after, _ := s.evaluate(t, s.perturbed(name, 2, 0, 0.5))
		for i := range before {
			if i != 2 && before[i] != after[i] {
				t.Errorf("the loss of record %d depends on %s of record 2", i, name)
			}
		}
	}
}

func (s *suite) checkDerivatives(t *testing.T) {
	_, got := s.evaluate(t, s.outputs)
	some := false
	for name, m := range s.outputs {
		for i := range m.Rows {
			for j := range m.Cols {
				h := 1e-2
				if name == loss.Proportion { // positive, and small
					h = 3e-2 * float64(m.Row(i)[j])
				}
				up, _ := s.evaluate(t, s.perturbed(name, i, j, h))
				down, _ := s.evaluate(t, s.perturbed(name, i, j, -h))
				want, given := (up[i]-down[i])/(2*h), 0.0
				if d := got[name]; d != nil {
					given = d[j*records+i]
				}
				some = some || want != 0
				if math.Abs(given-want) > 2e-3*(1+math.Abs(want)) {
					t.Errorf("by %s, element %d of record %d: %v, by differences %v", name, j, i, given, want)
				}
			}
		}
	}
	if !some {
		t.Error("the loss depends on no output")
	}
}
