// Tests of onnx.go.

package onnx_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/array/npy"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model/onnx"
)

// exported are networks that PyTorch 2.15 wrote, each by both of its exporters
// (torch.onnx.export with dynamo, opset 20, and by tracing, opset 17): an MLP, a
// ResNet-18 of width 2 on images of 3 x 16 x 16 with drawn moving means, and two
// layers of a transformer with its norms first and GELU.
var exported = []string{"mlp", "resnet18", "transformer"}

func open(t *testing.T, name string) *onnx.Model {
	t.Helper()
	m, err := onnx.Open(filepath.Join("testdata", name+".onnx"))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func read(t *testing.T, name string) array.Rows {
	t.Helper()
	x, _, err := npy.ReadRecords(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func opened(t *testing.T) *engine.Engine {
	t.Helper()
	e, err := engine.Open(os.Getenv("LETHE_TEST_ENGINE"))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// Golden values: onnxruntime 1.32.0, float32, on the processor's default provider.
func TestOutputsAndEmbeddingsAreThoseOfOnnxruntime(t *testing.T) {
	e := opened(t)
	for _, network := range exported {
		for _, name := range []string{network, network + "_script"} {
			m := open(t, name)
			embedding, ok := m.Embedding()
			if !ok {
				t.Fatalf("%s: no embedding found", name)
			}
			got, err := m.Run(context.Background(), e, read(t, network+".x.npy"), m.Output(), embedding)
			if err != nil {
				t.Fatal(err)
			}
			checkClose(t, name+", output", got[m.Output()], read(t, name+".y.npy"))
			checkClose(t, name+", embedding", got[embedding], read(t, name+".embedding.npy"))
		}
	}
}

func checkClose(t *testing.T, what string, got array.Matrix[float32], want array.Rows) {
	t.Helper()
	n, cols := want.Shape()
	if got.Rows != n || got.Cols != cols {
		t.Fatalf("%s: %d x %d, want %d x %d", what, got.Rows, got.Cols, n, cols)
	}
	buffer := make([]float64, cols)
	worst := 0.0
	for i := range n {
		for j, v := range want.Read(buffer, i) {
			worst = max(worst, math.Abs(float64(got.Row(i)[j])-v)/max(1, math.Abs(v)))
		}
	}
	if !(worst < 3e-6) {
		t.Errorf("%s is off by %g", what, worst)
	}
}

// A record's values do not depend on the batch it came in.
func TestRecordsDoNotDependOnBatches(t *testing.T) {
	e := opened(t)
	m := open(t, "transformer")
	x := array.New[float32](600, m.Input()[0]*m.Input()[1])
	for i := range x.Data {
		x.Data[i] = float32(math.Sin(float64(i)))
	}
	whole, err := m.Run(context.Background(), e, x, m.Output())
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range []int{0, 255, 256, 511, 599} {
		alone, err := m.Run(context.Background(), e, array.Matrix[float32]{Rows: 1, Cols: x.Cols, Data: x.Row(i)}, m.Output())
		if err != nil {
			t.Fatal(err)
		}
		for j, v := range alone[m.Output()].Data {
			if w := whole[m.Output()].Row(i)[j]; math.Abs(float64(v-w)) > 1e-6 {
				t.Errorf("record %d, class %d: %g alone, %g in a batch", i, j, v, w)
			}
		}
	}
}

func TestLayersAreNamed(t *testing.T) {
	m := open(t, "mlp")
	ops := ""
	for _, l := range m.Layers() {
		ops += l.Op + " "
	}
	if want := "Gemm Relu Gemm Relu Gemm "; ops != want {
		t.Errorf("layers %q, want %q", ops, want)
	}
	if embedding, _ := m.Embedding(); embedding != m.Layers()[3].Name {
		t.Errorf("the embedding is %q and not what the last layer is given, %q", embedding, m.Layers()[3].Name)
	}
	if in := m.Input(); !slices.Equal(in, []int{6}) || m.Batch() != 0 {
		t.Errorf("the input is %v, %d at once", in, m.Batch())
	}
}

func TestBadFilesAreRefusedByName(t *testing.T) {
	raw, err := os.ReadFile("testdata/mlp.onnx")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, content := range map[string][]byte{
		"empty": nil, "text": []byte("this is no network\n"), "half": raw[:len(raw)/2], "zeros": make([]byte, 300),
	} {
		path := filepath.Join(dir, name+".onnx")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := onnx.Open(path); err == nil || !strings.HasPrefix(err.Error(), path+": ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := onnx.Open(filepath.Join(dir, "nowhere.onnx")); err == nil {
		t.Error("a file that is not there was opened")
	}
	if _, err := onnx.Open(dir); err == nil || !strings.Contains(err.Error(), "regular") {
		t.Errorf("a folder: %v", err)
	}
}

// No truncation and no flipped byte may end in a panic or in a hang.
func TestDamagedFilesDoNotPanic(t *testing.T) {
	raw, err := os.ReadFile("testdata/mlp.onnx")
	if err != nil {
		t.Fatal(err)
	}
	e := opened(t)
	path := filepath.Join(t.TempDir(), "damaged.onnx")
	x := array.New[float32](2, 6)
	for at := 0; at < len(raw); at += 7 {
		for _, damaged := range [][]byte{raw[:at], flipped(raw, at)} {
			if err := os.WriteFile(path, damaged, 0o600); err != nil {
				t.Fatal(err)
			}
			m, err := onnx.Open(path)
			if err != nil || !slices.Equal(m.Input(), []int{6}) {
				continue
			}
			if _, err := m.Run(context.Background(), e, x, m.Output()); err != nil && (!strings.HasPrefix(err.Error(), path+": ") || traced(err)) {
				t.Fatalf("byte %d: %v", at, err)
			}
		}
	}
}

// traced reports whether an error shows what the program did and not what is wrong.
func traced(err error) bool {
	words := []string{"\n", "goroutine", "panicked", "Exec", "github.com"}
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(err.Error(), word) })
}

// What a network asks for and is not known is named in a sentence.
func TestWhatIsNotKnownIsNamed(t *testing.T) {
	e := opened(t)
	for _, c := range []struct{ network, from, to, want string }{
		{"mlp", "Relu", "Rely", `: operation "Rely" (node "node_relu", which makes "relu") is not supported`},
		{"resnet18", "NOTSET", "SAME_U", `: operation "Conv" (node "node_Conv_292", which makes "getitem"): its attribute auto_pad = SAME_U is not supported, only NOTSET, VALID, SAME_UPPER, SAME_LOWER`},
	} {
		raw, err := os.ReadFile(filepath.Join("testdata", c.network+".onnx"))
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "m.onnx")
		if err := os.WriteFile(path, bytes.ReplaceAll(raw, []byte(c.from), []byte(c.to)), 0o600); err != nil {
			t.Fatal(err)
		}
		m, err := onnx.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		_, err = m.Run(context.Background(), e, read(t, c.network+".x.npy"), m.Output())
		if err == nil || err.Error() != path+c.want {
			t.Errorf("%s: %v, want %s", c.network, err, c.want)
		}
	}
}

// Weights in a file of their own are read from the network's folder, and from no
// other: neither by dots nor by a link.
func TestWeightsOutsideTheFolderAreRefused(t *testing.T) {
	raw, err := os.ReadFile("testdata/outside.onnx")
	if err != nil {
		t.Fatal(err)
	}
	weights, err := os.ReadFile("testdata/outside.data")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	inside := filepath.Join(dir, "model")
	write := func(path string, content []byte) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(inside, "m.onnx")
	write(path, raw)
	run := func() error {
		m, err := onnx.Open(path)
		if err != nil {
			return err
		}
		got, err := m.Run(context.Background(), opened(t), read(t, "mlp.x.npy"), m.Output())
		if err == nil {
			checkClose(t, "with weights elsewhere", got[m.Output()], read(t, "mlp.y.npy"))
		}
		return err
	}
	write(filepath.Join(dir, "outside.data"), weights)
	if err := os.Symlink(filepath.Join(dir, "outside.data"), filepath.Join(inside, "outside.data")); err != nil {
		t.Skip(err)
	}
	if err := run(); err == nil || !strings.Contains(err.Error(), "outside.data") {
		t.Errorf("weights behind a link that leads out: %v", err)
	}
	if err := os.Remove(filepath.Join(inside, "outside.data")); err != nil {
		t.Fatal(err)
	}
	if err := run(); err == nil || !strings.Contains(err.Error(), `"outside.data", looked for in the folder `+inside) || strings.Contains(err.Error(), "statat") {
		t.Errorf("weights that are not there: %v", err)
	}
	write(filepath.Join(inside, "outside.data"), weights[:len(weights)/2])
	if err := run(); err == nil || !strings.Contains(err.Error(), "has no 512 bytes") {
		t.Errorf("half of the weights: %v", err)
	}
	write(filepath.Join(inside, "outside.data"), weights)
	if err := run(); err != nil {
		t.Errorf("weights in the folder: %v", err)
	}
}

func flipped(raw []byte, at int) []byte {
	out := append([]byte(nil), raw...)
	out[at] ^= 0x15
	return out
}

func TestWrongRecordsAreRefused(t *testing.T) {
	e := opened(t)
	m := open(t, "mlp")
	_, err := m.Run(context.Background(), e, array.New[float32](3, 5), m.Output())
	if err == nil || !strings.Contains(err.Error(), "6 values") || !strings.Contains(err.Error(), "have 5") {
		t.Errorf("five columns for six: %v", err)
	}
	for _, v := range []float64{math.NaN(), math.Inf(-1), 1e300} { // the last is infinite as float32
		x := array.New[float64](300, 6)
		x.Row(299)[4] = v
		if _, err := m.Run(context.Background(), e, x, m.Output()); err == nil || !strings.Contains(err.Error(), fmt.Sprint("column 4 of record 299 is ", v)) {
			t.Errorf("%v among the records: %v", v, err)
		}
	}
	if _, err = m.Run(context.Background(), e, array.New[float32](3, 6), "nothing"); err == nil || !strings.Contains(err.Error(), `"nothing"`) {
		t.Errorf("a value that is not there: %v", err)
	}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if _, err = m.Run(ctx, e, array.New[float32](3, 6), m.Output()); err == nil {
		t.Error("a stopped run went on")
	}
}
