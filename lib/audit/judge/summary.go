package judge

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/lib/report"
)

// finding is what an audit comes to, for somebody who decides and reads no tables.
type finding int

const (
	cannotTell finding = iota
	stillThere
	disputed
	pushedAway
	someStandOut // no lens sees a memory on the whole, and single records are recognised
	nothingSeen
	nothingShown // nothing is seen, and nothing shows that it would be
)

// finding sorts the verdicts on a model.
func (r *Report) finding(model string) finding {
	t := sortOut(r.of(model))
	switch clear := len(t.gone) + len(t.pushed); {
	case len(t.memory) > 0 && clear > 0:
		return disputed
	case len(t.memory) > 0:
		return stillThere
	case len(t.pushed) > 0:
		return pushedAway
	case len(r.StandOut(model)) > 0:
		return someStandOut
	case len(t.gone) > 0:
		return nothingSeen
	case len(t.unseen) > 0:
		return nothingShown
	}
	return cannotTell
}

// answer and next are what a finding means, and what to do about it.
var answerTo = map[finding]string{
	cannotTell:   "These files cannot tell whether the records are forgotten.",
	stillThere:   "No: the records are still remembered.",
	disputed:     "No: at least one way of looking at the model still finds the records, so they cannot be taken for forgotten.",
	pushedAway:   "Not cleanly: the records are not remembered, but the model treats them worse than records that it never saw, which gives them away too.",
	someStandOut: "Not all: on the whole no memory is seen, but single records are still recognised.",
	nothingSeen:  "No sign of a memory was found.",
	nothingShown: "No sign of a memory was found, but nothing here shows that a memory would have been noticed.",
}

var nextAfter = map[finding]string{
	cannotTell:   "Add what the audit lacks, and repeat it",
	stillThere:   "Do not treat the records as deleted; unlearn more strongly or retrain without them, and audit the new model",
	disputed:     "Do not treat the records as deleted; see which lenses find them, unlearn more strongly or retrain without them, and audit the new model",
	pushedAway:   "Unlearn less strongly, so that the records are treated as unseen ones are, and audit the new model",
	someStandOut: "Look at the records listed under Single records, unlearn these again or retrain without them, and audit the new model",
	nothingSeen:  "Keep this report with the model; what it could have missed stands under What would have been missed",
	nothingShown: "Add what the audit lacks, and repeat it",
}

// Summary is the report in five sentences for each unlearned model: what was asked, of
// which model and when, the answer, how sure it is, and what to do next.
func (r *Report) Summary() []report.Part {
	var out []report.Part
	for _, m := range r.Evidence.Of(Unlearned) {
		f := r.finding(m.Name)
		out = append(out,
			report.Terms{{Word: "Asked", Meaning: r.Evidence.question()}, {Word: "Model", Meaning: r.Evidence.origins(m)}},
			report.Strong(r.headline(m)),
			report.Terms{{Word: "How sure", Meaning: r.sure(m.Name)}, {Word: "What to do", Meaning: r.next(f)}})
	}
	return out
}

// headline is the answer, with the model's name where there are several.
func (r *Report) headline(m *Model) string {
	s := answerTo[r.finding(m.Name)]
	if len(r.Evidence.Of(Unlearned)) > 1 {
		return m.Name + ": " + s
	}
	return s
}

// origins says which model it is, of which day, and what it is compared with.
func (e *Evidence) origins(m *Model) string {
	s := fmt.Sprintf("The model %s", m.Name)
	switch {
	case e.Date != "":
		s += ", of " + e.Date
	case !m.saved.IsZero():
		s += ", whose files are dated " + m.saved.UTC().Format(dateFormat)
	}
	var beside []string
	if len(e.Of(Original)) > 0 {
		beside = append(beside, "the model before unlearning")
	}
	if n := len(e.Of(Retrained)); n > 0 {
		beside = append(beside, number(n, "model")+" retrained without the records")
	}
	if n := len(e.Of(Shadow)); n > 0 {
		beside = append(beside, number(n, "shadow model"))
	}
	if beside == nil {
		return s + "; there is no other model to compare it with."
	}
	return s + ", compared with " + list(beside) + "."
}

