// The page of a report: its sections, tables and figures, with methods and provenance.

package judge

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/plot"
	"github.com/lethe-ml/lethe/lib/report"
)

// Page returns the whole report.
func (r *Report) Page() (*report.Page, error) {
	e := r.Evidence
	p := &report.Page{Title: "Has the model forgotten?"}
	add := func(title string, parts ...report.Part) {
		p.Sections = append(p.Sections, report.Section{Title: title, Parts: parts})
	}

	add("In short", r.Summary()...)
	add("Assumptions", report.Text("The arrays cannot show whether these hold: row i is the same record in every "+
		"array; no model was trained on the held-out records; forget and held-out records have the same distribution where a null stands for "+
		"a model that never had the records."))
	if list := r.warnings(); len(list) > 0 {
		add("Warnings", report.List(list))
	}
	data := []report.Part{e.setTable(), e.modelTable()}
	if texts := r.groupTexts(); texts != nil {
		data = append(data, texts)
	}
	add("The data", data...)
	add("The records by themselves", r.Inputs.parts(e)...)
	picture, err := r.picture()
	if err != nil {
		return nil, err
	}
	var answers report.List
	answers = append(answers, r.Answers()...)
	add("The verdicts", append([]report.Part{answers, r.Table(), r.verdictTexts()}, picture...)...)
	records, err := r.exposureParts()
	if err != nil {
		return nil, err
	}
	if len(records) > 0 {
		add("Single records", records...)
	}
	if r.Trajectory != nil {
		along, err := r.Trajectory.parts()
		if err != nil {
			return nil, err
		}
		add("Along unlearning", along...)
	}
	if parts := r.costParts(); parts != nil {
		add("What unlearning cost", parts...)
	}
	if parts := r.quantisedParts(); parts != nil {
		add("Quantised copies", parts...)
	}
	losses, err := e.lossPicture()
	if err != nil {
		return nil, err
	}
	if len(losses) > 0 {
		add("What the outputs look like", losses...)
	}
	add("What would have been missed", report.Text("The distance from its reference at which a lens by itself detects a model in four audits "+
		"of five, for this audit's numbers of records. An answer takes all families of lenses together and needs more: a tenth more of two families, "+
		"a fifth more of four."), report.List(r.Power()))
	if list := r.NotJudged(); len(list) > 0 {
		add("What was not judged, and why", report.List(list))
	}
	if parts := r.Disagreements(); len(parts) > 0 {
		add("Where the lenses disagree", report.Text("Lenses ask different questions. Outputs change first, and layers below may keep a trace. A "+
			"threshold uses less than the whole curve. A reading far from its reference is more certain than one close to it."), report.List(parts))
	}
	if settle := r.Suggestions(); len(settle) > 0 {
		add("What would make the audit more informative", report.List(settle))
	}
	if published := e.publishedParts(); len(published) > 0 {
		add("Numbers as published, not a verdict", published...)
	}
	add("How each number is computed", r.methodParts()...)
	add("Where the numbers come from", r.provenance()...)
	add("Annex: the tests in the terms of EDPB Opinion 28/2024", r.opinionParts()...)
	add("Glossary", glossary)
	return p, nil
}

