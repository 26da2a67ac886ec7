// The result as a table and as a figure.

package comparison

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/plot"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/stats"
)

// labels returns the labels of all models in the order of the first run's rows; models that
// are missing in it follow.
func (r *Result) labels() (out []string) {
	for _, run := range r.Runs {
		for _, m := range run.Models {
			if !slices.Contains(out, m.Label) {
				out = append(out, m.Label)
			}
		}
	}
	return out
}

// found returns the models with a label that have readings.
func (r *Result) found(label string) (out []*Model) {
	for i := range r.Runs {
		if m := r.Runs[i].find(label); m != nil && m.Missing == "" {
			out = append(out, m)
		}
	}
	return out
}

// missing returns why a model is missing in some seeds; "" where it is in all of them.
func (r *Result) missing(label string) string {
	for i := range r.Runs {
		if m := r.Runs[i].find(label); m != nil && m.Missing != "" {
			return m.Missing
		}
	}
	return ""
}

// Title names what is compared: "What is left of the 9 records with person_id=17 of people".
func (r *Result) Title() string {
	n := "some"
	if len(r.Runs) > 0 {
		n = fmt.Sprint(r.Runs[0].Forget)
	}
	if len(r.Runs) > 0 && r.Runs[0].forgotten != "" {
		title := "What is left of " + r.Runs[0].forgotten + " of " + r.Name
		if least, most := r.spread(func(run Run) int { return run.Forget }); least < most {
			title += fmt.Sprintf(", %d to %d by the seed", least, most)
		}
		return title
	}
	return "What is left of " + n + " forgotten records of " + r.Name
}

// Table returns a row per model. Of a lens whose verdicts are taken over seeds it has two columns: the mean over the seeds,
// and its difference from the retrained models with a 95 % interval and the verdict (Verdict). Of others it has one: the mean
// with its interval, and in how many seeds the lens gave the most frequent verdict. With one seed the interval is
// over records, or over the groups that the split kept together.
func (r *Result) Table() *report.Table {
	t := &report.Table{
		ID:    "comparison/" + r.Study.Setting.DataSet(),
		Title: r.Title(), Columns: []report.Column{{Name: "model"}}, Provenance: r.provenance(), Caption: r.caption(),
	}
	for k, lens := range r.Study.Lenses {
		t.Columns = append(t.Columns, report.Column{Name: lens.Name(), Note: lens.Info().Measures + r.nullText(k)})
		if r.paired(k) {
			t.Columns = append(t.Columns, report.Column{Name: "minus retrained"})
		}
	}
	t.Columns = append(t.Columns, report.Column{Name: "forgotten", Unit: "accuracy"}, report.Column{Name: "retained", Unit: "accuracy"},
		report.Column{Name: "held out", Unit: "accuracy"})
	used := map[audit.Call]bool{}
	for _, label := range r.labels() {
		t.Rows = append(t.Rows, r.row(label, len(t.Columns), used))
	}
	for _, call := range sortedCalls(used) {
		t.Notes = append(t.Notes, fmt.Sprintf("%s: %s.", call, call.About()))
	}
	t.Notes = append(t.Notes, r.conditionNotes()...)
	t.Notes = append(t.Notes, r.fewGroups()...)
	t.Notes = append(t.Notes, r.missingNotes()...)
	return t
}

// conditionNotes say what it means that a condition names the records to forget.
func (r *Result) conditionNotes() (out []string) {
	if _, named := r.Study.Setting.Forget.(lab.Where); !named {
		return nil
	}
	if held := r.overSeeds(func(run Run) int { return run.namedHeldOut }); held != "" {
		out = append(out, fmt.Sprintf("The data have a test part of their own, and records of the condition are in it, %s in number. They are held out: no "+
			"model is trained on them, and none is asked to forget them.", held))
	} else {
		out = append(out, "All records of the condition are in the training data, so that no held-out record is of their kind. A null holds only "+
			"if they are like the others; the verdicts compare with the retrained model on the same records, and do not rest on it.")
	}
	if slices.ContainsFunc(r.lenses(), r.paired) {
		out = append(out, "The same records are forgotten in every seed. A method that trains otherwise than the retrained models did, on "+
			"fewer records or for fewer steps, can move what a lens says of just these records without any memory of them. The method "+
			"retrain-share, which never has them, shows how far.")
	}
	return out
}

// caption says what the table has.
func (r *Result) caption() string {
	const of = "the original, of which nothing was unlearned, and two models that were retrained without the records, of which the second shows what " +
		"another seed does; "
	if !slices.ContainsFunc(r.lenses(), r.paired) {
		return "One row per model, one column per lens: value, 95 % interval over " + r.intervalUnit() + ", and the verdict of most seeds with " +
			"their number. A verdict places the model between " + of + "it is itself compared with the first alone."
	}
	return "One row per model. Beside the mean of a lens over the seeds stands its difference from the retrained models of the same seed, 0 for a model " +
		"like these, with a 95 % interval over seeds, and the verdict of all seeds with evidence. A verdict places the model between " + of +
		"each of them is compared with the other. A lens of one column compares models coordinate by coordinate or has no evidence in some seeds; its " +
		"interval is over seeds too, and the verdict that of most seeds, with their number."
}

