// What the membership attacks on single arrays answer.

package command

import (
	"fmt"
	"strconv"

	"github.com/lethe-ml/lethe/lib/attack"
	"github.com/lethe-ml/lethe/lib/cli"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/stats"
)

// attackRow is the report of one attack, as a row of a table and as JSON, or the reason why
// it was left out.
type attackRow struct {
	Attack  string `json:"attack"`
	LeftOut string `json:"left_out,omitempty"`
	*attack.ScoreReport
	Rates      map[string]*float64 `json:"tpr_at_fpr,omitempty"`  // in place of the report's
	NoEvidence string              `json:"no_evidence,omitempty"` // why, although there is a number
	note       string
}

// newAttackRow is the row of a report, with the reason why it is no evidence, if any.
func newAttackRow(name string, r *attack.ScoreReport, noEvidence string) attackRow {
	return attackRow{Attack: name, ScoreReport: r, Rates: rates(r), NoEvidence: noEvidence}
}

// rates are the true-positive rates of a report, nil where so few non-members cannot show one.
func rates(r *attack.ScoreReport) map[string]*float64 {
	out := map[string]*float64{}
	for at, v := range r.TPRAtFPR {
		if fpr, err := strconv.ParseFloat(at, 64); err == nil && stats.CanShowFPR(r.NNonmembers, fpr) {
			out[at] = &v
		} else {
			out[at] = nil
		}
	}
	return out
}

// rateCell is the true-positive rate at a false-positive rate, if there are enough non-members for it.
func rateCell(r *attack.ScoreReport, at string) report.Cell {
	if v := rates(r)[at]; v != nil {
		return report.Num(*v, 4)
	}
	return report.Gap("too few non-members")
}

func attackAnswer(title string, rows []attackRow, value any) cli.Answer {
	t := &report.Table{Title: title, Columns: report.Columns("attack", "AUC", "95 % interval", "advantage, signed", "chance, 95 of 100",
		"TPR at 1 %", "TPR at 5 %", "records")}
	for _, r := range rows {
		if r.ScoreReport == nil {
			t.Notes = append(t.Notes, fmt.Sprintf("%s is left out (%s).", r.Attack, r.LeftOut))
			continue
		}
		t.Add(report.Str(r.Attack), report.Num(r.AUC.Value, 4), report.Str(report.FormatInterval(r.AUC.Low, r.AUC.High, 4)),
			report.Num(r.Advantage.Signed, 4), report.Num(r.Advantage.ChanceP95, 4), rateCell(r.ScoreReport, "0.01"),
			rateCell(r.ScoreReport, "0.05"), report.Str(fmt.Sprintf("%d + %d", r.NMembers, r.NNonmembers)))
		if r.note != "" {
			t.Notes = append(t.Notes, r.Attack+": "+r.note+".")
		}
		if r.NoEvidence != "" {
			t.Notes = append(t.Notes, r.Attack+": the number is no evidence: "+r.NoEvidence+".")
		}
	}
	t.Notes = append(t.Notes, "The null of the AUC is 0.5; below it non-members score higher. An advantage that chance alone exceeds "+
		"in 5 of 100 cases, on either side of 0, is no evidence.")
	return cli.Answer{Value: value, Text: t.Text}
}
