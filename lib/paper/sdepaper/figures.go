package sdepaper

// Figures 1 to 4: distributions of split-half dependence, kernel bandwidths, and layers.

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/plot"
	"github.com/lethe-ml/lethe/lib/unlearn"
	"github.com/lethe-ml/lethe/lib/verify/sde"
)

var figure1 = paper.Recipe{
	ID:    "sde/figure1",
	Title: "SDE Fig. 1. The split-half statistic in training, out of training, and before training",
	Doc: "200 draws of H for one set of images in training and one out of it, in the original model and in the untrained network. " +
		"The paper sees dependence in the first and none in the second. " +
		"The draws of a set lie around the product of the spreads of its halves, in every panel.",
}

var figure2 = paper.Recipe{
	ID:    "sde/figure2",
	Title: "SDE Fig. 2. The statistic of the forgotten images, before and after",
	Doc: "200 draws of H for a set of forgotten images beside one retained and one test set: in the original model, which was " +
		"trained on the forgotten images, and in the retrained one, which was not. " +
		"The paper sees the forgotten set near the retained one on the left and near the test set on the right.",
}

func init() {
	defineRecipe(&figure1, firstSeedMeasurements, func(ctx context.Context, ev *evidence) (*paper.Output, error) {
		return ev.distributions(ctx, figure1, func(m models) []panel {
			return []panel{{"original", m.original, []string{"retained", "test"}}, {"untrained", m.untrained, []string{"retained", "test"}}}
		})
	})
	defineRecipe(&figure2, firstSeedMeasurements, func(ctx context.Context, ev *evidence) (*paper.Output, error) {
		return ev.distributions(ctx, figure2, func(m models) []panel {
			all := []string{"retained", "forgotten", "test"}
			return []panel{{"original", m.original, all}, {"retrained", m.retrained, all}}
		})
	})
}

// models are those of figures 1 and 2.
type models struct{ original, retrained, untrained nn.Params }

// panel is one model with the sets that are shown of it.
type panel struct {
	title string
	model nn.Params
	sets  []string
}

// distributions draws the statistic of a few sets in a few models, for the first seed of every
// setting.
func (ev *evidence) distributions(ctx context.Context, r paper.Recipe, panels func(models) []panel) (*paper.Output, error) {
	ev.Seeds = 1
	fig := plot.Panels{Meta: plot.Meta{Title: r.Title, Caption: r.Doc + " The means that the spread alone gives:", Source: ev.provenance(r).Line()}, Columns: 2}
	for _, p := range ev.sets {
		m, err := ev.models(ctx, p)
		if err != nil {
			return nil, err
		}
		for _, one := range panels(m) {
			f, means, err := ev.histograms(p, one)
			if err != nil {
				return nil, fmt.Errorf("%s, %s: %w", p.Label, one.title, err)
			}
			fig.Figures = append(fig.Figures, f)
			fig.Caption += fmt.Sprintf(" %s, %s: %s.", p.Label, one.title, strings.Join(means, ", "))
		}
	}
	return &paper.Output{Figure: fig}, nil
}

func (ev *evidence) models(ctx context.Context, p *prepared) (models, error) {
	c, err := newLabEnv(ev.env).openCase(ctx, ev.Study, p.Setting, ev.fraction(), 0)
	if err != nil {
		return models{}, err
	}
	original, retrained, err := weights(ctx, c, Variant{Method: unlearn.Retrain{}})
	return models{original, retrained, p.untrained(0)}, err
}

// histograms draws the sets of a panel, and returns the mean that the spread alone predicts for
// each.
func (ev *evidence) histograms(p *prepared, one panel) (f plot.Histograms, means []string, err error) {
	acts, err := p.activations(one.model, "hp")
	if err != nil {
		return f, nil, err
	}
	forget, retain, err := p.divide(ev.fraction())
	if err != nil {
		return f, nil, err
	}
	size := min(ev.Sizes[len(ev.Sizes)-1], len(forget))
	rng := engine.Root(0).Stream(engine.StreamSDEFigure, uint64(size))
	rows := map[string]sde.Matrix{
		"retained":  acts["hp"].train.Gather(gatherRows(retain, rng.Perm(len(retain))[:size])),
		"forgotten": acts["hp"].train.Gather(gatherRows(forget, rng.Perm(len(forget))[:size])),
		"test":      acts["hp"].test.Gather(rng.Perm(p.Test.X.Rows)[:size]),
	}
	f.X = plot.Axis{Label: "H(S, hp)"}
	draws := map[string][]float64{}
	for _, name := range one.sets {
		m := rows[name]
		d, err := sde.SplitHalf(&m, sde.Options{}, rng)
		if err != nil {
			return f, nil, err
		}
		draws[name] = d.Values
		f.Samples = append(f.Samples, plot.Sample{Name: name, Values: d.Values})
		means = append(means, fmt.Sprintf("%s %.3g", name, d.ExactMean))
	}
	g, err := sde.NewGate(sde.Draws{In: draws["retained"], Out: draws["test"]}, sde.PaperAlpha)
	if err != nil {
		return f, nil, err
	}
	note := fmt.Sprintf(", retained above test: p = %.2g", g.P)
	f.Title = fmt.Sprintf("%s, %s, |S| = %d%s", p.Label, one.title, size, note)
	return f, means, nil
}

