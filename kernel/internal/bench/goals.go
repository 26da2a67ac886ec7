// Goals of benchmarks, and the table that shows them.

package bench

import (
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/lethe-ml/lethe/lib/cli"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/report"

	"github.com/spf13/cobra"
)

// The values that a goal can limit.
const (
	goalMedian  = "median_seconds"
	goalRatio   = "ratio"
	goalMemory  = "memory_ratio" // of the peaks
	goalBest    = "ratio_to_pytorch"
	goalRepeats = "ratio_to_deterministic_pytorch"
	goalJAX     = "ratio_to_jax"
)

// ratioNames say of what the ratios are.
var ratioNames = map[string]string{
	goalRatio: "ratio", goalMemory: "memory",
	goalBest: "ratio to PyTorch's best", goalRepeats: "ratio to PyTorch's deterministic best", goalJAX: "ratio to JAX",
}

// goal is a limit for Lethe's median or for the ratio, on two idle cores.
type goal struct {
	Of     string  `json:"of"`
	AtMost float64 `json:"at_most"`
	Met    *bool   `json:"met"` // nil: not measured
}

// judge returns the goal with the verdict on a result.
func (g goal) judge(r result) goal {
	switch g.Of {
	case goalRatio:
		return g.judgeValue(r.Ratio)
	case goalMemory:
		return g.judgeValue(r.memoryRatio())
	}
	return g.judgeValue(&r.Lethe.Median)
}

// memoryRatio is Lethe's peak memory over the other's; nil if either is not known.
func (r result) memoryRatio() *float64 {
	if r.Peer == nil || r.Peer.PeakBytes == 0 || r.Lethe.PeakBytes == 0 {
		return nil
	}
	return new(float64(r.Lethe.PeakBytes) / float64(r.Peer.PeakBytes))
}

// judgeValue returns the goal with the verdict on a value, nil if there is none.
func (g goal) judgeValue(v *float64) goal {
	if v != nil {
		met := *v <= g.AtMost
		g.Met = &met
	}
	return g
}

// text returns the limit and the verdict.
func (g goal) text(busy bool) string {
	what := "median at most " + report.FormatSeconds(g.AtMost)
	if ratio := ratioNames[g.Of]; ratio != "" {
		what = ratio + " at most " + strconv.FormatFloat(g.AtMost, 'g', -1, 64)
	}
	verdict := "missed"
	switch {
	case g.Met == nil:
		return what + ": no comparison"
	case *g.Met:
		verdict = "met"
	}
	if busy && g.Of != goalMemory {
		verdict += " on a busy machine"
	}
	return what + ": " + verdict
}

// quiet is the greatest load average of an idle machine.
const quiet = 0.5

// report runs tasks with goals and prints the results.
func (b *comparison) report(cmd *cobra.Command, asJSON bool, title string, tasks []task) error {
	b.stderr = cmd.ErrOrStderr()
	busy := paper.Load()
	results, err := b.runTasks(cmd.Context(), tasks)
	if err != nil {
		return err
	}
	for i := range results {
		results[i].Load = busy
	}
	if asJSON {
		return cli.WriteJSON(cmd.OutOrStdout(), results)
	}
	t := goalsTable(title, results)
	if b.peer == "" && results[0].Peer == nil {
		t.Notes = append(t.Notes, "No comparison: --peer PYTHON names a Python with PyTorch.")
	}
	return t.Text(cmd.OutOrStdout())
}

// goalsTable returns a table with a row for every side of every task. There must be at least one
// task.
func goalsTable(title string, results []result) *report.Table {
	t := &report.Table{Title: title, Columns: []report.Column{{Name: "task"}, {Name: "program"}, {Name: "n", Align: report.AlignRight},
		{Name: "median", Align: report.AlignRight}, {Name: "fastest", Align: report.AlignRight}, {Name: "peak memory", Align: report.AlignRight},
		{Name: "ratio", Align: report.AlignRight, Note: "Lethe's median over the other's; below 1 Lethe is faster"},
		{Name: "goal", Note: "on 2 idle cores"}}}
	compared := false
	for _, r := range results {
		ratio, goals := report.Str(""), []string{}
		if r.Ratio != nil {
			ratio = report.Num(*r.Ratio, 3)
		}
		for _, g := range r.Goals {
			goals = append(goals, g.text(r.Load > quiet))
		}
		t.Rows = append(t.Rows, goalsRow(r.Task, r.Lethe, ratio, strings.Join(goals, "; ")))
		if r.Peer != nil {
			t.Rows = append(t.Rows, goalsRow(r.Task, *r.Peer, report.Str(""), ""))
			compared = true
			if r.Value != "" {
				t.Notes = append(t.Notes, fmt.Sprintf("%s: %s: %.4f here, %.4f there.", r.Task, r.Value, r.Lethe.Value, r.Peer.Value))
			}
		}
	}
	if busy := results[0].Load; busy > 0 {
		note := fmt.Sprintf("The load average of the minute before was %.1f on %d cores.", busy, runtime.NumCPU())
		if compared && busy > quiet {
			note += " Other programs slow down PyTorch most, because it distributes small pieces of work to its threads: the ratios " +
				"differ on an idle machine. With --threads 1 they differ less."
		}
		t.Notes = append(t.Notes, note)
	}
	return t
}

func goalsRow(task string, s side, ratio report.Cell, goals string) report.Row {
	return report.Row{Cells: []report.Cell{report.Str(task), report.Str(strings.TrimSpace(s.What)), report.Str(strconv.Itoa(len(s.Seconds))),
		report.Str(report.FormatSeconds(s.Median)), report.Str(report.FormatSeconds(slices.Min(s.Seconds))), report.Str(s.memory()), ratio, report.Str(goals)}}
}
