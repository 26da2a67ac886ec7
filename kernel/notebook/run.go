package notebook

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Run says how a notebook is executed. The zero value of every field but
// Jupyter works.
type Run struct {
	Jupyter
	Folder  string        // where the cells run, "": the working directory
	Root    string        // the project's folder, taken out of paths in outputs
	Scale   string        // value of LETHE_SCALE, "": as it is
	Timeout time.Duration // per cell, 0: none
	OnCell  func(Step)    // told of every cell that has run
}

// Step is a cell that has run, well or not.
type Step struct {
	Cell    int // number among all cells, from 1
	Count   int // number among the code cells, from 1
	Title   string
	Seconds float64
	Err     error
}

// Total is a notebook that has run.
type Total struct {
	Cells   int     // that ran
	Start   float64 // seconds until the kernel was ready
	Seconds float64 // of the cells
}

// CellError is the error of a cell.
type CellError struct {
	Cell, Count int // as in Step
	Err         error
}

// Error names the cell and the reason.
func (e *CellError) Error() string { return fmt.Sprintf("cell %d [%d]: %v", e.Cell, e.Count, e.Err) }

// Unwrap returns the reason.
func (e *CellError) Unwrap() error { return e.Err }

// Execute runs the notebook's code cells in order on a kernel of their own,
// until the first that fails, and puts their outputs in nb; cells that did not
// run have none afterwards. The error is a *CellError where a cell failed.
func (r Run) Execute(ctx context.Context, nb *Notebook) (total Total, err error) {
	nb.reset()
	s, err := r.start(ctx)
	if err != nil {
		return total, err
	}
	total.Start = s.Seconds
	scrub := newScrubber(r.Root)
	defer func() {
		err = errors.Join(err, s.Close())
		// Only now: a later cell may have changed what an earlier one shows.
		nb.eachOutput(scrub.output)
	}()
	for i := range nb.Cells {
		c := &nb.Cells[i]
		if c.Kind != Code || strings.TrimSpace(c.Source) == "" {
			continue
		}
		if ctx.Err() != nil {
			return total, context.Cause(ctx)
		}
		run, err := s.Execute(ctx, c.Source, r.Timeout)
		total.Cells++
		total.Seconds += run.Seconds
		c.Count, c.Outputs = total.Cells, run.Outputs
		if r.OnCell != nil {
			r.OnCell(Step{Cell: i + 1, Count: c.Count, Title: title(c.Source), Seconds: run.Seconds, Err: err})
		}
		if err != nil {
			return total, &CellError{i + 1, c.Count, err}
		}
	}
	return total, nil
}

func (r Run) start(ctx context.Context) (*Session, error) {
	var env []string
	if r.Scale != "" {
		env = append(env, "LETHE_SCALE="+r.Scale)
	}
	return r.Start(ctx, r.Folder, env...)
}

// reset takes away all that an execution leaves, and says which kernel it is.
func (nb *Notebook) reset() {
	nb.Metadata = orEmpty(nb.Metadata)
	nb.Metadata["kernelspec"] = Object{"display_name": KernelTitle, "language": "go", "name": KernelName}
	nb.Metadata["language_info"] = Object{
		"codemirror_mode": "text/x-go", "file_extension": ".go", "mimetype": "text/x-go", "name": "go", "pygments_lexer": "go",
	}
	delete(nb.Metadata, "widgets")
	for i := range nb.Cells {
		c := &nb.Cells[i]
		c.Count, c.Outputs = 0, nil
		delete(c.Metadata, "execution")
	}
}

// The kernel that notebooks of this project name.
const (
	KernelName  = "lethe-go"
	KernelTitle = "Lethe (Go)"
)

func (nb *Notebook) eachOutput(visit func(*Output)) {
	for _, c := range nb.Cells {
		for _, o := range c.Outputs {
			visit(o)
		}
	}
}

// title is what a list calls a cell: its first comment, or function, or line
// that is neither a command nor an import.
func title(source string) string {
	first, imports := "", false
	for line := range strings.SplitSeq(source, "\n") {
		line = strings.TrimRight(line, " \t\r")
		switch {
		case line == "import (":
			imports = true
		case imports:
			imports = line != ")"
		case strings.HasPrefix(line, "// "):
			return strings.TrimSuffix(strings.TrimPrefix(line, "// "), ".")
		case first == "" && line != "" && line[0] != '%' && line[0] != '!' && !strings.HasPrefix(line, "import "):
			first = strings.TrimSpace(line)
		}
	}
	if first == "" {
		return "imports"
	}
	return first
}
