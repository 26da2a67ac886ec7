// The store keys of all quick recipes stay as they are.

package command

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/store"
)

var update = flag.Bool("update", false, "write testdata/keys.txt anew")

// The keys of everything that quick recipes train and measure are what they were, so that
// what is in somebody's store is found again, whatever is changed in how keys are made. A
// change of Results moves the keys of its recipes: go test ./lib/command -run KeysOfQuick -update.
func TestKeysOfQuickRecipesStayWhatTheyWere(t *testing.T) {
	t.Setenv("LETHE_DATA", filepath.Join(t.TempDir(), "none"))
	e, err := engine.Open("")
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	keys := map[string]string{}
	for _, p := range Papers() {
		env := &paper.Env{Engine: e, Store: s}
		for _, r := range p.Recipes {
			jobs, err := r.List(t.Context(), env, "quick")
			if err != nil {
				t.Fatal(err)
			}
			for _, j := range jobs {
				if before, is := keys[j.ID]; is && before != j.Key {
					t.Errorf("%s: the job %s has another key than in an earlier recipe: a sweep of both would leave one out", r.ID, j.ID)
				}
				if keys[j.ID] = j.Key; j.Key != "" {
					lines = append(lines, fmt.Sprintf("%s %s", j.Key, j.ID))
				}
			}
		}
	}
	slices.Sort(lines)
	text := []byte(strings.Join(slices.Compact(lines), "\n") + "\n")
	if *update {
		if err := os.WriteFile("testdata/keys.txt", text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/keys.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(string(text), "\n") {
		if !strings.Contains(string(want), line+"\n") {
			t.Errorf("moved: %s", line)
		}
	}
	if len(text) != len(want) {
		t.Errorf("%d bytes of keys, there were %d", len(text), len(want))
	}
}
