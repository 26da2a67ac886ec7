// The annex in the words of EDPB Opinion 28/2024: which part of it which test of the report speaks to.

package judge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/report"
)

// The paragraph numbers, and what the paragraphs ask, were written from memory of the published text of Opinion
// 28/2024 of the European Data Protection Board, adopted on 17 December 2024, and in words of our own. They could
// not be compared with it here: check them before anything rests on them.

// opinionRow is one part of the opinion and what the report has for it.
type opinionRow struct{ part, asks, tested string }

// cell names the part and says what it asks.
func (o opinionRow) cell() report.Cell { return report.Str(fmt.Sprintf("%s (%s)", o.asks, o.part)) }

// opinionRows returns the parts of the opinion in their order.
func (r *Report) opinionRows() []opinionRow {
	const attacks = "section 3.2.2, para. 55"
	rows := []opinionRow{
		{"section 3.2.1, para. 43", "When a model is anonymous: that personal data of people in the training data are insignificantly likely to " +
			"be extracted, directly " +
			"or as probabilities, and insignificantly likely to be obtained by queries, intended or not; for any person, with all means " +
			"reasonably likely to be used",
			fmt.Sprintf("In part: the tests below, for the %d forgotten records alone. Other people and other means were not tested.", len(r.Evidence.Forget))},
		{"section 3.2.2, paras 49 to 53", "Design: sources of the data, their preparation and minimisation, the method of training, and measures " +
			"on outputs", r.designTested()},
		{"section 3.2.2, para. 54", "Analysis of the model: audits, and that design choices were carried out as planned",
			"In part: this report is a test of one model from its saved arrays. How it was made was not looked at."},
		{attacks, "Tests against attacks: membership inference", r.testedBy(func(l Lens) bool { return l.Info().Null == audit.NonmemberNull })},
		{attacks, "Tests against attacks: attribute inference", "Not tested: no lens infers attributes."},
		{attacks, "Tests against attacks: exfiltration of the model or its data", "Not tested: it is about the system around the model."},
		{attacks, "Tests against attacks: regurgitation of training data", r.testedBy(func(l Lens) bool { return slices.Contains(regurgitation, l.Name()) })},
		{attacks, "Tests against attacks: model inversion", "Not tested: no lens inverts the model."},
		{attacks, "Tests against attacks: reconstruction of training data", "Not tested: no lens on saved arrays reconstructs records."},
		{"section 3.2.2, paras 56 to 58", "Documentation of measures, tests and their results",
			"In part: this report, report.json, and the SHA-256 of every file under Where the numbers come from. All else is the controller's."},
	}
	return rows
}

// regurgitation are the lenses on what a model says word by word.
var regurgitation = []string{audit.ExactMemorisation{}.Name(), audit.ExtractionStrength{}.Name(), audit.Probability{}.Name()}

// designTested says what the report has on the preparation of the data.
func (r *Report) designTested() string {
	if c := r.Inputs.Copies; c != nil {
		return fmt.Sprintf("Not tested, but for one point of the preparation: the forgotten records with an identical copy among the retained ones are "+
			"%d of %d.", len(c.IdenticalRows), len(r.Evidence.Forget))
	}
	return "Not tested."
}

// testedBy names the lenses of a kind that were used, with their verdicts on every unlearned model.
func (r *Report) testedBy(is func(l Lens) bool) string {
	var used, lacking []string
	for _, v := range r.Verdicts {
		if is(v.Lens) {
			s := fmt.Sprintf("%s: %s", v.Name(), v.Call)
			if len(r.Evidence.ModelsOf(Unlearned)) > 1 {
				s = fmt.Sprintf("%s of %s: %s", v.Name(), v.Reading.Model, v.Call)
			}
			used = append(used, s)
		}
	}
	for _, u := range r.Skipped {
		if is(u.Lens) && !slices.Contains(lacking, u.Name()) {
			lacking = append(lacking, u.Name())
		}
	}
	s := "Not tested"
	if len(used) > 0 {
		s = "Tested on the forgotten records. " + strings.Join(used, "; ")
	}
	switch {
	case len(lacking) > 0:
		s += fmt.Sprintf(". Not used, for lack of arrays: %s", joinNames(lacking))
	case len(used) == 0:
		s += ": no such lens for these arrays"
	}
	return s + "."
}

// opinionParts is the annex.
func (r *Report) opinionParts() []report.Part {
	t := &report.Table{
		Title: "EDPB Opinion 28/2024 and this report", Columns: report.Columns("part of the opinion", "in this report"),
		Caption: "In words of our own; the numbers of sections and paragraphs were not compared with the published text.",
	}
	for _, row := range r.opinionRows() {
		t.Add(row.cell(), report.Str(row.tested))
	}
	return []report.Part{
		report.Text("Opinion 28/2024 of the European Data Protection Board, adopted on 17 December 2024, says what authorities look at when it " +
			"is claimed that a model " +
			"trained on personal data is anonymous. The table says which of its parts a test of this report speaks to, and what was not tested."),
		report.Strong("This is no legal advice and no proof that the model is anonymous. Whether it is, is assessed case by case, by the " +
			"controller and by the supervisory authority."),
		t,
	}
}
