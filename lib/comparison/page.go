// The result as a page, and in files.

package comparison

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/lethe-ml/lethe/datasets/own"
	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/report"
)

// Page returns the result as a page: the answer, the table, a figure per lens, the data and
// the settings.
func (r *Result) Page() (report.Page, error) {
	p := report.Page{Title: r.Title()}
	answer := report.Section{Title: "The answer", Parts: []report.Part{
		report.Text(fmt.Sprintf("%s to be forgotten, %s, %s, of which lenses read those that no method may see, %s; %s. "+
			"The oracle is the model that was retrained without the records to be forgotten.",
			r.records(func(run Run) int { return run.Forget }, "record"), r.records(func(run Run) int { return run.Retain }, "retained record"),
			r.records(func(run Run) int { return run.Test }, "held-out record"), r.overSeeds(func(run Run) int { return run.Judged }),
			report.Plural(len(r.Runs), "seed"))),
		report.List(r.Answers()), r.Table(),
	}}
	picture, err := r.picture()
	if err != nil {
		return p, err
	}
	p.Sections = append(p.Sections, answer, report.Section{Title: "Every model through every lens", Parts: picture})
	if parts := r.dataReport(); parts != nil {
		p.Sections = append(p.Sections, report.Section{Title: "The data", Parts: parts})
	}
	p.Sections = append(p.Sections, report.Section{Title: "How it was computed", Parts: []report.Part{report.List(r.settings())}})
	return p, nil
}

