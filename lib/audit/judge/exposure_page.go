// The section of a report on single records: true-positive rates, ROC curves and
// the most exposed records.

package judge

import (
	"fmt"
	"math"
	"slices"

	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/plot"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/stats"
)

// recordsOnPage is the number of records of each lens that a page lists; report.json has more.
const recordsOnPage = 10

// exposuresOf returns the exposures of one lens, one per model.
func (r *Report) exposuresOf(lens string) []Exposure {
	return slices.DeleteFunc(slices.Clone(r.Exposures), func(x Exposure) bool { return x.Lens.Name() != lens })
}

// scorers returns the names of the lenses that have exposures.
func (r *Report) scorers() []string {
	var out []string
	for _, x := range r.Exposures {
		if !slices.Contains(out, x.Lens.Name()) {
			out = append(out, x.Lens.Name())
		}
	}
	return out
}

// label names the model, and says where its scores were read from the other side.
func (x Exposure) label() string {
	if x.Reversed {
		return x.Model + " (low scores)"
	}
	return x.Model
}

// RatesTable has a row per lens and model: the true-positive rates at few false alarms.
func (r *Report) RatesTable() *report.Table {
	t := &report.Table{
		ID: "rates", Title: "Forgotten records that are recognised, at few false alarms", Columns: report.Columns("model"),
		Caption: "TPR, the true-positive rate, is the share of forgotten records that score above a threshold; FPR, the false-positive rate, the " +
			"share of held-out " +
			"records above the same threshold. Each with a 95 % interval that counts the uncertainty of the threshold too. A model that has " +
			"forgotten has about as many true positives as false ones.",
	}
	for _, rate := range FalsePositiveRates {
		t.Columns = append(t.Columns, report.Column{Name: "TPR at " + rateName(rate) + " FPR"})
	}
	t.Columns = append(t.Columns, report.Column{Name: "held out"})
	few := map[int]bool{}
	for _, name := range r.scorers() {
		for _, x := range r.exposuresOf(name) {
			cells := []report.Cell{report.Str(x.label())}
			for i, e := range x.Rates {
				cells = append(cells, rateCell(e))
				few[i] = few[i] || math.IsNaN(e.Value)
			}
			t.Rows = append(t.Rows, report.Row{Group: name, Cells: append(cells, report.Num(float64(x.HeldOut), 0))})
		}
	}
	for i, rate := range FalsePositiveRates {
		if few[i] {
			t.Notes = append(t.Notes, fmt.Sprintf("A false-positive rate of %s cannot be measured with fewer than %.0f held-out records: one of "+
				"them alone is more. Only an upper bound is known.", rateName(rate), math.Ceil(1/rate-1e-9)))
		}
	}
	if r.Evidence.grouped() {
		t.Notes = append(t.Notes, fmt.Sprintf("Intervals count as if all records of one %s were recognised or none, which is too wide where they differ.",
			r.Evidence.unit()))
	}
	t.Notes = append(t.Notes, "An interval that begins at 0 means that the held-out records are too few to determine the threshold.")
	return t
}

// rateCell shows a true-positive rate, or its upper bound where it cannot be measured.
func rateCell(e stats.Estimate) report.Cell {
	if math.IsNaN(e.Value) {
		return report.Gap("not measurable, at most " + report.FormatNumber(e.High, 3))
	}
	return report.Est(e, 3)
}

