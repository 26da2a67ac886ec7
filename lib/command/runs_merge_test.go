// Tests of lethe runs merge.

package command

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/cli"
	"github.com/lethe-ml/lethe/lib/store"
)

// storeWith is a store with a run per recipe, each with a word in it.
func storeWith(t *testing.T, words map[string]string) (dir string, runs map[string]*store.Run) {
	t.Helper()
	dir, runs = t.TempDir(), map[string]*store.Run{}
	s, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	for recipe, word := range words {
		runs[recipe], err = s.Do(t.Context(), store.Key{Recipe: recipe, Config: struct{}{}}, func(_ context.Context, w *store.Work) error {
			return w.WriteFile("word", []byte(word))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir, runs
}

func TestRunsMergeAddsWhatIsWholeAndNamesWhatIsNot(t *testing.T) {
	a, _ := storeWith(t, map[string]string{"x": "one", "y": "two"})
	b, inB := storeWith(t, map[string]string{"y": "two", "z": "three", "bad": "four"})
	c, inC := storeWith(t, map[string]string{"x": "other"})
	into := filepath.Join(t.TempDir(), "all")
	if r := lethe(t, "runs", "merge", into, a); r.Code != cli.ExitOK || !strings.Contains(r.Out, "2 runs added") || r.Stderr != "" {
		t.Errorf("%+v", r)
	}
	damaged := filepath.Join(inB["bad"].Dir, "word")
	if err := os.WriteFile(damaged, []byte("five"), 0o644); err != nil {
		t.Fatal(err)
	}
	r := lethe(t, "runs", "merge", into, b, c)
	if r.Code != cli.ExitFailure || !strings.Contains(r.Out, "1 runs added (") || !strings.Contains(r.Out, "1 were there with the same bytes, 1 refused") {
		t.Errorf("%+v", r)
	}
	for _, word := range []string{damaged, inC["x"].Dir, filepath.Join(into, "runs"), "the same key with other bytes"} {
		if !strings.Contains(r.Stderr, word) {
			t.Errorf("%q does not say %q", r.Stderr, word)
		}
	}
	if r := lethe(t, "runs", "verify", "--store", into); r.Code != cli.ExitOK || !strings.Contains(r.Out, "3 runs checked, 0 damaged") {
		t.Errorf("%+v", r)
	}
}

func TestRunsMergeMakesNoStoreOfAName(t *testing.T) {
	dir, nowhere := t.TempDir(), filepath.Join(t.TempDir(), "nowhere")
	fails(t, lethe(t, "runs", "merge", dir, nowhere), cli.ExitFailure, "no store in", nowhere)
	if _, err := os.Stat(nowhere); err == nil {
		t.Error("it was made")
	}
	fails(t, lethe(t, "runs", "merge", dir), cli.ExitUsage, "at least 2")
}
