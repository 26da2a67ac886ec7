// Numbers as published programs print them, for readers who compare with a paper. They are no verdicts.

package judge

import (
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/verify/language"
)

// publishedMetric is a number of published programs.
type publishedMetric struct {
	name    string
	needs   []audit.Array
	texts   bool        // what the model answers, as strings
	sets    []audit.Set // beside the forgotten records
	compare bool        // with a retrained model
	wrong   string      // what is wrong with it
	// value is the number of a model; retrained is nil unless compare is set.
	value func(e *Evidence, m, retrained *Model) (float64, error)
}

// publishedMinK is the setting of PrivLeak and of the bounded membership metric.
var publishedMinK = language.MinK{K: 0.4}

// publishedMetrics are the numbers that arrays of language models allow.
func publishedMetrics() []publishedMetric {
	answers, tokens := []audit.Array{audit.AnswerArray}, []audit.Array{audit.TokenArray}
	const utility = "Model utility is the harmonic mean of nine numbers, six of them of questions about real authors and the world, which " +
		"the folder does not have: this is one of the nine."
	return []publishedMetric{
		{"forget quality (KS p)", answers, false, nil, true, "The test takes the two models' questions for different ones; they are the same, so that p " +
			"is no p-value: two retrained models can have one of nearly 1, and a model that forgot in part can pass.", forgetQuality},
		{"truth ratio, mean of min(R, 1/R)", answers, false, nil, false, "It takes a model that prefers wrong answers for one that knows, and the " +
			"published programs have three forms of R that cannot be compared; this is the geometric one.", forgottenRatio},
		{"PrivLeak (Min-40 %)", tokens, false, []audit.Set{HeldOut}, true, "It is a ratio to one number of one retrained model, which explodes where " +
			"that is small, and it has no interval.", privLeak},
		{"s_MIA (Min-40 %)", tokens, false, []audit.Set{HeldOut}, true, "It does not say on which side a model errs, so that forgetting too much and " +
			"too little look alike, and it has no interval.", boundedMIA},
		{"utility: retained, probability", tokens, false, []audit.Set{Retain}, false, utility, retainedProbability},
		{"utility: retained, mean of max(0, 1 - R)", answers, false, []audit.Set{Retain}, false, utility, retainedTruth},
		{"ROUGE-L recall, forgotten", nil, true, nil, false, "It compares words with one true answer: a right answer in other words loses, a wrong one in " +
			"the same words wins, and much of an answer can be guessed, so that 0 is not what a retrained model has.", forgottenRecall},
		{"utility: retained, ROUGE-L recall", nil, true, []audit.Set{Retain}, false, utility, retainedRecall},
	}
}

// publishedNumber is a published metric of a model; Value is nil where it has none, and Missing says why.
type publishedNumber struct {
	Metric    string   `json:"metric"`
	Model     string   `json:"model"`
	Retrained string   `json:"retrained,omitempty"` // that it is compared with
	Value     *float64 `json:"value"`
	Missing   string   `json:"missing,omitempty"`
	Wrong     string   `json:"what_is_wrong"`
}

// publishedNumbers are the numbers of the unlearned models, the original and the retrained models but the
// first, with which they are compared. There are none without arrays or answers of language models.
func (e *Evidence) publishedNumbers() (out []publishedNumber) {
	models := append(append([]*Model{}, e.ModelsOf(Unlearned)...), e.ModelsOf(Original)...)
	var reference *Model
	if retrained := e.ModelsOf(Retrained); len(retrained) > 0 {
		reference, models = retrained[0], append(models, retrained[1:]...)
	}
	for _, p := range publishedMetrics() {
		if !p.applies(e) {
			continue
		}
		for _, m := range models {
			out = append(out, p.number(e, m, reference))
		}
	}
	return out
}

// applies reports whether an unlearned model has the arrays and the audit the sets.
func (p publishedMetric) applies(e *Evidence) bool {
	for _, s := range p.sets {
		if len(e.Rows(s)) == 0 {
			return false
		}
	}
	for _, m := range e.ModelsOf(Unlearned) {
		if p.allowed(e, m) {
			return true
		}
	}
	return false
}

// allowed reports whether a model has what the number is of.
func (p publishedMetric) allowed(e *Evidence, m *Model) bool {
	return m.Has(p.needs, &e.Evidence) && (!p.texts || e.recall[m.Name] != nil)
}

func (p publishedMetric) number(e *Evidence, m, retrained *Model) publishedNumber {
	n := publishedNumber{Metric: p.name, Model: m.Name, Wrong: p.wrong}
	switch {
	case !p.allowed(e, m) && p.texts:
		n.Missing = "the model lacks " + generatedFile
		return n
	case !p.allowed(e, m):
		n.Missing = "the model lacks the arrays"
		return n
	case p.compare && retrained == nil:
		n.Missing = "needs a retrained model"
		return n
	case p.compare && !p.allowed(e, retrained):
		n.Missing = retrained.Name + " lacks the arrays"
		return n
	case p.compare:
		n.Retrained = retrained.Name
	}
	v, err := p.value(e, m, retrained)
	if err != nil {
		n.Missing = err.Error()
		return n
	}
	n.Value = &v
	return n
}

