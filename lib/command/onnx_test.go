// Tests of onnx.go.

package command

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

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
	fails(t, r, cli.ExitFailure, stale+" exists already", "an audit would take it for this network's")
	r = lethe(t, "onnx", filepath.Join(golden, "mlp.onnx"), "--data", filepath.Join(golden, "resnet18.x.npy"), "--out", t.TempDir())
	if r.Code != 1 || !strings.Contains(r.Stderr, "mlp.onnx") || !strings.Contains(r.Stderr, "6 values") {
		t.Errorf("records of another shape: %d %s", r.Code, r.Stderr)
	}
}

// Of several outputs the first of floats is written, and standard error says so; --output names
// another, of an audit's networks too.
func TestONNXTakesAnOutputByItsName(t *testing.T) {
	network := filepath.Join(t.TempDir(), "two.onnx")
	check(t, os.WriteFile(network, twoOutputs(), 0o644))
	x := array.New[float64](2, 2)
	copy(x.Data, []float64{1, -2, -3, 4})
	data := matrixFile(t, x)
	written := func(args ...string) array.Rows {
		t.Helper()
		out := t.TempDir()
		r := lethe(t, append([]string{"onnx", network, "--data", data, "--out", out}, args...)...)
		if r.Code != 0 || (len(args) == 0) != strings.Contains(r.Stderr, "several outputs: positive is used") {
			t.Fatalf("%v: %d %s", args, r.Code, r.Stderr)
		}
		got, err := npy.ReadRows(filepath.Join(out, "outputs.npy"))
		check(t, err)
		return got
	}
	for want, args := range map[float64][]string{0: nil, -2: {"--output", "same"}} {
		if got := written(args...).Read(make([]float64, 2), 0); got[0] != 1 || got[1] != want {
			t.Errorf("%v: %v", args, got)
		}
	}
	r := lethe(t, "onnx", network, "--data", data, "--out", t.TempDir(), "--output", "third")
	fails(t, r, cli.ExitFailure, "--output: "+network+`: has no output "third"`, "positive, same")
	audit := t.TempDir()
	r = lethe(t, "audit", audit, "--onnx", "unlearned="+network, "--data", data, "--output", "third")
	fails(t, r, cli.ExitFailure, `has no output "third"`)
	r = lethe(t, "audit", audit, "--output", "same")
	fails(t, r, cli.ExitUsage, "--output: needs networks named by --onnx")
}

// twoOutputs is a network of two numbers with the outputs positive, which is Relu, and same.
func twoOutputs() []byte {
	field := func(number protowire.Number, content ...[]byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), slices.Concat(content...))
	}
	name := func(number protowire.Number, s string) []byte { return field(number, []byte(s)) }
	count := func(number protowire.Number, n uint64) []byte {
		return protowire.AppendVarint(protowire.AppendTag(nil, number, protowire.VarintType), n)
	}
	node := func(op, out string) []byte { return field(1, name(1, "x"), name(2, out), name(4, op)) }
	value := func(number protowire.Number, s string, dims ...[]byte) []byte {
		return field(number, name(1, s), field(2, field(1, count(1, 1), field(2, dims...))))
	}
	free, two := field(1, name(2, "N")), field(1, count(1, 2))
	graph := field(7, node("Relu", "positive"), node("Identity", "same"), value(11, "x", free, two), value(12, "positive", free, two), value(12, "same", free, two))
	return slices.Concat(count(1, 8), graph, field(8, count(2, 17)))
}

// Records are finite and lie as the network takes them, or nothing is written.
func TestONNXRefusesRecordsThatDoNotFit(t *testing.T) {
	golden := filepath.Join("..", "model", "onnx", "testdata")
	out := filepath.Join(t.TempDir(), "out")
	onnx := func(network, data string) clitest.Result {
		return lethe(t, "onnx", filepath.Join(golden, network+".onnx"), "--data", data, "--out", out)
	}
	corrupted := array.New[float64](3, 6)
	corrupted.Row(2)[1] = math.Inf(1)
	bad := matrixFile(t, corrupted)
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