// sure says how many lenses agree, and how much one of them would have missed.
func (r *Report) sure(model string) string {
	verdicts := r.of(model)
	t := sortOut(verdicts)
	memory, clear := len(t.memory), len(t.gone)+len(t.pushed)+len(t.unseen)
	var s string
	switch tells := memory + clear; {
	case tells == 0:
		return fmt.Sprintf("None of %d lenses can tell on these data.", len(verdicts))
	case memory == 0:
		s = fmt.Sprintf("Of %d lenses that can tell, none sees a memory", tells)
	default:
		s = fmt.Sprintf("Of %d lenses that can tell, %d see%s a memory", tells, memory, map[bool]string{true: "s"}[memory == 1])
	}
	s += "; each of them errs in about one case of twenty, and they look at the same records"
	if k := slices.IndexFunc(verdicts, func(v Verdict) bool { return !math.IsNaN(v.Smallest) }); k >= 0 && memory == 0 {
		v := verdicts[k]
		return s + fmt.Sprintf("; with %s a memory smaller than %s on the scale of %s would often be missed.",
			r.Evidence.records(v.Judgement.Needs()), report.FormatNumber(v.Smallest, 2), v.Name())
	}
	if k := slices.IndexFunc(verdicts, func(v Verdict) bool { return v.Memory() && v.Judgement.Name() == Loss{}.Name() }); k >= 0 {
		x := verdicts[k].Reading
		s += fmt.Sprintf("; shown a forgotten record and one that the model never had, an attacker names the forgotten one in %.0f of 100 cases (%.0f to %.0f), where "+
			"guessing is right in 50", 100*x.Value, 100*x.Low, 100*x.High)
	}
	return s + "."
}

// next is what to do, and what would make the audit say more.
func (r *Report) next(f finding) string {
	s := nextAfter[f]
	if settle := r.Settle(); len(settle) > 0 && f != stillThere {
		what, _, _ := strings.Cut(settle[0], ":")
		what, _, _ = strings.Cut(what, ". ")
		s += "; what would settle more first: " + strings.ToLower(what[:1]) + what[1:]
	}
	return strings.TrimSuffix(s, ".") + "."
}

// glossary explains the words of a report.
var glossary = report.Terms{
	{Word: "AUC", Meaning: "area under the ROC curve: the chance that a forgotten record scores higher than a held-out one. 0.5 is guessing, 1 is always right."},
	{Word: "chance", Meaning: "how far a number strays from its null value by the luck of the draw alone, in 95 of 100 cases."},
	{Word: "checkpoint", Meaning: "the model as it was saved at some step of unlearning."},
	{Word: "embedding", Meaning: "what the network makes of a record just before its last layer: a list of numbers."},
	{Word: "false positive", Meaning: "a held-out record that an attack takes for one of the training data: a false alarm."},
	{Word: "forget records", Meaning: "the records that the model was to forget."},
	{Word: "held-out records", Meaning: "records that no model of the audit was trained on."},
	{Word: "interval", Meaning: "the range in which the true number lies in 95 of 100 audits like this one."},
	{Word: "lens", Meaning: "one way of looking at what models say, which ends in one number and its interval."},
	{Word: "loss", Meaning: "how badly a model fits a record: low for a record that it predicts well."},
	{Word: "logits", Meaning: "a network's raw outputs, before they are made probabilities."},
	{Word: "membership attack", Meaning: "an attempt to tell, from what a model says of a record, whether it was trained on it."},
	{Word: "null value", Meaning: "the number that a lens gives of a model that never had the records."},
	{Word: "original model", Meaning: "the model before unlearning."},
	{Word: "retrained model", Meaning: "a model trained from the beginning without the forget records: what forgetting should look like."},
	{Word: "ROC curve", Meaning: "receiver operating characteristic: true positives against false positives for every threshold on a score."},
	{Word: "shadow model", Meaning: "a model trained on a random part of the records, to learn how having a record shows."},
	{Word: "true positive", Meaning: "a forgotten record that an attack recognises."},
	{Word: "unlearning", Meaning: "changing a trained model so that it is as if some records had never been in its training data."},
	{Word: "z", Meaning: "distance from the mean of the held-out scores, in their standard deviations. Beyond 3 is rare by chance."},
}

// dateFormat is how a day is written.
const dateFormat = "2006-01-02"