// Parts returns the report for a notebook, nb.Show(r.Parts()...): answers, warnings, verdicts,
// readings, the records that stand out, the trajectory, and which lenses were skipped.
func (r *Report) Parts() []any {
	var out []any
	for _, a := range r.Answers() {
		out = append(out, "**"+a+"**")
	}
	for _, n := range r.Evidence.Notes {
		out = append(out, "Warning: "+n)
	}
	for _, s := range r.groupTexts() {
		out = append(out, s)
	}
	for _, s := range r.Inputs.Sentences(r.Evidence) {
		out = append(out, s)
	}
	if len(r.Verdicts) > 0 {
		out = append(out, r.Table())
		if f, err := r.Figure(); err == nil {
			out = append(out, f)
		}
	}
	for _, s := range r.QuantisedSentences() {
		out = append(out, s)
	}
	for _, c := range r.Costs {
		out = append(out, c.String())
	}
	if len(r.Exposures) > 0 {
		for _, m := range r.Evidence.ModelsOf(Unlearned) {
			for _, s := range r.StandOut(m.Name) {
				out = append(out, s)
			}
		}
		out = append(out, r.RatesTable(), r.RecordsTable())
	}
	if t := r.Trajectory; t != nil && len(t.Curves) > 0 {
		for _, s := range t.Sentences() {
			out = append(out, s)
		}
		for _, table := range t.Tables() {
			out = append(out, table)
		}
		if f, err := t.Figure(); err == nil {
			out = append(out, f)
		}
	}
	skipped := ""
	for _, u := range r.Skipped {
		skipped += fmt.Sprintf("- %s: %s\n", u.Name(), u.Why)
	}
	if skipped != "" {
		out = append(out, "Lenses that were not used:\n\n"+skipped)
	}
	return out
}

func (e *Evidence) question() string {
	return cmp.Or(e.Question, fmt.Sprintf("Does the unlearned model still remember the %d forgotten records?", len(e.Forget)))
}

func (e *Evidence) setTable() *report.Table {
	t := &report.Table{Title: "Records", Columns: report.Columns("set", "records")}
	if e.grouped() {
		t.Columns = append(t.Columns, report.Column{Name: e.Units()})
	}
	for _, s := range []struct {
		name string
		rows []int
	}{{"forget", e.Forget}, {"retained", e.Retain}, {"held out", e.HeldOut}, {"in none of them", e.unused()}} {
		cells := []report.Cell{report.Str(s.name), report.Num(float64(len(s.rows)), 0)}
		if e.grouped() {
			cells = append(cells, report.Num(float64(e.CountGroups(s.rows)), 0))
		}
		t.Add(cells...)
	}
	return t
}

// unused returns the records in no set.
func (e *Evidence) unused() (rows []int) {
	used := make([]bool, e.Records)
	for _, i := range slices.Concat(e.Forget, e.Retain, e.HeldOut) {
		used[i] = true
	}
	for i, is := range used {
		if !is {
			rows = append(rows, i)
		}
	}
	return rows
}

// modelTable shows the accuracies of every model on the sets; shadow models and checkpoints are
// only counted.
func (e *Evidence) modelTable() *report.Table {
	t := &report.Table{
		Title: "Models", Columns: report.Columns("model", "arrays", "accuracy on forget", "on retained", "on held out"),
		Caption: "Shares of records that are classified as labelled. They lead to no verdict, but show how much there was to remember.",
	}
	for _, m := range e.Models {
		if m.Role == Shadow || m.Role == Checkpoint {
			continue
		}
		cells := []report.Cell{report.Str(m.Name), report.Str(arraysText(m))}
		for _, rows := range [][]int{e.Forget, e.Retain, e.HeldOut} {
			if m.Correct == nil || len(rows) == 0 {
				cells = append(cells, report.Gap("unknown"))
				continue
			}
			cells = append(cells, report.Num(m.ShareCorrect(rows), 3))
		}
		t.Add(cells...)
	}
	if n := len(e.ModelsOf(Shadow)); n > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("There are also %d shadow models.", n))
	}
	if n := len(e.ModelsOf(Checkpoint)); n > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("%d checkpoints are shown under Along unlearning.", n))
	}
	return t
}

