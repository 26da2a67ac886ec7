// The summary for readers who read no tables: five sentences per unlearned model, and the glossary.

package judge

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/report"
)

// answerTexts are the answers for readers who decide and read no tables, with what to do next.
var answerTexts = map[Answer]struct{ says, next string }{
	StillRemembered: {"No: the records are still remembered.",
		"Do not treat the records as deleted; unlearn more strongly or retrain without them, and audit the new model"},
	SomeMemory: {"No: a memory of the records is left.",
		"Do not treat the records as deleted; unlearn more strongly or retrain without them, and audit the new model"},
	Disagree: {"No: at least one family of lenses still finds the records, so they cannot be taken for forgotten.",
		"Do not treat the records as deleted; see which lenses find them, unlearn more strongly or retrain without them, and audit the new model"},
	BothWays: {"No: the records can be told from others. By some lenses a memory is left, by others the records were pushed away.",
		"Do not treat the records as deleted. More unlearning of this kind does not help where records were pushed away: retrain without them, or try " +
			"another method or less of this one, and audit the new model"},
	PushedAway: {"Not cleanly: the records are not remembered, but the model treats them unlike records that it never saw, which gives them away too.",
		"Unlearn less strongly, so that the records are treated as unseen ones are, and audit the new model"},
	SomeStandOut: {"Not all: on the whole no memory is seen, but single records are still recognised.",
		"Look at the records listed under Single records, unlearn these again or retrain without them, and audit the new model"},
	SomeMayStandOut: {"These files cannot tell whether all records are forgotten: more single records stand out than chance explains, but too few to be told " +
		"from those of a retrained model.",
		"Add another retrained model, which shows whether the same records stand out without having been met, and repeat the audit"},
	NoMemory: {"No sign of a memory was found.",
		"Keep this report with the model; what it could have missed stands under What would have been missed"},
	NotShown: {"No sign of a memory was found, but nothing here shows that a memory would have been noticed.",
		"Add what the audit lacks, and repeat it"},
	ByChance: {"These files cannot tell whether the records are forgotten: a lens sees something, but among so many lenses chance alone shows as much.",
		"Add records, or what else the audit lacks, and repeat it: a memory is seen again, and chance seldom is"},
	NoPower: {"These files cannot tell whether the records are forgotten: no sign of a memory was found, but a memory would often have been missed.",
		"Add records, or what else the audit lacks, and repeat it"},
	Doubtful: {"These files cannot tell whether the records are forgotten: the model's arrays may be of other records or in another unit.",
		"See the warnings: make sure that row i of every array is the same record and that all models' numbers are in one unit, and repeat the audit. " +
			"If they are, the model has lost what it was to keep, which these files do not tell from another order"},
	NoAnswer: {"These files cannot tell whether the records are forgotten.",
		"Add what the audit lacks, and repeat it"},
}

// Answer is the headline's answer.
func (r *Report) Answer(model string) Answer { return r.Headline(model).Answer }

// Summary is the report in five sentences for each unlearned model: the question, the model and its
// date, the answer, how certain it is, and what to do next.
func (r *Report) Summary() []report.Part {
	var out []report.Part
	for _, m := range r.Evidence.ModelsOf(Unlearned) {
		out = append(out,
			report.Terms{{Word: "Asked", Meaning: r.Evidence.question()}, {Word: "Model", Meaning: r.Evidence.describeModels(m)}},
			report.Strong(r.headline(m)),
			r.howSure(m))
	}
	return out
}

// howSure says how certain the answer is, what to beware of, and what to do.
func (r *Report) howSure(m *Model) report.Terms {
	out := report.Terms{{Word: "How sure", Meaning: r.confidenceText(m.Name)}}
	if s := r.beware(m.Name); s != "" {
		out = append(out, report.Term{Word: "Beware", Meaning: strings.TrimSpace(s)})
	}
	if s := r.quantisedBrief(); s != "" {
		out = append(out, report.Term{Word: "Quantised", Meaning: s})
	}
	return append(out, report.Term{Word: "What to do", Meaning: r.nextSteps(m.Name)})
}

// headline is the answer, with what it supposes and with the model's name where there are several.
func (r *Report) headline(m *Model) string {
	s := answerTexts[r.Answer(m.Name)].says
	if supposed := r.Headline(m.Name).Supposes; supposed != "" {
		s += fmt.Sprintf(" This holds if %s.", supposed)
	}
	switch h := r.Headline(m.Name); {
	case h.Answer == Doubtful:
		s += fmt.Sprintf(" Why: %s.", h.Doubt)
	case h.Doubt != "":
		s += fmt.Sprintf(" But %s.", h.Doubt)
	}
	if hides := r.Headline(m.Name).Hides; hides != "" {
		s += " " + hides + "."
	}
	if len(r.Evidence.ModelsOf(Unlearned)) > 1 {
		return m.Name + ": " + s
	}
	return s
}

