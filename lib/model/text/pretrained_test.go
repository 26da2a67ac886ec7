// Tests of pretrained.go.

package text

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/store/safetensors"
)

// withoutHead writes the body of the tiny network's weights to a file.
func withoutHead(t *testing.T) (Pretrained, *safetensors.File) {
	t.Helper()
	f := edited(published(weights(tiny, 5)), func(t *safetensors.Tensor) bool { return !strings.HasPrefix(t.Name, "cls.") })
	path := filepath.Join(t.TempDir(), "model.safetensors")
	if err := safetensors.Write(path, f); err != nil {
		t.Fatal(err)
	}
	sum, err := FileSHA256(path)
	if err != nil {
		t.Fatal(err)
	}
	return Pretrained{BERT: tiny, SHA256: sum, Path: path}, f
}

func TestATrainingBeginsWithTheFilesWeightsAndANewHead(t *testing.T) {
	m, _ := withoutHead(t)
	if _, notes, err := m.Load(weights(tiny, 6)); err != nil || len(notes) != 1 || !strings.Contains(notes[0], "no head") {
		t.Fatalf("notes %q, %v", notes, err)
	}
	want, first, second := weights(tiny, 5), model.InitialWeights(m, seeded(1)), model.InitialWeights(m, seeded(2))
	for i, p := range first {
		same, file := slices.Equal(p.Data, second[i].Data), slices.Equal(p.Data, want[i].Data)
		switch {
		case !isHead(p) && (!same || !file):
			t.Errorf("%s is not the file's", p.Name)
		case p.Name == "head.dense.weight" && (same || file):
			t.Errorf("%s is not drawn", p.Name)
		}
	}
	a, err := model.Fit(m, model.Sizes{Features: tiny.Inputs()})
	if got, is := a.(Pretrained); err != nil || !is || got.SHA256 != m.SHA256 {
		t.Errorf("it becomes %T (%v)", a, err)
	}
	if _, err := model.Fit(m, model.Sizes{Features: 5}); err == nil {
		t.Error("it takes records of 5 numbers")
	}
	if got := defaults.Fill(m); *got.Dropout != 0.1 || got.Path != m.Path {
		t.Errorf("with defaults: %+v", defaults.Fill(m))
	}
}

func TestWeightsThatAreNotTheNetworksAreNamed(t *testing.T) {
	m, _ := withoutHead(t)
	other := m
	other.SHA256 = strings.Repeat("0", 64)
	if _, err := model.CheckPretrained(other); err == nil || !strings.Contains(err.Error(), "expected 0000") {
		t.Errorf("another SHA-256: %v", err)
	}
	wide := m
	wide.Vocabulary = 31
	if _, err := model.CheckPretrained(wide); err == nil || !strings.Contains(err.Error(), "word_embeddings") || !strings.Contains(err.Error(), m.Path) {
		t.Errorf("another vocabulary: %v", err)
	}
	gone := Pretrained{BERT: tiny, SHA256: m.SHA256, Path: filepath.Join(t.TempDir(), "later")}
	if _, err := model.CheckPretrained(gone); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	b, err := os.ReadFile(m.Path)
	if err == nil {
		err = os.WriteFile(gone.Path, b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := model.CheckPretrained(gone); err != nil {
		t.Errorf("the file came later: %v", err)
	}
}
