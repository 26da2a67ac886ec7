// Running a notebook cell by cell.

package notebook

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Run says how a notebook is executed. Jupyter is required; the other fields may be zero.
type Run struct {
	Jupyter
	Folder  string        // where the cells run, "": the working directory
	Root    string        // the project's folder, removed from paths in outputs
	Scale   string        // value of LETHE_SCALE, "": as it is
	Timeout time.Duration // per cell, 0: none
	States  time.Duration // per cell, to draw what its controls show for other values; 0: none
	OnCell  func(Step)    // called after every cell
}

// Step is an executed cell.
type Step struct {
	Cell    int // number among all cells, from 1
	Count   int // number among the code cells, from 1
	Title   string
	Seconds float64
	Err     error
}

// Total sums up an executed notebook.
type Total struct {
	Cells   int     // that ran
	Start   float64 // seconds until the kernel was ready
	Seconds float64 // of the cells
}

// Execute runs the notebook's code cells in order on a new kernel, until the first that
// fails, and updates nb. Cells that did not run have no outputs. The error names the cell
// that failed.
func (r Run) Execute(ctx context.Context, nb *Notebook) (total Total, err error) {
	began := time.Now()
	s, err := r.start(ctx, nb)
	if err != nil {
		return total, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	total.Start = time.Since(began).Seconds()
	for i, c := range nb.Cells {
		if c.Kind != Code || strings.TrimSpace(c.Source) == "" {
			continue
		}
		if ctx.Err() != nil {
			return total, context.Cause(ctx)
		}
		total.Cells++
		seconds, err := s.execute(ctx, nb, i, total.Cells, r.Timeout)
		total.Seconds += seconds
		if r.OnCell != nil {
			r.OnCell(Step{Cell: i + 1, Count: total.Cells, Title: title(c.Source), Seconds: seconds, Err: err})
		}
		if err != nil {
			return total, fmt.Errorf("cell %d [%d]: %w", i+1, total.Cells, err)
		}
	}
	return total, nil
}

// kernelMetadata returns the notebook metadata that name our kernel.
func kernelMetadata() Object {
	return Object{
		"kernelspec":    Object{"display_name": KernelTitle, "language": "go", "name": KernelName},
		"language_info": Object{"codemirror_mode": "text/x-go", "file_extension": ".go", "mimetype": "text/x-go", "name": "go", "pygments_lexer": "go"},
	}
}

// The kernel that notebooks of this project name.
const (
	KernelName  = "lethe-go"
	KernelTitle = "Lethe (Go)"
)

// title returns a cell's title for a list: its first comment, or the first line that is
// neither a command nor an import.
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
