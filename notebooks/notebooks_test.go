package notebooks_test

import (
	"io/fs"
	"os"
	"slices"
	"testing"

	"github.com/lethe-ml/lethe/kernel/notebook"
	"github.com/lethe-ml/lethe/kernel/notebook/notebooktest"
	"github.com/lethe-ml/lethe/notebooks"
)

// The others take long; .ci/run executes them all.
func TestNotebooksReadWellAndTheFirstOnesRun(t *testing.T) { notebooktest.All(t, ".", "start/") }

func TestClaimsHoldForOtherSeeds(t *testing.T) { notebooktest.Seeds(t, ".") }

func TestTheProgramCarriesEveryNotebook(t *testing.T) {
	find := func(files fs.FS) []string {
		found, err := notebook.Find(files)
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	carried, there := find(notebooks.Files), find(os.DirFS("."))
	if len(carried) == 0 || !slices.Equal(carried, there) {
		t.Errorf("the program carries %v, the folder holds %v", carried, there)
	}
}
