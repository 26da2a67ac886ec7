// Tests of torch.go.

package torch_test

import (
	"context"
	"encoding/binary"
	"errors"
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
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/ib"
	"github.com/lethe-ml/lethe/lib/model/outside"
	"github.com/lethe-ml/lethe/lib/model/tabular"
	"github.com/lethe-ml/lethe/lib/model/text"
	"github.com/lethe-ml/lethe/lib/model/torch"
	"github.com/lethe-ml/lethe/lib/model/vae"
	"github.com/lethe-ml/lethe/lib/model/vision"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/store/safetensors"
)

func opened(t *testing.T) *engine.Engine {
	t.Helper()
	e, err := engine.Open(os.Getenv("LETHE_TEST_ENGINE"))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func parsed(t *testing.T, text string) model.Architecture {
	t.Helper()
	a, err := torch.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func read(t *testing.T, name string) array.Rows {
	t.Helper()
	x, _, err := npy.ReadRecords(name)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// Golden values: PyTorch 2.15.0, torchvision 0.29.2 and rtdl_revisiting_models 0.0.2
// by testdata/golden.py.
func TestStateDictsGiveWhatPyTorchGives(t *testing.T) {
	for name, arch := range golden {
		m, err := torch.Open(filepath.Join("testdata", name+".safetensors"), parsed(t, arch))
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		_, err = outside.Write(context.Background(), m, opened(t), read(t, filepath.Join("testdata", name+".x.npy")), dir)
		if err != nil {
			t.Fatal(err)
		}
		checkText(t, name+", output", filepath.Join(dir, "outputs.npy"), filepath.Join("testdata", name+".y.npy"))
		checkText(t, name+", embedding", filepath.Join(dir, "embedding.npy"), filepath.Join("testdata", name+".embedding.npy"))
	}
}

var golden = map[string]string{
	"mlp":            "tabular-mlp:features=4,outputs=3,hidden=5",
	"resnet18":       "resnet-18:width=2,side=8,outputs=3",
	"ft-transformer": "ft-transformer:features=3,outputs=2,blocks=2,width=8,heads=2",
}

func checkText(t *testing.T, what, got, want string) {
	t.Helper()
	a, b := read(t, got), read(t, want)
	n, cols := a.Shape()
	if m, c := b.Shape(); m != n || c != cols {
		t.Fatalf("%s: %d x %d, want %d x %d", what, n, cols, m, c)
	}
	for i := range n {
		x, y := a.Read(make([]float64, cols), i), b.Read(make([]float64, cols), i)
		for j := range cols {
			if !(math.Abs(x[j]-y[j]) < 1e-5*max(1, math.Abs(y[j]))) {
				t.Fatalf("%s: record %d, column %d: %g, PyTorch has %g", what, i, j, x[j], y[j])
			}
		}
	}
}

// Reading and writing undo each other, bit for bit, for every architecture; a file of
// PyTorch's comes out as it went in but for what we do not keep.
func TestReadingUndoesWriting(t *testing.T) {
	resnet := ib.ResNet{Width: 2}
	archs := []model.Architecture{
		tabular.MLP{Features: 3, Outputs: 2, Hidden: 4}, tabular.ResMLP{Features: 3, Outputs: 2, Width: 4},
		tabular.FTTransformer{Features: 3, Outputs: 2, Width: 8}, tabular.OneHidden{Features: 3, Outputs: 2, Hidden: 4},
		tabular.Blocks{Features: 3, Outputs: 2, Hidden: []int{4, 5}},
		vision.SmallCNN{Side: 8, Width: 2, Hidden: 3, Norm: true}, vision.AllCNN{Side: 8, Width: 2}, vision.ResNet18{Side: 8, Width: 2},
		text.Classifier{Tokens: 4, Outputs: 2, Layers: 1, Width: 4, Heads: 2, Vocabulary: 7, Positions: 5},
		vae.Cells{Genes: 5, Hidden: []int{4, 3}, Latent: 2}, vae.Gaussian{Features: 3},
		ib.Bottleneck{Features: 192, Outputs: 2, Latent: 192, Compressor: resnet, Approximator: resnet},
		ib.Approximator{Of: ib.Bottleneck{Features: 192, Outputs: 2, Latent: 192, Compressor: resnet, Approximator: resnet}},
	}
	for _, arch := range archs {
		p := model.InitialWeights(arch, engine.Root(1).Stream(engine.StreamInit))
		for i, v := range p { // nothing at 0 or 1
			for j := range v.Data {
				v.Data[j] = float32(i) + float32(j)/1024
			}
		}
		path := filepath.Join(t.TempDir(), "a.safetensors")
		if err := torch.Write(path, arch, p); err != nil {
			t.Fatal(err)
		}
		back, err := torch.Read(path, arch)
		if err != nil || back.Hash() != p.Hash() || nn.SameShape(back, p) != nil {
			t.Errorf("%s: other weights came back (%v)", arch.Name(), err)
		}
		for i := range p {
			if back[i].State != p[i].State {
				t.Errorf("%s: %s is state in one and not in the other", arch.Name(), p[i].Name)
			}
		}
	}
}

// The names and shapes that we write are the ones that PyTorch wrote.
func TestWhatIsWrittenHasPyTorchsNames(t *testing.T) {
	for name, text := range golden {
		arch := parsed(t, text)
		path := filepath.Join("testdata", name+".safetensors")
		theirs, err := safetensors.Read(path)
		if err != nil {
			t.Fatal(err)
		}
		p, err := torch.Read(path, arch)
		if err != nil {
			t.Fatal(err)
		}
		again := filepath.Join(t.TempDir(), "again.safetensors")
		if err := torch.Write(again, arch, p); err != nil {
			t.Fatal(err)
		}
		ours, err := safetensors.Read(again)
		if err != nil {
			t.Fatal(err)
		}
		if len(ours.Tensors) != len(theirs.Tensors) {
			t.Fatalf("%s: %d tensors, PyTorch has %d", name, len(ours.Tensors), len(theirs.Tensors))
		}
		for i, want := range theirs.Tensors {
			got := ours.Tensors[i]
			if got.Name != want.Name || got.DType != want.DType || !slices.Equal(got.Shape, want.Shape) {
				t.Errorf("%s: %s %s %v, PyTorch has %s %s %v", name, got.Name, got.DType, got.Shape, want.Name, want.DType, want.Shape)
			}
			kept := !strings.HasSuffix(got.Name, "num_batches_tracked") && !strings.HasSuffix(got.Name, "W_k.bias")
			if kept && string(got.Data) != string(want.Data) {
				t.Errorf("%s: %s holds other numbers", name, got.Name)
			}
		}
	}
}

// changed writes the MLP's file with something done to its tensors.
func changed(t *testing.T, change func(f *safetensors.File)) string {
	t.Helper()
	f, err := safetensors.Read("testdata/mlp.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	change(f)
	path := filepath.Join(t.TempDir(), "changed.safetensors")
	if err := safetensors.Write(path, f); err != nil {
		t.Fatal(err)
	}
	return path
}

// Everything that is wrong is said at once, by tensor.
func TestEverythingWrongIsListed(t *testing.T) {
	path := changed(t, func(f *safetensors.File) {
		for i, v := range f.Tensors {
			switch v.Name {
			case "head.bias":
				f.Tensors[i].Name = "fc.bias"
			case "hidden1.weight":
				f.Tensors[i].Shape = []int{4, 5} // turned around
			case "hidden1.bias":
				f.Tensors[i] = safetensors.Tensor{Name: v.Name, DType: safetensors.BF16, Shape: v.Shape, Data: v.Data[:len(v.Data)/2]}
			case "hidden2.bias":
				f.Tensors[i] = safetensors.FromFloat32(v.Name, v.Shape, []float32{0, 1, float32(math.NaN()), 2, 3})
			}
		}
	})
	_, err := torch.Read(path, parsed(t, golden["mlp"]))
	var wrong *torch.Error
	if !errors.As(err, &wrong) {
		t.Fatal(err)
	}
	want := []string{
		"hidden1.weight has shape [4 5], the network's is [5 4]",
		"hidden1.bias is of type BF16; F32 is read, which model.float().state_dict() gives",
		"hidden2.bias is not finite: element 2 is NaN",
		"head.bias [3] is missing",
		"fc.bias [3] is not a tensor of the network",
	}
	if !slices.Equal(wrong.Wrong, want) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "tabular-mlp") {
		t.Errorf("%q\n%v", wrong.Wrong, err)
	}
	_, err = torch.Read("testdata/mlp.safetensors", parsed(t, golden["resnet18"]))
	if !errors.As(err, &wrong) || len(wrong.Wrong) != 122-20+6 {
		t.Errorf("an MLP for a residual network: %d things are wrong", len(wrong.Wrong))
	}
}

// A residual network that counts its batches in another type is another network's.
func TestCountsAreWholeNumbers(t *testing.T) {
	f, err := safetensors.Read("testdata/resnet18.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range f.Tensors {
		if v.Name == "bn1.num_batches_tracked" {
			f.Tensors[i] = safetensors.FromFloat32(v.Name, []int{}, []float32{3})
		}
	}
	path := filepath.Join(t.TempDir(), "x.safetensors")
	if err := safetensors.Write(path, f); err != nil {
		t.Fatal(err)
	}
	if _, err := torch.Read(path, parsed(t, golden["resnet18"])); err == nil || !strings.Contains(err.Error(), "num_batches_tracked is of type F32") {
		t.Error(err)
	}
}

// Older versions of PyTorch, and programs that convert, write no counters of batches;
// no number of ours is in them.
func TestCountersOfBatchesMayBeMissing(t *testing.T) {
	f, err := safetensors.Read("testdata/resnet18.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	arch := parsed(t, golden["resnet18"])
	want, err := torch.Read("testdata/resnet18.safetensors", arch)
	if err != nil {
		t.Fatal(err)
	}
	before := len(f.Tensors)
	f.Tensors = slices.DeleteFunc(f.Tensors, func(v safetensors.Tensor) bool { return strings.HasSuffix(v.Name, ".num_batches_tracked") })
	path := filepath.Join(t.TempDir(), "x.safetensors")
	if err := safetensors.Write(path, f); err != nil || len(f.Tensors) != before-20 {
		t.Fatal(len(f.Tensors), err)
	}
	if p, err := torch.Read(path, arch); err != nil || p.Hash() != want.Hash() {
		t.Error(err)
	}
	f.Tensors = slices.DeleteFunc(f.Tensors, func(v safetensors.Tensor) bool { return v.Name == "bn1.running_var" })
	if err := safetensors.Write(path, f); err != nil {
		t.Fatal(err)
	}
	if _, err := torch.Read(path, arch); err == nil || !strings.Contains(err.Error(), "bn1.running_var [2] is missing") {
		t.Error(err)
	}
}

// TestNothingIsReadOfAFileThatIsTheWrongSize is 64 GB, of which nothing is there.
func TestNothingIsReadOfAFileThatIsTheWrongSize(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.safetensors")
	for header, want := range map[string]string{
		"{}": "tensors do not cover the buffer",
		`{"big":{"dtype":"U8","shape":[68719476736],"data_offsets":[0,68719476736]}}`: "its tensors have 68719476736 bytes, those of tabular-mlp",
	} {
		b := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
		if err := os.WriteFile(path, append(b, header...), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, int64(8+len(header)+68719476736)); err != nil {
			t.Skip(err)
		}
		if _, err := torch.Read(path, parsed(t, golden["mlp"])); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// What wraps a module puts its name before all others; half of them are no wrapper's.
func TestWrappersAreTakenOff(t *testing.T) {
	prefixed := func(prefix string, most int) string {
		return changed(t, func(f *safetensors.File) {
			for i := range f.Tensors[:min(most, len(f.Tensors))] {
				f.Tensors[i].Name = prefix + f.Tensors[i].Name
			}
		})
	}
	arch := parsed(t, golden["mlp"])
	plain, err := torch.Read("testdata/mlp.safetensors", arch)
	if err != nil {
		t.Fatal(err)
	}
	for _, prefix := range []string{"module.", "_orig_mod.", "_orig_mod.module."} {
		if p, err := torch.Read(prefixed(prefix, 6), arch); err != nil || p.Hash() != plain.Hash() {
			t.Errorf("%s: %v", prefix, err)
		}
	}
	if _, err := torch.Read(prefixed("module.", 5), arch); err == nil {
		t.Error("five of six names in a wrapper were read")
	}
}

func TestWhatIsNoStateDictIsRefusedByName(t *testing.T) {
	dir := t.TempDir()
	arch := parsed(t, golden["mlp"])
	raw, err := os.ReadFile("testdata/mlp.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		content []byte
		want    string
	}{
		"new.pt":           {[]byte("PK\x03\x04 and so on, and so on"), "save_file"},
		"old.pt":           {[]byte("\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02M"), "save_file"},
		"short.pt":         {[]byte("\x80\x02"), "save_file"},
		"text.safetensors": {[]byte("these are no weights at all"), "safetensors"},
		"half.safetensors": {raw[:len(raw)/2], "safetensors"},
		"none.safetensors": {nil, "safetensors"},
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, c.content, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := torch.Read(path, arch)
		if err == nil || !strings.HasPrefix(err.Error(), path) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, path := range []string{dir, filepath.Join(dir, "nowhere")} {
		if _, err := torch.Read(path, arch); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if err := torch.Write(filepath.Join(dir, "x"), arch, nil); err == nil {
		t.Error("no weights were written")
	}
}

func TestLayersAreWrittenByName(t *testing.T) {
	m, err := torch.Open("testdata/resnet18.safetensors", parsed(t, golden["resnet18"]))
	if err != nil {
		t.Fatal(err)
	}
	e := opened(t)
	x := read(t, "testdata/resnet18.x.npy")
	got, err := m.Run(context.Background(), e, x, "h4", "logits")
	if err != nil || got["h4"].Cols != 16 || got["logits"].Cols != 3 {
		t.Errorf("%d and %d columns, %v", got["h4"].Cols, got["logits"].Cols, err)
	}
	if _, err = m.Run(context.Background(), e, x, "h9"); err == nil || !strings.Contains(err.Error(), "h1, h2") {
		t.Errorf("a layer that is not there: %v", err)
	}
	if _, err = m.Run(context.Background(), e, array.New[float32](2, 5)); err == nil || !strings.Contains(err.Error(), "192 features") {
		t.Errorf("records of another size: %v", err)
	}
}

// Of three colours and 8 x 8 pixels a file has as many numbers, whichever comes first.
func TestImagesWithTheirColoursLastAreRefused(t *testing.T) {
	m, err := torch.Open("testdata/resnet18.safetensors", parsed(t, golden["resnet18"]))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x.npy")
	for shape, want := range map[string]string{"2, 8, 8, 3": "the network takes (records, 3, 8, 8)", "2, 3, 8, 8": "", "2, 192": ""} {
		header := fmt.Sprintf("{'descr': '<f4', 'fortran_order': False, 'shape': (%s), }", shape)
		header += strings.Repeat(" ", 117-len(header)) + "\n"
		file := append([]byte("\x93NUMPY\x01\x00\x76\x00"+header), make([]byte, 2*192*4)...)
		if err := os.WriteFile(path, file, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := outside.Read(path, m); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("(%s): %v, want %q", shape, err, want)
		}
	}
}

func TestNetworksAreParsed(t *testing.T) {
	for text, want := range map[string]model.Architecture{
		"resnet-18":                  vision.ResNet18{},
		"small-cnn:norm":             vision.SmallCNN{Norm: true},
		"all-cnn:plain=true,width=8": vision.AllCNN{Plain: true, Width: 8},
		"tabular-blocks:features=3,outputs=2,hidden=[4,5]": tabular.Blocks{Features: 3, Outputs: 2, Hidden: []int{4, 5}},
	} {
		if got := parsed(t, text); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %+v", text, got)
		}
	}
	for text, want := range map[string]string{
		"resnet18":                  "resnet-18",
		"tabular-mlp":               "not set here: features, outputs",
		"resnet-18:depth=3":         "width",
		"resnet-18:width=wide":      "width=wide",
		"resnet-18:width=1.5":       "width",
		"resnet-18:width=2,width=3": "twice",
		"resnet-18:":                "",
		"small-cnn:init=1":          "init",
		"small-cnn:,":               "is not a setting",
	} {
		_, err := torch.Parse(text)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want one with %q", text, err, want)
		}
	}
}
