// Finding notebooks, in reading order.

package notebook

import (
	"io/fs"
	"path"
	"slices"
	"strings"
)

// folderOrder is the reading order of the folders; others come last.
var folderOrder = []string{"start", "ruler", "sde", "fishing", "blindu", "audit", "language"}

// Find returns the notebooks of fsys in reading order.
func Find(fsys fs.FS) ([]string, error) {
	var found []string
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (name == "out" || name != "." && strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir // what was executed, and checkpoints
		case !d.IsDir() && path.Ext(name) == ".ipynb" && !strings.HasPrefix(d.Name(), "."):
			found = append(found, name)
		}
		return nil
	})
	slices.SortStableFunc(found, func(a, b string) int {
		if d := folderIndex(a) - folderIndex(b); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	return found, err
}

func folderIndex(name string) int {
	folder, _, _ := strings.Cut(name, "/")
	if i := slices.Index(folderOrder, folder); i >= 0 {
		return i
	}
	return len(folderOrder)
}
