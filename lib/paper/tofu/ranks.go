package tofu

// Rank correlations of the UDS study's metrics.

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lethe-ml/lethe/datasets/logs"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/plot"
	"github.com/lethe-ml/lethe/lib/progress"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/stats"
)

const ranksID = "tofu/depth-ranks"

func ranksTable() paper.Recipe {
	return newRecipe(paper.Recipe{
		ID: ranksID, Title: "Do a model's depth and its other metrics rank unlearned models alike?",
		Doc: "The study of the Unlearning Depth Score (UDS) publishes what unlearned models of eight methods score under each metric. Kendall's tau-b " +
			"says how far two metrics put the models into one order: 1 the same, 0 nothing in common, -1 the reverse. Look at how wide the interval " +
			"over methods is, and at what is left of the agreement among models of one method.",
	}, showRanks)
}

// lens is a metric of the study.
type lens struct {
	name string
	of   func(m logs.DepthModel) float64
}

// depth is what the others are compared with first.
var depth = lens{"UDS", func(m logs.DepthModel) float64 { return m.UDS }}

// lenses are the study's metrics without its aggregates of them.
var lenses = []lens{
	depth,
	{"logit lens", func(m logs.DepthModel) float64 { return m.LogitLens }},
	{"1 - extraction strength", func(m logs.DepthModel) float64 { return m.OneMinusES }},
	{"1 - exact memorisation", func(m logs.DepthModel) float64 { return m.OneMinusEM }},
	{"1 - paraphrase probability", func(m logs.DepthModel) float64 { return m.OneMinusPara }},
	{"1 - truth ratio", func(m logs.DepthModel) float64 { return m.OneMinusTruth }},
	{"s_MIA loss", func(m logs.DepthModel) float64 { return m.SLoss }},
	{"s_MIA zlib", func(m logs.DepthModel) float64 { return m.SZlib }},
	{"s_MIA Min-K", func(m logs.DepthModel) float64 { return m.SMinK }},
	{"s_MIA Min-K++", func(m logs.DepthModel) float64 { return m.SMinKPP }},
	{"utility", func(m logs.DepthModel) float64 { return m.Utility }},
	{"model utility", func(m logs.DepthModel) float64 { return m.ModelUtility }},
}

// unlearned are the models that a method made, of a study.
type unlearned struct {
	models  []logs.DepthModel
	methods []string
	cluster stats.Clusters // the method of every model, an index of methods
	recipe  []int          // models of one method, learning rate and number of epochs have one number
}

func unlearnedOf(s *logs.DepthStudy) unlearned {
	var u unlearned
	recipes := map[string]int{}
	for _, m := range s.Models {
		if m.Reference {
			continue
		}
		at := slices.Index(u.methods, m.Method)
		if at < 0 {
			at, u.methods = len(u.methods), append(u.methods, m.Method)
		}
		recipe := m.Method + " " + m.Epoch
		if m.Rate != nil {
			recipe += fmt.Sprintf(" %g", *m.Rate)
		}
		if _, known := recipes[recipe]; !known {
			recipes[recipe] = len(recipes)
		}
		u.models, u.cluster, u.recipe = append(u.models, m), append(u.cluster, at), append(u.recipe, recipes[recipe])
	}
	return u
}

// tau is Kendall's of two metrics over some models.
func (u unlearned) tau(a, b lens, idx []int) (float64, error) {
	x, y := make([]float64, len(idx)), make([]float64, len(idx))
	for k, i := range idx {
		x[k], y[k] = a.of(u.models[i]), b.of(u.models[i])
	}
	return stats.Kendall(x, y)
}

// withinRecipes compares models of one method, learning rate and number of epochs, which differ in a
// method's other settings: concordant less discordant pairs, by the pairs tied in neither metric.
func (u unlearned) withinRecipes(a, b lens, idx []int) (float64, error) {
	balance, pairs := 0, 0
	for k, i := range idx {
		for _, j := range idx[:k] {
			if u.recipe[i] != u.recipe[j] {
				continue
			}
			product := (a.of(u.models[i]) - a.of(u.models[j])) * (b.of(u.models[i]) - b.of(u.models[j]))
			switch {
			case product > 0:
				balance, pairs = balance+1, pairs+1
			case product < 0:
				balance, pairs = balance-1, pairs+1
			}
		}
	}
	if pairs == 0 {
		return 0, stats.ErrConstant
	}
	return float64(balance) / float64(pairs), nil
}