// RecordsTable lists the most exposed forgotten records of the unlearned models.
func (r *Report) RecordsTable() *report.Table {
	t := &report.Table{
		ID: "exposed", Title: "The most exposed forgotten records",
		Columns: []report.Column{
			{Name: "rank", Note: "among the forgotten records, 1 is the most exposed"},
			{Name: "row", Note: "of the arrays, counted from 0"},
			{Name: "score"},
			{Name: "held out as high", Note: "held-out records that score at least as high"},
			{Name: "share"},
			{Name: "z", Note: "standard deviations of the held-out scores above their mean"},
		},
	}
	for _, name := range r.scorers() {
		for _, x := range r.exposuresOf(name) {
			if x.Role != Unlearned {
				continue
			}
			for _, o := range x.Records[:min(len(x.Records), recordsOnPage)] {
				t.Rows = append(t.Rows, report.Row{Group: name + ", " + x.label(), Cells: []report.Cell{
					report.Num(float64(o.Rank), 0), report.Num(float64(o.Row), 0), report.Cell{Text: fmt.Sprintf("%.4g", o.Score), Value: &o.Score},
					report.Str(fmt.Sprintf("%d of %d", o.AsHigh, x.HeldOut)), report.Num(float64(o.AsHigh)/float64(x.HeldOut), 3), zCell(o.Z),
				}})
			}
		}
	}
	t.Caption = fmt.Sprintf("At most %d per lens; report.json has up to %d. A record above all held-out ones can be identified by anyone "+
		"who has the model.", recordsOnPage, maxExposed)
	return t
}

func zCell(z float64) report.Cell {
	if math.IsNaN(z) {
		return report.Gap("held out do not differ")
	}
	return report.Num(z, 2)
}

// ROCFigure draws the ROC curves of every scoring lens on log axes. For a single person it matters
// whether an attack is certain about a few records.
func (r *Report) ROCFigure() (plot.Panels, error) {
	out := plot.Panels{Meta: plot.Meta{Title: "Forgotten records recognised against false alarms"}, Columns: 1}
	for _, name := range r.scorers() {
		all := r.exposuresOf(name)
		f := plot.ROC{Meta: plot.Meta{Title: name}, Log: true, MinFPR: FalsePositiveRates[0]}
		f.Positives, f.Negatives = int(all[0].EffectiveForget), int(all[0].EffectiveHeldOut) // behind the band
		for _, x := range all {
			f.Curves = append(f.Curves, plot.ROCCurve{Name: x.label(), FPR: x.Curve.FPR, TPR: x.Curve.TPR, Control: x.Role != Unlearned})
		}
		out.Figures = append(out.Figures, f)
	}
	if len(out.Figures) == 0 {
		return out, fmt.Errorf("judge: no lens scores records, so there is nothing to draw")
	}
	return out, nil
}

// StandOut names, for lenses that see no memory on average, where more forgotten records are
// recognised than chance and the retrained models explain. A mean over records hides these few. All
// rates of all lenses and models err together in one report of twenty, as far as forgotten and held-out records
// are drawn alike or a seed moves the records of retrained models one by one.
func (r *Report) StandOut(model string) (out []string) {
	for _, v := range r.withoutMemory(model) {
		for _, x := range r.exposuresOf(v.Lens.Name()) {
			if what := r.firstStandOut(x); x.Model == model && what != "" {
				out = append(out, fmt.Sprintf("%s: by %s, %s%s.", model, x.Lens.Name(), what, v.hides()))
			}
		}
	}
	return out
}

// MayStandOut reports whether more forgotten records of a model stand out than chance explains by a lens that sees no
// memory, and no retrained model has as many by more than chance: too few to tell.
func (r *Report) MayStandOut(model string) bool {
	for _, v := range r.withoutMemory(model) {
		for _, x := range r.exposuresOf(v.Lens.Name()) {
			if x.Model == model && r.mayStandOut(x) {
				return true
			}
		}
	}
	return false
}

// withoutMemory are the verdicts on a model that see no memory, or none that stands.
func (r *Report) withoutMemory(model string) []Verdict {
	return slices.DeleteFunc(r.verdictsOn(model), func(v Verdict) bool { return v.Memory() && !v.Weak || v.Why != "" })
}

// firstStandOut is standOut at the first rate at which it says something.
func (r *Report) firstStandOut(x Exposure) string {
	for i := range FalsePositiveRates {
		if what := r.standOut(x, i); what != "" {
			return what
		}
	}
	return ""
}

