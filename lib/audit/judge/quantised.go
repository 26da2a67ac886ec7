// Quantised copies of the unlearned model: what rounding its weights brings back.

package judge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/report"
)

// QuantisedVerdict is a lens's verdict on a quantised copy, beside that on the unlearned model itself. A
// small change of weights that hides a memory may be rounded away (Zhang et al. 2025, "Catastrophic
// failure of LLM unlearning via quantization").
type QuantisedVerdict struct {
	Verdict
	Unlearned Verdict
}

// MemoryReturns reports whether the lens sees a memory in the copy and none in the unlearned model.
func (q QuantisedVerdict) MemoryReturns() bool { return q.Memory() && !q.Weak && !q.Unlearned.Memory() }

// placeQuantised places the quantised copies by one lens; v is the verdict on the unlearned model.
func (r *Report) placeQuantised(v Verdict, readings []audit.Reading) {
	for _, one := range readings {
		q := QuantisedVerdict{v, v}
		q.Reading = one
		q.place()
		r.Quantised = append(r.Quantised, q)
	}
}

// quantisedModels returns the copies that some lens read, in their order.
func (r *Report) quantisedModels() (out []string) {
	for _, m := range r.Evidence.ModelsOf(Quantised) {
		out = append(out, m.Name)
	}
	return out
}

// quantisedVerdicts returns the verdicts on one copy.
func (r *Report) quantisedVerdicts(model string) (out []QuantisedVerdict) {
	for _, q := range r.Quantised {
		if q.Reading.Model == model {
			out = append(out, q)
		}
	}
	return out
}

// QuantisedSentences say, for every quantised copy, which verdicts differ from those on the unlearned model.
func (r *Report) QuantisedSentences() (out []string) {
	for _, name := range r.quantisedModels() {
		of := r.quantisedVerdicts(name)
		var returns, others []string
		for _, q := range of {
			if q.Call == q.Unlearned.Call {
				continue
			}
			s := fmt.Sprintf("%s (%s, the unlearned model %s%s%s)", q.Name(), q.Call, q.Unlearned.Call, q.withinIntervals(), q.weakText())
			if q.MemoryReturns() {
				returns = append(returns, s)
			} else {
				others = append(others, s)
			}
		}
		switch {
		case len(of) == 0:
			out = append(out, fmt.Sprintf("%s: no lens could read it.", name))
			continue
		case len(returns) > 0:
			out = append(out, fmt.Sprintf("%s: rounding the weights brings memory back, by %s.", name, joinNames(returns)))
		default:
			out = append(out, fmt.Sprintf("%s: of %d lenses none sees a memory that it does not see in the unlearned model%s.", name, len(of),
				orByChance(of)))
		}
		if len(others) > 0 {
			out = append(out, fmt.Sprintf("%s: other verdicts differ too, by %s.", name, joinNames(others)))
		}
	}
	return out
}

// withinIntervals says that two readings with different verdicts do not differ by more than chance.
func (q QuantisedVerdict) withinIntervals() string {
	if q.Reading.HasInterval() && q.Unlearned.Reading.HasInterval() && audit.Alike(q.Reading, q.Unlearned.Reading) {
		return "; the two readings are within chance of each other"
	}
	return ""
}

// weakText says that a verdict on a copy does not stand.
func (q QuantisedVerdict) weakText() string {
	if q.Weak {
		return "; among all lenses chance alone shows as much"
	}
	return ""
}

// StandsInCopy reports whether the lens sees a memory in the copy that stands, where that in the unlearned model does
// not.
func (q QuantisedVerdict) StandsInCopy() bool {
	return q.Memory() && !q.Weak && q.Unlearned.Memory() && q.Unlearned.Weak
}

