package sdepaper

// Tables 2 and 7: models during training.

import (
	"context"
	"fmt"
	"slices"

	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/train"
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
	defineRecipe(&table2, judgedIn(partTrajectory), func(_ context.Context, ev *evidence) (*paper.Output, error) {
		t := ev.table(table2)
		t.Columns = []report.Column{{Name: "judge"}}
		for _, c := range ev.Checkpoints {
			t.Columns = append(t.Columns, report.Column{Name: fmt.Sprintf("%d %%", c), Note: "of the epochs; F1, " + f1Note})
		}
		t.Columns = append(t.Columns, report.Column{Name: "paper", Note: "as printed, full data set"})
		size := ev.Sizes[len(ev.Sizes)-1]
		for _, s := range ev.Settings {
			for _, r := range ev.Fractions {
				for _, m := range []sde.Method{sde.SDE{}, sde.SpreadOnly{}} {
					t.Rows = append(t.Rows, ev.trajectoryRow(s, r, m, size))
				}
			}
		}
		t.Notes = append(t.Notes, fmt.Sprintf("|S| = %d.", size))
		return &paper.Output{Table: t}, nil
	})
	defineRecipe(&table7, retrainedMeasurements, func(ctx context.Context, ev *evidence) (*paper.Output, error) {
		t := ev.table(table7)
		t.Columns = []report.Column{{Name: "images"}}
		for _, c := range ev.Checkpoints {
			t.Columns = append(t.Columns, report.Column{Name: fmt.Sprintf("%d %%", c), Note: "of the epochs; accuracy, mean over " +
				"models with Student's interval"})
		}
		t.Columns = append(t.Columns, report.Column{Name: "end"})
		for _, p := range ev.sets {
			for _, r := range ev.Fractions {
				rows, err := ev.accuracies(ctx, p, r)
				if err != nil {
					return nil, err
				}
				t.Rows = append(t.Rows, rows...)
			}
		}
		return &paper.Output{Table: t}, nil
	})
}

func (ev *evidence) trajectoryRow(s Setting, fraction float64, m sde.Method, size int) report.Row {
	row := report.Row{Group: group(s, fraction), Cells: []report.Cell{report.Str(m.Name())}}
	printed := ""
	if m.Name() == (sde.SDE{}).Name() {
		printed = map[string]string{
			"C10-R18": "0.69 0.61 0.72 0.95", "C100-R18": "0.59 0.60 0.88 1.0", "Tiny-R18": "0.66 0.86 0.91 0.92", "SV-R18": "0.58 0.77 0.79 0.78",
		}[s.Label]
	} else {
		row.Kind = report.Control
	}
	for _, c := range ev.Checkpoints {
		row.Cells = append(row.Cells, ruleCell(ratesOf(ev.judgedRows(s.Label, m.Name(), fraction, size, afterPercent(c)), Judged.F1)))
	}
	row.Cells = append(row.Cells, report.Str(printed))
	return row
}

// afterPercent selects the verdicts after some per cent of the training.
func afterPercent(percent int) func(Judged) bool {
	return func(j Judged) bool { return j.Percent == percent }
}

// imageKinds are the kinds of images whose accuracies are shown. A retrained model was trained
// on the retained ones only.
func imageKinds() []string { return []string{"retained", "forgotten", "test"} }

// accuracies are the rows of table 7 for one setting and fraction.
func (ev *evidence) accuracies(ctx context.Context, p *prepared, fraction float64) ([]report.Row, error) {
	values, err := ev.accuraciesAt(ctx, p, fraction, append(slices.Clone(ev.Checkpoints), 100))
	if err != nil {
		return nil, err
	}
	var rows []report.Row
	for k, kind := range imageKinds() {
		row := report.Row{Group: group(p.Setting, fraction), Cells: []report.Cell{report.Str(kind)}}
		for _, moment := range values {
			row.Cells = append(row.Cells, report.Est(OverModels(moment[k]), 3))
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// accuraciesAt are the accuracies after some per cents of the training: by time, kind and model.
// They are recomputed from the stored weights.
func (ev *evidence) accuraciesAt(ctx context.Context, p *prepared, fraction float64, percents []int) ([][][]float64, error) {
	values := make([][][]float64, len(percents))
	for i := range values {
		values[i] = make([][]float64, len(imageKinds()))
	}
	for seed := range ev.Seeds {
		c, err := newLabEnv(ev.env).openCase(ctx, ev.Study, p.Setting, fraction, seed)
		if err != nil {
			return nil, err
		}
		trained, err := c.TrainedModel(ctx, c.Oracle())
		if err != nil {
			return nil, err
		}
		for i, percent := range percents {
			w := trained.Final
			if percent < 100 {
				w = trained.AtEpoch[p.epochAt(percent)]
			}
			onTrain, err := p.Runner.Predict(w, p.Train.X)
			if err != nil {
				return nil, err
			}
			onTest, err := p.Runner.Predict(w, p.Test.X)
			if err != nil {
				return nil, err
			}
			for k, a := range []float64{
				train.Accuracy(onTrain.Logits().Gather(c.Retain), p.Records(c.Retain).Y),
				train.Accuracy(onTrain.Logits().Gather(c.Forget), p.Records(c.Forget).Y),
				train.Accuracy(onTest.Logits(), p.Test.Y),
			} {
				values[i][k] = append(values[i][k], a)
			}
		}
	}
	return values, nil
}
