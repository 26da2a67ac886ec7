package toy

import (
	"fmt"

	"github.com/lethe-ml/lethe/lib/plot"
	"github.com/lethe-ml/lethe/lib/stats"
)

// untrainedAt is the position of the untrained network on the logarithmic axis.
const untrainedAt = 0.5

// Figure shows the hidden activations: H over epochs, the paired difference over epochs and per
// batch, and the permutations of one pair as in the paper.
func (r *Result) Figure(scale string) plot.Figure {
	last := r.Setting.last()
	c := r.contrasts(0, last, Same, true)[0]
	draws := plot.Histograms{
		Meta: plot.Meta{Title: fmt.Sprintf("200 permutations of one pair, p = %.1e", min(c.Higher[0], c.Lower[0]))},
		X:    plot.Axis{Label: "H × 1000"},
		Samples: []plot.Sample{
			{Name: "same batch", Values: scaleBy(c.Draws[0], 1000)},
			{Name: "across batches", Values: scaleBy(c.Draws[1], 1000)},
		},
	}
	return plot.Panels{
		Meta: plot.Meta{
			Title: title,
			Caption: fmt.Sprintf("Hidden activations. Bands: 95 %% intervals, above left over seeds, above right over all batches of "+
				"all seeds. Below left: one value per batch, epoch %d. "+
				"Below right: the first batch of seed %d and its set across, epoch %d, chosen before looking; the p is the smaller "+
				"of the two one-sided Mann-Whitney tests. The untrained network stands at %g.", last, r.Setting.Seeds[0], last, untrainedAt),
			Source: r.Provenance(scale).Line(), Width: 1080,
		},
		Columns: 2,
		Figures: []plot.Figure{r.trajectoryFigure(), r.differences(), r.perBatch(), draws},
	}
}

func scaleBy(x []float64, by float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = v * by
	}
	return out
}

func (r *Result) axis() []float64 {
	var x []float64
	for _, e := range r.Setting.Epochs {
		x = append(x, max(untrainedAt, float64(e)))
	}
	return x
}

func epochAxis() plot.Axis { return plot.Axis{Label: "epoch", Log: true} }

// trajectoryFigure shows the mean H of batches and of sets across, per seed and over seeds.
func (r *Result) trajectoryFigure() plot.Figure {
	same := plot.Curve{Name: "same batch", X: r.axis()}
	across := plot.Curve{Name: "across batches", X: r.axis()}
	for _, epoch := range r.Setting.Epochs {
		var a, b []float64
		for _, c := range r.contrasts(0, epoch, Same, true) {
			a, b = append(a, 1000*mean(mapSets(c.A, exact))), append(b, 1000*mean(mapSets(c.B, exact)))
		}
		point(&same, stats.MeanInterval(a, 0.95, "seeds"))
		point(&across, stats.MeanInterval(b, 0.95, "seeds"))
	}
	return plot.Curves{Meta: plot.Meta{Title: "mean H per set"}, X: epochAxis(), Y: plot.Axis{Label: "H × 1000"}, Curves: []plot.Curve{same, across}}
}

// point adds a point to a curve; one seed alone has no band.
func point(c *plot.Curve, e stats.Estimate) {
	c.Y = append(c.Y, e.Value)
	if e.HasInterval() {
		c.Low, c.High = append(c.Low, e.Low), append(c.High, e.High)
	}
}

// compared are the contrasts of the difference panels, in the order of their
// colours.
var compared = []struct {
	name, contrast string
	fixed, control bool
}{
	{"same − across, fixed batches", Same, true, false},
	{"across − across", Null, true, true},
	{"same − across, fresh batches", Same, false, true},
}

func (r *Result) differences() plot.Figure {
	f := plot.Curves{
		Meta: plot.Meta{Title: "paired difference, mean over batches"}, X: epochAxis(), Y: plot.Axis{Label: "% of H across"},
		Null: &plot.Null{Value: 0, Label: "no difference"},
	}
	for _, shown := range compared {
		c := plot.Curve{Name: shown.name, X: r.axis(), Control: shown.control}
		for _, epoch := range r.Setting.Epochs {
			point(&c, summarise(r.contrasts(0, epoch, shown.contrast, shown.fixed)).OverBatches)
		}
		f.Curves = append(f.Curves, c)
	}
	return f
}

func (r *Result) perBatch() plot.Figure {
	h := plot.Histograms{
		Meta: plot.Meta{Title: fmt.Sprintf("paired difference per batch, epoch %d", r.Setting.last())}, X: plot.Axis{Label: "% of H across"},
		Null: &plot.Null{Value: 0, Label: "no difference"},
	}
	for _, shown := range compared[:2] {
		h.Samples = append(h.Samples, plot.Sample{Name: shown.name, Control: shown.control,
			Values: summarise(r.contrasts(0, r.Setting.last(), shown.contrast, shown.fixed)).Differences})
	}
	return h
}