// orByChance says which lenses see a memory that is chance in the copies, or in the unlearned model alone.
func orByChance(of []QuantisedVerdict) string {
	var stands []string
	for _, q := range of {
		if q.StandsInCopy() {
			stands = append(stands, q.Name())
		}
	}
	switch {
	case stands != nil:
		return "; but the memory that " + joinNames(stands) + " see in a copy stands, and in the unlearned model it is no more than chance alone shows"
	case slices.ContainsFunc(of, func(q QuantisedVerdict) bool { return q.Weak && q.Memory() && !q.Unlearned.Memory() }):
		return ", or no more than chance alone shows among so many lenses"
	}
	return ""
}

// quantisedBrief says for the summary whether a copy brings memory back; empty: there is no copy.
func (r *Report) quantisedBrief() string {
	var names []string
	for _, name := range r.quantisedModels() {
		for _, q := range r.quantisedVerdicts(name) {
			if q.MemoryReturns() {
				names = append(names, name)
				break
			}
		}
	}
	switch {
	case len(r.quantisedModels()) == 0:
		return ""
	case len(names) > 0:
		return "Rounding the weights brings memory back in " + joinNames(names) + ": see Quantised copies. Do not use these copies."
	}
	return fmt.Sprintf("In %s no lens sees a memory that it does not see in the unlearned model%s.", joinNames(r.quantisedModels()), orByChance(r.Quantised))
}

// quantisedParts is the section of the page; nothing without quantised copies.
func (r *Report) quantisedParts() []report.Part {
	names := r.quantisedModels()
	if len(names) == 0 {
		return nil
	}
	t := &report.Table{
		Title: "The unlearned model and its quantised copies", Columns: report.Columns("lens", "unlearned"),
		Caption: "Reading with its 95 % interval, and verdict. The copies are placed between the same original and retrained models.",
	}
	t.Columns = append(t.Columns, report.Columns(names...)...)
	for _, v := range r.Verdicts {
		if !slices.ContainsFunc(r.Quantised, func(q QuantisedVerdict) bool { return q.Name() == v.Name() }) {
			continue // of a layer that no copy has
		}
		cells := []report.Cell{report.Str(v.Name()), readingCell(&v.Reading).WithVerdict(string(v.Call))}
		for _, name := range names {
			cell := report.Gap("not read")
			for _, q := range r.quantisedVerdicts(name) {
				if q.Name() == v.Name() {
					cell = readingCell(&q.Reading).WithVerdict(string(q.Call))
				}
			}
			cells = append(cells, cell)
		}
		t.Rows = append(t.Rows, report.Row{Cells: cells})
	}
	return []report.Part{report.List(r.QuantisedSentences()), t}
}

// jsonQuantised is the JSON form of a verdict on a quantised copy.
type jsonQuantised struct {
	Model     string      `json:"model"`
	Lens      string      `json:"judgement"`
	Layer     string      `json:"layer,omitempty"`
	Call      audit.Call  `json:"verdict"`
	Unlearned audit.Call  `json:"unlearned_verdict"`
	Returns   bool        `json:"memory_returns"`
	Weak      bool        `json:"weak,omitempty"`
	Reading   jsonReading `json:"reading"`
}

func (r *Report) jsonQuantised() (out []jsonQuantised) {
	for _, q := range r.Quantised {
		out = append(out, jsonQuantised{q.Reading.Model, q.Lens.Name(), q.Layer, q.Call, q.Unlearned.Call, q.MemoryReturns(), q.Weak, toJSON(q.Reading)})
	}
	return out
}

// checkQuantised refuses quantised copies of several unlearned models: it is not known of which.
func (a *loader) checkQuantised() {
	if n := len(a.Unlearned); len(a.Quantised) > 0 && n > 1 {
		var names []string
		for _, m := range a.Unlearned {
			names = append(names, m.Name)
		}
		a.problems.add(a.Quantised[0].Name, "a quantised copy is of the unlearned model, and there are %d (%s): audit one at a "+
			"time", n, strings.Join(names, ", "))
	}
}
