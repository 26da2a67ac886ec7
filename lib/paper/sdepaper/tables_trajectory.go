package sdepaper

// Tables 2 and 7: models during training.

import (
	"fmt"

	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/verify/sde"
)

var table2 = paper.Recipe{
	ID:    "sde/table2",
	Title: "SDE Table 2. F1 along the training",
	Doc: "The models of Table 1, judged after a tenth, a fifth, two fifths and four fifths of their epochs. The paper claims that " +
		"SDE gets better as training goes on, because dependence builds up. " +
		"'spread only' asks whether the spread of the activations, which training changes too, does the same.",
}

var table7 = paper.Recipe{
	ID:    "sde/table7",
	Title: "SDE Table 7. Accuracy along the training",
	Doc: "What the retrained models of Table 2 can do at the moments at which they are judged. Where the accuracies on retained " +
		"and on other images are equal there is nothing that could give membership away.",
}

func init() {
	define(&table2, allCells, judgedBy(partTrajectory), func(found *evidence[Judged]) *paper.Output {
		ev := verdicts{found}
		t := ev.table(table2)
		var columns []paper.Column[Judged]
		for _, c := range ev.Checkpoints {
			columns = append(columns, f1Column(fmt.Sprintf("%d %%", c), "of the epochs; F1, "+f1Note, func(j Judged) bool { return j.Percent == c }))
		}
		columns = append(columns, paper.TextColumn("paper", "as printed, full data set", "", published2))
		t.Columns = paper.Headings("judge", columns)
		size := ev.largest()
		for _, s := range ev.Settings {
			for _, r := range ev.Fractions {
				for _, j := range judges(sde.SDE{}.Name(), sde.SpreadOnly{}.Name()) {
					l := ev.line(group(s, r), s, j, func(j Judged) bool { return j.Fraction == r && j.Size == size })
					t.Rows = append(t.Rows, l.Row(columns))
				}
			}
		}
		t.Notes = append(t.Notes, fmt.Sprintf("|S| = %d.", size))
		return &paper.Output{Table: t}
	})
	define(&table7, allCells, learning, func(found *evidence[Learned]) *paper.Output {
		ev := learnings{found}
		t := ev.table(table7)
		t.Columns = paper.Headings("images", ev.columns(nil))
		for _, s := range ev.Settings {
			for _, r := range ev.Fractions {
				for _, kind := range imageKinds() {
					t.Rows = append(t.Rows, ev.line(s, r, kind.name).Row(ev.columns(kind.of)))
				}
			}
		}
		return &paper.Output{Table: t}
	})
}

// line has the accuracies of a setting's models along their training.
func (ev learnings) line(s Setting, fraction float64, label string) paper.Line[Learned] {
	return paper.Line[Learned]{Group: group(s, fraction), Label: label, Diverged: func(Learned) string { return "" },
		Models: filter(ev.Rows, func(l Learned) bool { return l.Setting == s.Label && l.Fraction == fraction })}
}

// columns have the accuracy on one kind of images after each checkpoint and at the end.
func (ev learnings) columns(of func(ImageAccuracies) float64) (out []paper.Column[Learned]) {
	at := func(name, note string, percent int) {
		out = append(out, paper.Column[Learned]{Name: name, Note: note, Cell: func(l paper.Line[Learned]) report.Cell {
			models := filter(l.Models, func(l Learned) bool { return l.Percent == percent })
			return report.Est(meanOf(models, func(l Learned) float64 { return of(l.ImageAccuracies) }), 3)
		}})
	}
	for _, c := range ev.Checkpoints {
		at(fmt.Sprintf("%d %%", c), "of the epochs; accuracy, mean over models with Student's interval", c)
	}
	at("end", "", 100)
	return out
}

// published2 is the paper's row of table 2.
func published2(l paper.Line[Judged]) string {
	if l.Control || len(l.Models) == 0 {
		return ""
	}
	return map[string]string{
		"C10-R18": "0.69 0.61 0.72 0.95", "C100-R18": "0.59 0.60 0.88 1.0", "Tiny-R18": "0.66 0.86 0.91 0.92", "SV-R18": "0.58 0.77 0.79 0.78",
	}[l.Models[0].Setting]
}

// imageKind is a kind of images whose accuracy is shown.
type imageKind struct {
	name string
	of   func(ImageAccuracies) float64
}

func imageKinds() []imageKind {
	return []imageKind{
		{"retained", func(a ImageAccuracies) float64 { return a.Retain }},
		{"forgotten", func(a ImageAccuracies) float64 { return a.Forget }},
		{"test", func(a ImageAccuracies) float64 { return a.Test }},
	}
}
