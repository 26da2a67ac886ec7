package kernel

import (
	"path/filepath"
	"strings"
	"testing"

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
	if r.code != 1 || !strings.Contains(r.stderr, "mlp.onnx") || !strings.Contains(r.stderr, "6 values") {
		t.Errorf("records of another shape: %d %s", r.code, r.stderr)
	}
}