// mayStandOut is MayStandOut by one lens.
func (r *Report) mayStandOut(x Exposure) bool {
	byMoreThanChance := func(of Count) bool { return of.P <= 1-level }
	for i, c := range x.Counts {
		retrained := r.retrainedCounts(x, i)
		if c.P <= r.jointLevel() && len(retrained) > 0 && !slices.ContainsFunc(retrained, byMoreThanChance) {
			return true
		}
	}
	return false
}

// hides says that the mean of a verdict does not show single records; one of records that were pushed away does.
func (v Verdict) hides() string {
	if v.Call == audit.Beyond {
		return ""
	}
	return ", which the AUC of " + report.FormatNumber(v.Reading.Value, 3) + " does not show"
}

// standOut says of how many records more than chance and the retrained models explain, at one of the
// rates; "": of none. Independent records are counted; of groups there are bounds only.
func (r *Report) standOut(x Exposure, rate int) string {
	if x.Counts != nil {
		return r.countStandOut(x, rate)
	}
	if x.JointLow[rate] <= max(FalsePositiveRates[rate], r.explainedRate(x, rate)) {
		return ""
	}
	return fmt.Sprintf("at %s false positives at least %s of the forgotten records are recognised", rateName(FalsePositiveRates[rate]),
		report.FormatNumber(x.JointLow[rate], 3))
}

// jointLevel is the level of each comparison of all of a report, which err together in one report of twenty.
func (r *Report) jointLevel() float64 { return (1 - level) / float64(r.comparisons()) }

// retrainedCounts are the counts of the retrained models by the lens of an exposure, at one of the rates.
func (r *Report) retrainedCounts(x Exposure, rate int) (out []Count) {
	for _, of := range r.exposuresOf(x.Lens.Name()) {
		if of.Role == Retrained && of.Reversed == x.Reversed && of.Counts != nil {
			out = append(out, of.Counts[rate])
		}
	}
	return out
}

// countStandOut is standOut of independent records: the count is more than chance explains, more than a model like the
// retrained ones would have, and more than that of each of them, one of which may have the same records for a reason of its own.
func (r *Report) countStandOut(x Exposure, rate int) string {
	c := x.Counts[rate]
	if c.P > r.jointLevel() || c.explained {
		return ""
	}
	beyond := "any"
	if c.Spared > 0 {
		beyond = fmt.Sprintf("all but %d", c.Spared)
	}
	return fmt.Sprintf("%d of %d forgotten records stand out more than %s of the %d held-out ones (by chance %s; p = %.2g, one of %d comparisons)",
		c.Above, x.Forget, beyond, x.HeldOut, report.FormatNumber(c.Expected, 1), c.P, r.comparisons())
}

// leastSeen says how many records must stand out to be seen: fewer are missed. "": records are of groups.
func (r *Report) leastSeen() string {
	k := slices.IndexFunc(r.Exposures, func(x Exposure) bool { return x.Counts != nil })
	if k < 0 {
		return ""
	}
	x := r.Exposures[k]
	least, beyond := x.Forget+1, 0
	for _, c := range x.Counts {
		if n, err := stats.LeastTop(x.Forget, x.HeldOut, c.Spared, r.jointLevel()); err == nil && n < least {
			least, beyond = n, c.Spared
		}
	}
	if least > x.Forget {
		return fmt.Sprintf("Even if all %d forgotten records stood out more than the %d held-out ones, chance would explain it among %d comparisons: "+
			"single records cannot be told.", x.Forget, x.HeldOut, r.comparisons())
	}
	above := "all"
	if beyond > 0 {
		above = fmt.Sprintf("all but %d", beyond)
	}
	more := ""
	if len(r.Evidence.ModelsOf(Retrained)) > 0 {
		more = "; beside retrained models that have such records too, more are needed"
	}
	return fmt.Sprintf("Fewer than %d of the %d forgotten records above %s of the %d held-out ones would not be seen%s.",
		least, x.Forget, above, x.HeldOut, more)
}

