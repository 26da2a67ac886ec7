package kernel

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/array/npy"
)

// What the command writes is a model of an audit, file by file.
func TestONNXWritesOutputsEmbeddingAndLayers(t *testing.T) {
	golden := filepath.Join("..", "lib", "model", "onnx", "testdata")
	out := t.TempDir()
	r := lethe(t, "onnx", filepath.Join(golden, "resnet18.onnx"), "--data", filepath.Join(golden, "resnet18.x.npy"),
		"--out", out, "--layers", "relu_3")
	if r.code != 0 {
		t.Fatalf("%d: %s%s", r.code, r.out, r.stderr)
	}
	for name, cols := range map[string]int{"outputs": 10, "embedding": 16, "activations/relu_3": 512} {
		x, err := npy.ReadRows(filepath.Join(out, name+".npy"))
		if err != nil {
			t.Fatal(err)
		}
		if n, width := x.Shape(); n != 3 || width != cols {
			t.Errorf("%s: %d x %d, want 3 x %d", name, n, width, cols)
		}
	}
	r = lethe(t, "onnx", filepath.Join(golden, "mlp.onnx"))
	if !strings.Contains(r.out, "relu_1    Relu     embedding") || !strings.Contains(r.out, "[6]") {
		t.Errorf("the list of values:\n%s", r.out)
	}
	r = lethe(t, "onnx", filepath.Join(golden, "mlp.onnx"), "--data", filepath.Join(golden, "resnet18.x.npy"), "--out", out)
	stale := filepath.Join(out, "activations", "relu_3.npy")
	fails(t, r, exitFailure, stale+" is there already", "an audit would take it for this network's")
	r = lethe(t, "onnx", filepath.Join(golden, "mlp.onnx"), "--data", filepath.Join(golden, "resnet18.x.npy"), "--out", t.TempDir())
	if r.code != 1 || !strings.Contains(r.stderr, "mlp.onnx") || !strings.Contains(r.stderr, "6 values") {
		t.Errorf("records of another shape: %d %s", r.code, r.stderr)
	}
}

// Records are finite and lie as the network takes them, or nothing is written.
func TestONNXRefusesRecordsThatDoNotFit(t *testing.T) {
	golden := filepath.Join("..", "lib", "model", "onnx", "testdata")
	out := filepath.Join(t.TempDir(), "out")
	onnx := func(network, data string) result {
		return lethe(t, "onnx", filepath.Join(golden, network+".onnx"), "--data", data, "--out", out)
	}
	spoilt := array.New[float64](3, 6)
	spoilt.Row(2)[1] = math.Inf(1)
	bad := matrixFile(t, spoilt)
	fails(t, onnx("mlp", bad), exitFailure, "--data: "+bad+": row 2, column 1 is +Inf")
	fails(t, onnx("mlp", matrixFile(t, array.New[float64](0, 6))), exitFailure, "there is no record in it")
	// Images of 16 x 16 with the channels last.
	header := "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 16, 16, 3)}"
	last := filepath.Join(t.TempDir(), "last.npy")
	check(t, os.WriteFile(last, []byte("\x93NUMPY\x01\x00"+string(rune(len(header)))+"\x00"+header+strings.Repeat("\x00", 4*768)), 0o644))
	fails(t, onnx("resnet18", last), exitFailure, last, "(records, 16, 16, 3)", "(records, 3, 16, 16)")
	if _, err := os.Stat(out); err == nil {
		t.Error("something was written")
	}
}
