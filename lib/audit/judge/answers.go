// A report in sentences: answers, disagreements of lenses, detectable memory, and suggestions.

package judge

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/report"
)

// verdictsOn returns the verdicts on one unlearned model.
func (r *Report) verdictsOn(model string) []Verdict {
	return slices.DeleteFunc(slices.Clone(r.Verdicts), func(v Verdict) bool { return v.Reading.Model != model })
}

// Answers returns the Headline of each unlearned model in a few sentences and, if no memory was
// found, how small a memory would have been missed.
func (r *Report) Answers() []string {
	var out []string
	for _, m := range r.Evidence.ModelsOf(Unlearned) {
		verdicts := r.verdictsOn(m.Name)
		h := r.Headline(m.Name)
		text := h.String()
		if k := slices.IndexFunc(verdicts, func(v Verdict) bool { return !math.IsNaN(v.Smallest) }); k >= 0 && !h.Answer.Accuses() {
			v := verdicts[k]
			text += fmt.Sprintf(" With %s, %s misses a distance of less than %s from the %s more than once in five audits.",
				r.Evidence.records(v.Lens.Info().Needs), v.Name(), report.FormatNumber(v.Smallest, 2), v.Reference)
		}
		out = append(out, text)
	}
	return out
}

func joinNames(names []string) string { return strings.Join(names, ", ") }

// Disagreements lists, for models on which the lenses disagree, the verdicts by the part of the
// network that they use: outputs may have changed where the layers below have not.
func (r *Report) Disagreements() []string {
	var out []string
	for _, m := range r.Evidence.ModelsOf(Unlearned) {
		parts, calls := map[string][]string{}, map[audit.Call]bool{}
		for _, v := range r.verdictsOn(m.Name) {
			if !v.Memory() && v.Call != audit.Forgotten && v.Call != audit.Beyond {
				continue
			}
			calls[v.Call] = true
			part := "the outputs"
			if slices.Contains(v.Lens.Info().Needs.Arrays, audit.EmbeddingArray) {
				part = "the embedding"
			}
			if v.Layer != "" {
				part = v.Layer
			}
			parts[part] = append(parts[part], fmt.Sprintf("%s %s", v.Lens.Name(), v.Call))
		}
		for _, part := range sortedKeys(parts) {
			if len(calls) > 1 {
				out = append(out, fmt.Sprintf("%s, by %s: %s.", m.Name, part, joinNames(parts[part])))
			}
		}
	}
	return out
}

// Power says, for each verdict, how small a memory would have been missed.
func (r *Report) Power() []string {
	var out []string
	for _, v := range r.Verdicts {
		if math.IsNaN(v.Smallest) {
			continue
		}
		from := fmt.Sprintf("the %s", v.Reference)
		if v.Reference == NullReference {
			from = fmt.Sprintf("the null %g", *v.Reading.Null)
		}
		s := fmt.Sprintf("%s, %s: with %s a distance from %s of less than %s is missed in more than one audit of five (from %s).",
			v.Name(), v.Reading.Model, r.Evidence.records(v.Lens.Info().Needs), from, report.FormatNumber(v.Smallest, 3), v.SmallestFrom)
		if v.Original != nil {
			away := math.Abs(v.Original.Value - v.reference().Value)
			s += fmt.Sprintf(" The original is %s away", report.FormatNumber(away, 3))
			if away < v.Smallest {
				s += ", so that a memory as large as its would often be missed"
			}
			s += "."
		}
		out = append(out, s)
	}
	return out
}

// NotJudged lists what the audit did not judge, and why: checks that were not made, lenses that were not used,
// and numbers that led to no verdict.
func (r *Report) NotJudged() []string {
	out := r.Inputs.notJudged()
	for _, u := range r.Skipped {
		out = append(out, fmt.Sprintf("%s: %s.", u.Name(), u.Why))
	}
	for _, v := range r.Verdicts {
		switch v.Call {
		case audit.Blind, audit.Unclear, audit.CannotTell, audit.TooFew, audit.NotAsked, Unplaced, Unmoved, Moved:
			out = append(out, fmt.Sprintf("%s, %s: %s. %s", v.Name(), v.Reading.Model, v.Call, v.Text()))
		}
	}
	return out
}

