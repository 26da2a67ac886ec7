// The PyTorch classes of docs/guide/state-dicts.md against the networks.

package torch_test

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/array/npy"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/outside"
	"github.com/lethe-ml/lethe/lib/model/torch"
)

// EnvPython names the Python that the documented classes are tried with; without it,
// python3. It needs torch, numpy and safetensors.
const EnvPython = "LETHE_KIT_PYTHON"

// twins are networks, their class in docs/guide/state-dicts.md, and the shape of a record.
var twins = []struct{ arch, class, record string }{
	{"tabular-mlp:features=4,outputs=3,hidden=5", "MLP(4, 3, 5)", "4"},
	{"one-hidden:features=4,outputs=3,hidden=5", "OneHidden(4, 3, 5)", "4"},
	{"residual-mlp:features=4,outputs=3,width=6", "ResMLP(4, 3, 6)", "4"},
	{"tabular-blocks:features=4,outputs=3,hidden=[6,5]", "Blocks(4, 3, (6, 5))", "4"},
	{"tabular-blocks:features=4,outputs=3,linear", "Blocks(4, 3, ())", "4"},
	{"small-cnn:side=9,width=2,hidden=5", "SmallCNN(1, 9, 10, 2, 5)", "1, 9, 9"},
	{"small-cnn:channels=3,side=8,width=2,hidden=5,norm", "SmallCNN(3, 8, 10, 2, 5, True)", "3, 8, 8"},
	{"all-cnn:side=8,width=2", "AllCNN(3, 10, 2)", "3, 8, 8"},
	{"all-cnn:side=8,width=2,plain", "AllCNN(3, 10, 2, True)", "3, 8, 8"},
	{"resnet-18:channels=1,side=8,width=2,outputs=4", "ResNet18(1, 4, 2)", "1, 8, 8"},
}

// script loads what Lethe wrote into a class, strictly, and writes what the class
// makes of records and its own state_dict.
const script = `
import sys
import numpy
import safetensors.torch

torch.set_num_threads(1)
for at, (model, record) in enumerate([%s]):
    at = f"{sys.argv[1]}/{at}"
    model.load_state_dict(safetensors.torch.load_file(at + "/ours.safetensors"))
    model.eval()
    given = []
    last = model.head if hasattr(model, "head") else model.fc
    last.register_forward_pre_hook(lambda _, z: given.append(z[0]))
    x = torch.from_numpy(numpy.load(at + "/x.npy"))
    with torch.no_grad():
        y = model(x.reshape(len(x), *record))
    numpy.save(at + "/outputs.npy", y.numpy())
    numpy.save(at + "/embedding.npy", given[0].numpy())
    safetensors.torch.save_file(model.state_dict(), at + "/theirs.safetensors")
`

// The classes of docs/guide/state-dicts.md take what we write, strictly, say what we say, and
// write what we read.
func TestTheDocumentedClassesAreTheNetworks(t *testing.T) {
	python := cmp.Or(os.Getenv(EnvPython), "python3")
	if out, err := exec.Command(python, "-c", "import numpy, torch, safetensors").CombinedOutput(); err != nil {
		t.Skipf("%s does not have torch and safetensors: %v %.200s", python, err, out)
	}
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "guide", "state-dicts.md"))
	if err != nil {
		t.Fatal(err)
	}
	classes := regexp.MustCompile("(?s)```python\n(.*?)```").FindSubmatch(page)
	if classes == nil {
		t.Fatal("the page shows no classes")
	}
	dir := t.TempDir()
	var list []string
	for i, w := range twins {
		list = append(list, fmt.Sprintf("(%s, (%s,))", w.class, w.record))
		writeTwin(t, filepath.Join(dir, fmt.Sprint(i)), w.arch)
	}
	program := string(classes[1]) + fmt.Sprintf(script, strings.Join(list, ", "))
	if out, err := exec.Command(python, "-c", program, dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	e := opened(t)
	for i, w := range twins {
		at := filepath.Join(dir, fmt.Sprint(i))
		m, err := torch.Open(filepath.Join(at, "theirs.safetensors"), parsed(t, w.arch))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := outside.Write(context.Background(), m, e, read(t, filepath.Join(at, "x.npy")), filepath.Join(at, "lethe")); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"outputs.npy", "embedding.npy"} {
			checkText(t, w.arch+", "+name, filepath.Join(at, "lethe", name), filepath.Join(at, name))
		}
		ours, err := torch.Read(filepath.Join(at, "ours.safetensors"), parsed(t, w.arch))
		if err != nil {
			t.Fatal(err)
		}
		theirs, err := torch.Read(filepath.Join(at, "theirs.safetensors"), parsed(t, w.arch))
		if err != nil || ours.Hash() != theirs.Hash() {
			t.Errorf("%s: PyTorch writes other weights than it was given (%v)", w.arch, err)
		}
	}
}

// writeTwin writes weights and records; statistics and gains are away from 0 and 1.
func writeTwin(t *testing.T, dir, text string) {
	t.Helper()
	arch := parsed(t, text)
	p := model.InitialWeights(arch, engine.Root(3).Stream(engine.StreamInit))
	for i, v := range p {
		for j := range v.Data {
			v.Data[j] += float32(0.25 * math.Sin(1.3*float64(i)+0.7*float64(j)+1))
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := torch.Write(filepath.Join(dir, "ours.safetensors"), arch, p); err != nil {
		t.Fatal(err)
	}
	x := array.New[float32](4, arch.Inputs())
	for i := range x.Data {
		x.Data[i] = float32(2 * math.Cos(1.1*float64(i)))
	}
	if err := npy.Write(filepath.Join(dir, "x.npy"), x); err != nil {
		t.Fatal(err)
	}
}
