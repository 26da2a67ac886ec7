package sdepaper

// Table 3: other methods.

import (
	"fmt"
	"slices"

	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/verify/sde"
)

var table3 = paper.Recipe{
	ID:    "sde/table3",
	Title: "SDE Table 3. Competitors, and controls that hold no dependence",
	Doc: "The verdicts of Table 1 by other statistics, and SDE's own where there is nothing to find. The paper compares SDE " +
		"with MMD and a Wasserstein distance and finds it higher throughout. " +
		"'spread only' and 'closed form' use no draws and no pairs; 'spread matched' is SDE on sets that were scaled to the same spread; " +
		"the untrained network has seen no image; the halves of the test images " +
		"were not in training, and the rows below them scale the activations of one half by a few per cent. " +
		"A control that reaches SDE's F1 shows what that F1 is made of.",
}

func init() {
	define(&table3, allCells, judgedBy(partMain, partSpread), func(found *evidence[Judged]) *paper.Output {
		ev := verdicts{found}
		t := ev.table(table3)
		var columns []paper.Column[Judged]
		for _, r := range ev.Fractions {
			for _, size := range ev.Sizes {
				columns = append(columns, f1Column(fmt.Sprintf("R %s, |S| %d", percent(r), size), "F1, "+f1Note, atRoot(r, size)))
			}
		}
		columns = append(columns, paper.TextColumn("paper", "C10-ResNet18 as printed, R = 10 %, |S| = 400, 1000, 2000", "",
			func(l paper.Line[Judged]) string { return published3(l.Group, l.Label) }))
		t.Columns = paper.Headings("judge", columns)
		for _, s := range ev.Settings {
			for _, j := range judges() {
				t.Rows = append(t.Rows, ev.line(s.Label, s, j, anyVerdict).Row(columns))
			}
		}
		t.Notes = slices.Concat(t.Notes, ev.overlapNotes(), ev.restNotes(), ev.agreement())
		return &paper.Output{Table: t}
	})
}

// judge is a row of table 3.
type judge struct {
	name    string
	control bool
}

// judges are those of some names, nil: all.
func judges(names ...string) []judge {
	all := []judge{
		{sde.SDE{}.Name(), false}, {sde.MMD{}.Name(), false}, {sde.SlicedWasserstein{}.Name(), false},
		{sde.CoordinateWasserstein{}.Name(), false}, {sde.FlatWasserstein{}.Name(), false},
		{sde.SpreadOnly{}.Name(), true}, {sde.ClosedForm{}.Name(), true}, {sde.SpreadMatched{}.Name(), true},
		{Untrained, true}, {HeldOut, true},
	}
	for _, c := range scales() {
		all = append(all, judge{scaledName(c), true})
	}
	return filter(all, func(j judge) bool { return names == nil || slices.Contains(names, j.name) })
}

// published3 is the paper's row of table 3, at R = 10 %.
func published3(setting, judge string) string {
	if setting != "C10-R18" {
		return ""
	}
	return map[string]string{
		sde.SDE{}.Name(): "0.88 0.95 0.97", sde.MMD{}.Name(): "0.45 0.70 0.87",
		sde.SlicedWasserstein{}.Name(): "0.52 0.89 0.98 (which Wasserstein distance is not said)",
	}[judge]
}

// agreement compares the F1 of the spread alone with SDE's.
func (ev verdicts) agreement() []string {
	var apart, reached, cells float64
	for _, s := range ev.Settings {
		for _, r := range ev.Fractions {
			for _, size := range ev.Sizes {
				of := func(name string) float64 {
					return meanOf(ev.judgedRows(s.Label, name, atRoot(r, size)), func(j Judged) float64 { return j.Accuracy().Rule }).Value
				}
				sde, spread := of(sde.SDE{}.Name()), of(sde.SpreadOnly{}.Name())
				cells++
				apart += max(sde-spread, spread-sde)
				if spread >= sde {
					reached++
				}
			}
		}
	}
	return []string{fmt.Sprintf("Accuracy (null 0.5 whatever the mix of verdicts) of the spread alone is at least SDE's in %g of %g "+
		"cells; the two differ by %.3f on average.", reached, cells, apart/cells)}
}
