package sdepaper

// Figures 1 to 4: distributions of split-half dependence, kernel bandwidths, and layers.

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/plot"
	"github.com/lethe-ml/lethe/lib/store"
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
	all := []string{"retained", "forgotten", "test"}
	two := []string{"retained", "test"}
	defineDistributions(&figure1, []panel{{"original", two}, {"untrained", two}})
	defineDistributions(&figure2, []panel{{"original", all}, {"retrained", all}})
}

// panel is one model with the sets that are shown of it.
type panel struct {
	model string // original, retrained or untrained
	sets  []string
}

// Distribution has the draws of the statistic of one set in one model.
type Distribution struct {
	Setting string    `json:"setting"`
	Model   string    `json:"model"`
	Set     string    `json:"set"` // retained, forgotten or test images
	Size    int       `json:"size"`
	Values  []float64 `json:"values"`
	// ExactMean is the mean of the draws that the spread alone gives.
	ExactMean float64 `json:"exact_mean"`
	GateP     float64 `json:"gate_p"` // of the model: retained above test
}

// defineDistributions sets the functions of a figure of panels.
func defineDistributions(r *paper.Recipe, panels []panel) {
	measure := func(e *paper.Env, k cell) []paper.Measurement[Distribution] {
		return []paper.Measurement[Distribution]{distributions(e, k, panels)}
	}
	define(r, firstCells, measure, func(ev *evidence[Distribution]) *paper.Output { return showDistributions(ev, *r, panels) })
}

// distributionKey is the configuration of the draws of a figure's panels in the store.
type distributionKey struct {
	Model   modelKey            `json:"model"`
	Panels  map[string][]string `json:"panels"`
	Size    int                 `json:"size"`
	Version int                 `json:"version"`
	Measure int                 `json:"measure"` // version of package verify/sde
}

// distributions draws the statistic of a few sets in a few models of a cell.
func distributions(e *paper.Env, k cell, panels []panel) paper.Measurement[Distribution] {
	key := distributionKey{Panels: map[string][]string{}, Size: k.Sizes[len(k.Sizes)-1], Version: 1, Measure: sde.Version}
	id := "sde-distributions/" + k.name()
	for _, p := range panels {
		key.Panels[p.model] = p.sets
		id += "/" + p.model
	}
	m := measurement[Distribution](k, id, "distributions of "+k.about(), unlearn.NoOp{}, unlearn.Retrain{})
	m.Key = func(c *lab.Case) store.Key {
		key.Model = k.modelKey(c)
		return e.Lab().Key("evidence/sde-distributions", c.Problem, key, map[string]int64{"train": int64(c.Seed)})
	}
	m.Measure = func(ctx context.Context, c *lab.Case) (out []Distribution, err error) {
		j := &judgeRun{cell: k, c: c}
		models := map[string]nn.Params{"untrained": j.untrained()}
		if models["original"], models["retrained"], err = weights(ctx, c, Variant{Method: unlearn.Retrain{}}); err != nil {
			return nil, err
		}
		for _, p := range panels {
			rows, err := j.distributions(p, models[p.model])
			if err != nil {
				return nil, fmt.Errorf("%s, %s: %w", k.Label, p.model, err)
			}
			out = append(out, rows...)
		}
		return out, nil
	}
	return m
}

// distributions draws the sets of a panel.
func (j *judgeRun) distributions(p panel, w nn.Params) (out []Distribution, err error) {
	acts, err := j.activations(w, "hp")
	if err != nil {
		return nil, err
	}
	forget, retain := j.c.Forget, j.c.Retain
	size := min(j.Sizes[len(j.Sizes)-1], len(forget))
	rng := engine.Root(0).Stream(engine.StreamSDEFigure, uint64(size))
	rows := map[string]sde.Matrix{
		"retained":  acts["hp"].train.Gather(gatherRows(retain, rng.Perm(len(retain))[:size])),
		"forgotten": acts["hp"].train.Gather(gatherRows(forget, rng.Perm(len(forget))[:size])),
		"test":      acts["hp"].test.Gather(rng.Perm(j.c.Test.X.Rows)[:size]),
	}
	draws := map[string][]float64{}
	for _, name := range p.sets {
		m := rows[name]
		d, err := sde.SplitHalf(&m, sde.Options{}, rng)
		if err != nil {
			return nil, err
		}
		draws[name] = d.Values
		out = append(out, Distribution{Setting: j.Label, Model: p.model, Set: name, Size: size, Values: d.Values, ExactMean: d.ExactMean})
	}
	g, err := sde.NewGate(sde.Draws{In: draws["retained"], Out: draws["test"]}, sde.PaperAlpha)
	if err != nil {
		return nil, err
	}
	for i := range out {
		out[i].GateP = g.P
	}
	return out, nil
}

