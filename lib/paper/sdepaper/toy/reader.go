package toy

// Functions that notebooks call to open the toy's result and draw its contrasts.

import (
	"context"
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/plot"
	"github.com/lethe-ml/lethe/lib/stats"
)

// Open trains and measures in the environment of paper.Open, or finds the results in the store;
// seeds are shifted by LETHE_SEED.
func Open(ctx context.Context, s Setting) (*Result, error) {
	env, err := paper.Open()
	if err != nil {
		return nil, err
	}
	return s.WithSeedShift(env.Shift).Run(ctx, env.Engine, env.Store)
}

// Last is the last epoch.
func (r *Result) Last() int { return r.Setting.last() }

// Signed is -log10 of the smaller one-sided p of the paper's test for each pair, negative if the
// first set is lower.
func (c Contrast) Signed() []float64 {
	out := make([]float64, len(c.Higher))
	for k := range out {
		if c.Higher[k] < c.Lower[k] {
			out[k] = -math.Log10(c.Higher[k])
		} else {
			out[k] = math.Log10(c.Lower[k])
		}
	}
	return out
}

// RejectionRate is the share of pairs that the paper's test rejects at 0.01 on either side. A
// valid test rejects 0.02.
func (c Contrast) RejectionRate() stats.Estimate {
	return stats.Share(c.Signed(), "pairs", func(v float64) bool { return math.Abs(v) > -math.Log10(alpha) })
}

// Histograms show the permutations of the first pair, with a and b as the names of its sets, and
// the paper's test of whether a is higher.
func (c Contrast) Histograms(a, b string) plot.Histograms {
	return plot.Histograms{
		Meta: plot.Meta{
			Title:   fmt.Sprintf("%s and %s: 200 draws each", a, b),
			Caption: fmt.Sprintf("Mann-Whitney, one-sided: p = %.1e that %s is higher.", c.Higher[0], a),
		},
		X:       plot.Axis{Label: "H × 1000"},
		Samples: []plot.Sample{{Name: a, Values: scaleBy(c.Draws[0], 1000)}, {Name: b, Values: scaleBy(c.Draws[1], 1000), Control: true}},
	}
}

// Row is a contrast after the last epoch as a row of a forest plot: one number per batch. All
// but the paper's own contrast are controls.
func (r *Result) Row(label string, layer int, contrast string, fixed bool) (plot.ForestRow, error) {
	s, err := r.Summary(layer, r.Last(), contrast, fixed)
	if err != nil {
		return plot.ForestRow{}, err
	}
	return plot.ForestRow{Label: label, Estimate: s.OverBatches, P: &s.Wilcoxon, Control: contrast != Same || !fixed}, nil
}

// Gaps show the paper's contrast and its two controls on both layers after the
// last epoch, one number per batch.
func (r *Result) Gaps() (plot.Forest, error) {
	same, err := r.Summary(0, r.Last(), Same, true)
	if err != nil {
		return plot.Forest{}, err
	}
	f := plot.Forest{
		Meta: plot.Meta{Title: "One number per batch", Caption: fmt.Sprintf("Epoch %d. Mean difference in per cent, 95 %% interval over the %d batches; "+
			"p: Wilcoxon's signed-rank test. Squares: controls.", r.Last(), len(same.Differences))},
		X: plot.Axis{Label: "difference, % of H across"}, Null: &plot.Null{Value: 0, Label: "no difference"}, Digits: 1,
	}
	for layer, name := range layers {
		for _, line := range []struct {
			label, contrast string
			fixed           bool
		}{{"fixed batches: same − across", Same, true}, {"fixed batches: across − across", Null, true}, {"fresh batches: same − across", Same, false}} {
			row, err := r.Row(line.label, layer, line.contrast, line.fixed)
			if err != nil {
				return f, err
			}
			row.Group = name
			f.Rows = append(f.Rows, row)
		}
	}
	return f, nil
}
