package fishing

// Table 7 and Figure 3: overlap of Fisher information.

import (
	"fmt"
	"slices"

	datacells "github.com/lethe-ml/lethe/datasets/cells"
	"github.com/lethe-ml/lethe/lib/model/vae"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/plot"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/verify/fisher"
)

var table7 = paper.Recipe{
	ID:    "fishing/table7",
	Title: "Fishing Table 7. Does the Fisher information of the forgotten cells overlap with that of the others?",
	Doc: "Cosine of two sets' diagonal Fisher information, in [0, 1]. The paper compares its autoencoder (0.306, squared gradients of batches) " +
		"with a classifier (0.018, of single cells, output layer alone) and concludes that generative models cannot be made to forget by moving " +
		"weights and classifiers can. Here every model has both estimators, layer by layer: compare output with output and hidden with hidden. " +
		"'exact' is the mean of every cell's own squared gradient, without damping and dropout; 'coded' squares the gradient of a batch's sum. " +
		"The columns 'random' are the control that the paper lacks: as many other cells, drawn at random, in the place of the forgotten ones. " +
		"Where the type's cosine is not below theirs, it says nothing of the type; where it is, the type matters to weights of its own.",
}

var figure3 = paper.Recipe{
	ID:    "fishing/figure3",
	Title: "Fishing Fig. 3. Weight by weight: Fisher information of the forgotten cells and of the others",
	Doc: "Exact, one model each, at most 1,500 weights at equal distances among those that are alive in both sets. The paper's right panel is the " +
		"linear classifier; the deep one has the layers to compare the autoencoder with.",
}

// printed7 are the paper's cosine and, where it gives one, effective rank ratio.
func printed7(model, layer string) string {
	return map[string]string{
		ModelVAE + LayerEncoder: "0.273  0.030", ModelVAE + LayerBottleneck: "0.291  0.033", ModelVAE + LayerDecoder: "0.232  0.041",
		ModelVAE + LayerOutput: "0.362  0.006", ModelVAE + fisher.Global: "0.306  0.010", ModelLinear + LayerOutput: "0.018  0.037",
		ModelDeep + LayerHidden: "0.262", ModelDeep + LayerOutput: "0.010",
		ModelConditional + LayerEncoder: "0.433", ModelConditional + LayerBottleneck: "0.508", ModelConditional + LayerDecoder: "0.346",
		ModelNarrow + LayerEncoder: "0.314", ModelNarrow + LayerBottleneck: "0.858", ModelNarrow + LayerDecoder: "0.216",
		ModelNarrow + LayerOutput: "0.299*", ModelNarrow + fisher.Global: "0.846",
		ModelConditional + LayerOutput: "0.222", ModelConditional + LayerClusters: "1.2e-8",
	}[model+layer]
}

func (o *overlaps) table7() *paper.Output {
	t := &report.Table{
		ID: table7.ID, Title: table7.Title, Caption: table7.Doc, Provenance: o.provenance(table7.ID),
		Columns: []report.Column{
			{Name: "model"}, {Name: "layer"},
			{Name: "weights", Note: "the coded estimator counts dead ones too"},
			{Name: "coded", Note: "cosine of the forgotten type with the others, as coded; mean over models with its 95 % interval"},
			{Name: "coded, random", Note: fmt.Sprintf("as many random cells in its place, %d draws per model", codedDraws)},
			{Name: "exact", Note: "cosine of the forgotten type with the others"},
			{Name: "exact, random", Note: fmt.Sprintf("as many random cells in its place, %d draws per model", overlapDraws)},
			{Name: "two random sets", Note: "of that size, without a cell in common, exact"},
			{Name: "other types", Note: "exact, each named type with the others in turn; " +
				"mean over types of means over models, with its 95 % interval over types"},
			{Name: "below random", Note: "of the named types, those whose exact cosine, mean over models, is below their random cells'; " +
				"cells without a label apart"},
			{Name: "rank ratio", Note: "effective rank of the forgotten type's information over the weights: exact, and as coded"},
			{Name: "paper", Note: "cosine and rank ratio as printed, on PBMC-33k, its own estimators; *: in its program's recorded outputs"},
		},
	}
	for _, c := range o.Cases {
		for _, m := range o.models(c.Label) {
			t.Rows = append(t.Rows, o.modelRows(c.Label, m)...)
		}
	}
	t.Notes = o.overlapNotes()
	return &paper.Output{Table: t}
}