// ratiosOf returns the geometric truth ratios of some records.
func ratiosOf(m *Model, rows []int) (language.Ratios, error) {
	var a language.Answers
	for _, i := range rows {
		a.Right, a.Wrong = append(a.Right, m.Answers.Right[i]), append(a.Wrong, m.Answers.Wrong[i])
	}
	return language.TruthRatio{Form: language.Geometric}.Ratios(a)
}

func forgetQuality(e *Evidence, m, retrained *Model) (float64, error) {
	mine, err := ratiosOf(m, e.Forget)
	if err != nil {
		return 0, err
	}
	theirs, err := ratiosOf(retrained, e.Forget)
	if err != nil {
		return 0, err
	}
	v, err := language.ForgetQuality{}.Value(language.RatioEvidence{Unlearned: mine, Retrained: theirs})
	return v.P, err
}

func forgottenRatio(e *Evidence, m, _ *Model) (float64, error) {
	r, err := ratiosOf(m, e.Forget)
	if err != nil {
		return 0, err
	}
	return r.Forgotten()
}

func retainedTruth(e *Evidence, m, _ *Model) (float64, error) {
	r, err := ratiosOf(m, e.Retain)
	if err != nil {
		return 0, err
	}
	return r.Known()
}

func retainedProbability(e *Evidence, m, _ *Model) (float64, error) {
	t, err := m.Tokens.Select(e.Retain)
	if err != nil {
		return 0, err
	}
	x, err := t.MeanLogProb()
	if err != nil {
		return 0, err
	}
	for q, v := range x {
		x[q] = math.Exp(v)
	}
	return stats.Mean(x)
}

func forgottenRecall(e *Evidence, m, _ *Model) (float64, error) { return e.meanRecall(m, e.Forget) }

func retainedRecall(e *Evidence, m, _ *Model) (float64, error) { return e.meanRecall(m, e.Retain) }

// meanRecall is the mean ROUGE-L recall of some records. It refuses records without an answer.
func (e *Evidence) meanRecall(m *Model, rows []int) (float64, error) {
	x := make([]float64, len(rows))
	for k, i := range rows {
		if x[k] = e.recall[m.Name][i]; math.IsNaN(x[k]) {
			return 0, fmt.Errorf("record %d has no answer", i)
		}
	}
	return stats.Mean(x)
}

// membership holds the Min-K scores of the forgotten and the held-out records.
func (e *Evidence) membership(m *Model) (out language.Membership, err error) {
	for _, s := range []struct {
		rows []int
		to   *[]float64
	}{{e.Forget, &out.Forget}, {e.HeldOut, &out.HeldOut}} {
		t, err := m.Tokens.Select(s.rows)
		if err != nil {
			return out, err
		}
		if *s.to, err = publishedMinK.Scores(language.Evidence{Target: t}); err != nil {
			return out, err
		}
	}
	return out, nil
}

func (e *Evidence) privacy(m, retrained *Model) (out language.PrivacyEvidence, err error) {
	if out.Unlearned, err = e.membership(m); err != nil {
		return out, err
	}
	out.Retrained, err = e.membership(retrained)
	return out, err
}

func privLeak(e *Evidence, m, retrained *Model) (float64, error) {
	p, err := e.privacy(m, retrained)
	if err != nil {
		return 0, err
	}
	return language.PrivLeak{}.Value(p)
}

func boundedMIA(e *Evidence, m, retrained *Model) (float64, error) {
	p, err := e.privacy(m, retrained)
	if err != nil {
		return 0, err
	}
	return language.BoundedMIA{}.Value(p)
}

// publishedCell prints a number with three digits, and one that would be 0.000 by its order of magnitude, which papers compare.
func publishedCell(v float64) report.Cell {
	cell := report.Num(v, 3)
	if v != 0 && math.Abs(v) < 0.0005 {
		cell.Text = fmt.Sprintf("%.1e", math.Abs(v))
		if v < 0 {
			cell.Text = "−" + cell.Text
		}
	}
	return cell
}

// publishedParts show the numbers with what is wrong with each; nothing without numbers.
func (e *Evidence) publishedParts() []report.Part {
	numbers := e.publishedNumbers()
	if len(numbers) == 0 {
		return nil
	}
	t := &report.Table{Title: "As published, not a verdict", Columns: report.Columns("number", "model", "compared with", "value"),
		Caption: "For comparison with papers. No verdict rests on them, and none follows from them."}
	var wrong report.List
	said := map[string]bool{}
	for _, n := range numbers {
		value := report.Gap(n.Missing)
		if n.Value != nil {
			value = publishedCell(*n.Value)
		}
		with := report.Gap("none")
		if n.Retrained != "" {
			with = report.Str(n.Retrained)
		}
		t.Add(report.Str(n.Metric), report.Str(n.Model), with, value)
		if !said[n.Metric] {
			wrong = append(wrong, fmt.Sprintf("%s. %s", n.Metric, n.Wrong))
		}
		said[n.Metric] = true
	}
	return []report.Part{t, wrong}
}
