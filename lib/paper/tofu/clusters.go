package tofu

// What the authors of the questions do to intervals.

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/lethe-ml/lethe/datasets/logs"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/verify/language"
)

const clustersID = "tofu/clusters"

func clustersTable() paper.Recipe {
	return newRecipe(paper.Recipe{
		ID: clustersID, Title: "TOFU's questions share authors",
		Doc: "TOFU asks twenty questions about each author. Answers about one author are alike, so that as many questions say less than they would about " +
			"as many authors. Look at how much wider an interval becomes when authors are drawn and not questions.",
	}, showClusters)
}

// measure is a number per question of a set, whose mean a program reports.
type measure struct {
	name   string
	values func(s language.QuestionSet) ([]float64, error)
}

var (
	probability = measure{"probability", func(s language.QuestionSet) ([]float64, error) {
		out := slices.Clone(s.True)
		for q, v := range out {
			out[q] = math.Exp(v)
		}
		return out, nil
	}}
	recall    = measure{"ROUGE-L", func(s language.QuestionSet) ([]float64, error) { return s.ROUGE, nil }}
	logRatio  = measure{"ln R", func(s language.QuestionSet) ([]float64, error) { return ratioValues(s, math.Log) }}
	forgotten = measure{"min(R, 1/R)", func(s language.QuestionSet) ([]float64, error) {
		return ratioValues(s, func(r float64) float64 { return min(r, 1/r) })
	}}
	truth = measure{"max(0, 1 - R)", func(s language.QuestionSet) ([]float64, error) {
		return ratioValues(s, func(r float64) float64 { return max(0, 1-r) })
	}}
)

// ratioValues returns a function of the geometric truth ratio of every question.
func ratioValues(s language.QuestionSet, f func(r float64) float64) ([]float64, error) {
	r, err := language.TruthRatio{Form: language.Geometric}.Ratios(s.Answers)
	if err != nil {
		return nil, err
	}
	for q, v := range r.Values {
		r.Values[q] = f(v)
	}
	return r.Values, nil
}

// clusteredMeasures are the measures of the two sets whose questions share authors.
func clusteredMeasures(r run) (out []setMeasure) {
	for _, m := range []measure{probability, recall, logRatio, forgotten} {
		out = append(out, setMeasure{"forget", r.Forget, m})
	}
	for _, m := range []measure{probability, recall, truth} {
		out = append(out, setMeasure{"retain", r.Retain, m})
	}
	return out
}

// setMeasure is a measure of a set of questions.
type setMeasure struct {
	set string
	of  logs.TOFUSet
	measure
}

// widths are the widths of the two intervals of a mean.
type widths struct{ questions, authors, design float64 }

func (w widths) ratio() float64 { return w.authors / w.questions }

func showClusters(ctx context.Context, e *paper.Env, s study) (*paper.Output, error) {
	all, hashes, err := load(ctx)
	if err != nil {
		return nil, err
	}
	t := &report.Table{Columns: []report.Column{{Name: "log"}, {Name: "metric"}, {Name: "mean", Note: "95 % interval over authors"},
		{Name: "width over questions", Note: "of the 95 % interval, questions taken as independent"}, {Name: "width over authors"},
		{Name: "ratio", Note: "width over authors by that over questions"},
		{Name: "design effect", Note: "variance of the mean with authors by that of as many independent questions"}, {Name: "authors"}, {Name: "questions"}}}
	extremes := map[string][]widths{}
	var metrics []string
	for _, r := range all {
		for _, c := range clusteredMeasures(r) {
			metric := c.set + ": " + c.name
			row, w, err := clusterRow(r, c.of, c.measure, metric)
			if err != nil {
				return nil, fmt.Errorf("%s, %s: %w", r.fileName(), metric, err)
			}
			t.Rows = append(t.Rows, row)
			if r.people != full && r.people != retain90 {
				continue // other forgotten people, and fewer
			}
			if extremes[metric] == nil {
				metrics = append(metrics, metric)
			}
			extremes[metric] = append(extremes[metric], w)
		}
	}
	sortByGroup(t.Rows)
	for _, metric := range metrics {
		t.Rows = append(t.Rows, extremeRows(metric, extremes[metric])...)
	}
	t.Notes = []string{
		"Groups 'least' and 'most' are over the logs of the full and the retain90 models; those of retain95 and retain99 have other forgotten people, " +
			"and fewer of them.",
		"Some metrics have a design effect near 1 or below it, where answers about one author are no more alike than others. Two authors make no " +
			"usable interval.",
	}
	t.Provenance = provenance(e, clustersID, s.scale, nil, hashes)
	return &paper.Output{Table: t}, nil
}

// sortByGroup puts rows of one group together, groups in the order of models.
func sortByGroup(rows []report.Row) {
	order := func(group string) int {
		for i, m := range models {
			if m.name == group {
				return i
			}
		}
		return len(models)
	}
	slices.SortStableFunc(rows, func(a, b report.Row) int { return order(a.Group) - order(b.Group) })
}

func clusterRow(r run, of logs.TOFUSet, m measure, metric string) (report.Row, widths, error) {
	x, err := m.values(questions(of))
	if err != nil {
		return report.Row{}, widths{}, err
	}
	by, err := authors(of)
	if err != nil {
		return report.Row{}, widths{}, err
	}
	single, clustered := stats.ClusterInterval(x, nil, level, "questions"), stats.ClusterInterval(x, by, level, "authors")
	w := widths{questions: single.High - single.Low, authors: clustered.High - clustered.Low, design: clustered.Clustered.DesignEffect}
	return report.Row{Group: r.model, Cells: []report.Cell{report.Str(r.label()), report.Str(metric), report.Est(clustered, 3),
		report.Num(w.questions, 4), report.Num(w.authors, 4), report.Num(w.ratio(), 2), report.Num(w.design, 2),
		report.Num(float64(clustered.N), 0), report.Num(float64(len(x)), 0)}}, w, nil
}

// extremeRows show the least and the greatest ratio and design effect of a metric over logs.
func extremeRows(metric string, all []widths) (out []report.Row) {
	var ratios, designs []float64
	for _, w := range all {
		ratios, designs = append(ratios, w.ratio()), append(designs, w.design)
	}
	group := report.Plural(len(all), "log") + ", least and most"
	for _, end := range []struct {
		label string
		of    func([]float64) float64
	}{{"least", slices.Min[[]float64]}, {"most", slices.Max[[]float64]}} {
		gap := report.Gap("differs by log")
		out = append(out, report.Row{Group: group, Cells: []report.Cell{report.Str(end.label), report.Str(metric), gap, gap, gap,
			report.Num(end.of(ratios), 2), report.Num(end.of(designs), 2), gap, gap}})
	}
	return out
}
