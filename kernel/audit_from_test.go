package kernel

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array/npy"
)

// Networks are run on the way: the folder needs nothing but sets of records.
func TestAuditRunsExportedNetworks(t *testing.T) {
	golden := filepath.Join("..", "lib", "model", "onnx", "testdata")
	dir := t.TempDir()
	for name, rows := range map[string][]int{"forget": {0, 1, 2}, "heldout": {3, 4, 5, 6}} {
		if err := npy.WriteIndices(filepath.Join(dir, name+".npy"), rows); err != nil {
			t.Fatal(err)
		}
	}
	if err := npy.WriteIndices(filepath.Join(dir, "labels.npy"), []int{0, 1, 2, 0, 1, 2, 0}); err != nil {
		t.Fatal(err)
	}
	x, network := filepath.Join(golden, "mlp.x.npy"), filepath.Join(golden, "mlp.onnx")
	r := lethe(t, "audit", dir, "--onnx", "unlearned="+network+",original="+network, "--data", x)
	if r.code != exitOK || !strings.Contains(r.out, "report.html") {
		t.Fatalf("%d: %s%s", r.code, r.out, r.stderr)
	}
	got, err := npy.ReadMatrix(filepath.Join(dir, "unlearned", "embedding.npy"))
	if err != nil || got.Rows != 7 || got.Cols != 8 {
		t.Errorf("the unlearned model's embedding: %d x %d, %v", got.Rows, got.Cols, err)
	}
	fails(t, lethe(t, "audit", dir, "--onnx", "../elsewhere="+network, "--data", x), exitUsage, "../elsewhere")
	fails(t, lethe(t, "audit", "--onnx", "unlearned="+network, "--data", x), exitUsage, "folder")
	fails(t, lethe(t, "audit", dir, "--onnx", "unlearned="+filepath.Join(golden, "mlp.x.npy"), "--data", x), exitFailure, "mlp.x.npy", "no ONNX file")
}

func TestAuditPrintsKits(t *testing.T) {
	if r := lethe(t, "audit", "--kit", "jax"); r.code != exitOK || !strings.Contains(r.out, "import jax") {
		t.Errorf("%d: %s%s", r.code, r.out, r.stderr)
	}
	fails(t, lethe(t, "audit", "--kit", "fortran"), exitUsage, "fortran", "pytorch")
}