// models are the names of a case's models, in order.
func (o *overlaps) models(label string) []string {
	var out []string
	for _, f := range o.Rows {
		if f.Case == label && !slices.Contains(out, f.Model) {
			out = append(out, f.Model)
		}
	}
	return out
}

// modelRows are the rows of a model, one per layer.
func (o *overlaps) modelRows(label, model string) []report.Row {
	own := o.find(label, model, func(f Overlap) bool { return f.Forgot })
	var out []report.Row
	for _, l := range own[0].Layers {
		if len(own[0].Layers) == 2 && l.Layer == fisher.Global {
			continue // not the only layer once more
		}
		out = append(out, o.layerRow(label, model, l, own))
	}
	return out
}

// find are the overlaps of a model of a case, in the order of the seeds.
func (o *overlaps) find(label, model string, which func(Overlap) bool) []Overlap {
	var out []Overlap
	for _, f := range o.Rows {
		if f.Case == label && f.Model == model && which(f) {
			out = append(out, f)
		}
	}
	return out
}

func (o *overlaps) layerRow(label, model string, l LayerOverlap, own []Overlap) report.Row {
	over := func(value func(LayerOverlap) float64) stats.Estimate {
		var x []float64
		for _, f := range own {
			x = append(x, value(*f.layerNamed(l.Layer)))
		}
		return stats.MeanInterval(x, 0.95, stats.OverModels).ClampedTo(0, 1)
	}
	types, below := o.otherTypes(label, model, l.Layer)
	rank, codedRank := over(func(l LayerOverlap) float64 { return l.Rank }), over(func(l LayerOverlap) float64 { return l.CodedRank })
	row := report.Row{Group: label, Cells: []report.Cell{
		report.Str(model), report.Str(l.Layer), report.Num(float64(l.Weights), 0),
		report.Est(over(func(l LayerOverlap) float64 { return l.Coded }), 3),
		report.Est(over(func(l LayerOverlap) float64 { return meanOf(l.CodedRandom) }), 3),
		report.Est(over(func(l LayerOverlap) float64 { return l.Cosine }), 3),
		report.Est(over(func(l LayerOverlap) float64 { return meanOf(l.Random) }), 3),
		report.Est(over(func(l LayerOverlap) float64 { return meanOf(l.Pairs) }), 3),
		report.Est(types, 3), report.Str(below),
		report.Str(fmt.Sprintf("%.3f, %.3f", rank.Value, codedRank.Value)),
		report.Str(printed7(model, l.Layer)),
	}}
	if own[0].Control {
		row.Kind = report.Control
	}
	return row
}

// otherTypes are the mean cosine in a layer over the named types that are not forgotten, and how
// many of all named types are below their random cells. Cells without a label, which are no
// type, are reported separately.
func (o *overlaps) otherTypes(label, model, layer string) (mean stats.Estimate, below string) {
	cosines, random := map[string][]float64{}, map[string][]float64{}
	var names, forgot []string
	for _, f := range o.find(label, model, func(Overlap) bool { return true }) {
		l := f.layerNamed(layer)
		if !slices.Contains(names, f.Type) {
			names = append(names, f.Type)
		}
		if f.Forgot {
			forgot = []string{f.Type}
		}
		cosines[f.Type], random[f.Type] = append(cosines[f.Type], l.Cosine), append(random[f.Type], meanOf(l.Random))
	}
	var others []float64
	count, named, unlabelled := 0, 0, ""
	for _, name := range names {
		if name == datacells.Unlabelled {
			unlabelled = "; " + name + ": not below"
			if meanOf(cosines[name]) < meanOf(random[name]) {
				unlabelled = "; " + name + ": below"
			}
			continue
		}
		named++
		if !slices.Contains(forgot, name) {
			others = append(others, meanOf(cosines[name]))
		}
		if meanOf(cosines[name]) < meanOf(random[name]) {
			count++
		}
	}
	return stats.MeanInterval(others, 0.95, "types").ClampedTo(0, 1), fmt.Sprintf("%d of %d%s", count, named, unlabelled)
}

