package sdepaper

// The table of short last batches.

import (
	"context"
	"fmt"

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
	defineRecipe(&lastBatchTable, lastBatches, func(ctx context.Context, ev *evidence) (*paper.Output, error) { return ev.lastBatchComparison(ctx) })
}

// lastBatchComparison is the table of trainings with the short last batch and without it.
func (ev *evidence) lastBatchComparison(ctx context.Context) (*paper.Output, error) {
	t := ev.table(lastBatchTable)
	t.Columns = []report.Column{{Name: "judge"}}
	for _, size := range ev.Sizes {
		t.Columns = append(t.Columns, report.Column{Name: fmt.Sprintf("|S| = %d", size), Note: f1Note})
	}
	for _, kind := range imageKinds() {
		t.Columns = append(t.Columns, report.Column{Name: kind + " right",
			Note: "share of right answers after the same epoch, in evaluation mode; mean over models"})
	}
	t.Columns = append(t.Columns, report.Column{Name: "loss", Note: lossNote + ". It is a mean over steps, in which a short batch counts as a full one"},
		report.Column{Name: "last batch", Unit: "images", Note: "the last of an epoch"})
	for k, s := range ev.Settings {
		tail, err := ev.lastBatchCells(ctx, ev.sets[k])
		if err != nil {
			return nil, err
		}
		t.Rows = append(t.Rows, ev.verdictRows(s, s.ShortAt, tail, sde.SpreadOnly{}.Name(), HeldOut)...)
	}
	t.Notes = append(t.Notes, ev.overlapNotes()...)
	return &paper.Output{Table: t}, nil
}

// lastBatchCells are the cells on a setting's models: their accuracies and how their epochs end.
func (ev *evidence) lastBatchCells(ctx context.Context, p *prepared) ([]report.Cell, error) {
	_, retain, err := p.divide(p.ShortAt)
	if err != nil {
		return nil, err
	}
	late, err := ev.accuraciesAt(ctx, p, p.ShortAt, []int{JudgedAt})
	if err != nil {
		return nil, err
	}
	var out []report.Cell
	for _, models := range late[0] {
		out = append(out, report.Est(OverModels(models), 3))
	}
	return append(out, ev.loss(p.Setting, p.ShortAt), report.Num(float64(p.lastBatch(len(retain))), 0)), nil
}

// lastBatches are the retrained models of the settings whose epochs end on few images at some
// fraction, and the same models without that batch, judged as in Table 1.
func lastBatches(s Study) []measurement {
	var out []measurement
	for _, x := range s.Settings {
		if x.ShortAt != 0 {
			one := s
			one.Settings, one.Fractions = []Setting{x, x.withoutLast()}, []float64{x.ShortAt}
			out = append(out, judgedIn(partMain)(one)...)
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