// arraysText names the arrays of a model.
func arraysText(m *Model) string {
	var out []string
	switch {
	case m.Outputs != nil && m.Logits:
		out = append(out, "logits")
	case m.Outputs != nil:
		out = append(out, "probabilities")
	case m.Losses != nil:
		out = append(out, "losses")
	}
	if m.Tokens != nil {
		out = append(out, fmt.Sprintf("%d tokens", len(m.Tokens.LogProb)))
	}
	if m.Answers != nil {
		out = append(out, "answers")
	}
	if m.Patched != nil {
		out = append(out, fmt.Sprintf("patched layers (%d)", m.Patched.Width()))
	}
	if m.Embedding != nil {
		out = append(out, fmt.Sprintf("embedding (%d)", m.Embedding.Width()))
	}
	for _, name := range sortedKeys(m.Layers) {
		out = append(out, fmt.Sprintf("%s (%d)", name, m.Layers[name].Width()))
	}
	return joinNames(out)
}

// Table has a row per lens and unlearned model.
func (r *Report) Table() *report.Table {
	t := &report.Table{
		ID: "audit", Title: fmt.Sprintf("Verdicts on %d forgotten records", len(r.Evidence.Forget)),
		Columns: []report.Column{
			{Name: "lens"}, {Name: "verdict"}, {Name: "reading"}, {Name: "original"}, {Name: "retrained"},
			{Name: "memory", Note: "the side of the null on which memory is read"},
			{Name: "chance", Note: "how far from its null the number is by chance in 95 of 100 cases"},
			{Name: "n", Note: "records or draws behind the reading"},
		},
		Caption: "Each number with its 95 % interval. The verdict places the model between the original and the retrained model, or " +
			"the null where there is none.",
	}
	grouped := r.Evidence.grouped()
	if grouped {
		t.Columns[len(t.Columns)-1].Note = r.Evidence.Units() + ", records or draws behind the reading, which its interval is over"
		effect := "variance over " + r.Evidence.Units() + " divided by that over independent records"
		t.Columns = append(t.Columns, report.Column{Name: "design effect", Note: effect})
	}
	for _, m := range r.Evidence.ModelsOf(Unlearned) {
		group := ""
		if len(r.Evidence.ModelsOf(Unlearned)) > 1 {
			group = m.Name
		}
		for _, v := range r.verdictsOn(m.Name) {
			cells := []report.Cell{
				report.Str(v.Name()), report.Cell{}.WithVerdict(string(v.Call)), readingCell(&v.Reading), readingCell(v.Original), v.retrainedCell(),
				v.null(), v.chance(), report.Num(float64(v.Reading.N), 0),
			}
			if grouped {
				cells = append(cells, designEffect(v.Reading))
			}
			t.Rows = append(t.Rows, report.Row{Group: group, Cells: cells})
		}
	}
	for _, m := range r.Evidence.ModelsOf(Unlearned) {
		if s := r.weakText(m.Name); s != "" {
			t.Notes = append(t.Notes, m.Name+": "+s)
		}
	}
	return t
}

func readingCell(r *audit.Reading) report.Cell {
	if r == nil {
		return report.Gap("none")
	}
	if r.Absent != "" {
		return report.Gap("no number")
	}
	return report.Est(r.Estimate, 3)
}

func (v Verdict) retrainedCell() report.Cell {
	if len(v.Retrained) == 0 {
		return readingCell(nil)
	}
	return readingCell(v.shownReference())
}

// shownReference is the reference with an interval that ends where the lens's values do: no share is below 0. Verdicts are
// computed without these ends, which say nothing of seeds.
func (v Verdict) shownReference() *audit.Reading {
	ref, about := v.reference(), v.Lens.Info()
	if ref == nil || about.Low == about.High {
		return ref
	}
	out := *ref
	out.Low, out.High = max(out.Low, about.Low), min(out.High, about.High)
	return &out
}

func (v Verdict) null() report.Cell {
	side := map[audit.Side]string{audit.Above: "above", audit.Below: "below"}[v.Reading.Memory]
	if v.Reading.Null == nil {
		return report.Str(side + ", no null")
	}
	return report.Str(fmt.Sprintf("%s %g", side, *v.Reading.Null))
}

