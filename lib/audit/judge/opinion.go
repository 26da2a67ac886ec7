// The annex in the words of EDPB Opinion 28/2024: which part of it which test of the report speaks to.

package judge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/report"
)

// What the paragraphs ask is in words of our own. The numbers 43, 46, 55 with its points (i) to (v), and 58 with its points
// were compared with public works that quote Opinion 28/2024 of the European Data Protection Board, adopted on 17
// December 2024, by paragraph; 49 to 54, 56 and 57 are from memory of the published text, which was not at hand.

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
		{"section 3.2.2, para. 46", "Context of use: a public model calls for other tests, and more of them, than one that employees alone can reach",
			"Not known: saved arrays do not say who can reach the model. Of a model whose weights are public, tests on outputs show too little."},
		{"section 3.2.2, paras 49 to 53", "Design: sources of the data, their preparation and minimisation, the method of training, and measures " +
			"on outputs", r.designTested()},
		{"section 3.2.2, para. 54", "Analysis of the model: audits, and that design choices were carried out as planned",
			"In part: this report is a test of one model from its saved arrays. How it was made was not looked at."},
		{attacks, "Scope, frequency, number and quality of the tests; a test that was passed speaks of its own attack alone", r.scopeOfTests()},
		{attacks + "(i)", "Tests against attacks: membership inference", r.testedBy(func(l Lens) bool { return l.Info().Null == audit.NonmemberNull })},
		{attacks + "(i)", "Tests against attacks: attribute inference", "Not tested: no lens infers attributes."},
		{attacks + "(ii)", "Tests against attacks: exfiltration of the model or its data", "Not tested: it is about the system around the model."},
		{attacks + "(iii)", "Tests against attacks: regurgitation of training data", r.testedBy(onRegurgitation)},
		{attacks + "(iv)", "Tests against attacks: model inversion", "Not tested: no lens inverts the model."},
		{attacks + "(v)", "Tests against attacks: reconstruction of training data", "Not tested: no lens on saved arrays reconstructs records."},
		{"section 3.2.2, paras 56 to 58", "Documentation of measures, tests and their results; in para. 58 the threat model (c), how the lack of " +
			"personal data was verified (d), and how well the model resists the main attacks (e)",
			"In part, for (d) and (e): this report, report.json, and the SHA-256 of every file under Where the numbers come from. " +
				"All else is the controller's."},
	}
	return rows
}

// scopeOfTests counts what was tested, on what, and how often.
func (r *Report) scopeOfTests() string {
	names := map[string]bool{}
	for _, v := range r.Verdicts {
		names[v.Lens.Name()] = true
	}
	about := []string{
		report.Plural(len(names), "test"), "on " + report.Plural(len(r.Evidence.ModelsOf(Unlearned)), "unlearned model"),
		"with " + report.Plural(len(r.Evidence.ModelsOf(Retrained)), "retrained model") + " to compare",
		report.Plural(len(r.Evidence.Forget), "forgotten record"), report.Plural(len(r.Evidence.HeldOut), "held-out record"),
	}
	return fmt.Sprintf("%s; once, on the arrays of this report. Not used, for lack of arrays: %d.", strings.Join(about, ", "), len(r.Skipped))
}

// onRegurgitation tells whether a lens is on what a model says word by word.
func onRegurgitation(l Lens) bool {
	return slices.Contains([]string{audit.ExactMemorisation{}.Name(), audit.ExtractionStrength{}.Name(), audit.Probability{}.Name()}, l.Name())
}

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
		Caption: "In words of our own. The numbers 43, 46, 55 and 58 are those of public works that quote the opinion; 49 to 54, 56 and 57 are from memory.",
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
