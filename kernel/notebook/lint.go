// The linter: rules for outputs, metadata and size; the other rules are in lint_*.go.

package notebook

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
)

// Problem is a problem of a notebook for its readers.
type Problem struct {
	Notebook string
	Cell     int    // from 1; 0: the notebook as a whole
	What     string // is wrong
	Do       string // to put it right
}

// String prints the problem in one line.
func (p Problem) String() string {
	if p.Cell == 0 {
		return fmt.Sprintf("%s: %s: %s", p.Notebook, p.What, p.Do)
	}
	return fmt.Sprintf("%s: cell %d: %s: %s", p.Notebook, p.Cell, p.What, p.Do)
}

// maxNotebook is the largest size of a notebook with outputs. GitHub does not reliably show
// larger ones.
const maxNotebook = 1 << 20

// Lint returns the problems of the notebook at path. A notebook must be executed in order
// without errors on the right kernel, must not depend on the machine or the network, must
// read as Go, must be readable without its pictures, and must have claims, exercises, a
// slider, short cells and plain language.
func Lint(fsys fs.FS, path string) []Problem {
	l := &linter{path: path}
	nb, err := ReadFS(fsys, path)
	if err != nil {
		l.add(0, strings.TrimPrefix(err.Error(), path+": "), "repair the file")
		return l.problems
	}
	l.nb = nb
	for _, rule := range []func(){
		l.kernel, l.size, l.paths, l.commands, l.imports, l.network, l.executed, l.outputs,
		l.headings, l.equations, l.images, l.claims, l.exercises, l.answers, l.language, l.cellLengths, l.sliders,
	} {
		rule()
	}
	return l.problems
}

type linter struct {
	path     string
	nb       *Notebook
	problems []Problem
}

func (l *linter) add(cell int, what, do string) {
	l.problems = append(l.problems, Problem{l.path, cell, what, do})
}

// cells calls visit with the cells of a kind and their numbers, from 1.
func (l *linter) cells(kind Kind, visit func(n int, c *Cell)) {
	for i := range l.nb.Cells {
		if c := &l.nb.Cells[i]; c.Kind == kind {
			visit(i+1, c)
		}
	}
}

func (l *linter) kernel() {
	spec, _ := l.nb.Metadata["kernelspec"].(Object)
	if spec["name"] != KernelName {
		l.add(0, fmt.Sprintf("kernel %q", fmt.Sprint(spec["name"])), "choose the kernel "+KernelTitle+", "+KernelName)
	}
	info, _ := l.nb.Metadata["language_info"].(Object)
	if info["pygments_lexer"] != "go" {
		l.add(0, "web pages would not highlight its Go", "execute it with lethe run --in-place, which sets the highlighter")
	}
}

func (l *linter) size() {
	if n := len(l.nb.Text); n > maxNotebook {
		l.add(0, fmt.Sprintf("%.1f MB with its outputs", float64(n)/(1<<20)), "keep it under 1 MB: fewer or smaller figures")
	}
}

func (l *linter) executed() {
	next, never := 1, []int(nil)
	l.cells(Code, func(n int, c *Cell) {
		if strings.TrimSpace(c.Source) == "" {
			l.add(n, "an empty code cell", "remove it")
			return
		}
		switch c.Count {
		case next:
		case 0:
			never = append(never, n)
		default:
			l.add(n, fmt.Sprintf("executed as [%d], expected [%d]", c.Count, next), "execute all cells in order with lethe run --in-place")
		}
		next++
	})
	if len(never) > 0 {
		l.add(never[0], fmt.Sprintf("%d of %d code cells are not executed, this one first", len(never), next-1),
			"execute the notebook with lethe run --in-place")
	}
}

func (l *linter) outputs() {
	l.cells(Code, func(n int, c *Cell) {
		for _, o := range c.Outputs {
			switch {
			case o.Type == ErrorOutput:
				l.add(n, "failed: "+firstLine(o.Evalue), "correct the cell and execute the notebook again")
			case o.Type == StreamOutput && o.Name != "stdout":
				l.add(n, fmt.Sprintf("output on %s: %s", o.Name, firstLine(o.Text)), "show the reader only what the cell is about")
			}
		}
	})
}

// firstLine returns the first visible line of a text, shortened.
func firstLine(text string) string {
	lines := visibleLines(text)
	if len(lines) == 0 {
		return "nothing"
	}
	const width = 80
	if r := []rune(lines[0]); len(r) > width {
		return string(r[:width-1]) + "…"
	}
	return lines[0]
}

func sortedKeys(o Object) []string { return slices.Sorted(maps.Keys(o)) }