var figure3 = paper.Recipe{
	ID:    "sde/figure3",
	Title: "SDE Fig. 3. F1 by bandwidth",
	Doc: "The models of Table 1, judged with kernels of different bandwidth, by SDE and by the spread alone. F1 is by algorithm 2, the mean over " +
		"draws of references; bands are Student's intervals over models; the upright line is sqrt(dim). The paper finds sqrt(dim) near the best everywhere.",
}

var figure4 = paper.Recipe{
	ID:    "sde/figure4",
	Title: "SDE Fig. 4. F1 by layer",
	Doc: "The models of Table 1, judged by the activations of every layer, from the logits h back to the first stage h1, by SDE (discs) " +
		"and by the spread alone (crosses). The paper finds SDE above chance down to h1 in most settings. A point is a model, its F1 by algorithm 2 " +
		"the mean over draws of references; a bar is the median of the models. Draws whose references fail the gate, the missing bars of the paper, " +
		"are in the means and counted at the end.",
}

func init() {
	defineRecipe(&figure3, judgedIn(partMain, partSweep), func(_ context.Context, ev *evidence) (*paper.Output, error) {
		return &paper.Output{Figure: ev.bandwidths()}, nil
	})
	defineRecipe(&figure4, judgedIn(partLayers), func(_ context.Context, ev *evidence) (*paper.Output, error) {
		return &paper.Output{Figure: ev.layerStrips()}, nil
	})
}

// panelColumns is the number of panels per row, such that rows are full.
func panelColumns(panels int) int {
	if panels%3 == 0 {
		return 3
	}
	return min(panels, 2)
}

func (ev *evidence) bandwidths() plot.Figure {
	size := ev.Sizes[len(ev.Sizes)-1]
	fig := plot.Panels{
		Meta:    plot.Meta{Title: figure3.Title, Caption: figure3.Doc, Source: ev.provenance(figure3).Line()},
		Columns: panelColumns(len(ev.Settings) * len(ev.Fractions)),
	}
	for _, s := range ev.Settings {
		for _, r := range ev.Fractions {
			f := plot.Curves{
				Meta: plot.Meta{Title: fmt.Sprintf("%s, |S| = %d", group(s, r), size)},
				X:    plot.Axis{Label: "sigma"}, Y: plot.ShareAxis("F1"), Null: &plot.Null{Value: 0.5},
				Curves: []plot.Curve{ev.bandwidthCurve(s, sde.SDE{}, r, size), ev.bandwidthCurve(s, sde.SpreadOnly{}, r, size)},
			}
			f.Curves[1].Control = true
			for _, j := range ev.judgedAtRoot(s.Label, sde.SDE{}.Name(), r, size) {
				f.Marks = []plot.Mark{{X: j.Sigma, Label: "sqrt(dim)"}}
			}
			fig.Figures = append(fig.Figures, f)
		}
	}
	return fig
}

// bandwidthCurve is F1 against the rank of the bandwidth. The sweep ends at each model's own
// median distance, so that bandwidths are averaged over models.
func (ev *evidence) bandwidthCurve(s Setting, m sde.Method, fraction float64, size int) plot.Curve {
	bySeed := make([][]Judged, ev.Seeds)
	for _, j := range ev.judgedRows(s.Label, m.Name(), fraction, size, func(j Judged) bool { return j.Bandwidth != sde.SqrtDim().String() }) {
		bySeed[j.Seed] = append(bySeed[j.Seed], j)
	}
	c := plot.Curve{Name: m.Name()}
	for k := range sweepPoints {
		var at []Judged
		for _, rows := range bySeed {
			if k < len(rows) {
				at = append(at, rows[k])
			}
		}
		if len(at) > 0 {
			c.Add(meanOf(at, func(j Judged) float64 { return j.Sigma }).Value, meanOf(at, func(j Judged) float64 { return j.F1().Rule }))
		}
	}
	return c
}

func (ev *evidence) layerStrips() plot.Figure {
	fig := plot.Panels{Meta: plot.Meta{Title: figure4.Title, Source: ev.provenance(figure4).Line()}, Columns: panelColumns(len(ev.Settings))}
	failed, all := 0, 0
	for _, s := range ev.Settings {
		rows := filter(ev.judged, func(j Judged) bool { return j.Setting == s.Label })
		f := plot.Strips{
			Meta: plot.Meta{Title: fmt.Sprintf("%s, |S| = %d", s.Label, ev.Sizes[len(ev.Sizes)-1])},
			X:    plot.Axis{Label: "layer"}, Y: plot.ShareAxis("F1"), Null: &plot.Null{Value: 0.5},
		}
		for i := len(rows) - 1; i >= 0; i-- {
			if l := rows[i].Layer; !slices.Contains(f.Groups, l) {
				f.Groups = append(f.Groups, l)
			}
		}
		for _, m := range []sde.Method{sde.SDE{}, sde.SpreadOnly{}} {
			series := plot.StripSeries{Name: m.Name(), Control: m.Name() != (sde.SDE{}).Name()}
			for _, layer := range f.Groups {
				var values []float64
				for _, j := range rows {
					if j.Layer == layer && j.Method == m.Name() {
						f1 := j.F1()
						values = append(values, f1.Rule)
						failed, all = failed+f1.Void, all+f1.N
					}
				}
				series.Values = append(series.Values, values)
			}
			f.Series = append(f.Series, series)
		}
		fig.Figures = append(fig.Figures, f)
	}
	fig.Caption = figure4.Doc + fmt.Sprintf(" The references fail the Mann-Whitney gate in %d of %d draws.", failed, all)
	return fig
}