func (v Verdict) chance() report.Cell {
	if math.IsNaN(v.Reading.Floor.P95) {
		return report.Gap("unknown")
	}
	return report.Num(v.Reading.Floor.P95, 3)
}

// methodParts explains the rules of the report and every lens that was used or skipped.
func (r *Report) methodParts() []report.Part {
	var items report.List
	seen := map[string]bool{}
	explain := func(j Lens) {
		if !seen[j.Name()] {
			a := j.Info()
			items = append(items, fmt.Sprintf("%s. %s %s From: %s.", j.Name(), a.Asks, a.How, a.Source))
		}
		seen[j.Name()] = true
	}
	for _, v := range r.Verdicts {
		explain(v.Lens)
	}
	for _, c := range r.Costs {
		explain(c.Lens)
	}
	for _, u := range r.Skipped {
		explain(u.Lens)
	}
	if r.Trajectory != nil {
		for _, c := range r.Trajectory.Curves {
			explain(c.Lens)
		}
	}
	return []report.Part{
		report.Text("Two readings are alike if they differ by no more than the root of the sum of the squared halves of their 95 % intervals, a " +
			"test of the difference at 5 %. A model is placed only if the original is unlike the retrained model (or the null); otherwise the " +
			"lens is blind on these data. The reference of several retrained models is their mean, with an interval as wide as theirs on " +
			"average. Where forgotten and held-out records are not drawn alike it allows for the seed too, and holds Student's interval for one more " +
			"retrained model, with a moderated variance. Lenses that compare coordinates, and those whose interval is over draws, have nothing but the " +
			"spread of the models: there the interval is wide for two models and a third as wide for three. A reading that is like the retrained models " +
			"and nearer the original is unclear."),
		report.Text(fmt.Sprintf("Fewer than %d forgotten records, or held-out ones if the lens uses them, are too few: not even the most "+
			"extreme value is significant at 5 %% then (2 (1/2)^n for n records on one side). A lens cannot tell if more than half of the "+
			"pairs of values that it ranks are equal, if fewer than ten values are distinct, or if a model gives that many records the same "+
			"outputs; M4 cannot tell if more than one comparison in twenty is a tie. A step along unlearning that is farther from the original "+
			"(or the reference) than an earlier step that was told from it is told from it too.", audit.MinRecords)),
		report.Text("Every interval misses in one case of twenty. The lenses use the same records and most of them the same numbers, so that " +
			"they err together; one verdict alone against all others is weak evidence. The answer rests on verdicts that stand where " +
			"all lenses are taken together (Simes' test over families, and over the lenses of a family): a lens that accuses alone must be far out."),
		items,
	}
}

// verdictTexts explains the verdicts that occur, with their lenses.
func (r *Report) verdictTexts() report.List {
	var out report.List
	for _, m := range r.Evidence.ModelsOf(Unlearned) {
		names := map[string][]string{}
		var order []string
		for _, v := range r.verdictsOn(m.Name) {
			s := fmt.Sprintf("%s, %s. %s", m.Name, v.Call, v.Text())
			if names[s] == nil {
				order = append(order, s)
			}
			names[s] = append(names[s], v.Name())
		}
		for _, s := range order {
			out = append(out, fmt.Sprintf("%s Lenses: %s.", s, joinNames(names[s])))
		}
	}
	return out
}

// provenance returns everything that is needed to compute the report again.
func (r *Report) provenance() []report.Part {
	e := r.Evidence
	t := &report.Table{Title: "Files", Columns: report.Columns("file", "array", "bytes", "SHA-256"),
		Caption: "SHA-256 of this list, as sha256sum writes it: " + inputsHash(e.Files) +
			". lethe audit --verify report.json says whether the files are still these."}
	for _, f := range e.Files {
		t.Add(report.Str(f.Name), report.Str(f.Array), report.Num(float64(f.Bytes), 0), report.Str(f.SHA256))
	}
	return []report.Part{
		report.Text(fmt.Sprintf("Lethe %s, results version %d of the lenses, seed %d. The same folder gives the same report, byte for byte.",
			version(), Version, e.Seed)),
		t,
	}
}

