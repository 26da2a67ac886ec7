package sdepaper

// The table of short last batches.

import (
	"math"

	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/verify/sde"
)

var lastBatchTable = paper.Recipe{
	ID:    "sde/lastbatch",
	Title: "SDE Table 1 where an epoch ends on a few images, with their batch and without it",
	Doc: "A control of our own sizes. Where the last batch of an epoch holds a few images, BatchNorm normalises them by each other, and " +
		"their step is as long as that of a full batch. Here the same networks are trained with that batch and without it: same images, seeds, " +
		"first weights, sets and judges, an epoch one step shorter, which leaves other images out each time. What parts the two is that step, and " +
		"not R. Of the published settings two have such a batch, as one step of hundreds.",
}

func init() {
	define(&lastBatchTable, lastBatches, judgedBy(partMain), func(ev *evidence[Judged]) *paper.Output { return verdicts{ev}.lastBatchComparison() })
}

// lastBatchComparison is the table of trainings with the short last batch and without it.
func (ev verdicts) lastBatchComparison() *paper.Output {
	t := ev.table(lastBatchTable)
	columns := ev.sizeColumns()
	for _, kind := range imageKinds() {
		columns = append(columns, ev.trainingColumn(kind.name+" right", "share of right answers after the same epoch, in evaluation mode; mean over models",
			3, 1, func(t *Training) float64 { return kind.of(t.ImageAccuracies) }))
	}
	columns = append(columns,
		ev.trainingColumn("loss", lossNote+". It is a mean over steps, in which a short batch counts as a full one", 3, math.Inf(1),
			func(t *Training) float64 { return t.Loss }),
		lastBatchColumn())
	t.Columns = paper.Headings("judge", columns)
	for _, s := range ev.Settings {
		for _, j := range judges(sde.SDE{}.Name(), sde.SpreadOnly{}.Name(), HeldOut) {
			t.Rows = append(t.Rows, ev.line(group(s, s.ShortAt), s, j, ofFraction(s.ShortAt)).Row(columns))
		}
	}
	t.Notes = append(t.Notes, ev.overlapNotes()...)
	return &paper.Output{Table: t}
}

// lastBatchColumn has the number of images in the last batch, the same in every model.
func lastBatchColumn() paper.Column[Judged] {
	return paper.Column[Judged]{Name: "last batch", Note: "the last of an epoch", Unit: "images", Cell: func(l paper.Line[Judged]) report.Cell {
		switch {
		case l.Control:
			return report.Str("")
		case len(l.Models) == 0 || l.Models[0].Training == nil:
			return report.Gap("not computed")
		}
		return report.Num(float64(l.Models[0].Training.LastBatch), 0)
	}}
}

// lastBatches are the retrained models of the settings whose epochs end on few images at some
// fraction, and the same models without that batch, judged as in Table 1.
func lastBatches(s Study) (out []cell) {
	for _, x := range s.Settings {
		if x.ShortAt != 0 {
			one := s
			one.Settings = []Setting{x, x.withoutLast()}
			out = append(out, cells(one, []float64{x.ShortAt})...)
		}
	}
	return out
}

// withoutLast is the setting with full batches only.
func (s Setting) withoutLast() Setting {
	s.Label, s.Fit.DropLast = s.Label+", last batch dropped", true
	return s
}

// lastBatch is the number of images in the last batch of an epoch of n.
func (s Setting) lastBatch(n int) int {
	if rest := n % s.Fit.Batch; rest > 0 && !s.Fit.DropLast {
		return rest
	}
	return s.Fit.Batch
}
