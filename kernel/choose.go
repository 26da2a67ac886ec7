// The notebooks that lethe run is asked for: files, or names such as start/00.

package kernel

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/kernel/notebook"
	"github.com/lethe-ml/lethe/lib/cli"
)

// chosen is a notebook that an argument names.
type chosen struct {
	name  string // path of a file; of a notebook of the program its name there: start/00-forgetting-in-five-minutes.ipynb
	named bool   // it is a notebook of the program, which lies where the notebooks are unpacked
}

// read reads the notebook: a file, or what the program has embedded.
func (c chosen) read() (*notebook.Notebook, error) {
	if c.named {
		return notebook.ReadFS(notebookFiles, c.name)
	}
	return notebook.ReadFile(c.name)
}

// path returns the notebook's file. The notebooks of the program are in dir.
func (c chosen) path(dir string) string {
	if c.named {
		return shortPath(filepath.Join(dir, filepath.FromSlash(c.name)))
	}
	return c.name
}

// chooseNotebooks returns the notebooks that the arguments name, in their order. An argument is
// a file named *.ipynb, or the beginning of the name of notebooks of the program: start/00 is one
// notebook and start a folder of them. Anything else is a wrong usage.
func chooseNotebooks(args []string) ([]chosen, error) {
	if len(args) == 0 {
		return nil, nil
	}
	all, err := notebook.Find(notebookFiles)
	if err != nil {
		return nil, err
	}
	var out []chosen
	for _, arg := range args {
		name := path.Clean(filepath.ToSlash(arg))
		_, missing := os.Stat(arg)
		if path.Ext(name) == ".ipynb" && (missing == nil || !slices.Contains(all, name)) {
			out = append(out, chosen{name: arg})
			continue
		}
		before := len(out)
		for _, nb := range all {
			if beginsWith(nb, name) {
				out = append(out, chosen{nb, true})
			}
		}
		if len(out) == before {
			return nil, cli.Usagef("%s: expected a notebook, a file named *.ipynb or a name; there are %s", arg, cli.List(namesNear(all, name)))
		}
	}
	return out, nil
}

// beginsWith reports whether the name of a notebook is short, or begins with it at a word's end.
func beginsWith(name, short string) bool {
	rest, ok := strings.CutPrefix(name, short)
	return ok && (rest == "" || strings.ContainsRune("/-.", rune(rest[0])))
}

// namesNear returns the short names of the notebooks in the folder that name begins with, and
// without such a folder the names of all folders.
func namesNear(all []string, name string) (out []string) {
	folder, _, _ := strings.Cut(name, "/")
	for _, nb := range all {
		if number, _, ok := strings.Cut(nb, "-"); ok && beginsWith(nb, folder) {
			out = append(out, number)
		}
	}
	if len(out) > 0 {
		return out
	}
	for _, nb := range all {
		out = append(out, path.Dir(nb))
	}
	return slices.Compact(out)
}

// anyNamed reports whether a notebook of the program is among them.
func anyNamed(all []chosen) bool {
	return slices.ContainsFunc(all, func(c chosen) bool { return c.named })
}

// pathsOf returns the files of notebooks. Those of the program are in dir.
func pathsOf(all []chosen, dir string) (out []string) {
	for _, c := range all {
		out = append(out, c.path(dir))
	}
	return out
}

// shortPath returns a path relative to the working directory if it is below it.
func shortPath(path string) string {
	here, _ := os.Getwd()
	if short, err := filepath.Rel(here, path); err == nil && filepath.IsLocal(short) {
		return short
	}
	return path
}

// allNotebooks returns the files of all notebooks in a folder, in reading order.
func allNotebooks(dir string) ([]chosen, error) {
	found, err := notebook.Find(os.DirFS(dir))
	if err != nil {
		return nil, fmt.Errorf("notebooks in %s: %w", dir, err)
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("there are no notebooks in %s", dir)
	}
	var out []chosen
	for _, name := range found {
		out = append(out, chosen{name: shortPath(filepath.Join(dir, filepath.FromSlash(name)))})
	}
	return out, nil
}