// meanOf is the mean of values.
func meanOf(x []float64) float64 { return stats.MeanInterval(x, 0.95, stats.OverModels).Value }

// trainingNotes are those of the autoencoders.
func (o *overlaps) trainingNotes() []string {
	return groupNotes(o.Cases, func(c Case) string {
		own := o.find(c.Label, ModelVAE, func(f Overlap) bool { return f.Forgot })
		if len(own) == 0 {
			return ""
		}
		return trainingNote(c, own[0].Cells+own[0].Others, own[0].Others)
	})
}

// overlapNotes give the numbers of cells and the accuracy of the classifiers.
func (o *overlaps) overlapNotes() []string {
	var out []string
	out = append(append(append(out, syntheticNotes(o.Cases)...), o.MissingNotes()...), o.Caveats...)
	out = append(out, o.trainingNotes()...)
	for _, c := range o.Cases {
		own := o.find(c.Label, ModelVAE, func(f Overlap) bool { return f.Forgot })
		if len(own) == 0 {
			continue
		}
		note := fmt.Sprintf("%s: %d cells of %s against %d others. Accuracy on the cells of the training:", c.Label, own[0].Cells, own[0].Type, own[0].Others)
		for _, m := range []string{ModelDeep, ModelLinear} {
			var right []float64
			for _, f := range o.find(c.Label, m, func(f Overlap) bool { return f.Forgot }) {
				right = append(right, f.Accuracy)
			}
			note += fmt.Sprintf(" %s %.3f", m, meanOf(right))
		}
		out = append(out, note+".")
		if m, ok := c.narrow(0).Model.(vae.Cells); ok {
			out = append(out, fmt.Sprintf("%s: the narrow VAE has %d latent variables and the VAE %d; nothing else differs. "+
				"The paper's, 8 and 32, differ in rate, warm-up, free bits and who chooses the epoch too.", c.Label, m.Latent, 4*m.Latent))
		}
	}
	return append(out,
		"Retrained models never met the type: overlap there is no memory of it.",
		"Exactly, the dead dispersion head of the squared error is in no value; as coded it has the cosine 1 of its damping, too little to move a mean.",
		"The linear classifier is given the latent means of the VAE; the paper's has 14 clusters, ours the types, and so has the conditional VAE. "+
			"Of its output layer the paper gives what the head of the mean shares with the VAE's.")
}

func (o *overlaps) figure3() *paper.Output {
	meta := plot.Meta{Title: figure3.Title, Caption: joinCaption(figure3.Doc, o.trainingNotes()), Source: o.provenance(figure3.ID).Line()}
	f := plot.Panels{Meta: meta, Columns: 3}
	if len(o.Cases) == 1 {
		f.Caption = o.Cases[0].Label + ". " + f.Caption
	}
	for _, c := range o.Cases {
		for _, model := range []string{ModelVAE, ModelDeep, ModelLinear} {
			if own := o.find(c.Label, model, func(f Overlap) bool { return f.Forgot }); len(own) > 0 {
				f.Figures = append(f.Figures, panel3(c, own[0], len(o.Cases) > 1))
			}
		}
	}
	return &paper.Output{Figure: f}
}

// panel3 names the case if there are several.
func panel3(c Case, f Overlap, several bool) plot.Figure {
	title := fmt.Sprintf("%s: r = %.2f", f.Model, f.LogR)
	if several {
		title = c.Label + ", " + title
	}
	return plot.Scatter{
		Meta: plot.Meta{Title: title},
		X:    plot.Axis{Label: "information of the others", Log: true}, Y: plot.Axis{Label: "information of the forgotten", Log: true},
		Clouds: []plot.Cloud{{Name: "a weight", X: f.Points.Others, Y: f.Points.Forget}},
	}
}
