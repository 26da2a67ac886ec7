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

// What a goal is about.
const (
	ofMedian = "median_seconds"
	ofRatio  = "ratio"
)

// goal is a limit for Lethe's median or for the ratio, on two quiet cores.
type goal struct {
	Of     string  `json:"of"`
	AtMost float64 `json:"at_most"`
	Met    *bool   `json:"met"` // nil: there is nothing to judge
}

// judge compares a result with the goal.
func (g goal) judge(r result) goal {
	v := &r.Lethe.Median
	if g.Of == ofRatio {
		v = r.Ratio
	}
	if v != nil {
		met := *v <= g.AtMost
		g.Met = &met
	}
	return g
}

// judged names the limit and the verdict.
func (g goal) judged(busy bool) string {
	what := "median at most " + report.FormatSeconds(g.AtMost)
	if g.Of == ofRatio {
		what = "ratio at most " + strconv.FormatFloat(g.AtMost, 'g', -1, 64)
	}
	verdict := "missed"
	switch {
	case g.Met == nil:
		return what + ": nothing to compare with"
	case *g.Met:
		verdict = "met"
	}
	if busy {
		verdict += " on a busy machine"
	}
	return what + ": " + verdict
}

// quiet is the number of processes that wanted to run up to which a machine
// counts as quiet.
const quiet = 0.5

// report runs tasks that have goals and prints what they took.
func (b *comparison) report(cmd *cobra.Command, asJSON bool, title string, tasks []task) error {
	b.stderr = cmd.ErrOrStderr()
	busy := paper.Load()
	results, err := b.all(cmd.Context(), tasks)
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
		t.Notes = append(t.Notes, "Nothing to compare with: --peer PYTHON names a Python that has PyTorch.")
	}
	return t.Text(cmd.OutOrStdout())
}

// goalsTable has a row for every side of every task, of which there is at least
// one.
func goalsTable(title string, results []result) *report.Table {
	t := &report.Table{Title: title, Columns: []report.Column{{Name: "task"}, {Name: "program"}, {Name: "n", Align: report.AlignRight},
		{Name: "median", Align: report.AlignRight}, {Name: "fastest", Align: report.AlignRight}, {Name: "peak memory", Align: report.AlignRight},
		{Name: "ratio", Align: report.AlignRight, Note: "Lethe's median over the other's; below 1 Lethe is faster"},
		{Name: "goal", Note: "on 2 cores that do nothing else"}}}
	compared := false
	for _, r := range results {
		ratio, goals := report.Str(""), []string{}
		if r.Ratio != nil {
			ratio = report.Num(*r.Ratio, 3)
		}
		for _, g := range r.Goals {
			goals = append(goals, g.judged(r.Load > quiet))
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
		note := fmt.Sprintf("In the minute before, %.1f processes wanted to run on %d cores.", busy, runtime.NumCPU())
		if compared && busy > quiet {
			note += " Work that is shared out among threads in small pieces, as PyTorch shares it, suffers most where other programs " +
				"run: the ratios say little about a quiet machine. With --threads 1 they say more."
		}
		t.Notes = append(t.Notes, note)
	}
	return t
}

func goalsRow(task string, s side, ratio report.Cell, goals string) report.Row {
	return report.Row{Cells: []report.Cell{report.Str(task), report.Str(strings.TrimSpace(s.What)), report.Str(strconv.Itoa(len(s.Seconds))),
		report.Str(report.FormatSeconds(s.Median)), report.Str(report.FormatSeconds(slices.Min(s.Seconds))), report.Str(s.memory()), ratio, report.Str(goals)}}
}