// methodTau is Kendall's tau among the models of one method.
type methodTau struct {
	method string
	tau    float64
}

// byMethod returns tau within every method, and the methods that have none because a metric is the
// same for all their models.
func (u unlearned) byMethod(a, b lens) (out []methodTau, constant []string, err error) {
	for c, members := range u.cluster.Members() {
		v, err := u.tau(a, b, members)
		switch {
		case errors.Is(err, stats.ErrConstant):
			constant = append(constant, u.methods[c])
		case err != nil:
			return nil, nil, fmt.Errorf("%s: %w", u.methods[c], err)
		default:
			out = append(out, methodTau{u.methods[c], v})
		}
	}
	return out, constant, nil
}

// agreement is what the table says of two metrics.
type agreement struct {
	a, b                       lens
	overModels, overMethods    stats.Estimate
	withinMethod, withinRecipe stats.Estimate
	least, most                methodTau
	constant                   []string // methods without a tau of their own
}

func (u unlearned) agreement(a, b lens) (out agreement, err error) {
	out.a, out.b = a, b
	n, both := len(u.models), func(idx []int) (float64, error) { return u.tau(a, b, idx) }
	if out.overModels, err = stats.JackknifeInterval(n, nil, level, "unlearned models", both); err != nil {
		return out, err
	}
	if out.overMethods, err = stats.JackknifeInterval(n, u.cluster, level, "methods", both); err != nil {
		return out, err
	}
	within, constant, err := u.byMethod(a, b)
	if err != nil {
		return out, err
	}
	out.constant = constant
	var values []float64
	for _, w := range within {
		values = append(values, w.tau)
	}
	out.withinMethod = stats.MeanInterval(values, level, "methods")
	out.least, out.most = slices.MinFunc(within, compareTau), slices.MaxFunc(within, compareTau)
	out.withinRecipe, err = stats.JackknifeInterval(n, u.cluster, level, "methods", func(idx []int) (float64, error) { return u.withinRecipes(a, b, idx) })
	return out, err
}

func compareTau(a, b methodTau) int {
	switch {
	case a.tau < b.tau:
		return -1
	case a.tau > b.tau:
		return 1
	}
	return 0
}

// cells are the numbers of a row.
func (a agreement) cells() []report.Cell {
	est := func(e stats.Estimate) report.Cell {
		return report.Est(e.ClampedTo(-1, 1).WithNull(0, stats.HigherIsBetter), 2)
	}
	end := func(m methodTau) report.Cell {
		c := report.Num(m.tau, 2)
		c.Text += " " + m.method
		return c
	}
	return []report.Cell{est(a.overModels), est(a.overMethods), est(a.withinMethod), end(a.least), end(a.most), est(a.withinRecipe)}
}

func showRanks(ctx context.Context, e *paper.Env, s study) (*paper.Output, error) {
	table, hash, err := logs.LoadDepthStudy(ctx)
	if err != nil {
		return nil, err
	}
	u := unlearnedOf(table)
	all, err := u.agreements(ctx)
	if err != nil {
		return nil, err
	}
	t := &report.Table{Columns: []report.Column{{Name: "metric"}, {Name: "and"},
		{Name: "tau, over models", Note: "Kendall's tau-b over all unlearned models, 95 % interval of the jackknife over models, as if each were a " +
			"draw of its own"},
		{Name: "tau, over methods", Note: "the same number, with the jackknife that leaves out a method at a time: its models belong together"},
		{Name: "within a method", Note: "mean of the tau of each method's models, 95 % interval over methods"},
		{Name: "least"}, {Name: "most"},
		{Name: "within a setting", Note: "pairs of models of one method, learning rate and number of epochs, which differ in the method's other settings: " +
			"concordant less discordant, by the pairs tied in neither; jackknife over methods"}}}
	for _, a := range all {
		group := "the metrics with each other"
		if a.b.name == depth.name {
			group = "with UDS"
		}
		t.Rows = append(t.Rows, report.Row{Group: group, Cells: append([]report.Cell{report.Str(a.a.name), report.Str(a.b.name)}, a.cells()...)})
	}
	t.Notes = ranksNotes(u, all)
	t.Provenance = provenance(e, ranksID, s.scale, nil, map[string]string{"uds_method_results": hash})
	return &paper.Output{Table: t, Figure: ranksFigure(all, t.Provenance.Line())}, nil
}

