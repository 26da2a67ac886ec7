package kernel

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array/npy"
)

const (
	smallResNet = "resnet-18:width=2,side=8,outputs=3"
	smallMLP    = "tabular-mlp:features=4,outputs=3,hidden=5"
)

var stateDicts = filepath.Join("..", "lib", "model", "torch", "testdata")

// What the command writes is a model of an audit, and what PyTorch says of the records.
func TestStateWritesOutputsEmbeddingAndLayers(t *testing.T) {
	out := t.TempDir()
	file, x := filepath.Join(stateDicts, "resnet18.safetensors"), filepath.Join(stateDicts, "resnet18.x.npy")
	r := lethe(t, "state", file, "--arch", smallResNet, "--data", x, "--out", out, "--layers", "h3,h4")
	if r.code != exitOK {
		t.Fatalf("%d: %s%s", r.code, r.out, r.stderr)
	}
	for name, cols := range map[string]int{"outputs": 3, "embedding": 16, "activations/h3": 32, "activations/h4": 16} {
		m, err := npy.ReadRows(filepath.Join(out, name+".npy"))
		if err != nil {
			t.Fatal(err)
		}
		if n, width := m.Shape(); n != 3 || width != cols {
			t.Errorf("%s: %d x %d, want 3 x %d", name, n, width, cols)
		}
	}
	if r = lethe(t, "state", file, "--arch", smallResNet); r.code != exitOK || !strings.Contains(r.out, "is a state_dict") {
		t.Errorf("without records: %d %s%s", r.code, r.out, r.stderr)
	}
	r = lethe(t, "state", "--arch", smallResNet)
	for _, want := range []string{"layer4.1.bn2.num_batches_tracked           []           int64", "fc.weight", "layers: h1, h2, h3, h4, hp, h"} {
		if !strings.Contains(r.out, want) {
			t.Errorf("the list lacks %q:\n%s", want, r.out)
		}
	}
}

func TestStateSaysWhatIsWrong(t *testing.T) {
	mlp := filepath.Join(stateDicts, "mlp.safetensors")
	fails(t, lethe(t, "state", mlp, "--arch", smallResNet), exitFailure, mlp, "resnet-18", "conv1.weight [2 3 3 3] is missing", "fc.bias", "hidden1.weight [5 4] belongs to no part")
	fails(t, lethe(t, "state", mlp, "--arch", "resnet18"), exitUsage, "--arch", "resnet-18")
	fails(t, lethe(t, "state", mlp), exitUsage, "arch")
	for _, vast := range []string{"resnet-18:width=1000000000", "tabular-mlp:features=4,outputs=3,hidden=1000000000000"} {
		fails(t, lethe(t, "state", "--arch", vast), exitFailure, "too large", "would have the shape")
		fails(t, lethe(t, "state", mlp, "--arch", vast), exitFailure, "too large")
	}
	fails(t, lethe(t, "state", "--arch", smallMLP, "--data", mlp, "--out", t.TempDir()), exitUsage, "--data")
	pickle := filepath.Join(t.TempDir(), "model.pt")
	if err := os.WriteFile(pickle, []byte("PK\x03\x04pickled"), 0o600); err != nil {
		t.Fatal(err)
	}
	fails(t, lethe(t, "state", pickle, "--arch", smallMLP), exitFailure, pickle, "pickle", "save_file")
	images := filepath.Join(stateDicts, "resnet18.x.npy")
	fails(t, lethe(t, "state", mlp, "--arch", smallMLP, "--data", images, "--out", t.TempDir()), exitFailure, mlp, "4 features")
}

// State_dicts and exported networks go into one audit.
func TestAuditRunsStateDicts(t *testing.T) {
	dir := t.TempDir()
	for name, rows := range map[string][]int{"forget": {0, 1, 2}, "heldout": {3, 4, 5, 6}, "labels": {0, 1, 2, 0, 1, 2, 0}} {
		if err := npy.WriteIndices(filepath.Join(dir, name+".npy"), rows); err != nil {
			t.Fatal(err)
		}
	}
	x, mlp := filepath.Join(stateDicts, "mlp.x.npy"), filepath.Join(stateDicts, "mlp.safetensors")
	r := lethe(t, "audit", dir, "--state", "unlearned="+mlp+",original="+mlp+",checkpoint-1="+mlp, "--arch", smallMLP, "--data", x)
	if r.code != exitOK || !strings.Contains(r.out, "report.html") || !strings.Contains(r.out, "Along unlearning: share right") {
		t.Fatalf("%d: %s%s", r.code, r.out, r.stderr)
	}
	got, err := npy.ReadMatrix(filepath.Join(dir, "original", "embedding.npy"))
	if err != nil || got.Rows != 7 || got.Cols != 5 {
		t.Errorf("the original's embedding: %d x %d, %v", got.Rows, got.Cols, err)
	}
	network := filepath.Join("..", "lib", "model", "onnx", "testdata", "mlp.onnx")
	fails(t, lethe(t, "audit", dir, "--state", "unlearned="+mlp, "--data", x), exitUsage, "arch")
	fails(t, lethe(t, "audit", dir, "--state", "unlearned="+mlp, "--arch", smallMLP), exitUsage, "--data")
	fails(t, lethe(t, "audit", dir, "--state", "../x="+mlp, "--arch", smallMLP, "--data", x), exitUsage, "../x")
	fails(t, lethe(t, "audit", dir, "--state", "original="+mlp, "--arch", smallMLP, "--onnx", "original="+network, "--data", x), exitUsage, "both")
	fails(t, lethe(t, "audit", dir, "--data", x), exitUsage, "--onnx or --state")
	fails(t, lethe(t, "audit", dir, "--state", "original="+x, "--arch", smallMLP, "--data", x), exitFailure, "mlp.x.npy", "safetensors")
}
