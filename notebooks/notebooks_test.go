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

func TestNotebooksReadWellAndRun(t *testing.T) { notebooktest.TestAll(t, ".") }

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
