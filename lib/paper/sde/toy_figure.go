package sde

import (
	"fmt"

	"github.com/lethe-ml/lethe/lib/plot"
	"github.com/lethe-ml/lethe/lib/stats"
)

// toyUntrained is where the untrained network stands on the logarithmic axis.
const toyUntrained = 0.5

// Figure shows the hidden activations: H over epochs, the paired difference over
// epochs and per batch, and the permutations of one pair as the paper has them.
func (r *ToyResult) Figure(scale string) plot.Figure {
	last := r.Toy.last()
	c := r.contrasts(0, last, ToySame, true)[0]
	draws := plot.Histograms{
		Meta: plot.Meta{Title: fmt.Sprintf("200 permutations of one pair, p = %.1e", min(c.Higher[0], c.Lower[0]))},
		X:    plot.Axis{Label: "H × 1000"},
		Samples: []plot.Sample{
			{Name: "one batch", Values: toyScaleBy(c.Draws[0], 1000)},
			{Name: "one set across", Values: toyScaleBy(c.Draws[1], 1000)},
		},
	}
	return plot.Panels{
		Meta: plot.Meta{
			Title: toyTitle,
			Caption: fmt.Sprintf("Hidden activations. Bands: 95 %% intervals, above left over seeds, above right over all batches of all seeds. Below left: one value per batch, epoch %d. "+
				"Below right: the first batch of seed %d and its set across, epoch %d, chosen before looking; the p is the smaller of the two one-sided Mann-Whitney tests. The untrained network stands at %g.", last, r.Toy.Seeds[0], last, toyUntrained),
			Source: r.Provenance(scale).Line(), Width: 1080,
		},
		Columns: 2,
		Figures: []plot.Figure{r.courses(), r.differences(), r.perBatch(), draws},
	}
}

func toyScaleBy(x []float64, by float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = v * by
	}
	return out
}

func (r *ToyResult) axis() []float64 {
	var x []float64
	for _, e := range r.Toy.Epochs {
		x = append(x, max(toyUntrained, float64(e)))
	}
	return x
}

func toyEpochAxis() plot.Axis { return plot.Axis{Label: "epoch", Log: true} }

// courses are the mean H of batches and of sets across, per seed and then over
// seeds.
func (r *ToyResult) courses() plot.Figure {
	same := plot.Curve{Name: "same batch", X: r.axis()}
	across := plot.Curve{Name: "across batches", X: r.axis()}
	for _, epoch := range r.Toy.Epochs {
		var a, b []float64
		for _, c := range r.contrasts(0, epoch, ToySame, true) {
			a, b = append(a, 1000*toyMean(toyEach(c.A, toyExact))), append(b, 1000*toyMean(toyEach(c.B, toyExact)))
		}
		toyPoint(&same, stats.MeanInterval(a, 0.95, "seeds"))
		toyPoint(&across, stats.MeanInterval(b, 0.95, "seeds"))
	}
	return plot.Curves{Meta: plot.Meta{Title: "mean H per set"}, X: toyEpochAxis(), Y: plot.Axis{Label: "H × 1000"}, Curves: []plot.Curve{same, across}}
}

// toyPoint adds a point to a curve; one seed alone has no band.
func toyPoint(c *plot.Curve, e stats.Estimate) {
	c.Y = append(c.Y, e.Value)
	if e.HasInterval() {
		c.Low, c.High = append(c.Low, e.Low), append(c.High, e.High)
	}
}

// toyShown are the contrasts of the difference panels, in the order of their
// colours.
var toyShown = []struct {
	name, contrast string
	fixed, control bool
}{
	{"same − across, fixed batches", ToySame, true, false},
	{"across − across", ToyNull, true, true},
	{"same − across, fresh batches", ToySame, false, true},
}

func (r *ToyResult) differences() plot.Figure {
	f := plot.Curves{
		Meta: plot.Meta{Title: "paired difference, mean over batches"}, X: toyEpochAxis(), Y: plot.Axis{Label: "% of H across"},
		Null: &plot.Null{Value: 0, Label: "no difference"},
	}
	for _, shown := range toyShown {
		c := plot.Curve{Name: shown.name, X: r.axis(), Control: shown.control}
		for _, epoch := range r.Toy.Epochs {
			toyPoint(&c, toySummarise(r.contrasts(0, epoch, shown.contrast, shown.fixed)).OverBatches)
		}
		f.Curves = append(f.Curves, c)
	}
	return f
}

func (r *ToyResult) perBatch() plot.Figure {
	h := plot.Histograms{
		Meta: plot.Meta{Title: fmt.Sprintf("paired difference per batch, epoch %d", r.Toy.last())}, X: plot.Axis{Label: "% of H across"},
		Null: &plot.Null{Value: 0, Label: "no difference"},
	}
	for _, shown := range toyShown[:2] {
		h.Samples = append(h.Samples, plot.Sample{Name: shown.name, Control: shown.control,
			Values: toySummarise(r.contrasts(0, r.Toy.last(), shown.contrast, shown.fixed)).Differences})
	}
	return h
}
