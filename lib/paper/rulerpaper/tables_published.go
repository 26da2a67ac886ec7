package rulerpaper

import (
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// Labels of methods as their authors published them.
const (
	SCPublished = "SCRUB, as published"
	BTPublished = "Bad Teacher, as published"
)

// publishedStudy compares the paper's two simplified methods with their authors' published
// versions, on the main study's models.
func publishedStudy(s Scale) Study {
	m := mainStudy(s)
	m.Name, m.Seeds = "as published", indices(s.SideSeeds)
	m.Variants = append([]Variant{
		{Label: SC, Method: unlearn.SCRUB{}},
		{Label: SCPublished, Method: unlearn.SCRUBKurmanji{}},
		{Label: BT, Method: unlearn.BadTeacher{}},
		{Label: BTPublished, Method: unlearn.BadTeacherChundawat{}},
	}, controls()...)
	return m
}

var published = Recipe{
	ID:    "ruler/published",
	Title: "RULER, SCRUB and Bad Teacher simplified and as published",
	Doc: "The paper's SCRUB takes one joint step where Kurmanji et al. (2023) alternate, teach labels and rewind, and its Bad Teacher has one untrained " +
		"teacher for all records where Chundawat et al. (2023) have two. What is measured of the simplified methods is no verdict on those.",
}

func init() {
	published.studies = oneStudy(publishedStudy)
	published.make = func(e *Env, s Scale, parts []*Collected) (*Output, error) {
		c := parts[0]
		t := e.table(published, s, c)
		shown := []metric{m2, deltaM4, mia, {"forget accuracy", func(r Row) float64 { return r.ForgetAcc }, 0, 3}, retain,
			{"test accuracy", func(r Row) float64 { return r.TestAcc }, 0, 3}}
		t.Columns = []report.Column{{Name: "model"}}
		for _, m := range shown {
			t.Columns = append(t.Columns, report.Column{Name: m.Name, Note: "mean over all runs; interval over data sets"})
		}
		t.Columns = append(t.Columns, report.Column{Name: "moved", Note: "relative displacement of the weights, mean over runs"})
		for _, f := range c.Study.Fractions {
			for _, a := range c.variants() {
				rows := rowsOf(c.Rows, a.Label, f)
				cells := []report.Cell{report.Str(a.Label)}
				for _, m := range shown[:2] {
					cells = append(cells, newEffect(rows, m).estimate(m.Digits))
				}
				for _, m := range shown[2:] {
					cells = append(cells, newEffect(rows, m).share(m.Digits))
				}
				cells = append(cells, report.Num(mean(values(rows, func(r Row) float64 { return r.Displacement })), 4))
				t.Rows = append(t.Rows, report.Row{Kind: kindOf(a), Group: "forget fraction " + percent(f), Cells: cells})
			}
		}
		t.Notes = append(t.Notes, "SCRUB as published goes by mini-batches of 32 and may look at the labels of one half of the test records, to "+
			"choose the epoch to which it is rewound; Bad Teacher as published goes over the data once, in batches of 256, at a fifth of RULER's rate.")
		return &Output{Table: t}, nil
	}
}
