// --list-jobs: the jobs behind a table or figure.

package command

import (
	"fmt"

	"github.com/lethe-ml/lethe/lib/cli"
	"github.com/lethe-ml/lethe/lib/paper"

	"github.com/spf13/cobra"
)

func (r *recipeRun) showJobs(cmd *cobra.Command, jobs []paper.Job) error {
	w := cmd.OutOrStdout()
	if r.format == "json" {
		return cli.WriteJSON(w, jobs)
	}
	t := textTable("", "job", paper.Unit, "run", "state")
	var left int64
	done := 0
	for _, j := range jobs {
		state := "to do"
		switch {
		case j.Done:
			state = "done"
			done++
		case j.Missing:
			state = "to do, its data are not on this machine"
		}
		if !j.Done {
			left += j.Cost
		}
		t.Rows = append(t.Rows, textRow(j.ID, fmt.Sprint(j.Cost), j.Key[:min(12, len(j.Key))], state))
	}
	t.Notes = append(t.Notes, fmt.Sprintf("%d jobs, %d of them done; about %d %s are left. The run of a job without an ID here depends on "+
		"jobs that are not done (--format json lists them).", len(jobs), done, left, paper.Unit))
	return t.Text(w)
}