// showDistributions shows the panels of every setting.
func showDistributions(ev *evidence[Distribution], r paper.Recipe, panels []panel) *paper.Output {
	fig := plot.Panels{Meta: plot.Meta{Title: r.Title, Caption: r.Doc + " The means that the spread alone gives:", Source: ev.provenance(r).Line()}, Columns: 2}
	for _, s := range ev.Settings {
		for _, p := range panels {
			f := plot.Histograms{X: plot.Axis{Label: "H(S, hp)"}}
			var means []string
			for _, d := range filter(ev.Rows, func(d Distribution) bool { return d.Setting == s.Label && d.Model == p.model }) {
				f.Samples = append(f.Samples, plot.Sample{Name: d.Set, Values: d.Values})
				f.Title = fmt.Sprintf("%s, %s, |S| = %d, retained above test: p = %.2g", s.Label, p.model, d.Size, d.GateP)
				means = append(means, fmt.Sprintf("%s %.3g", d.Set, d.ExactMean))
			}
			fig.Figures = append(fig.Figures, f)
			fig.Caption += fmt.Sprintf(" %s, %s: %s.", s.Label, p.model, strings.Join(means, ", "))
		}
	}
	return &paper.Output{Figure: fig}
}

var figure3 = paper.Recipe{
	ID:    "sde/figure3",
	Title: "SDE Fig. 3. F1 by bandwidth",
	Doc: "The models of Table 1, judged with kernels of different bandwidth, by SDE and by the spread alone. F1 is by algorithm 2, the mean over " +
		"draws of references; bands are Student's intervals over models; the upright line is sqrt(dim). " + guessNote +
		fmt.Sprintf(" There are %d bandwidths, the paper takes 20. The paper finds sqrt(dim) near the best everywhere.", sweepPoints),
}

var figure4 = paper.Recipe{
	ID:    "sde/figure4",
	Title: "SDE Fig. 4. F1 by layer",
	Doc: "The models of Table 1, judged by the activations of every layer, from the logits h back to the first stage h1, by SDE (discs) " +
		"and by the spread alone (crosses). The paper finds SDE above chance down to h1 in most settings. A point is a model, its F1 by algorithm 2 " +
		"the mean over draws of references; a bar is the median of the models. Draws whose references fail the gate, the missing bars of the paper, " +
		"are in the means and counted at the end. " + guessNote,
}

// guessNote says what an F1 is without skill, which depends on how often a judge says in.
const guessNote = "The line at 0.5 is the F1 of guessing; a judge that says in every time has 0.67."

func init() {
	define(&figure3, allCells, judgedBy(partMain, partSweep), func(ev *evidence[Judged]) *paper.Output {
		return &paper.Output{Figure: verdicts{ev}.bandwidths()}
	})
	define(&figure4, allCells, judgedBy(partLayers), func(ev *evidence[Judged]) *paper.Output {
		return &paper.Output{Figure: verdicts{ev}.layerStrips()}
	})
}

// panelColumns is the number of panels per row, such that rows are full.
func panelColumns(panels int) int {
	if panels%3 == 0 {
		return 3
	}
	return min(panels, 2)
}

func (ev verdicts) bandwidths() plot.Figure {
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
			for _, j := range ev.judgedRows(s.Label, sde.SDE{}.Name(), atRoot(r, size)) {
				f.Marks = []plot.Mark{{X: j.Sigma, Label: "sqrt(dim)"}}
			}
			fig.Figures = append(fig.Figures, f)
		}
	}
	return fig
}

// bandwidthCurve is F1 against the rank of the bandwidth. The sweep ends at each model's own
// median distance, so that bandwidths are averaged over models.
func (ev verdicts) bandwidthCurve(s Setting, m sde.Method, fraction float64, size int) plot.Curve {
	bySeed := make([][]Judged, ev.Seeds)
	for _, j := range ev.judgedRows(s.Label, m.Name(), func(j Judged) bool { return j.Fraction == fraction && j.Size == size && !isRoot(j) }) {
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

func (ev verdicts) layerStrips() plot.Figure {
	fig := plot.Panels{Meta: plot.Meta{Title: figure4.Title, Source: ev.provenance(figure4).Line()}, Columns: panelColumns(len(ev.Settings))}
	failed, all := 0, 0
	for _, s := range ev.Settings {
		rows := filter(ev.Rows, func(j Judged) bool { return j.Setting == s.Label })
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
