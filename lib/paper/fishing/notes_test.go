package fishing

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/attack"
	"github.com/lethe-ml/lethe/lib/attack/learned"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/stats"
)

// The column of epsilon names the deltas of its own rows.
func TestTheEpsilonsAreAtTheirOwnDeltas(t *testing.T) {
	ev := &evidence{Evidence: &paper.Evidence[Row]{}}
	if columns := ev.spentColumns(); columns != nil {
		t.Errorf("no private training: %+v", columns)
	}
	for _, delta := range []float64{1e-5, 3e-12, 1e-5} {
		ev.Rows = append(ev.Rows, Row{}, Row{Private: &Spending{Delta: delta}})
	}
	if note := ev.spentColumns()[0].Note; !strings.Contains(note, "at delta 1e-5 or 3e-12: by RDP") {
		t.Error(note)
	}
}

// The note of table 2 gives the floors of the sets that are told apart, the forgotten cells
// and their matched ones: of no other two of a row's numbers of cells, nor of them
// exchanged with those of the cross-fitted attacker.
func TestTheNoteOfTableTwoHasTheFloorOfItsOwnSizes(t *testing.T) {
	const forget, negatives, same, unseen, judged = 23, 57, 11, 410, 205
	r := Row{Case: "c", Variant: Original, Forget: forget, Negatives: negatives, SameType: same, Unseen: unseen, Judged: judged, Attacks: map[string]ProtocolResult{
		learned.CrossFitted(nil).Name: {All: attack.ScoreReport{Advantage: attack.Advantage{ChanceMean: 0.321, ChanceP95: 0.654}}},
	}}
	ev := &evidence{Study: Study{Cases: []Case{{Label: "c", Setting: lab.Setting{Data: lab.Cells{Set: "pbmc3k"}}}}}, Evidence: &paper.Evidence[Row]{Rows: []Row{r}}}
	floor := stats.ChanceFloor(forget, negatives)
	for _, want := range []string{
		fmt.Sprintf("%d members; of the %d unseen cells that no method may look at %d are matched non-members, %d of them of a forgotten type", forget, judged, negatives, same),
		"When members and non-members are exchangeable the cross-fitted attacker shows an advantage of 0.321 on average and more than 0.654 in 5",
		fmt.Sprintf("scores that learn nothing from these cells show %.3f and %.3f", floor.Mean, floor.P95),
	} {
		if notes := strings.Join(ev.notes(), "\n"); !strings.Contains(notes, want) {
			t.Errorf("the notes say %q, not %q", notes, want)
		}
	}
	for _, other := range [][2]int{{forget, unseen}, {forget, judged}, {negatives, negatives}, {forget, forget}, {forget, same}} {
		if f := stats.ChanceFloor(other[0], other[1]); fmt.Sprintf("%.3f", f.Mean) == fmt.Sprintf("%.3f", floor.Mean) {
			t.Errorf("floors of %v would not be told apart", other)
		}
	}
}
