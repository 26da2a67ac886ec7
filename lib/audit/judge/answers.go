package judge

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/report"
)

// verdictsOn are the verdicts on one unlearned model.
func (r *Report) verdictsOn(model string) []Verdict {
	return slices.DeleteFunc(slices.Clone(r.Verdicts), func(v Verdict) bool { return v.Reading.Model != model })
}

// Answers say in a few sentences for each unlearned model what the verdicts come to:
// Headline, and where no memory was seen how small a one would have been missed.
func (r *Report) Answers() []string {
	var out []string
	for _, m := range r.Evidence.ModelsOf(Unlearned) {
		verdicts := r.verdictsOn(m.Name)
		h := r.Headline(m.Name)
		said := h.String()
		if k := slices.IndexFunc(verdicts, func(v Verdict) bool { return !math.IsNaN(v.Smallest) }); k >= 0 && !h.found() {
			v := verdicts[k]
			said += fmt.Sprintf(" With %s, %s misses a distance of less than %s from the %s more than once in five audits.",
				r.Evidence.records(v.Lens.Needs()), v.Name(), report.FormatNumber(v.Smallest, 2), v.Reference)
		}
		out = append(out, said)
	}
	return out
}

func joinNames(names []string) string { return strings.Join(names, ", ") }

// Disagreements name, for models on which the judgements do not agree, who says what, by
// what they look at: answers may have changed where the layers below have not.
func (r *Report) Disagreements() []string {
	var out []string
	for _, m := range r.Evidence.ModelsOf(Unlearned) {
		said, calls := map[string][]string{}, map[audit.Call]bool{}
		for _, v := range r.verdictsOn(m.Name) {
			if !v.Memory() && v.Call != audit.Forgotten && v.Call != audit.Beyond {
				continue
			}
			calls[v.Call] = true
			part := "the outputs"
			if slices.Contains(v.Lens.Needs().Arrays, Embedding) {
				part = "the embedding"
			}
			if v.Layer != "" {
				part = v.Layer
			}
			said[part] = append(said[part], fmt.Sprintf("%s %s", v.Lens.Name(), v.Call))
		}
		for _, part := range sortedKeys(said) {
			if len(calls) > 1 {
				out = append(out, fmt.Sprintf("%s, by %s: %s.", m.Name, part, joinNames(said[part])))
			}
		}
	}
	return out
}

// Power says, verdict by verdict, how small a memory would have been missed.
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
			v.Name(), v.Reading.Model, r.Evidence.records(v.Lens.Needs()), from, report.FormatNumber(v.Smallest, 3), v.SmallestFrom)
		if v.Original != nil {
			s += fmt.Sprintf(" The original is %s away.", report.FormatNumber(math.Abs(v.Original.Value-v.reference().Value), 3))
		}
		out = append(out, s)
	}
	return out
}

// records names the numbers of records that a judgement looks at.
func (e *Evidence) records(n Needs) string {
	parts := []string{fmt.Sprintf("%d forget", len(e.Forget))}
	for _, s := range n.Sets {
		parts = append(parts, map[Set]string{Retain: fmt.Sprintf("%d retained", len(e.Retain)), HeldOut: fmt.Sprintf("%d held-out", len(e.HeldOut))}[s])
	}
	return strings.Join(parts, " and ") + " records"
}

// Suggestions says what would make the audit say more.
func (r *Report) Suggestions() []string {
	e := r.Evidence
	var out []string
	nominal := 0
	for _, v := range r.Verdicts {
		if v.Reference == NoReference {
			nominal++
		}
	}
	switch retrained := len(e.ModelsOf(Retrained)); {
	case retrained == 0:
		out = append(out, fmt.Sprintf("A model retrained without the forget records (retrained/). Without it %d verdicts have nothing to compare with, "+
			"and the others rest on forget and held-out records having been drawn alike.", nominal))
	case retrained == 1:
		out = append(out, "A second retrained model, from another seed (retrained-2/): how far two models that never had the records are "+
			"apart is what an unlearned model may be away from them. Without it nothing is compared with the retrained model record by record.")
	}
	if len(e.ModelsOf(Original)) == 0 {
		out = append(out, "The original model (original/): it shows which judgements see a memory on these data at all.")
	}
	if slices.ContainsFunc(r.Verdicts, func(v Verdict) bool { return v.Call == audit.TooFew }) {
		out = append(out, fmt.Sprintf("More records: at least %d forgotten and as many held-out ones, below which no value is significant.",
			audit.MinRecords))
	}
	if n, m := len(e.HeldOut), len(e.Forget); n > 0 && n < 4*m {
		gain := math.Sqrt(float64(1)/float64(m)+1/float64(n)) / math.Sqrt(float64(1)/float64(m)+1/float64(4*m))
		out = append(out, fmt.Sprintf("More held-out records: %d beside %d forget records. With four times as many as forget records the "+
			"intervals of the attacks on outputs would be %.2g times narrower.", n, m, gain))
	}
	if len(e.ModelsOf(Checkpoint)) == 0 {
		out = append(out, "Models saved along unlearning (checkpoint-1/, checkpoint-2/, ...): when the records are forgotten, whether they are "+
			"pushed beyond, and whether that is undone.")
	}
	if len(e.ModelsOf(Shadow)) == 0 {
		out = append(out, "Shadow models (shadow-1/, shadow-2/, ...), each trained on a random half of the records: they take out how hard a "+
			"record is, which is what the plain attacks on outputs cannot.")
	}
	return out
}
