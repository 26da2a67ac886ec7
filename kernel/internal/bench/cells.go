// lethe bench cells: the latency of notebook cells.

package bench

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/lethe-ml/lethe/kernel/notebook"
	"github.com/lethe-ml/lethe/kernel/setup"
	"github.com/lethe-ml/lethe/lib/cli"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/report"

	"github.com/spf13/cobra"
)

// latency is a small notebook whose cells use the library as a reader does: the engine,
// statistics, a table, a figure, a training.
//
//go:embed latency.ipynb
var latency []byte

// Goals for cells, in seconds on two cores.
const (
	goalFirst = 1.5
	goalLater = 0.8
)

func newCells() *cobra.Command {
	var rounds int
	c := &cobra.Command{
		Use:   "cells [NOTEBOOK]",
		Short: "Time notebook cells, from pressing Shift-Enter to the last output",
		Long: `Time the cells of a built-in small notebook, and of your own notebook if one is given,
through the kernel as JupyterLab uses it: the first cell, which links the library,
and the later ones. Every round starts a new kernel.`,
		Example: "  lethe bench cells\n  lethe bench cells notebooks/start/00-forgetting-in-five-minutes.ipynb --rounds 1",
	}
	c.Flags().IntVar(&rounds, "rounds", 3, "number of executions of each notebook")
	asJSON := cli.JSONFlag(c)
	c.Args = func(_ *cobra.Command, args []string) error {
		switch {
		case rounds < 1:
			return cli.Usagef("--rounds %d: expected at least 1", rounds)
		case len(args) > 1:
			return cli.Usagef("%d notebooks: expected one or none", len(args))
		case len(args) == 1 && filepath.Ext(args[0]) != ".ipynb":
			return cli.Usagef("%s: expected a notebook, a file named *.ipynb", args[0])
		}
		return nil
	}
	c.RunE = func(cmd *cobra.Command, args []string) error {
		ready, err := setup.Prepare(cmd.Context(), setup.Options{Out: cmd.ErrOrStderr(), NoCompletion: true})
		if err != nil {
			return err
		}
		busy := paper.Load()
		timed, err := timeCells(cmd.Context(), ready, args, rounds)
		if err != nil {
			return err
		}
		if *asJSON {
			return cli.WriteJSON(cmd.OutOrStdout(), timed)
		}
		table := cellsTable(timed, rounds)
		if busy > 0 {
			table.Notes = append(table.Notes, fmt.Sprintf("The load average of the minute before was %.1f on %d cores.", busy, runtime.NumCPU()))
		}
		return table.Text(cmd.OutOrStdout())
	}
	return c
}

// cellTimes holds the times of the first or of the later cells of a notebook.
type cellTimes struct {
	Notebook string    `json:"notebook"`
	Cells    string    `json:"cells"`
	Median   float64   `json:"median_seconds"`
	Goal     float64   `json:"goal_seconds"`
	Seconds  []float64 `json:"seconds"`
}

func timeCells(ctx context.Context, ready *setup.Ready, paths []string, rounds int) ([]cellTimes, error) {
	builtIn, err := notebook.Read(bytes.NewReader(latency), "latency.ipynb")
	if err != nil {
		return nil, err
	}
	jupyter := notebook.Jupyter{Python: ready.Python, Env: ready.Env, Kernel: ready.Kernel}
	const longest = 10 * time.Minute
	run := notebook.Run{Jupyter: jupyter, Folder: ready.Root, Scale: "quick", Timeout: longest}
	times, err := timeNotebook(ctx, run, builtIn, "built in", rounds)
	if err != nil || len(paths) == 0 {
		return times, err
	}
	nb, err := notebook.ReadFile(paths[0])
	if err != nil {
		return nil, err
	}
	run.Folder = filepath.Dir(paths[0])
	given, err := timeNotebook(ctx, run, nb, paths[0], rounds)
	return append(times, given...), err
}

// timeNotebook executes a notebook, with a new kernel in every round, and returns the seconds of
// the first cell and of all later ones.
func timeNotebook(ctx context.Context, run notebook.Run, nb *notebook.Notebook, name string, rounds int) ([]cellTimes, error) {
	var first, later []float64
	run.OnCell = func(s notebook.Step) {
		if s.Count == 1 {
			first = append(first, s.Seconds)
		} else {
			later = append(later, s.Seconds)
		}
	}
	for range rounds {
		again := *nb
		if _, err := run.Execute(ctx, &again); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	if len(later) == 0 {
		return nil, fmt.Errorf("%s: %d code cells: expected at least 2", name, len(first)/rounds)
	}
	usual, err := median(first)
	if err != nil {
		return nil, err
	}
	usualLater, err := median(later)
	return []cellTimes{{name, "first", usual, goalFirst, first}, {name, "later", usualLater, goalLater, later}}, err
}

func cellsTable(times []cellTimes, rounds int) *report.Table {
	t := &report.Table{
		Title: fmt.Sprintf("Notebook cells in %d rounds on %d cores", rounds, runtime.NumCPU()),
		Columns: []report.Column{{Name: "notebook"}, {Name: "cells"}, {Name: "n", Align: report.AlignRight}, {Name: "median", Unit: "s"},
			{Name: "slowest", Unit: "s"}, {Name: "goal", Unit: "s", Note: "of the median, on 2 cores"}, {Name: "verdict"}},
	}
	for _, c := range times {
		verdict := "met"
		if c.Median > c.Goal {
			verdict = "missed"
		}
		t.Rows = append(t.Rows, report.Row{Cells: []report.Cell{report.Str(c.Notebook), report.Str(c.Cells), report.Str(fmt.Sprint(len(c.Seconds))),
			report.Num(c.Median, 2), report.Num(slices.Max(c.Seconds), 2), report.Num(c.Goal, 1), report.Str(verdict)}})
	}
	return t
}
