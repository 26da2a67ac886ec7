package tofu

// Model utility under each form of the truth ratio.

import (
	"context"
	"fmt"

	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/verify/language"
)

const utilityID = "tofu/utility"

func utilityTable() paper.Recipe {
	return newRecipe(paper.Recipe{
		ID: utilityID, Title: "TOFU's model utility, by the form of its truth ratio",
		Doc: "Model utility is the harmonic mean of nine numbers. Three of them are truth ratios, of which the published programs have three forms. " +
			"Look at how far a model's utility moves with the form, and at how far the full model's is from the retrained one's.",
	}, showUtility)
}

// forms are the truth ratio's, with what the table says of each.
var forms = []struct {
	form language.TruthForm
	name string
}{{language.Geometric, "geometric"}, {language.Arithmetic, "arithmetic"}, {language.ProbMean, "prob-mean"}}

// partNames are the columns of the nine numbers.
var partNames = []string{"retain: probability", "retain: ROUGE-L", "retain: truth", "authors: probability", "authors: ROUGE-L", "authors: truth",
	"facts: probability", "facts: ROUGE-L", "facts: truth"}

// knowledge holds the three sets of questions of a run that model utility asks.
type knowledge struct {
	sets     [3]language.QuestionSet
	clusters stats.Clusters // of the questions of all three: retained ones by author, the others each by itself
}

func (r run) knowledge() (knowledge, error) {
	k := knowledge{sets: [3]language.QuestionSet{questions(r.Retain), questions(r.Authors), questions(r.Facts)}}
	of, err := authors(r.Retain)
	if err != nil {
		return k, err
	}
	k.clusters = of
	for next := of[len(of)-1] + 1; len(k.clusters) < k.questions(); next++ {
		k.clusters = append(k.clusters, next)
	}
	return k, nil
}

func (k knowledge) questions() int {
	return len(k.sets[0].True) + len(k.sets[1].True) + len(k.sets[2].True)
}

// selected returns the given questions, counted through the three sets.
func (k knowledge) selected(idx []int) language.UtilityEvidence {
	var per [3][]int
	for _, q := range idx {
		set := 0
		for q >= len(k.sets[set].True) {
			q, set = q-len(k.sets[set].True), set+1
		}
		per[set] = append(per[set], q)
	}
	return language.UtilityEvidence{Retain: selected(k.sets[0], per[0]), Authors: selected(k.sets[1], per[1]), Facts: selected(k.sets[2], per[2])}
}

// utility returns the model utility of a form. That of ProbMean has the mean of c/(c+w) in the place of
// 1-R; no published program computes it.
func utility(e language.UtilityEvidence, form language.TruthForm) (language.UtilityValue, error) {
	if form != language.ProbMean {
		return language.Utility{Form: form}.Measure(e)
	}
	v, err := language.Utility{Form: language.Geometric}.Measure(e)
	if err != nil {
		return v, err
	}
	v.Form = form
	var nine []float64
	for _, s := range []struct {
		of *language.UtilityParts
		language.QuestionSet
	}{{&v.Retain, e.Retain}, {&v.Authors, e.Authors}, {&v.Facts, e.Facts}} {
		ratios, err := language.TruthRatio{Form: form}.Ratios(s.Answers)
		if err != nil {
			return v, err
		}
		if s.of.Truth, err = ratios.Mean(); err != nil {
			return v, err
		}
		nine = append(nine, s.of.Probability, s.of.ROUGE, s.of.Truth)
	}
	v.Value, err = language.HarmonicMean(nine...)
	return v, err
}

// term is a model's utility in a form.
type term struct {
	of   knowledge
	form language.TruthForm
}

// nine are the numbers that a utility is made of.
func nine(v language.UtilityValue) []float64 {
	return []float64{v.Retain.Probability, v.Retain.ROUGE, v.Retain.Truth, v.Authors.Probability, v.Authors.ROUGE, v.Authors.Truth,
		v.Facts.Probability, v.Facts.ROUGE, v.Facts.Truth}
}