// describeModels says which model it is, of which day, and what it is compared with.
func (e *Evidence) describeModels(m *Model) string {
	s := fmt.Sprintf("The model %s", m.Name)
	switch {
	case e.Date != "":
		s += ", of " + e.Date
	case !m.Saved.IsZero():
		s += ", whose files are dated " + m.Saved.UTC().Format(dateFormat)
	}
	var beside []string
	if len(e.ModelsOf(Original)) > 0 {
		beside = append(beside, "the model before unlearning")
	}
	if n := len(e.ModelsOf(Retrained)); n > 0 {
		beside = append(beside, plural(n, "model")+" retrained without the records")
	}
	if n := len(e.ModelsOf(Shadow)); n > 0 {
		beside = append(beside, plural(n, "shadow model"))
	}
	if beside == nil {
		return s + "; there is no other model to compare it with."
	}
	return s + ", compared with " + joinNames(beside) + "."
}

// confidenceText says how many families of lenses agree, and how small a memory would have been
// missed.
func (r *Report) confidenceText(model string) string {
	h := headline(model, thatStand(r.verdictsOn(model)))
	memory := h.families(audit.Remembered, audit.Backwards, audit.Between)
	all := h.families(audit.Remembered, audit.Backwards, audit.Between, audit.Beyond, audit.Forgotten, Unseen)
	weak := r.weakText(model)
	if len(all) == 0 && weak != "" {
		return weak
	}
	switch n := len(r.verdictsOn(model)); {
	case len(all) == 0 && n == 1:
		return "The only lens that was asked cannot tell on these data."
	case len(all) == 0:
		return fmt.Sprintf("None of the %d lenses that were asked can tell on these data.", n)
	}
	s := fmt.Sprintf("Of %d families of lenses that can tell (%s), ", len(all), joinNames(all))
	switch {
	case len(all) == 1 && len(memory) == 1:
		s = fmt.Sprintf("The only family of lenses that can tell (%s) sees a memory", all[0])
	case len(all) == 1:
		s = fmt.Sprintf("The only family of lenses that can tell (%s) sees no memory", all[0])
	case len(memory) == 0:
		s += "none sees a memory"
	case len(memory) == len(all):
		s += "all see a memory"
	case len(memory) == 1:
		s += fmt.Sprintf("one sees a memory (%s)", memory[0])
	default:
		s += fmt.Sprintf("%d see a memory (%s)", len(memory), joinNames(memory))
	}
	s += "; each verdict errs in about one case of twenty (the answer allows for the number of lenses), and all look at the same records" +
		r.Evidence.ofGroups(rowsOf(r.Evidence.Records))
	if weak != "" {
		return s + ". " + weak
	}
	if h.Answer == NoPower {
		return s + "; " + r.powerText(model)
	}
	if v := r.firstVerdict(model, func(v Verdict) bool { return !math.IsNaN(v.Smallest) && v.Call != audit.Blind }); v != nil && len(memory) == 0 {
		return s + fmt.Sprintf("; with %s a memory smaller than %s on the scale of %s would often be missed.",
			r.Evidence.records(v.Lens.Info().Needs), report.FormatNumber(v.Smallest, 2), v.Name())
	}
	if v := r.firstVerdict(model, func(v Verdict) bool { return v.Memory() && !v.Weak && v.Lens.Name() == audit.Loss{}.Name() }); v != nil {
		s += fmt.Sprintf("; given a forgotten record and one that the model never had, an attacker recognises the forgotten one in %.0f of 100 cases "+
			"(%.0f to %.0f%s), where guessing is right in 50", 100*v.Reading.Value, 100*v.Reading.Low, 100*v.Reading.High, r.Evidence.over(v.Reading))
	}
	return s + "."
}

// weakText names the verdicts that accuse a model and do not stand; empty: there are none.
func (r *Report) weakText(model string) string {
	var weak []string
	for _, v := range r.verdictsOn(model) {
		if v.Weak {
			weak = append(weak, fmt.Sprintf("%s (%s)", v.Name(), v.Call))
		}
	}
	if weak == nil {
		return ""
	}
	return fmt.Sprintf("Among all lenses that were asked chance alone shows as much as %s.", joinNames(weak))
}

// powerText says of the lens that comes closest how large a memory it would see, and how large one it would
// have to see.
func (r *Report) powerText(model string) string {
	var best *Verdict
	for _, v := range r.verdictsOn(model) {
		if v.Call == audit.Forgotten || v.Call == Unseen {
			if best == nil || v.soughtSize()/v.Smallest > best.soughtSize()/best.Smallest {
				best = &v
			}
		}
	}
	if best == nil || math.IsNaN(best.soughtSize()) || math.IsNaN(best.Smallest) {
		return "no lens that sees no memory says how large a one it would see."
	}
	smallest := best.Smallest * moreAmong(r.verdictsOn(model))
	digits := 2 // and more where the two sizes would read alike
	for digits < 6 && report.FormatNumber(smallest, digits) == report.FormatNumber(best.soughtSize(), digits) {
		digits++
	}
	size := fmt.Sprintf("the original's memory is %s", report.FormatNumber(best.soughtSize(), digits))
	if best.original() == nil {
		size = fmt.Sprintf("without an original it would have to see %g, which is right in %g of 100 cases where guessing is right in "+
			"50", statedSize, 50+100*statedSize)
	}
	return fmt.Sprintf("with %s even %s sees a memory in four audits of five only from %s on its scale; %s.", r.Evidence.records(best.Lens.Info().Needs),
		best.Name(), report.FormatNumber(smallest, digits), size)
}

