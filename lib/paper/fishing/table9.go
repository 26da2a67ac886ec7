package fishing

// Table 9: sizes of the forget set.

import (
	"fmt"
	"slices"

	"github.com/lethe-ml/lethe/lib/attack/learned"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/paper"
)

var table9 = paper.Recipe{
	ID:    "fishing/table9",
	Title: "Fishing Table 9. Extra-gradient by the size of the forget set",
	Doc: "10 cells of the rarest type; 50 and 100 with the next rare types and a part of the one after, as the paper draws its; between them the " +
		"cells of Table 2, one type, which are about 30 as in the paper. 'extra-gradient' is as " +
		"coded: its critics hardly move, nothing looks ahead, and when it stops is left to noise: see the notes. 'extra-gradient, true' is " +
		"the paper's equations, with critics that use non-members and a fixed length. The paper reads the AUC's way from 0.26 to 0.61 as one from too " +
		"much to too little unlearning; the retrained model beside it says where a model that never met the cells stands, " +
		"and 'way' how far towards it a method is. Compare all four sizes before you say how it goes with size.",
}

// neighboursSeries says whom the program matches.
const neighboursSeries = "Every member has 10 neighbours among the non-members, as in Table 2; the program's series has 7, found by posterior means."

// sizes are the paper's.
var sizes = []int{10, 50, 100}

// ofTable2 marks the case with Table 2's forget set, the paper's size 30.
const ofTable2 = ", Table 2's cells"

// bySize is the first case of a scale with forget sets of growing size, and Table 2's.
func bySize(scale string) (Study, error) {
	s, err := StudyAt(scale)
	if err != nil {
		return s, err
	}
	base := s.Cases[0]
	base.Part, base.Only = "table9", []string{Original, Retrained, OtherSeed, Extra, ExtraTrue}
	s.Cases = nil
	for k, n := range sizes {
		c := base
		c.Forget, c.Label = lab.Series(sizes[:k+1]), fmt.Sprintf("%s, %d cells", base.DataSet(), n)
		s.Cases = append(s.Cases, c)
	}
	whole := base
	whole.Label = base.DataSet() + ofTable2
	s.Cases = slices.Insert(s.Cases, 1, whole)
	return s, nil
}

// printed9 are the paper's values of a size: the mean AUC, its deviation and the
// advantage.
func printed9(c Case, variant string) string {
	series, _ := c.Forget.(lab.Series)
	switch {
	case variant != Extra:
		return ""
	case len(series) == 0:
		return "0.429 +- 0.142  0.300"
	}
	return map[int]string{10: "0.263 +- 0.055  0.474", 50: "0.503 +- 0.109  0.203", 100: "0.611 +- 0.028  0.222"}[series[len(series)-1]]
}

func (ev *evidence) table9() *paper.Output {
	pb := learned.PB().Name
	t := ev.attackTable(table9,
		ev.printedOfCase("mean AUC, deviation and advantage as printed, on PBMC-33k: over three seeds, beside Table 2's cells over ten", "", printed9),
		paper.ShareColumn("held out", "P-B on the cells that its attacker was not trained on", func(r Row) float64 { return heldOutAUC(r.Attacks[pb]) }),
		paper.MeanColumn("way", "(P-B - original's) / (retrained's - original's), by seed; 0: the original, 1: the retrained model", 2,
			ev.shareOfWay(ProtocolAUC(pb))))
	t.Notes = append(append(append(t.Notes, nonmembersSeen, neighboursSeries), ev.runNotes(Extra)...), ev.runNotes(ExtraTrue)...)
	return &paper.Output{Table: t}
}