// utilityRow shows a utility, or one less another of the same questions, with the interval of the
// jackknife.
func utilityRow(group, label, form string, a term, less *term) (report.Row, error) {
	value := func(idx []int) (v float64, parts []float64, err error) {
		first, err := utility(a.of.selected(idx), a.form)
		if err != nil || less == nil {
			return first.Value, nine(first), err
		}
		second, err := utility(less.of.selected(idx), less.form)
		parts = nine(first)
		for i, p := range nine(second) {
			parts[i] -= p
		}
		return first.Value - second.Value, parts, err
	}
	n := a.of.questions()
	e, err := stats.JackknifeInterval(n, a.of.clusters, level, "authors and single questions", func(idx []int) (float64, error) {
		v, _, err := value(idx)
		return v, err
	})
	if err != nil {
		return report.Row{}, err
	}
	if less != nil {
		e = e.WithNull(0, stats.NearNull)
	}
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	_, parts, err := value(all)
	row := report.Row{Group: group, Cells: []report.Cell{report.Str(label), report.Str(form), report.Est(e, 3)}}
	for _, p := range parts {
		row.Cells = append(row.Cells, report.Num(p, 3))
	}
	return row, err
}

func showUtility(ctx context.Context, e *paper.Env, s study) (*paper.Output, error) {
	all, hashes, err := load(ctx)
	if err != nil {
		return nil, err
	}
	t := &report.Table{Columns: []report.Column{{Name: "log"}, {Name: "form", Note: "of the truth ratio: geometric, of TOFU's aggregate_eval_stat.py and " +
		"open-unlearning; arithmetic, of TOFU's utils.py; prob-mean, c/(c+w) of open-unlearning's measure of knowledge, which no program puts into a " +
		"utility"},
		{Name: "model utility", Note: "harmonic mean of the nine numbers beside it, with the jackknife's 95 % interval: a retained author's questions " +
			"together, " +
			"a question about a real author or the world by itself"}}}
	for _, name := range partNames {
		t.Columns = append(t.Columns, report.Column{Name: name})
	}
	for _, m := range models {
		if err := addUtilities(t, m.name, all); err != nil {
			return nil, fmt.Errorf("%s: %w", m.name, err)
		}
	}
	t.Notes = []string{
		"Rows of differences are of the same questions; their intervals are of the difference. Questions are what is drawn at random: how far " +
			"another training run would be is not in any interval.",
		"A full model and a retrained one of the same weight decay are a pair of single runs. The two weight decays are two recipes, not two seeds.",
		"open-unlearning adds 1e-10 to denominators, which changes no digit here.",
	}
	t.Provenance = provenance(e, utilityID, s.scale, nil, hashes)
	return &paper.Output{Table: t}, nil
}

// addUtilities adds a model's rows: every log in every form, how much the form moves it, and how far
// the full model is from the retrained one.
func addUtilities(t *report.Table, model string, all []run) error {
	known := map[string]knowledge{}
	add := func(label, form string, a term, less *term) error {
		row, err := utilityRow(model, label, form, a, less)
		if err != nil {
			return fmt.Errorf("%s, %s: %w", label, form, err)
		}
		t.Rows = append(t.Rows, row)
		return nil
	}
	for _, r := range all {
		if r.model != model {
			continue
		}
		k, err := r.knowledge()
		if err != nil {
			return fmt.Errorf("%s: %w", r.label(), err)
		}
		known[r.label()] = k
		for _, f := range forms {
			if err := add(r.label(), f.name, term{k, f.form}, nil); err != nil {
				return err
			}
		}
		if err := add(r.label(), "geometric less arithmetic", term{k, language.Geometric}, &term{k, language.Arithmetic}); err != nil {
			return err
		}
	}
	for _, decay := range []string{"0", "0.01"} {
		a, b := find(all, model, full, decay), find(all, model, retain90, decay)
		for _, f := range forms {
			label := fmt.Sprintf("%s less %s (wd %s)", full, retain90, decay)
			if err := add(label, f.name, term{known[a.label()], f.form}, &term{known[b.label()], f.form}); err != nil {
				return err
			}
		}
	}
	return nil
}
