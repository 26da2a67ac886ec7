// What the inputs of the records say by themselves, without any model: copies that stay, and whether the
// sets differ.

package judge

import (
	"fmt"
	"slices"

	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/report"
)

// InputChecks is what the inputs of the records say, without any model.
type InputChecks struct {
	// Copies says which forgotten records stay in training as copies; nil: see CopiesWhy.
	Copies    *audit.Copies
	CopiesWhy string
	// Blind tells forgotten from held-out records by their inputs alone; nil: see BlindWhy.
	Blind    *audit.Reading
	BlindWhy string
	// ByClasses says that there are no inputs, and that labels alone tell the sets apart.
	ByClasses bool
}

// inputFiles says what to save.
const inputFiles = "needs inputs.npy (n, d): what models are given of each record; for texts input_tokens.npy and input_offset.npy"

// checkInputs returns what the inputs say.
func (e *Evidence) checkInputs() *InputChecks {
	c := &InputChecks{}
	switch {
	case !e.HasInputs():
		c.CopiesWhy, c.BlindWhy = inputFiles, inputFiles
		c.checkClasses(e)
		return c
	case len(e.Retain) == 0:
		c.CopiesWhy = "needs " + setFiles[Retain]
	default:
		var err error
		if c.Copies, err = e.Copies(); err != nil {
			c.Copies, c.CopiesWhy = nil, "failed: "+err.Error()
		}
	}
	if len(e.HeldOut) == 0 {
		c.BlindWhy = "needs " + setFiles[HeldOut]
		return c
	}
	var err error
	if c.Blind, err = e.BlindAttack(); err != nil {
		c.Blind, c.BlindWhy = nil, "failed: "+err.Error()
	} else if why := c.Blind.NoEvidence; why.Call != "" {
		c.Blind, c.BlindWhy = nil, why.Why
	}
	return c
}

// classLevel is the level at which classes must tell the sets apart: where they hardly differ, the null is nearly right.
const classLevel = 0.999

// checkClasses sets the blind attack by labels alone where these tell the sets apart without doubt, as where a whole class is
// forgotten. Where they do not, inputs may, and nothing is said.
func (c *InputChecks) checkClasses(e *Evidence) {
	if e.Labels == nil || len(e.HeldOut) == 0 {
		return
	}
	r, err := e.ClassAttack()
	if err != nil || r.NoEvidence.Call != "" {
		return
	}
	if sure := r.AtLevel(classLevel); sure.Low > *r.Null || sure.High < *r.Null {
		c.Blind, c.BlindWhy, c.ByClasses = r, "", true
	}
}

// classesGone reports whether all forgotten records are of classes of which no record is retained, as where a whole class is
// forgotten.
func (e *Evidence) classesGone() bool {
	if e.Labels == nil || len(e.Retain) == 0 {
		return false
	}
	kept := map[int]bool{}
	for _, i := range e.Retain {
		kept[e.Labels[i]] = true
	}
	return !slices.ContainsFunc(e.Forget, func(i int) bool { return kept[e.Labels[i]] })
}

// attacked says by what the blind attack tells the sets apart.
func (c *InputChecks) attacked() string {
	if c.ByClasses {
		return "classes"
	}
	return "inputs"
}

// difference returns the blind attack where its interval leaves out its null: the sets differ by themselves.
func (c *InputChecks) difference() *audit.Reading {
	if b := c.Blind; b != nil && (b.Low > *b.Null || b.High < *b.Null) {
		return b
	}
	return nil
}

// notJudged says which of the checks were not made, and why.
func (c *InputChecks) notJudged() (out []string) {
	if c.Copies == nil {
		out = append(out, fmt.Sprintf("copies of forgotten records among the retained ones: %s.", c.CopiesWhy))
	} else if c.Copies.NearWhy != "" {
		out = append(out, fmt.Sprintf("near copies of forgotten records: %s.", c.Copies.NearWhy))
	}
	if c.Blind == nil {
		out = append(out, fmt.Sprintf("the blind attack, whether forgotten and held-out records differ by themselves: %s.", c.BlindWhy))
	}
	return out
}

// Sentences are the checks in words.
func (c *InputChecks) Sentences(e *Evidence) []string {
	var out []string
	if c.Copies != nil {
		out = append(out, copySentences(c.Copies, e)...)
	}
	if c.Blind != nil {
		out = append(out, c.blindSentence())
	}
	for _, why := range c.notJudged() {
		out = append(out, "Not judged, "+why)
	}
	return out
}

