// Tests of state.go.

package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array/npy"
	"github.com/lethe-ml/lethe/lib/cli"
)

const (
	smallResNet = "resnet-18:width=2,side=8,outputs=3"
	smallMLP    = "tabular-mlp:features=4,outputs=3,hidden=5"
)

var stateDicts = filepath.Join("..", "model", "torch", "testdata")

// What the command writes is a model of an audit, and what PyTorch says of the records.
func TestStateWritesOutputsEmbeddingAndLayers(t *testing.T) {
	out := t.TempDir()
	file, x := filepath.Join(stateDicts, "resnet18.safetensors"), filepath.Join(stateDicts, "resnet18.x.npy")
	r := lethe(t, "state", file, "--arch", smallResNet, "--data", x, "--out", out, "--layers", "h3,h4")
	if r.Code != cli.ExitOK {
		t.Fatalf("%d: %s%s", r.Code, r.Out, r.Stderr)
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
	if r = lethe(t, "state", file, "--arch", smallResNet); r.Code != cli.ExitOK || !strings.Contains(r.Out, "is a state_dict") {
		t.Errorf("without records: %d %s%s", r.Code, r.Out, r.Stderr)
	}
	r = lethe(t, "state", "--arch", smallResNet)
	for _, want := range []string{"layer4.1.bn2.num_batches_tracked           []           int64", "fc.weight", "layers: h1, h2, h3, h4, hp, h"} {
		if !strings.Contains(r.Out, want) {
			t.Errorf("the list lacks %q:\n%s", want, r.Out)
		}
	}
}

func TestStateSaysWhatIsWrong(t *testing.T) {
	mlp := filepath.Join(stateDicts, "mlp.safetensors")
	fails(t, lethe(t, "state", mlp, "--arch", smallResNet), cli.ExitFailure, mlp, "resnet-18", "conv1.weight [2 3 3 3] is missing", "fc.bias", "hidden1.weight [5 4] is not a tensor of")
	fails(t, lethe(t, "state", mlp, "--arch", "resnet18"), cli.ExitUsage, "--arch", "resnet-18")
	fails(t, lethe(t, "state", mlp), cli.ExitUsage, "arch")
	for _, vast := range []string{"resnet-18:width=1000000000", "resnet-18:side=100000000", "tabular-mlp:features=4,outputs=3,hidden=1000000000000"} {
		fails(t, lethe(t, "state", "--arch", vast), cli.ExitUsage, "--arch", "too large")
		fails(t, lethe(t, "state", mlp, "--arch", vast), cli.ExitUsage, "too large")
	}
	fails(t, lethe(t, "state", "--arch", smallMLP, "--data", mlp, "--out", t.TempDir()), cli.ExitUsage, "--data")
	pickle := filepath.Join(t.TempDir(), "model.pt")
	if err := os.WriteFile(pickle, []byte("PK\x03\x04pickled"), 0o600); err != nil {
		t.Fatal(err)
	}
	fails(t, lethe(t, "state", pickle, "--arch", smallMLP), cli.ExitFailure, pickle, "pickle", "save_file")
	images := filepath.Join(stateDicts, "resnet18.x.npy")
	fails(t, lethe(t, "state", mlp, "--arch", smallMLP, "--data", images, "--out", t.TempDir()), cli.ExitFailure, mlp, "4 features")
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
	if r.Code != cli.ExitOK || !strings.Contains(r.Out, "report.html") || !strings.Contains(r.Out, "Along unlearning: share right") {
		t.Fatalf("%d: %s%s", r.Code, r.Out, r.Stderr)
	}
	got, err := npy.ReadMatrix(filepath.Join(dir, "original", "embedding.npy"))
	if err != nil || got.Rows != 7 || got.Cols != 5 {
		t.Errorf("the original's embedding: %d x %d, %v", got.Rows, got.Cols, err)
	}
	network := filepath.Join("..", "model", "onnx", "testdata", "mlp.onnx")
	fails(t, lethe(t, "audit", dir, "--state", "unlearned="+mlp, "--data", x), cli.ExitUsage, "arch")
	fails(t, lethe(t, "audit", dir, "--state", "unlearned="+mlp, "--arch", smallMLP), cli.ExitUsage, "--data")
	fails(t, lethe(t, "audit", dir, "--state", "../x="+mlp, "--arch", smallMLP, "--data", x), cli.ExitUsage, "../x")
	fails(t, lethe(t, "audit", dir, "--state", "original="+mlp, "--arch", smallMLP, "--onnx", "original="+network, "--data", x), cli.ExitUsage, "both")
	fails(t, lethe(t, "audit", dir, "--data", x), cli.ExitUsage, "--onnx or --state")
	fails(t, lethe(t, "audit", dir, "--state", "original="+x, "--arch", smallMLP, "--data", x), cli.ExitFailure, "mlp.x.npy", "safetensors")
}