// explainedRate returns the largest rate among the retrained models, which never had the records.
func (r *Report) explainedRate(of Exposure, rate int) float64 {
	most := 0.0
	for _, x := range r.exposuresOf(of.Lens.Name()) {
		if v := x.Rates[rate].Value; x.Role == Retrained && x.Reversed == of.Reversed && v > most {
			most = v
		}
	}
	return most
}

// exposureParts returns the page's section on single records; empty where none are scored.
func (r *Report) exposureParts() ([]report.Part, error) {
	if len(r.Exposures) == 0 {
		return nil, nil
	}
	f, err := r.ROCFigure()
	if err != nil {
		return nil, err
	}
	picture, err := audit.PagePicture(f, 2, "Both axes are logarithmic: the left side shows attacks with few false alarms. The dashed "+
		"line is chance; at each rate the band holds 95 of 100 curves under chance alone, "+
		"a third of which leave it somewhere. Rates below the axes are drawn on their edge.")
	if err != nil {
		return nil, err
	}
	out := []report.Part{report.Text("The AUC is a mean over all records. A model may pass it and still reveal a few. These are the lenses that " +
		"score every record; the loss threshold scores them as the loss does.")}
	for _, m := range r.Evidence.ModelsOf(Unlearned) {
		if say := r.StandOut(m.Name); say != nil {
			out = append(out, report.List(say))
		}
	}
	if say := r.leastSeen(); say != "" {
		out = append(out, report.Text(say))
	}
	return append(append(append(out, r.RatesTable()), picture...), r.RecordsTable()), nil
}

// The JSON form of exposures.
type (
	jsonExposure struct {
		Lens     string       `json:"judgement"`
		Model    string       `json:"model"`
		Role     Role         `json:"role"`
		Reversed bool         `json:"low_scores_are_exposed"`
		Forget   int          `json:"forget"`
		HeldOut  int          `json:"heldout"`
		Rates    []jsonRate   `json:"tpr_at_fpr"`
		Records  []jsonRecord `json:"most_exposed,omitempty"` // of unlearned models
	}
	jsonRate struct {
		FPR        float64  `json:"fpr"`
		TPR        *float64 `json:"tpr"` // null: the held-out records are too few to measure it
		Low        float64  `json:"low"`
		High       float64  `json:"high"`
		Level      float64  `json:"level"`
		LowOfAll   float64  `json:"low_of_all_rates"`
		Measurable bool     `json:"measurable"`
		// null: the records are of groups
		Count *jsonCount `json:"count"`
	}
	// jsonCount counts forgotten records that score above all held-out ones but a few.
	jsonCount struct {
		Above    int     `json:"above"`
		Spared   int     `json:"heldout_above"`
		Expected float64 `json:"by_chance"`
		P        float64 `json:"p"`
	}
	jsonRecord struct {
		Row    int      `json:"row"`
		Score  float64  `json:"score"`
		Rank   int      `json:"rank"`
		AsHigh int      `json:"heldout_as_high"`
		Share  float64  `json:"heldout_share"`
		Z      *float64 `json:"z"`
	}
)

func (x Exposure) json() jsonExposure {
	out := jsonExposure{Lens: x.Lens.Name(), Model: x.Model, Role: x.Role, Reversed: x.Reversed, Forget: x.Forget, HeldOut: x.HeldOut}
	for i, e := range x.Rates {
		rate := jsonRate{FalsePositiveRates[i], report.FiniteOrNil(e.Value), e.Low, e.High, e.Level, x.JointLow[i], !math.IsNaN(e.Value), nil}
		if x.Counts != nil {
			c := x.Counts[i]
			rate.Count = &jsonCount{c.Above, c.Spared, c.Expected, c.P}
		}
		out.Rates = append(out.Rates, rate)
	}
	if x.Role != Unlearned {
		return out
	}
	for _, o := range x.Records {
		out.Records = append(out.Records, jsonRecord{o.Row, o.Score, o.Rank, o.AsHigh, float64(o.AsHigh) / float64(x.HeldOut), report.FiniteOrNil(o.Z)})
	}
	return out
}
