package fishing

// The table of scattered forget sets of several sizes.

import (
	"fmt"

	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/paper"
)

var scatteredSizes = paper.Recipe{
	ID:    "fishing/scattered",
	Title: "Fishing, Appendix B. Fisher scrubbing by the size of a scattered forget set",
	Doc: "Cells of all types, drawn at random, each set within the next: 10, 30, 50, 100 and 500 of them. The paper gives no table of it " +
		"and says that originals " +
		"have an AUC of 0.52 to 0.63 and that Fisher scrubbing changes little; its program's outputs have the AUCs of the column 'paper'. " +
		"Which cells it drew is not published. Compare 'original' with 'retrained': where they agree there was nothing to forget.",
}

// spreads are the paper's sizes.
var spreads = []int{10, 30, 50, 100, 500}

// byScattered is the first case of a scale with scattered forget sets of growing size. At
// standard there are three seeds, because every size has its own retrained models.
func byScattered(scale string) (Study, error) {
	s, err := StudyAt(scale)
	if err != nil {
		return s, err
	}
	s.Seeds = min(s.Seeds, 3)
	base := s.Cases[0]
	base.Part, base.Only = "scattered", []string{Original, Retrained, OtherSeed, Ten, Fisher}
	s.Cases = nil
	for _, n := range spreads {
		c := base
		c.Forget, c.Label = lab.Scattered{Count: n}, fmt.Sprintf("%s, %d scattered cells", base.DataSet(), n)
		s.Cases = append(s.Cases, c)
	}
	return s, nil
}

// recordedScattered are the mean AUCs of Fisher scrubbing and their deviations in the outputs of the
// paper's program, ten seeds each.
func recordedScattered(c Case, variant string) string {
	if variant != Fisher {
		return ""
	}
	recorded := map[int]string{10: "0.588 +- 0.018*", 30: "0.601 +- 0.004*", 50: "0.574 +- 0.003*", 100: "0.547 +- 0.003*", 500: "0.516 +- 0.001*"}
	return recorded[c.scatteredCells()]
}

func (ev *evidence) scatteredSizes() *paper.Output {
	source := "on PBMC-33k; *: not in the paper, in its program's recorded outputs"
	return &paper.Output{Table: ev.attackTable(scatteredSizes, ev.printedOfCase(source, "", recordedScattered), reconColumn)}
}
