// Tests of audit_from.go.

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

// Networks are run on the way: the folder needs nothing but sets of records.
func TestAuditRunsExportedNetworks(t *testing.T) {
	golden := filepath.Join("..", "model", "onnx", "testdata")
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
	if r.Code != cli.ExitOK || !strings.Contains(r.Out, "report.html") {
		t.Fatalf("%d: %s%s", r.Code, r.Out, r.Stderr)
	}
	got, err := npy.ReadMatrix(filepath.Join(dir, "unlearned", "embedding.npy"))
	if err != nil || got.Rows != 7 || got.Cols != 8 {
		t.Errorf("the unlearned model's embedding: %d x %d, %v", got.Rows, got.Cols, err)
	}
	fails(t, lethe(t, "audit", dir, "--onnx", "../elsewhere="+network, "--data", x), cli.ExitUsage, "../elsewhere")
	fails(t, lethe(t, "audit", "--onnx", "unlearned="+network, "--data", x), cli.ExitUsage, "folder")
	fails(t, lethe(t, "audit", dir, "--onnx", "unlearned="+filepath.Join(golden, "mlp.x.npy"), "--data", x), cli.ExitFailure, "mlp.x.npy", "not an ONNX file")
}

// auditedNetwork is a folder of sets and labels for a network of the golden files, and
// the arguments that audit it.
func auditedNetwork(t *testing.T) (dir, network string, args []string) {
	t.Helper()
	golden := filepath.Join("..", "model", "onnx", "testdata")
	dir, network = t.TempDir(), filepath.Join(golden, "mlp.onnx")
	for name, rows := range map[string][]int{"forget": {0, 1, 2}, "heldout": {3, 4, 5, 6}, "labels": {0, 1, 2, 0, 1, 2, 0}} {
		check(t, npy.WriteIndices(filepath.Join(dir, name+".npy"), rows))
	}
	return dir, network, []string{"audit", dir, "--data", filepath.Join(golden, "mlp.x.npy"), "--onnx"}
}

// Arrays of an earlier call are not judged as if they were of this one; those of the
// same models are replaced.
func TestAuditOfNetworksUsesNoOtherArrays(t *testing.T) {
	dir, network, args := auditedNetwork(t)
	call := func(models string) clitest.Result { return lethe(t, append(args[:len(args):len(args)], models)...) }
	both := "unlearned=" + network + ",original=" + network
	for range 2 {
		if r := call(both); r.Code != cli.ExitOK {
			t.Fatalf("%+v", r)
		}
	}
	outputs := filepath.Join(dir, "unlearned", "outputs.npy")
	check(t, os.Remove(outputs))
	fails(t, call("unlearned="+network), cli.ExitFailure, "original/embedding.npy, original/outputs.npy;", "audit.json")
	check(t, os.Mkdir(filepath.Join(dir, "unlearned", "activations"), 0o755))
	check(t, os.Rename(filepath.Join(dir, "unlearned", "embedding.npy"), filepath.Join(dir, "unlearned", "activations", "relu.npy")))
	fails(t, call(both), cli.ExitFailure, "new ones: unlearned/activations/relu.npy;")
	if _, err := os.Stat(outputs); err == nil {
		t.Error("something was written before the refusal")
	}
	check(t, os.RemoveAll(filepath.Join(dir, "unlearned")))
	config := filepath.Join(dir, "audit.json")
	check(t, os.WriteFile(config, []byte(`{"original": {"outputs": "original/outputs.npy"}}`), 0o644))
	if r := call("unlearned=" + network); r.Code != cli.ExitOK {
		t.Errorf("an array that is named: %+v", r)
	}
	fails(t, call(both), cli.ExitFailure, "original/embedding.npy was written and is not used")
}

// The records that networks are run on are what models are given: copies are looked for among them. Another call with other
// records is not judged by those of the first.
func TestAuditOfNetworksKnowsTheirInputs(t *testing.T) {
	dir, network, args := auditedNetwork(t)
	x, err := npy.ReadMatrix(args[3])
	check(t, err)
	x.Data[0]++
	check(t, npy.WriteIndices(filepath.Join(dir, "retain.npy"), []int{3, 4}))
	check(t, npy.WriteIndices(filepath.Join(dir, "heldout.npy"), []int{5, 6}))
	data := filepath.Join(t.TempDir(), "x.npy")
	check(t, npy.Write(data, x))
	call := func(data string) clitest.Result {
		return lethe(t, "audit", dir, "--data", data, "--onnx", "unlearned="+network+",original="+network, "--json")
	}
	r := call(data)
	if r.Code != cli.ExitOK || !strings.Contains(r.Out, `"inputs.npy"`) || !strings.Contains(r.Out, "copies of forgotten records: 2 retained records") {
		t.Fatalf("%d: %s%s", r.Code, r.Out, r.Stderr)
	}
	if again := call(data); again.Code != cli.ExitOK {
		t.Errorf("the same records again: %+v", again)
	}
	got, err := npy.ReadMatrix(filepath.Join(dir, "inputs.npy"))
	if check(t, err); !array.Same(got, x) {
		t.Error("inputs.npy holds other records than --data")
	}
	fails(t, call(args[3]), cli.ExitFailure, "inputs.npy", "other records")
}

func TestAuditRefusesNetworksBeforeAnythingIsWritten(t *testing.T) {
	dir, network, args := auditedNetwork(t)
	for _, c := range []struct {
		models string
		code   int
		words  []string
	}{
		{"bogus=" + network, cli.ExitUsage, []string{`"bogus" is no name for a model's folder`, "unlearned, original, retrained"}},
		{"unlearned=" + network + ",unlerned-2=" + network, cli.ExitUsage, []string{`"unlerned-2" is no name`}},
		{"unlearned=" + network + ",original/a/b=" + network, cli.ExitUsage, []string{`"original/a/b"`}},
		{"unlearned=" + network + ",original/activations=" + network, cli.ExitUsage, []string{`"original/activations"`}},
		{"unlearned=" + network + ",original=" + filepath.Join(dir, "labels.npy"), cli.ExitFailure, []string{"labels.npy: is not an ONNX file"}},
	} {
		fails(t, lethe(t, append(args[:len(args):len(args)], c.models)...), c.code, c.words...)
		if found, err := os.ReadDir(dir); err != nil || len(found) != 3 {
			t.Errorf("--onnx %s left %v, %v", c.models, found, err)
		}
	}
	nan := array.New[float64](7, 6)
	nan.Row(4)[2] = math.NaN()
	bad := matrixFile(t, nan)
	fails(t, lethe(t, "audit", dir, "--data", bad, "--onnx", "unlearned="+network), cli.ExitFailure, "--data: "+bad+": row 4, column 2 is NaN")
}

func TestAuditPrintsKits(t *testing.T) {
	if r := lethe(t, "audit", "--kit", "jax"); r.Code != cli.ExitOK || !strings.Contains(r.Out, "import jax") {
		t.Errorf("%d: %s%s", r.Code, r.Out, r.Stderr)
	}
	fails(t, lethe(t, "audit", "--kit", "fortran"), cli.ExitUsage, "fortran", "pytorch")
}
