// Short names of notebooks on the command line: start/00, or start for a folder.

package kernel

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/kernel/notebook"
	"github.com/lethe-ml/lethe/lib/cli"
)

// isShortName reports whether an argument names a notebook of Lethe and not a file.
func isShortName(arg string) bool { return filepath.Ext(arg) == "" }

// checkNames returns a usage error for an argument that is neither a file *.ipynb nor a
// short name of a notebook that the program carries.
func checkNames(args []string) error {
	for _, arg := range args {
		if !isShortName(arg) {
			if filepath.Ext(arg) != ".ipynb" {
				return cli.Usagef("%s: expected a notebook, a file named *.ipynb", arg)
			}
			continue
		}
		if _, err := namedNotebooks(arg); err != nil {
			return err
		}
	}
	return nil
}

// namedNotebooks returns the paths of the notebooks that a short name stands for: those of
// a folder, or the one whose path begins with the name.
func namedNotebooks(name string) ([]string, error) {
	all, err := notebook.Find(notebookFiles)
	if err != nil {
		return nil, err
	}
	wanted := path.Clean(filepath.ToSlash(name))
	var folders, below, similar []string
	for _, file := range all {
		folder := path.Dir(file)
		if !slices.Contains(folders, folder) {
			folders = append(folders, folder)
		}
		switch {
		case folder == wanted:
			below = append(below, file)
		case strings.HasPrefix(file, wanted):
			similar = append(similar, strings.TrimSuffix(file, ".ipynb"))
		}
	}
	switch {
	case len(below) > 0:
		return below, nil
	case len(similar) == 1:
		return []string{similar[0] + ".ipynb"}, nil
	case len(similar) > 1:
		return nil, cli.Usagef("%s: %d notebooks begin so: %s", name, len(similar), cli.List(similar))
	}
	return nil, cli.Usagef("%s: no notebook begins so; expected a file named *.ipynb, a folder (%s), or a beginning such as start/00", name, cli.List(folders))
}

// expandNames replaces short names by the files that they stand for below dir.
func expandNames(args []string, dir string) (out []string, err error) {
	for _, arg := range args {
		if !isShortName(arg) {
			out = append(out, arg)
			continue
		}
		files, err := namedNotebooks(arg)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			out = append(out, shortPath(filepath.Join(dir, filepath.FromSlash(file))))
		}
	}
	return out, nil
}