// agreements compares every two metrics, those with UDS first.
func (u unlearned) agreements(ctx context.Context) (out []agreement, err error) {
	_, task := progress.Start(ctx, "rank correlations", len(lenses)*(len(lenses)-1)/2)
	defer task.Done()
	for k, b := range lenses {
		for _, a := range lenses[k+1:] {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			one, err := u.agreement(a, b)
			if err != nil {
				return nil, fmt.Errorf("%s and %s: %w", a.name, b.name, err)
			}
			out = append(out, one)
			task.Add(1)
		}
	}
	return out, nil
}

func ranksNotes(u unlearned, all []agreement) []string {
	constant := map[string]bool{}
	for _, a := range all {
		for _, m := range a.constant {
			constant[m] = true
		}
	}
	notes := []string{
		fmt.Sprintf("%d unlearned models of %d methods. Models of a method are a grid of settings, not draws of one: the interval over methods is the "+
			"one to read, and "+
			"of so few methods it is wide.", len(u.models), len(u.methods)),
		"All models come from one full model and one forget set. What another would give is in no interval.",
		"The study's aggregates (memorisation, privacy, overall) are left out, since they are made of the other metrics.",
		"A metric that is bounded or clipped, such as s_MIA, has many ties; tau-b takes them into account.",
	}
	for _, m := range u.methods {
		if constant[m] {
			notes = append(notes, fmt.Sprintf("%s has the same value under a metric for all its models, and no tau within the method there.", m))
		}
	}
	return notes
}

// ranksFigure shows all taus, and those with UDS with their intervals.
func ranksFigure(all []agreement, source string) plot.Figure {
	low, high, null := -1.0, 1.0, 0.0
	h := plot.Heatmap{Meta: plot.Meta{Title: "Every two metrics, over all unlearned models"}, Value: "Kendall's tau-b", Min: &low, Max: &high, Null: &null}
	f := plot.Forest{Meta: plot.Meta{Title: "With UDS: over all models, and within a method, with 95 % intervals over methods"}, Digits: 2,
		X: plot.Axis{Label: "Kendall's tau-b", Min: &low, Max: &high}, Null: &plot.Null{Value: 0}}
	place := map[string]int{}
	for i, l := range lenses {
		place[l.name] = i
		h.Columns, h.Rows, h.Values = append(h.Columns, l.name), append(h.Rows, l.name), append(h.Values, make([]float64, len(lenses)))
		h.Values[i][i] = 1
	}
	for _, a := range all {
		i, j := place[a.a.name], place[a.b.name]
		h.Values[i][j], h.Values[j][i] = a.overModels.Value, a.overModels.Value
		if a.b.name == depth.name {
			f.Rows = append(f.Rows, plot.ForestRow{Group: a.a.name, Label: "all models", Estimate: a.overMethods.ClampedTo(-1, 1)},
				plot.ForestRow{Group: a.a.name, Label: "within a method", Estimate: a.withinMethod.ClampedTo(-1, 1)},
				plot.ForestRow{Group: a.a.name, Label: "within a setting", Estimate: a.withinRecipe.ClampedTo(-1, 1)})
		}
	}
	return plot.Panels{Meta: plot.Meta{Title: "Do a model's depth and its other metrics rank unlearned models alike?", Source: source, Width: 1080},
		Columns: 1, Figures: []plot.Figure{f, h}}
}