// firstVerdict returns the first verdict on a model for which holds is true; nil if there is none.
func (r *Report) firstVerdict(model string, holds func(v Verdict) bool) *Verdict {
	verdicts := r.verdictsOn(model)
	if k := slices.IndexFunc(verdicts, holds); k >= 0 {
		return &verdicts[k]
	}
	return nil
}

// families returns the families with one of the verdicts, each once.
func (h Headline) families(calls ...audit.Call) []string {
	var out []string
	for _, c := range h.Groups {
		for _, m := range c.Families {
			if slices.Contains(calls, c.Call) && !slices.Contains(out, string(m.Family)) {
				out = append(out, string(m.Family))
			}
		}
	}
	return out
}

// nextSteps says what to do, and what would make the audit more informative.
func (r *Report) nextSteps(model string) string {
	a := r.Answer(model)
	s := answerTexts[a].next
	if settle := r.Suggestions(); len(settle) > 0 && a != StillRemembered && a != SomeMemory && a != Doubtful {
		what, _, _ := strings.Cut(settle[0], ":")
		what, _, _ = strings.Cut(what, ". ")
		s += "; the most useful addition: " + strings.ToLower(what[:1]) + what[1:]
	}
	return strings.TrimSuffix(s, ".") + "."
}

// glossary explains the terms of a report.
var glossary = report.Terms{
	{Word: "AUC", Meaning: "area under the ROC curve: the chance that a forgotten record scores higher than a held-out one. " +
		"0.5 is guessing, 1 is always right."},
	{Word: "chance", Meaning: "how far a number is from its null value by chance alone, in 95 of 100 cases."},
	{Word: "blind attack", Meaning: "guessing from the inputs alone, without any model, which of two sets a record is of. What it reaches is no memory."},
	{Word: "checkpoint", Meaning: "the model as it was saved at some step of unlearning."},
	{Word: "design effect", Meaning: "how much less certain a number is because records of a group are alike: the variance over groups, divided by that over " +
		"as many independent records."},
	{Word: "embedding", Meaning: "a record's activations just before the last layer of the network: a list of numbers."},
	{Word: "false positive", Meaning: "a held-out record that an attack takes for one of the training data: a false alarm."},
	{Word: "family", Meaning: "lenses that use the same numbers and err together; in an answer they count once."},
	{Word: "forget records", Meaning: "the records that the model was to forget."},
	{Word: "group", Meaning: "records that belong together, such as those of one author or patient. Only groups are independent of each other."},
	{Word: "held-out records", Meaning: "records that no model of the audit was trained on."},
	{Word: "interval", Meaning: "the range in which the true number lies in 95 of 100 audits like this one."},
	{Word: "lens", Meaning: "one way to read a model from its arrays. It gives one number, its interval and a verdict."},
	{Word: "loss", Meaning: "how badly a model fits a record: low for a record that it predicts well."},
	{Word: "logits", Meaning: "a network's raw outputs, before they are made probabilities."},
	{Word: "membership attack", Meaning: "an attempt to tell, from what a model says of a record, whether it was trained on it."},
	{Word: "null value", Meaning: "the number that a lens gives for a model that never had the records."},
	{Word: "original model", Meaning: "the model before unlearning."},
	{Word: "quantised copy", Meaning: "the unlearned model with weights rounded to 8 or 4 bits, as it may be deployed."},
	{Word: "reference model", Meaning: "a model that was trained neither on the forgotten nor on the held-out records: how hard they are for others."},
	{Word: "retrained model", Meaning: "a model trained from the beginning without the forget records: what forgetting should look like."},
	{Word: "ROC curve", Meaning: "receiver operating characteristic: true positives against false positives for every threshold on a score."},
	{Word: "shadow model", Meaning: "a model trained on a random part of the records, to learn how training on a record shows."},
	{Word: "token", Meaning: "a piece of a text, a word or a part of one, as a language model reads it."},
	{Word: "true positive", Meaning: "a forgotten record that an attack recognises."},
	{Word: "truth ratio", Meaning: "how probable wrong answers to a question are, over how probable the right one is."},
	{Word: "unlearning", Meaning: "changing a trained model so that it is as if some records had never been in its training data."},
	{Word: "z", Meaning: "distance from the mean of the held-out scores, in their standard deviations. Beyond 3 is rare by chance."},
}

// dateFormat is the format of a day.
const dateFormat = "2006-01-02"
