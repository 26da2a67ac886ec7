package fishing

// The table of shared largest entries of the Fisher information.

import (
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/verify/fisher"
)

var largest = paper.Recipe{
	ID:    "fishing/largest",
	Title: "Fishing, Section 6. Which weights matter most: how many of the largest Fisher entries two sets have in common",
	Doc: "Share of the weights with the largest 1 % and 10 % of the forgotten cells' Fisher information that are among the others' largest. " +
		"Null 0.01 and 0.1, for entries in random order. Estimators, models and layers are those of Table 7. The columns 'random' have as many other " +
		"cells, drawn at random, in the place of the forgotten ones: where the type's share is not below theirs it says nothing of the type. " +
		"As coded dead weights count among all.",
}

// recordedTops are the shares in the outputs of the paper's program.
func recordedTops(model, layer string) string {
	return map[string]string{ModelVAE + fisher.Global: "0.205  0.496", ModelNarrow + fisher.Global: "0.149  0.427"}[model+layer]
}

// onePercent and tenPercent are the two shares.
func onePercent(t fisher.TopShares) float64 { return t.One }
func tenPercent(t fisher.TopShares) float64 { return t.Ten }

func meanTop(list []fisher.TopShares, of func(fisher.TopShares) float64) float64 {
	var x []float64
	for _, t := range list {
		x = append(x, of(t))
	}
	return meanOf(x)
}

func (o *overlaps) largest() *paper.Output {
	t := &report.Table{
		ID: largest.ID, Title: largest.Title, Caption: largest.Doc, Provenance: o.provenance(largest.ID), Notes: o.overlapNotes(),
		Columns: []report.Column{{Name: "model"}, {Name: "layer"}},
	}
	for _, share := range []string{"1 %", "10 %"} {
		t.Columns = append(t.Columns,
			report.Column{Name: share + ", exact", Note: "the forgotten type and the others; mean over models with its 95 % interval"},
			report.Column{Name: share + ", exact, random", Note: "as many random cells in its place, means over draws"},
			report.Column{Name: share + ", coded", Note: "as coded: squared sums over batches, with dropout and damping"},
			report.Column{Name: share + ", coded, random", Note: "as many random cells in its place, as coded"})
	}
	t.Columns = append(t.Columns, report.Column{Name: "paper", Note: "of 1 % and 10 %, on PBMC-33k, in its program's recorded outputs; in " +
		"no table of the paper"})
	for _, c := range o.Cases {
		for _, m := range o.models(c.Label) {
			own := o.find(c.Label, m, func(f Overlap) bool { return f.Forgot })
			for _, l := range own[0].Layers {
				if len(own[0].Layers) != 2 || l.Layer != fisher.Global { // not the only layer once more
					t.Rows = append(t.Rows, topRow(c.Label, m, l.Layer, own))
				}
			}
		}
	}
	return &paper.Output{Table: t}
}

func topRow(label, model, layer string, own []Overlap) report.Row {
	row := report.Row{Group: label, Cells: []report.Cell{report.Str(model), report.Str(layer)}}
	over := func(value func(LayerOverlap) float64) {
		var x []float64
		for _, f := range own {
			x = append(x, value(*f.layerNamed(layer)))
		}
		row.Cells = append(row.Cells, report.Est(stats.MeanInterval(x, 0.95, stats.OverModels).ClampedTo(0, 1), 3))
	}
	for _, of := range []func(fisher.TopShares) float64{onePercent, tenPercent} {
		over(func(l LayerOverlap) float64 { return of(fisher.TopShares{One: l.Top1, Ten: l.Top10}) })
		over(func(l LayerOverlap) float64 { return meanTop(l.TopRandom, of) })
		over(func(l LayerOverlap) float64 { return of(l.CodedTop) })
		over(func(l LayerOverlap) float64 { return meanTop(l.CodedTopRandom, of) })
	}
	row.Cells = append(row.Cells, report.Str(recordedTops(model, layer)))
	if own[0].Control {
		row.Kind = report.Control
	}
	return row
}
