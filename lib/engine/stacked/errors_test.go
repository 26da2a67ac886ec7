// What is refused, with which error.

package stacked

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// inputs are stacked inputs of the samples.
func inputs(samples ...sample) []Input {
	out := make([]Input, len(samples))
	for i, s := range samples {
		out[i] = Input{Name: fmt.Sprint("in", i), Shape: s.shape}
	}
	return out
}

func TestWhatHasNoStackedFormIsRefused(t *testing.T) {
	cases := map[string]struct {
		in    []sample
		build func(in []*Node) []*Node
	}{
		"FFT": {[]sample{floats(8)}, allOf(func(x *Node) *Node { return Real(FFT(ConvertDType(x, dtypes.Complex64))) })},
		"RNGBitGenerator": {[]sample{words(3)}, func(in []*Node) []*Node {
			_, u := RandomUniform(in[0], shapes.Make(dtypes.Float32, 8))
			return []*Node{u}
		}},
		"Pad": {[]sample{floats(3), floats()}, pairsOf(func(x, fill *Node) *Node { return Pad(x, fill, PadAxis{End: 1}) })},
		"DynamicUpdateSlice": {[]sample{floats(5), floats(2), ints(0, 3)}, func(in []*Node) []*Node {
			return []*Node{DynamicUpdateSlice(in[0], in[1], []*Node{in[2]})}
		}},
		"Sort": {[]sample{floats(5), floats()}, func(in []*Node) []*Node {
			g := in[0].Graph()
			order := NewClosure(g, func(g *Graph) []*Node {
				x, y := Parameter(g, "x", in[1].Shape()), Parameter(g, "y", in[1].Shape())
				return []*Node{LessThan(Mul(x, in[1]), Mul(y, in[1]))}
			})
			return SortFunc(order, 0, true, in[0])
		}},
		"While with a condition": {[]sample{ints(0, 3)}, func(in []*Node) []*Node {
			g := in[0].Graph()
			cond := NewClosure(g, func(g *Graph) []*Node {
				return []*Node{LessThan(Parameter(g, "c", in[0].Shape()), Const(g, int32(5)))}
			})
			body := NewClosure(g, func(g *Graph) []*Node { return []*Node{AddScalar(Parameter(g, "b", in[0].Shape()), 1)} })
			return While(cond, body, in[0])
		}},
		"If with a predicate": {[]sample{floats(4), floats(4), ints(0, 9)}, chosen},
	}
	forEachBackend(t, func(t *testing.T, b compute.Backend) {
		refused := 0
		for name, c := range cases {
			if _, err := Compile(b, models, shared(inputs(c.in...)), c.build); err != nil {
				continue // the backend lacks it for one model too
			}
			refused++
			_, err := Compile(b, models, inputs(c.in...), c.build)
			if !compute.IsNotImplemented(err) || !strings.Contains(err.Error(), name) {
				t.Errorf("the error is %v, want compute.ErrNotImplemented and the name %s", err, name)
			}
		}
		if least := map[string]int{"xla": 6, "Go Backend": 4, "lethe": 1}[b.Name()]; refused < least {
			t.Errorf("the backend has %d of the operations, want at least %d", refused, least)
		}
	})
}

func shared(in []Input) []Input {
	for i := range in {
		in[i].Shared = true
	}
	return in
}

func TestCompileAndRunReturnErrors(t *testing.T) {
	forEachBackend(t, func(t *testing.T, b compute.Backend) {
		add := pairsOf(Add)
		two := inputs(floats(2), floats(2))
		for want, f := range map[string]func() error{
			"0 models":       func() error { _, err := Compile(b, 0, two, add); return err },
			"without inputs": func() error { _, err := Compile(b, 2, nil, add); return err },
			"a wrong turn": func() error {
				_, err := Compile(b, 2, two, func([]*Node) []*Node { panic("a wrong turn") })
				return err
			},
			"no outputs": func() error { _, err := Compile(b, 2, two, func([]*Node) []*Node { return nil }); return err },
			"already":    func() error { _, err := Compile(b, 2, []Input{two[0], two[0]}, add); return err },
			"besides its": func() error {
				_, err := Compile(b, 2, two, func(in []*Node) []*Node { return []*Node{Parameter(in[0].Graph(), "more", in[0].Shape())} })
				return err
			},
		} {
			if err := f(); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("the error is %v, want one with %q", err, want)
			}
		}
		p, err := Compile(b, models, two, add)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		good := func() *tensors.Tensor { return tensors.FromValue([][]float32{{1, 2}, {3, 4}, {5, 6}}) }
		for want, in := range map[string][]*tensors.Tensor{
			"1 inputs, want 2":               {good()},
			"in1 has the shape (Float32)[2]": {good(), tensors.FromValue([]float32{1, 2})},
		} {
			if _, err := p.Run(in...); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("the error is %v, want one with %q", err, want)
			}
		}
		if out, err := p.Run(good(), good()); err != nil || fmt.Sprint(out[0].Value()) != "[[2 4] [6 8] [10 12]]" {
			t.Errorf("the sum is %v, %v", out, err)
		}
	})
}

// A result can be the input of the next run, and a donated input is consumed.
func TestResultsAreInputsOfTheNextRun(t *testing.T) {
	forEachBackend(t, func(t *testing.T, b compute.Backend) {
		in := []Input{{Name: "sum", Shape: shapes.Make(dtypes.Float32, 2), Donated: true}, {Name: "by", Shape: shapes.Make(dtypes.Float32), Shared: true}}
		p, err := Compile(b, models, in, pairsOf(Add))
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		sum, by := tensors.FromValue([][]float32{{1, 2}, {3, 4}, {5, 6}}), tensors.FromValue(float32(10))
		for range 3 {
			out, err := p.Run(sum, by)
			if err != nil {
				t.Fatal(err)
			}
			sum = out[0]
		}
		if got := fmt.Sprint(sum.Value()); got != "[[31 32] [33 34] [35 36]]" {
			t.Errorf("after three runs the sum is %s", got)
		}
	})
}

// Indices of a type that cannot count the models.
func TestManyModelsWithSmallIndices(t *testing.T) {
	forEachBackend(t, func(t *testing.T, b compute.Backend) {
		const many = 300
		in := []Input{{Name: "x", Shape: shapes.Make(dtypes.Float32, 2)}, {Name: "i", Shape: shapes.Make(dtypes.Int8, 1, 1)}}
		p, err := Compile(b, many, in, pairsOf(func(x, i *Node) *Node { return Gather(x, i) }))
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		x, i := make([]float32, 2*many), make([]int8, many)
		for m := range many {
			x[2*m], x[2*m+1], i[m] = float32(m), float32(-m), int8(m%2)
		}
		out, err := p.Run(tensors.FromFlatDataAndDimensions(x, many, 2), tensors.FromFlatDataAndDimensions(i, many, 1, 1))
		if err != nil {
			t.Fatal(err)
		}
		for m, v := range tensors.MustCopyFlatData[float32](out[0]) {
			if want := x[2*m+m%2]; v != want {
				t.Fatalf("model %d gets %v, want %v", m, v, want)
			}
		}
	})
}
