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
		for i, variant := range o.variants {
			v := -1.0
			for _, r := range table.Rows {
				if len(r.Cells) > at && r.Cells[0].Text == variant {
					v = *r.Cells[at].Value
				}
			}
			if v < 0 || i > 0 && v >= last {
				t.Errorf("%s: %s has %v after %v", o.column, variant, v, last)
			}
			last = v
		}
	}
}

// A note says which variants change places, and nothing where none does or at another scale.
func TestANoteSaysWhereQuickIsOtherwise(t *testing.T) {
	ev := &evidence{Study: Study{Scale: "quick"}, Evidence: &paper.Evidence[Row]{}}
	add := func(variant string, auc, loss float64) {
		report := attack.ScoreReport{}
		report.AUC.Value = auc
		ev.Rows = append(ev.Rows, Row{Variant: variant, ForgetRecon: loss, Attacks: map[string]ProtocolResult{learned.PB().Name: {All: report}}})
	}
	for i, variant := range []string{Original, Ten, Thirty, Dampened, Scrubbed, Contrasted, Foster, Retrained, Fisher} {
		add(variant, 0.9-float64(i)/20, 100+float64(i))
	}
	if got := ev.orderDifferences(); got != nil {
		t.Errorf("all is as it should be: %q", got)
	}
	add(Retrained, 0.99, 90) // a second model: means of 0.77 and 98.5
	add(Thirty, 0.2, 100)
	got := strings.Join(ev.orderDifferences(), " ")
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
	if got := ev.orderDifferences(); got != nil {
		t.Errorf("at scale standard: %q", got)
	}
}

// Scale quick shows what the standard table shows: the original is found, the retrained model
// less, and the forgotten cells' loss rises from one to the other by way of the methods.
func TestQuickPointsWhereTheStandardTableDoes(t *testing.T) {
	if testing.Short() {
		t.Skip("trains four models of scale quick")
	}
	s, err := StudyAt("quick")
	if err != nil {
		t.Fatal(err)
	}
	s.Seeds, s.Cases[0].Only = 1, []string{Original, Retrained, Ten, Scrubbed}
	ev, err := collect(t.Context(), newEnv(t), s)
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]Row{}
	for _, r := range ev.Rows {
		said[r.Variant] = r
	}
	of := func(variant, protocol string) float64 { return said[variant].Attacks[protocol].All.AUC.Value }
	for _, protocol := range []string{learned.PB().Name, learned.CrossFitted(nil).Name} {
		if original, retrained := of(Original, protocol), of(Retrained, protocol); original < 0.6 || retrained >= original {
			t.Errorf("%s: the original has %v, the retrained model %v", protocol, original, retrained)
		}
	}
	rising := []string{Original, Ten, Scrubbed, Retrained}
	for i, variant := range rising[1:] {
		if said[variant].ForgetRecon <= said[rising[i]].ForgetRecon {
			t.Errorf("the loss is %v after %s and %v after %s", said[rising[i]].ForgetRecon, rising[i], said[variant].ForgetRecon, variant)
		}
	}
	if unseen := said[Original].UnseenRecon; said[Original].ForgetRecon >= unseen || said[Retrained].ForgetRecon <= unseen {
		t.Errorf("the forgotten cells' loss is %v and then %v, the unseen cells' %v", said[Original].ForgetRecon, said[Retrained].ForgetRecon, unseen)
	}
}