// lenses are the numbers of the lenses.
func (r *Result) lenses() (out []int) {
	for k := range r.Study.Lenses {
		out = append(out, k)
	}
	return out
}

// paired reports whether verdicts of a lens are taken over seeds.
func (r *Result) paired(lens int) bool {
	return len(r.original()) > 0 && r.verdict(r.originalLabel(), lens).Paired()
}

// fewGroups says where intervals of single seeds count records although the split kept groups together.
func (r *Result) fewGroups() []string {
	few, why := 0, ""
	for _, run := range r.Runs {
		if run.fewGroups != "" {
			few, why = few+1, run.fewGroups
		}
	}
	switch {
	case few == 0:
		return nil
	case few == len(r.Runs) && few > 1:
		why = fmt.Sprintf("In all %d seeds (here the last): %s", few, why)
	case len(r.Runs) > 1:
		why = fmt.Sprintf("In %d of %d seeds (here the last of them): %s", few, len(r.Runs), why)
	}
	return []string{why}
}

func (r *Result) intervalUnit() string {
	if len(r.Runs) == 1 {
		return r.Runs[0].units
	}
	return "seeds"
}

// nullText is the null of a lens.
func (r *Result) nullText(lens int) string {
	for _, run := range r.Runs {
		for _, m := range run.Models {
			if m.Missing == "" && m.Readings[lens].Null != nil {
				return fmt.Sprintf("; null %g", *m.Readings[lens].Null)
			}
		}
	}
	return ""
}

// row is the row of a model.
func (r *Result) row(label string, columns int, used map[audit.Call]bool) report.Row {
	found := r.found(label)
	if len(found) == 0 {
		return report.GapRow(short(r.missing(label)), "", label, columns)
	}
	row := report.Row{Kind: report.Method, Cells: []report.Cell{report.Str(label)}}
	if found[0].Control {
		row.Kind = report.Control
	}
	for k := range r.Study.Lenses {
		row.Cells = append(row.Cells, r.lensCells(label, k, used)...)
	}
	for _, value := range []func(*Model) *float64{
		func(m *Model) *float64 { return m.Forgotten }, func(m *Model) *float64 { return m.Retained }, func(m *Model) *float64 { return m.HeldOut },
	} {
		row.Cells = append(row.Cells, meanCell(found, value))
	}
	return row
}

// lensCells are what a lens found of a model over the seeds.
func (r *Result) lensCells(label string, lens int, used map[audit.Call]bool) []report.Cell {
	e, absent := r.lensMean(r.found(label), lens)
	v, paired := r.verdict(label, lens), r.paired(lens)
	cells := []report.Cell{report.Num(v.Value, 3), report.Est(v.Difference, 3)}
	if !paired {
		cells = []report.Cell{r.majorityCell(label, e, v, lens, used)}
	}
	switch {
	case absent != "":
		for i := range cells {
			cells[i] = report.Gap(short(absent))
		}
	case paired && v.Paired():
		cells[1].Text += r.ofSeeds(v, label)
		used[v.Call], cells[1] = true, cells[1].WithVerdict(string(v.Call))
	case paired:
		cells[0] = report.Num(e.Value, 3)
		cells[1] = report.Gap(cmp.Or(string(v.Call), "no majority") + " " + r.support(v, label))
	}
	return cells
}

// majorityCell is the mean of a lens over the seeds, with the verdict of most seeds or with the verdicts of all.
func (r *Result) majorityCell(label string, e stats.Estimate, v Verdict, lens int, used map[audit.Call]bool) report.Cell {
	found, cell := r.found(label), report.Est(e, 3)
	if cell.Missing != "" {
		return cell
	}
	for _, m := range found {
		used[m.Calls[lens]] = true
	}
	switch {
	case v.Call == "":
		cell.Text += " " + callCounts(found, lens)
		return cell
	case len(r.Runs) > 1:
		cell.Text += fmt.Sprintf(" %d/%d", v.Seeds, len(found))
	}
	return cell.WithVerdict(string(v.Call))
}

// lensMean returns the mean of a lens over the seeds: with one seed the reading itself, with
// its interval over records.
func (r *Result) lensMean(found []*Model, lens int) (e stats.Estimate, absent string) {
	var values []float64
	for _, m := range found {
		reading := m.Readings[lens]
		if reading.Absent != "" {
			absent = reading.Absent
			continue
		}
		values, e = append(values, reading.Value), reading.Estimate
	}
	switch len(values) {
	case 0:
		return e, absent
	case 1:
		return e, ""
	}
	mean := stats.MeanInterval(values, 0.95, "seeds")
	mean.Null, mean.Better = e.Null, e.Better
	if of := r.Study.Lenses[lens].Info(); of.Low < of.High && len(values) > 1 {
		mean.Low, mean.High = max(mean.Low, of.Low), min(mean.High, of.High)
	}
	return mean, ""
}