// Figure draws the readings of every model, a panel per lens.
func (r *Report) Figure() (plot.Figure, error) {
	if len(r.Verdicts) == 0 {
		return nil, fmt.Errorf("judge: no lens could be used, so there is nothing to draw")
	}
	return r.panels(), nil
}

func (r *Report) panels() plot.Panels {
	out := plot.Panels{Meta: plot.Meta{Title: "Readings, with 95 % intervals"}, Columns: 1}
	for _, v := range r.Verdicts {
		if r.isFirst(v) {
			out.Figures = append(out.Figures, r.panel(v))
		}
	}
	return out
}

// isFirst reports whether a verdict is the first of its lens.
func (r *Report) isFirst(v Verdict) bool {
	k := slices.IndexFunc(r.Verdicts, func(o Verdict) bool { return o.Name() == v.Name() })
	return r.Verdicts[k].Reading.Model == v.Reading.Model
}

func (r *Report) panel(first Verdict) plot.Forest {
	f := plot.Forest{Meta: plot.Meta{Title: first.Name()}, Digits: 3}
	add := func(x audit.Reading, control bool) {
		row := plot.ForestRow{Label: x.Model, Estimate: x.Estimate, Control: control}
		if x.Absent != "" {
			row.Missing = "no number"
		}
		f.Rows = append(f.Rows, row)
	}
	for _, v := range r.Verdicts {
		if v.Name() == first.Name() {
			add(v.Reading, false)
		}
	}
	if first.Original != nil {
		add(*first.Original, true)
	}
	for _, x := range first.Retrained {
		add(x, true)
	}
	switch null := first.Reading.Null; {
	case null == nil:
	case math.IsNaN(first.Reading.Floor.P95):
		f.Null = &plot.Null{Value: *null}
	default:
		f.Null = plot.NullBand(*null, first.Reading.Floor.P95)
		f.Null.BandLabel = "chance, 95 %"
	}
	return f
}

// picture is Figure for a page; empty where there is no verdict.
func (r *Report) picture() ([]report.Part, error) {
	if len(r.Verdicts) == 0 {
		return nil, nil
	}
	return audit.PagePicture(r.panels(), 3, "Readings of every model with 95 % intervals, a panel per lens. The line is the null, the band holds 95 "+
		"of 100 values under chance alone. Squares: original and retrained models.")
}

// LossFigure draws the scaled confidences of forgotten and of held-out records by one model; nil if
// there are none.
func (e *Evidence) LossFigure(m *Model) plot.Figure {
	if m.Scaled == nil || len(e.HeldOut) == 0 {
		return nil
	}
	scaled := array.Matrix[float64]{Rows: len(m.Scaled), Cols: 1, Data: m.Scaled}
	return plot.Histograms{
		Meta: plot.Meta{Title: m.Name}, X: plot.Axis{Label: "scaled confidence, higher: better fitted"},
		Samples: []plot.Sample{
			{Name: "forgotten", Values: scaled.Gather(e.Forget).Data},
			{Name: "held out", Values: scaled.Gather(e.HeldOut).Data, Control: true},
		},
	}
}

// lossPicture draws LossFigure of the first model of each role.
func (e *Evidence) lossPicture() ([]report.Part, error) {
	var panels []plot.Figure
	for _, role := range []Role{Unlearned, Original, Retrained} {
		if of := e.ModelsOf(role); len(of) > 0 {
			if f := e.LossFigure(of[0]); f != nil {
				panels = append(panels, f)
			}
		}
	}
	if len(panels) == 0 {
		return nil, nil
	}
	return audit.PagePicture(plot.Panels{Columns: 1, Figures: panels}, 2, "How well forgotten and held-out records are fitted. A model that has forgotten "+
		"treats both alike.")
}