// copySentences says which forgotten records stay as copies.
func copySentences(c *audit.Copies, e *Evidence) (out []string) {
	if n := len(c.IdenticalRows); n > 0 {
		out = append(out, fmt.Sprintf("%s among the retained ones (rows %s). What stays in training cannot be forgotten: "+
			"a model retrained without the forgotten records knows these too.", haveCopies(n, len(e.Forget), "an identical copy"), someRows(c.IdenticalRows)))
	} else {
		out = append(out, fmt.Sprintf("%s among %s.", haveCopies(n, len(e.Forget), "an identical copy"), counted(len(e.Retain), "retained record")))
	}
	if len(c.HeldOutRows) > 0 {
		out = append(out, heldOutCopies(c))
	}
	if c.NearWhy != "" {
		return out
	}
	s := haveCopies(len(c.NearRows), c.Compared, "a near copy") + " among " + counted(c.Searched, "retained record")
	if len(c.NearRows) > 0 {
		s += fmt.Sprintf(" (rows %s)", someRows(c.NearRows))
	}
	s += ": " + c.Measure + "."
	if c.Chance > 0 {
		s += fmt.Sprintf(" By this measure %g in 100 records are near where none is a copy", 100*c.Chance)
		if len(c.NearRows) > 0 && c.Near.Low <= c.Chance {
			s += ", so that chance alone explains these"
		}
		s += "."
	}
	return append(out, s)
}

// heldOutCopies warns of held-out records that the models were trained on.
func heldOutCopies(c *audit.Copies) string {
	have := "have"
	if len(c.HeldOutRows) == 1 {
		have = "has"
	}
	return fmt.Sprintf("%s %s an identical copy among the forgotten or the retained ones (rows %s): the models were trained on these inputs; "+
		"leave such rows out of heldout.npy.", counted(len(c.HeldOutRows), "held-out record"), have, someRows(c.HeldOutRows))
}

// haveCopies says how many of the forgotten records have a copy.
func haveCopies(n, of int, copy string) string {
	switch {
	case of == 1 && n == 1:
		return "The only forgotten record has " + copy
	case of == 1:
		return "The only forgotten record does not have " + copy
	case n == 0:
		return fmt.Sprintf("None of %d forgotten records has %s", of, copy)
	case n == 1:
		return fmt.Sprintf("1 of %d forgotten records has %s", of, copy)
	}
	return fmt.Sprintf("%d of %d forgotten records have %s", n, of, copy)
}

// counted is a number of things.
func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// warnings are those of an audit, and of its inputs.
func (r *Report) warnings() []string {
	out := append([]string{}, r.Evidence.Notes...)
	if c := r.Inputs.Copies; c != nil && len(c.HeldOutRows) > 0 {
		out = append(out, heldOutCopies(c))
	}
	return out
}

// blindSentence says whether the sets differ by themselves, and what follows.
func (c *InputChecks) blindSentence() string {
	s := fmt.Sprintf("Blind attack: the %s alone, without any model, tell forgotten from held-out records with an AUC of %.3f (%.3f to "+
		"%.3f); 0.5 is guessing, "+
		"and chance alone stays within %.3f of it in 95 of 100 cases. ", c.attacked(), c.Blind.Value, c.Blind.Low, c.Blind.High, c.Blind.Floor.P95)
	if c.difference() == nil {
		return s + "No difference of the sets is seen, so that nothing speaks against the null of the attacks. A weak difference, or one that " +
			"this attack does not " +
			"look for, would be missed."
	}
	return s + "The sets differ by themselves: an attack on a model may reach as much, on either side of 0.5, without any memory. What the blind " +
		"attack reaches takes " +
		"the place of the null wherever there is no retrained model; a retrained model is subject to the same difference, so that comparisons with it hold."
}

// someRows names the first rows of many.
func someRows(rows []int) string {
	s := ""
	for k, i := range rows[:min(len(rows), 8)] {
		if k > 0 {
			s += ", "
		}
		s += fmt.Sprint(i)
	}
	if len(rows) > 8 {
		s += ", ..."
	}
	return s
}

// parts is the section of the page.
func (c *InputChecks) parts(e *Evidence) []report.Part {
	t := &report.Table{Title: "What the inputs say without any model", Columns: []report.Column{
		{Name: "question"}, {Name: "number"}, {Name: "chance", Note: "what there is of it by chance alone"}, {Name: "records"},
	}}
	if c.Copies != nil {
		t.Add(report.Str("share of forgotten records with an identical retained copy"), report.Est(c.Copies.Identical, 3), report.Gap("none"),
			report.Num(float64(len(e.Forget)), 0))
	}
	if c.Copies != nil && c.Copies.NearWhy == "" {
		t.Add(report.Str("share with a near copy, and no identical one"), report.Est(c.Copies.Near, 3), report.Num(c.Copies.Chance, 2),
			report.Num(float64(c.Copies.Compared), 0))
	}
	if c.Blind != nil {
		t.Add(report.Str("AUC of the blind attack, forgotten against held-out"), report.Est(c.Blind.Estimate, 3),
			report.Str(fmt.Sprintf("0.5 within %.3f", c.Blind.Floor.P95)), report.Num(float64(len(e.Forget)+len(e.HeldOut)), 0))
	}
	out := []report.Part{report.List(c.Sentences(e))}
	if len(t.Rows) > 0 {
		out = append([]report.Part{t}, out...)
	}
	return out
}

