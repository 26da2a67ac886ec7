// Tests of export.go.

package lab

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array/npy"
	"github.com/lethe-ml/lethe/lib/model/torch"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/store/safetensors"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// jobOf is the job of a method's model, trained before it is listed.
func jobOf(t *testing.T, l *Lab, s Setting, m unlearn.Method, train bool) Job {
	t.Helper()
	if train {
		if _, _, err := openCase(t, l, s).Weights(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	jobs, err := l.Jobs(t.Context(), s, m)
	if err != nil {
		t.Fatal(err)
	}
	return jobs[len(jobs)-1]
}

// An exported folder is the stored model and its case, to the bit.
func TestAnExportedModelIsTheStoredOne(t *testing.T) {
	l, s := newLab(t), smallSetting()
	c := openCase(t, l, s)
	for _, m := range []unlearn.Method{unlearn.NoOp{}, unlearn.Retrain{}, unlearn.SCRUB{}} {
		folder, err := l.Export(t.Context(), jobOf(t, l, s, m, true), t.TempDir(), ExportOptions{})
		if err != nil {
			t.Fatal(err)
		}
		weights, _, err := c.Weights(t.Context(), m)
		if err != nil {
			t.Fatal(err)
		}
		f, err := safetensors.Read(filepath.Join(folder, "weights.safetensors"))
		if err != nil {
			t.Fatal(err)
		}
		back, err := nn.FromFile(f, "", c.Runner.WeightShapes())
		if err != nil || back.Hash() != weights.Hash() {
			t.Errorf("%s: other weights (%v)", m.Info().Name, err)
		}
		want, err := c.Runner.Predict(weights, c.Test.X)
		if err != nil {
			t.Fatal(err)
		}
		embedding, err := npy.ReadMatrix(filepath.Join(folder, "embedding_test.npy"))
		if err != nil || embedding.Rows != c.Test.X.Rows || float32(embedding.Data[5]) != want.Embedding.Data[5] {
			t.Errorf("%s: other embeddings (%v)", m.Info().Name, err)
		}
		for name, rows := range map[string][]int{"forget": c.Forget, "retain": c.Retain, "labels_train": c.Train.Y, "labels_test": c.Test.Y} {
			if got, err := npy.ReadIndices(filepath.Join(folder, name+".npy")); err != nil || !slices.Equal(got, rows) {
				t.Errorf("%s: %s holds other rows (%v)", m.Info().Name, name, err)
			}
		}
		checkAbout(t, folder)
	}
}

// With PyTorch the folder holds a state_dict, which is the stored model too.
func TestAnExportedStateDictIsTheStoredModel(t *testing.T) {
	l, s := newLab(t), smallSetting()
	c := openCase(t, l, s)
	folder, err := l.Export(t.Context(), jobOf(t, l, s, unlearn.NoOp{}, true), t.TempDir(), ExportOptions{PyTorch: true})
	if err != nil {
		t.Fatal(err)
	}
	weights, _, err := c.Weights(t.Context(), unlearn.NoOp{})
	if err != nil {
		t.Fatal(err)
	}
	back, err := torch.Read(filepath.Join(folder, "state_dict.safetensors"), c.Problem.Arch)
	if err != nil || back.Hash() != weights.Hash() {
		t.Errorf("other weights (%v)", err)
	}
	if _, err := os.Stat(filepath.Join(folder, "weights.safetensors")); err == nil {
		t.Error("the weights are there twice")
	}
	checkAbout(t, folder)
}

// checkAbout checks that about.json names every file that is there and no other.
func checkAbout(t *testing.T, folder string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(folder, "about.json"))
	if err != nil {
		t.Fatal(err)
	}
	var x Exported
	if err := json.Unmarshal(b, &x); err != nil || x.Run == "" || x.DataHash == "" || x.Network == "" {
		t.Errorf("%+v, %v", x, err)
	}
	files, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var there []string
	for _, f := range files {
		if f.Name() != "about.json" {
			there = append(there, f.Name())
		}
	}
	if said := slices.Sorted(maps.Keys(x.Files)); !slices.Equal(said, there) || len(there) < 10 {
		t.Errorf("about.json names %q, the folder holds %q", said, there)
	}
}

func TestOnlyAStoredModelIsExported(t *testing.T) {
	l := newLab(t)
	for want, j := range map[string]Job{
		"not a model":      {ID: "evidence/x"},
		"not in the store": jobOf(t, l, smallSetting(), unlearn.Retrain{}, false),
	} {
		if _, err := l.Export(t.Context(), j, t.TempDir(), ExportOptions{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}
