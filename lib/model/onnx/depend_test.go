// Tests of depend.go.

package onnx_test

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/model/onnx"
)

// written opens a network of this test.
func written(t *testing.T, f file) *onnx.Model {
	t.Helper()
	path := filepath.Join(t.TempDir(), "m.onnx")
	if err := os.WriteFile(path, f.bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := onnx.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func drawn(n, cols int) array.Matrix[float32] {
	x := array.New[float32](n, cols)
	for i := range x.Data {
		x.Data[i] = float32(math.Sin(float64(i * i)))
	}
	return x
}

// fixed are the inputs of a network that takes so many records at once.
func fixed(batch int64) []message { return []message{typed("x", float32s, batch, 4)} }

// A value that depends on the other records is refused by its name, whatever the table's size
// and the batch's: where one batch holds the table too, and where the file fixes the batch.
func TestRecordsThatDependOnOthersAreRefused(t *testing.T) {
	less := op("Sub", "x m", "y")
	networks := map[string]file{
		"mean":    {nodes: []message{op("ReduceMean", "x", "m", "axes", []int64{0}), less}},
		"largest": {nodes: []message{op("ReduceMax", "x", "m", "axes", []int64{0}), less}},
		"softmax": {nodes: []message{op("Softmax", "x", "y", "axis", 0)}},
		"product": {nodes: []message{op("Transpose", "x", "t"), op("MatMul", "x t", "p"), op("MatMul", "p x", "y")}},
		"sums":    {nodes: []message{op("CumSum", "x a", "y")}, weights: []tensor{scalar("a", 0)}},
		"the one before": {nodes: []message{op("Slice", "x one end zero", "r"), op("Slice", "x zero one zero", "f"),
			op("Concat", "r f", "m", "axis", 0), less}, weights: []tensor{intTensor("zero", 0), intTensor("one", 1), intTensor("end", math.MaxInt64)}},
		"the first":        {nodes: []message{op("Gather", "x i", "m", "axis", 0), less}, weights: []tensor{intTensor("i", 0)}},
		"how many":         {nodes: []message{op("Shape", "x", "s"), op("Gather", "s i", "n", "axis", 0), op("Cast", "n", "m", "to", 1), less}, weights: []tensor{intTensor("i", 0)}},
		"a little of mean": {nodes: []message{op("ReduceMean", "x", "l", "axes", []int64{0}), op("Mul", "l c", "m"), less}, weights: []tensor{floats("c", nil, 0.01)}},
	}
	e := opened(t)
	for name, f := range networks {
		for _, n := range []int{1, 2, 3, 255, 256, 257, 600} {
			for _, batch := range []int64{-1, 1, 2, 4, 256} {
				f.inputs = fixed(batch)
				_, err := written(t, f).Run(context.Background(), e, drawn(n, 4), "y")
				alone := batch == 1 || name == "how many" && batch > 0 // then it is no question
				if alone && err != nil || !alone && (err == nil || !strings.Contains(err.Error(), `the value "y"`)) {
					t.Errorf("%s: %d records, batches of %d: %v", name, n, batch, err)
				}
			}
		}
	}
}

// What depends on the record alone is not refused.
func TestRecordsByThemselvesAreNotRefused(t *testing.T) {
	e := opened(t)
	row := floats("row", []int64{1, 4}, 1, 2, 3, 4)
	for name, f := range map[string]file{
		"softmax":  {nodes: []message{op("Softmax", "x", "y", "axis", 1)}},
		"constant": {nodes: []message{op("Mul", "x zero", "z"), op("Add", "z row", "y")}, weights: []tensor{row, floats("zero", nil, 0)}},
		"shape":    {nodes: []message{op("Shape", "x", "s"), op("ConstantOfShape", "s", "z"), op("Add", "x z", "p"), op("Reshape", "p s", "y")}},
		"nan":      {nodes: []message{op("Log", "x", "y")}},
	} {
		for _, n := range []int{1, 2, 3, 300} {
			for _, batch := range []int64{-1, 1, 2, 256} {
				f.inputs = fixed(batch)
				out, err := written(t, f).Run(context.Background(), e, drawn(n, 4), "y")
				if err != nil || out["y"].Rows != n {
					t.Errorf("%s: %d records, batches of %d: %v", name, n, batch, err)
				}
			}
		}
	}
}

// The layer that an embedding is taken of is looked at too, and named.
func TestLayersThatDependOnOthersAreNamed(t *testing.T) {
	f := file{nodes: []message{op("ReduceMean", "x", "m", "axes", []int64{0}), op("Sub", "x m", "h"), op("Mul", "h zero", "y")}, weights: []tensor{floats("zero", nil, 0)}}
	m := written(t, f)
	if _, err := m.Run(context.Background(), opened(t), drawn(20, 4), "y"); err != nil {
		t.Errorf("the output is all zeros: %v", err)
	}
	_, err := m.Run(context.Background(), opened(t), drawn(20, 4), "y", "h")
	if err == nil || !strings.Contains(err.Error(), `the value "h"`) {
		t.Errorf("the layer: %v", err)
	}
}

// A number per place is part of the network where its one batch holds the table, and is not
// where the table is cut.
func TestANumberPerPlaceHoldsForAWholeTable(t *testing.T) {
	f := file{nodes: []message{op("Add", "x c", "y")}, weights: []tensor{floats("c", []int64{3, 1}, 1, 2, 3)}, inputs: fixed(3)}
	out, err := written(t, f).Run(context.Background(), opened(t), array.New[float32](3, 4), "y")
	if err != nil || out["y"].Row(2)[0] != 3 {
		t.Errorf("three records: %v", err)
	}
	if _, err := written(t, f).Run(context.Background(), opened(t), array.New[float32](4, 4), "y"); err == nil {
		t.Error("four records in batches of three")
	}
}

// Of several outputs the first of floats is taken, or the one that is chosen.
func TestOutputsAreChosen(t *testing.T) {
	f := file{nodes: []message{op("ArgMax", "x", "label", "axis", 1), op("Softmax", "x", "p"), op("Exp", "x", "q")},
		outputs: []message{typed("label", int64s), typed("p", float32s), typed("q", float32s)}}
	m := written(t, f)
	if m.Output() != "p" || strings.Join(m.Choices(), " ") != "p q" || strings.Join(m.Outputs(), " ") != "label p q" {
		t.Errorf("%s is taken of %v and %v", m.Output(), m.Choices(), m.Outputs())
	}
	if err := m.Choose("label"); err != nil || m.Output() != "label" {
		t.Errorf("%s is taken: %v", m.Output(), err)
	}
	x := array.Matrix[float32]{Rows: 1, Cols: 4, Data: []float32{0, 3, 1, 2}}
	out, err := m.Run(context.Background(), opened(t), x, "label", "q")
	if err != nil || out["label"].Row(0)[0] != 1 || math.Abs(float64(out["q"].Row(0)[1])-math.Exp(3)) > 1e-4 {
		t.Errorf("%v, %v", out, err)
	}
	if err := m.Choose("x"); err == nil || !strings.Contains(err.Error(), "label, p, q") {
		t.Errorf("an output that is none: %v", err)
	}
}

// An index that comes out of the records and lies outside is refused, and not moved inside.
func TestIndicesOutsideAreRefused(t *testing.T) {
	f := file{nodes: []message{op("Gather", "w x", "y")}, weights: []tensor{floats("w", []int64{3}, 5, 6, 7)}, inputs: []message{typed("x", int64s, -1, 4)}}
	m := written(t, f)
	x := array.Matrix[float32]{Rows: 1, Cols: 4, Data: []float32{0, -1, 2, -3}}
	out, err := m.Run(context.Background(), opened(t), x, "y")
	if err != nil || out["y"].Row(0)[1] != 7 || out["y"].Row(0)[3] != 5 {
		t.Errorf("%v, %v", out, err)
	}
	for _, outside := range []float32{3, -4} {
		x.Data[2] = outside
		if _, err := m.Run(context.Background(), opened(t), x, "y"); err == nil || !strings.Contains(err.Error(), "outside an axis of 3 elements") {
			t.Errorf("%v: %v", outside, err)
		}
	}
}