// beware says what of the checks a reader of the summary must know; empty: nothing.
func (r *Report) beware(model string) string {
	s, c, e := "", r.Inputs, r.Evidence
	if c.Copies != nil && len(c.Copies.IdenticalRows) > 0 {
		s = fmt.Sprintf("Identical copies of %d of %d forgotten records stay in training, and cannot be forgotten. ",
			len(c.Copies.IdenticalRows), len(e.Forget))
	}
	if b := c.difference(); b != nil {
		s += fmt.Sprintf("Forgotten and held-out records differ by themselves: guessing from the %s alone reaches an AUC of %.2f. ", c.attacked(), b.Value)
	}
	h := r.Headline(model)
	if c.Blind == nil && h.Supposes != "" {
		s += unlikeByThemselves + " "
	}
	if e.Groups == nil && h.Answer.Accuses() {
		s += ungrouped
	}
	return s
}

// supposed is what the nulls of attacks suppose of the sets, with what the inputs say of it.
func (c *InputChecks) supposed() string {
	switch {
	case c.Blind == nil:
		return "forgotten and held-out records were drawn alike, which nothing here shows"
	case c.difference() == nil:
		return "forgotten and held-out records were drawn alike, which their inputs do not contradict"
	}
	return fmt.Sprintf("forgotten and held-out records differ in nothing but what their %s show", c.attacked())
}

const unlikeByThemselves = "Records that are rare, wrong or contradict others look pushed away, or remembered, in a model that never had them. " +
	"A retrained model shows it, and inputs.npy may."

// ungrouped is said of an accused model where records are taken as independent.
const ungrouped = "No group.npy says which records belong together. If several are of one person or document, intervals are too short, and another " +
	"seed may move them as one."

// jsonInputs is the JSON form; null: not judged, for the reason beside it.
type jsonInputs struct {
	Copies    *jsonCopies  `json:"copies"`
	CopiesWhy string       `json:"copies_not_judged,omitempty"`
	Blind     *jsonReading `json:"blind_attack"`
	BlindWhy  string       `json:"blind_attack_not_judged,omitempty"`
	Differ    bool         `json:"sets_differ"`
	Sentences []string     `json:"says"`
}

type jsonCopies struct {
	Identical     jsonShare `json:"identical"`
	IdenticalRows []int     `json:"identical_rows"`
	Near          jsonShare `json:"near"`
	NearRows      []int     `json:"near_rows"`
	NearWhy       string    `json:"near_not_judged,omitempty"`
	Measure       string    `json:"near_measure"`
	Chance        float64   `json:"near_by_chance"`
	Compared      int       `json:"near_compared"`
	Searched      int       `json:"near_searched"`
	HeldOutRows   []int     `json:"heldout_rows_in_training"`
}

type jsonShare struct {
	Value *float64 `json:"value"`
	Low   *float64 `json:"low"`
	High  *float64 `json:"high"`
}

func (c *InputChecks) json(e *Evidence) jsonInputs {
	out := jsonInputs{CopiesWhy: c.CopiesWhy, BlindWhy: c.BlindWhy, Differ: c.difference() != nil, Sentences: c.Sentences(e)}
	if c.Blind != nil {
		r := toJSON(*c.Blind)
		out.Blind = &r
	}
	if k := c.Copies; k != nil {
		share := func(value, low, high float64) jsonShare {
			return jsonShare{report.FiniteOrNil(value), report.FiniteOrNil(low), report.FiniteOrNil(high)}
		}
		out.Copies = &jsonCopies{
			Identical: share(k.Identical.Value, k.Identical.Low, k.Identical.High), IdenticalRows: append([]int{}, k.IdenticalRows...),
			Near: share(k.Near.Value, k.Near.Low, k.Near.High), NearRows: append([]int{}, k.NearRows...), NearWhy: k.NearWhy, Measure: k.Measure,
			Chance: k.Chance, Compared: k.Compared, Searched: k.Searched, HeldOutRows: append([]int{}, k.HeldOutRows...),
		}
	}
	return out
}