// records states the numbers of records that a lens uses.
func (e *Evidence) records(n audit.Needs) string {
	parts, groups := []string{fmt.Sprintf("%d forget", len(e.Forget))}, []string{fmt.Sprint(e.CountGroups(e.Forget))}
	for _, s := range n.Sets {
		parts = append(parts, map[audit.Set]string{Retain: fmt.Sprintf("%d retained", len(e.Retain)), HeldOut: fmt.Sprintf("%d held-out", len(e.HeldOut))}[s])
		groups = append(groups, fmt.Sprint(e.CountGroups(e.Rows(s))))
	}
	text := strings.Join(parts, " and ") + " records"
	if e.grouped() {
		text += " of " + strings.Join(groups, " and ") + " " + e.Units()
	}
	return text
}

// Suggestions says what would make the audit more informative.
func (r *Report) Suggestions() []string {
	e := r.Evidence
	var out []string
	nominal := 0
	for _, v := range r.Verdicts {
		if v.Reference == NoReference {
			nominal++
		}
	}
	have := report.Plural(nominal, "verdict") + " have"
	if nominal == 1 {
		have = "1 verdict has"
	}
	switch retrained := len(e.ModelsOf(Retrained)); {
	case retrained == 0:
		out = append(out, fmt.Sprintf("A model retrained without the forget records (retrained/). Without it %s nothing to compare with, "+
			"and the others assume that forget and held-out records have the same distribution.", have))
	case retrained == 1:
		out = append(out, "A second retrained model, from another seed (retrained-2/): the distance between two models that never had the records "+
			"is allowed for an unlearned model too. Without it no lens compares with the retrained model record by record.")
	}
	if len(e.ModelsOf(Original)) == 0 {
		out = append(out, "The original model (original/): it shows which lenses see a memory on these data at all.")
	}
	if slices.ContainsFunc(r.Verdicts, func(v Verdict) bool { return v.Call == audit.TooFew }) {
		what := "records: at least %d forgotten and as many held-out ones, below which no value is significant."
		if e.grouped() {
			what = e.Units() + ": records of at least %d among the forgotten and among the held-out ones, below which no value is significant."
		}
		out = append(out, fmt.Sprintf("More "+what, audit.MinRecords))
	}
	if n, m := e.CountGroups(e.HeldOut), e.CountGroups(e.Forget); e.grouped() && n > 0 && n < 4*m {
		out = append(out, fmt.Sprintf("Held-out records of more %s: there are %d beside %d among the forgotten records.", e.Units(), n, m))
	} else if n, m := len(e.HeldOut), len(e.Forget); !e.grouped() && n > 0 && n < 4*m {
		gain := math.Sqrt(float64(1)/float64(m)+1/float64(n)) / math.Sqrt(float64(1)/float64(m)+1/float64(4*m))
		out = append(out, fmt.Sprintf("More held-out records: %d beside %d forget records. With four times as many as forget records the "+
			"intervals of the attacks on outputs would be %.2g times narrower.", n, m, gain))
	}
	if names := r.withOneNumber(); len(names) > 0 {
		out = append(out, "A third retrained model (retrained-3/): where a lens compares with another model record by record, two have one number "+
			"between them, which does not show what a seed does. Without it there is no verdict by "+joinNames(names)+".")
	}
	if len(e.ModelsOf(Checkpoint)) == 0 {
		out = append(out, "Models saved along unlearning (checkpoint-1/, checkpoint-2/, ...): when the records are forgotten, whether they are "+
			"pushed beyond the reference, and whether that is reversed.")
	}
	if len(e.ModelsOf(Shadow)) == 0 {
		out = append(out, "Shadow models (shadow-1/, shadow-2/, ...), each trained on a random half of the records: they account for how hard a "+
			"record is, which the other attacks on outputs cannot.")
	}
	return out
}

// withOneNumber names the lenses that have no verdict because two retrained models have one number between them.
func (r *Report) withOneNumber() (names []string) {
	for _, v := range r.Verdicts {
		reason := audit.SeedReason(v.Reading, v.Retrained...)
		if len(v.Retrained) == 2 && reason.Call != "" && v.Why == reason.Why && !slices.Contains(names, v.Name()) {
			names = append(names, v.Name())
		}
	}
	return names
}
