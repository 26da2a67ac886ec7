package command

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/array/npy"
	"github.com/lethe-ml/lethe/lib/cli"
	"github.com/lethe-ml/lethe/lib/cli/clitest"
)

// What the command writes is a model of an audit, file by file.
func TestONNXWritesOutputsEmbeddingAndLayers(t *testing.T) {
	golden := filepath.Join("..", "model", "onnx", "testdata")
	out := t.TempDir()
	r := lethe(t, "onnx", filepath.Join(golden, "resnet18.onnx"), "--data", filepath.Join(golden, "resnet18.x.npy"),
		"--out", out, "--layers", "relu_3")
	if r.Code != 0 {
		t.Fatalf("%d: %s%s", r.Code, r.Out, r.Stderr)
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
	if !strings.Contains(r.Out, "relu_1    Relu     embedding") || !strings.Contains(r.Out, "[6]") {
		t.Errorf("the list of values:\n%s", r.Out)
	}
	r = lethe(t, "onnx", filepath.Join(golden, "mlp.onnx"), "--data", filepath.Join(golden, "resnet18.x.npy"), "--out", out)
	stale := filepath.Join(out, "activations", "relu_3.npy")
	fails(t, r, cli.ExitFailure, stale+" is there already", "an audit would take it for this network's")
	r = lethe(t, "onnx", filepath.Join(golden, "mlp.onnx"), "--data", filepath.Join(golden, "resnet18.x.npy"), "--out", t.TempDir())
	if r.Code != 1 || !strings.Contains(r.Stderr, "mlp.onnx") || !strings.Contains(r.Stderr, "6 values") {
		t.Errorf("records of another shape: %d %s", r.Code, r.Stderr)
	}
}

// Records are finite and lie as the network takes them, or nothing is written.
func TestONNXRefusesRecordsThatDoNotFit(t *testing.T) {
	golden := filepath.Join("..", "model", "onnx", "testdata")
	out := filepath.Join(t.TempDir(), "out")
	onnx := func(network, data string) clitest.Result {
		return lethe(t, "onnx", filepath.Join(golden, network+".onnx"), "--data", data, "--out", out)
	}
	spoilt := array.New[float64](3, 6)
	spoilt.Row(2)[1] = math.Inf(1)
	bad := matrixFile(t, spoilt)
	fails(t, onnx("mlp", bad), cli.ExitFailure, "--data: "+bad+": row 2, column 1 is +Inf")
	fails(t, onnx("mlp", matrixFile(t, array.New[float64](0, 6))), cli.ExitFailure, "there is no record in it")
	// Images of 16 x 16 with the channels last.
	header := "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 16, 16, 3)}"
	last := filepath.Join(t.TempDir(), "last.npy")
	check(t, os.WriteFile(last, []byte("\x93NUMPY\x01\x00"+string(rune(len(header)))+"\x00"+header+strings.Repeat("\x00", 4*768)), 0o644))
	fails(t, onnx("resnet18", last), cli.ExitFailure, last, "(records, 16, 16, 3)", "(records, 3, 16, 16)")
	if _, err := os.Stat(out); err == nil {
		t.Error("something was written")
	}
}
