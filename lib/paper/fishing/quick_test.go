package fishing

import (
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/figures"
	"github.com/lethe-ml/lethe/lib/attack"
	"github.com/lethe-ml/lethe/lib/attack/learned"
	"github.com/lethe-ml/lethe/lib/paper"
)

// The orders that scale quick is held against are those of the committed table.
func TestTheStandardOrdersAreTheCommittedTables(t *testing.T) {
	table, err := paper.Committed(figures.Files, table2.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range standardOrders() {
		at := -1
		for j, c := range table.Columns {
			if c.Name == o.column {
				at = j
			}
		}
		last := 0.0
		for i, arm := range o.arms {
			v := -1.0
			for _, r := range table.Rows {
				if len(r.Cells) > at && r.Cells[0].Text == arm {
					v = *r.Cells[at].Value
				}
			}
			if v < 0 || i > 0 && v >= last {
				t.Errorf("%s: %s has %v after %v", o.column, arm, v, last)
			}
			last = v
		}
	}
}

// A note says which arms change places, and nothing where none does or at another scale.
func TestANoteSaysWhereQuickIsOtherwise(t *testing.T) {
	ev := &evidence{Study: Study{Scale: "quick"}, Evidence: &paper.Evidence[Row]{}}
	add := func(arm string, auc, loss float64) {
		report := attack.ScoreReport{}
		report.AUC.Value = auc
		ev.Rows = append(ev.Rows, Row{Arm: arm, ForgetRecon: loss, Attacks: map[string]Attacked{learned.PB().Name: {All: report}}})
	}
	for i, arm := range []string{Original, Ten, Thirty, Dampened, Scrubbed, Contrasted, Foster, Retrained, Fisher} {
		add(arm, 0.9-float64(i)/20, 100+float64(i))
	}
	if got := ev.unlikeStandard(); got != nil {
		t.Errorf("all is as it should be: %q", got)
	}
	add(Retrained, 0.99, 90) // a second model: means of 0.77 and 98.5
	add(Thirty, 0.2, 100)
	got := strings.Join(ev.unlikeStandard(), " ")
	for _, want := range []string{"P-B finds more in retrained than in SSD, Foster et al.", "P-B finds more in SSD than in fine-tuning, 30 epochs",
		"the forgotten cells' loss is larger after SCRUB than after retrained"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %q", want, got)
		}
	}
	if strings.Contains(got, Contrasted) || strings.Count(got, " than ") != 1+3 {
		t.Errorf("%q", got)
	}
	ev.Scale = "standard"
	if got := ev.unlikeStandard(); got != nil {
		t.Errorf("at scale standard: %q", got)
	}
}