// dataReport is what was found in the user's files; nil where the data have no report. The
// columns of a table, or of a table of texts, are a table.
func (r *Result) dataReport() []report.Part {
	if t, is := r.Study.Setting.Data.(interface{ Report() own.Report }); is {
		return columnsReport(t.Report(), r.Study.Words)
	}
	s, is := r.Study.Setting.Data.(fmt.Stringer)
	if !is {
		return caveatReport(r.Runs[0].Caveat)
	}
	var lines report.List
	for _, line := range strings.Split(strings.TrimSpace(r.Study.Words(s.String())), "\n") {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return []report.Part{lines}
}

// caveatReport is what reading found of data that Lethe knows by name.
func caveatReport(caveat string) []report.Part {
	if caveat == "" {
		return nil
	}
	return []report.Part{report.Text(caveat)}
}

// columnsReport is what was found in the columns of a table, without the values of identifiers and texts: a report is passed on.
func columnsReport(f own.Report, words func(string) string) []report.Part {
	f = f.PassOn()
	t := &report.Table{ID: "comparison/columns", Title: "Columns of " + f.File}
	for _, note := range f.Notes {
		t.Notes = append(t.Notes, words(note))
	}
	for _, title := range own.ColumnTitles() {
		t.Columns = append(t.Columns, report.Column{Name: title})
	}
	t.Columns[3].Align, t.Columns[4].Align = report.AlignRight, report.AlignRight // numbers
	for _, c := range f.Columns {
		row := report.Row{Kind: report.Method}
		for _, cell := range c.Cells() {
			row.Cells = append(row.Cells, report.Str(cell))
		}
		row.Cells[0] = report.Str(c.Name) // in full
		t.Rows = append(t.Rows, row)
	}
	var classes []string
	for _, c := range f.Classes {
		classes = append(classes, fmt.Sprintf("%s (%d)", c.Name, c.Records))
	}
	return []report.Part{report.Text(fmt.Sprintf("%d rows; the target is %s: %s.", f.Rows, f.Target, strings.Join(classes, ", "))), t}
}

func (r *Result) settings() []string {
	s := r.Study.Setting
	fit := s.Fit.WithDefaults()
	return []string{
		networkText(s),
		fmt.Sprintf("Training: %s, %s.", report.Plural(fit.Epochs, "epoch"), batchText(fit.Batch)),
		"Forget set: " + s.ForgetSetWords() + ".",
		"The retrained model has the original's initial weights and random numbers, and never met the forgotten records.",
		r.provenance().Line(),
	}
}

// networkText names the network and its size.
func networkText(s lab.Setting) string {
	arch, err := s.Architecture()
	if err != nil {
		return "Network: " + err.Error() + "."
	}
	weights, err := model.WeightShapes(arch)
	if err != nil {
		return "Network: " + err.Error() + "."
	}
	return fmt.Sprintf("Network: %s, %s.", arch.Name(), report.Plural(weights.Size(), "weight"))
}

// batchText says how many records a step takes; 0: all.
func batchText(n int) string {
	if n == 0 {
		return "one step per epoch, on all records"
	}
	return fmt.Sprintf("batches of %d", n)
}

// picture draws the figure in two widths, a sheet per three lenses.
func (r *Result) picture() ([]report.Part, error) {
	f := r.Figure()
	if len(f.Figures) == 0 {
		return []report.Part{report.Text("No lens can look at such a case.")}, nil
	}
	return audit.PagePicture(f, 3, "Readings with 95 % intervals over "+r.intervalUnit()+", a panel per lens. The line is the null. Squares: controls.")
}

// Write writes report.html, report.md and report.json into a folder, which it creates. Each
// file is complete or absent.
func (r *Result) Write(folder string) error {
	page, err := r.Page()
	if err != nil {
		return err
	}
	return page.WriteFiles(folder, r.JSON)
}

// The JSON form: a number that is unknown is null.
type (
	jsonResult struct {
		Question string `json:"question"`
		Data     string `json:"data"`
		// Sources are the files of the user's own data, in their order; none of a data set that Lethe knows.
		Sources []jsonSource `json:"sources"`
		Forget  string       `json:"forget"`
		// Study is a hash of the data, how they are read, the records to forget, the network and the training.
		Study   string   `json:"study"`
		Answers []string `json:"answers"`
		Lenses  []string `json:"lenses"`
		// Verdicts are those of all seeds, lens by lens and model by model.
		Verdicts []jsonVerdict `json:"verdicts"`
		Runs     []jsonRun     `json:"runs"`
	}
	jsonVerdict struct {
		Lens       string          `json:"lens"`
		Model      string          `json:"model"`
		Verdict    string          `json:"verdict"` // "": none in more than half of the seeds
		Seeds      int             `json:"seeds"`
		Difference *jsonDifference `json:"minus_retrained"` // null: the verdict is that of most seeds
	}
	jsonDifference struct {
		Value *float64 `json:"value"`
		Low   *float64 `json:"low"`
		High  *float64 `json:"high"`
	}
	jsonRun struct {
		Seed     int         `json:"seed"`
		DataHash string      `json:"data_hash"`
		Forget   int         `json:"forget"`
		Retain   int         `json:"retain"`
		HeldOut  int         `json:"held_out"`
		Models   []jsonModel `json:"models"`
	}
	jsonModel struct {
		Model     string        `json:"model"`
		Control   bool          `json:"control"`
		Readings  []jsonReading `json:"readings"`
		Forgotten *float64      `json:"accuracy_forgotten"`
		Retained  *float64      `json:"accuracy_retained"`
		HeldOut   *float64      `json:"accuracy_held_out"`
		Missing   string        `json:"missing,omitempty"`
	}
	jsonReading struct {
		Lens    string   `json:"lens"`
		Value   *float64 `json:"value"`
		Low     *float64 `json:"low"`
		High    *float64 `json:"high"`
		Null    *float64 `json:"null"`
		Verdict string   `json:"verdict"`
		Absent  string   `json:"absent,omitempty"`
	}
)

// JSON writes the result with the readings of every seed.
func (r *Result) JSON(w io.Writer) error {
	s := r.Study.Setting
	out := jsonResult{Question: r.Title(), Data: r.Name, Sources: jsonSources(s.Data), Forget: s.ForgetSetName(), Study: studyKey(s), Answers: r.Answers()}
	for _, lens := range r.Study.Lenses {
		out.Lenses = append(out.Lenses, lens.Name())
	}
	out.Verdicts = r.jsonVerdicts()
	for _, run := range r.Runs {
		j := jsonRun{Seed: run.Seed, DataHash: run.DataHash, Forget: run.Forget, Retain: run.Retain, HeldOut: run.Test}
		for _, m := range run.Models {
			j.Models = append(j.Models, m.json())
		}
		out.Runs = append(out.Runs, j)
	}
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(out)
}

func (r *Result) jsonVerdicts() (out []jsonVerdict) {
	for k, lens := range r.Study.Lenses {
		for _, label := range r.labels() {
			if len(r.found(label)) == 0 {
				continue
			}
			v := r.verdict(label, k)
			j := jsonVerdict{Lens: lens.Name(), Model: label, Verdict: string(v.Call), Seeds: v.Seeds}
			if v.Paired() {
				d := v.Difference
				j.Difference = &jsonDifference{report.FiniteOrNil(d.Value), report.FiniteOrNil(d.Low), report.FiniteOrNil(d.High)}
			}
			out = append(out, j)
		}
	}
	return out
}

func (m Model) json() jsonModel {
	out := jsonModel{Model: m.Label, Control: m.Control, Forgotten: m.Forgotten, Retained: m.Retained, HeldOut: m.HeldOut, Missing: m.Missing}
	for k, r := range m.Readings {
		out.Readings = append(out.Readings, jsonReading{
			Lens: r.Lens, Value: report.FiniteOrNil(r.Value), Low: report.FiniteOrNil(r.Low), High: report.FiniteOrNil(r.High), Null: r.Null,
			Verdict: string(m.Calls[k]), Absent: r.Absent,
		})
	}
	return out
}