// majority returns the verdict of a lens on a model in more than half of the seeds, and its
// number of seeds; "" if there is none.
func majority(found []*Model, lens int) (audit.Call, int) {
	count := map[audit.Call]int{}
	for _, m := range found {
		count[m.Calls[lens]]++
	}
	for call, n := range count {
		if 2*n > len(found) {
			return call, n
		}
	}
	return "", 0
}

// callCounts lists the verdicts of a lens on a model with their numbers of seeds: "blind 1,
// remembered 1".
func callCounts(found []*Model, lens int) string {
	count := map[audit.Call]bool{}
	for _, m := range found {
		count[m.Calls[lens]] = true
	}
	var parts []string
	for _, call := range sortedCalls(count) {
		n := 0
		for _, m := range found {
			if m.Calls[lens] == call {
				n++
			}
		}
		parts = append(parts, fmt.Sprintf("%s %d", call, n))
	}
	return strings.Join(parts, ", ")
}

// meanCell is the mean of an accuracy over the seeds.
func meanCell(found []*Model, value func(*Model) *float64) report.Cell {
	var values []float64
	for _, m := range found {
		if v := value(m); v != nil {
			values = append(values, *v)
		}
	}
	if len(values) == 0 {
		return report.Gap("no classifier")
	}
	if len(values) == 1 {
		return report.Num(values[0], 3)
	}
	e := stats.MeanInterval(values, 0.95, "seeds")
	e.Low, e.High = max(e.Low, 0), min(e.High, 1) // an accuracy lies between
	return report.Est(e, 3)
}

func sortedCalls(used map[audit.Call]bool) (out []audit.Call) {
	for call := range used {
		out = append(out, call)
	}
	slices.Sort(out)
	return out
}

// missingNotes say which methods left no model in some seeds.
func (r *Result) missingNotes() (out []string) {
	for _, label := range r.labels() {
		why := r.missing(label)
		if why == "" {
			continue
		}
		if n := len(r.Runs) - len(r.found(label)); len(r.Runs) > 1 {
			why = fmt.Sprintf("no model in %d of %d seeds: %s", n, len(r.Runs), why)
		}
		out = append(out, label+": "+why+".")
	}
	return out
}

// short is the beginning of a reason, for a cell.
func short(reason string) string {
	if len(reason) <= 24 {
		return reason
	}
	return "no model, see below"
}

func (r *Result) provenance() report.Provenance {
	info := r.Study.Lab.Engine.Info()
	p := report.Provenance{Engine: info.Kind, Kernel: info.Kernel, Device: info.Device.String(),
		ResultsVersion: fmt.Sprint(lab.ResultsVersion), Data: map[string]string{}}
	for _, run := range r.Runs {
		p.Seeds = append(p.Seeds, int64(r.Study.Setting.Seed+r.Study.Lab.Shift+run.Seed))
		name := r.Name
		if len(r.Runs) > 1 {
			name = fmt.Sprintf("%s, split %d", r.Name, run.Seed)
		}
		p.Data[name] = run.DataHash
	}
	if d, is := r.Study.Setting.Data.(lab.KeyedData); is { // the file and how it is read
		p.Data = map[string]string{r.Name: d.Key()}
	}
	return p
}

// Figure draws every model, a panel per lens: the difference from the retrained models where verdicts are taken over seeds, else the
// mean over the seeds, with its interval.
func (r *Result) Figure() plot.Panels {
	out := plot.Panels{Meta: plot.Meta{Title: r.Title()}, Columns: 1}
	for k, lens := range r.Study.Lenses {
		f := plot.Forest{Meta: plot.Meta{Title: lens.Name()}, X: plot.Axis{Label: lens.Info().Measures}, Digits: 3}
		if r.paired(k) {
			f.Meta.Title += ", minus the retrained models"
			f.X.Label = "difference of: " + f.X.Label
		}
		readable := false
		for _, label := range r.labels() {
			none := stats.Estimate{Value: math.NaN(), Low: math.NaN(), High: math.NaN()}
			row := plot.ForestRow{Label: label, Estimate: none, Missing: short(r.missing(label))}
			if found := r.found(label); len(found) > 0 {
				row.Control = found[0].Control
				row.Estimate, row.Missing = r.lensMean(found, k)
				if v := r.verdict(label, k); r.paired(k) && row.Missing == "" {
					row.Estimate = v.Difference.WithNull(0, row.Estimate.Better)
					if !v.Paired() {
						row.Missing = "too few seeds"
					}
				}
				if row.Missing == "" && row.Estimate.Null != nil {
					f.Null = &plot.Null{Value: *row.Estimate.Null}
				}
				readable = readable || row.Missing == ""
			}
			f.Rows = append(f.Rows, row)
		}
		if readable {
			out.Figures = append(out.Figures, f)
		}
	}
	return out
}
