package rulerpaper

import "github.com/lethe-ml/lethe/lib/unlearn"

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
		const note = "mean over all runs; interval over data sets"
		all := []columns{effectColumn(m2.Name, note, m2), effectColumn(deltaM4.Name, note, deltaM4)}
		for _, m := range []metric{mia, forgetAccuracy, retain, testAccuracy} {
			all = append(all, effectShareColumn(m.Name, note, m))
		}
		all = append(all, movedColumn())
		t := e.variantTable(published, s, all, c)
		addFractions(t, c, fractionGroup, all)
		t.Notes = append(t.Notes, "SCRUB as published goes by mini-batches of 32 and may look at the labels of one half of the test records, to "+
			"choose the epoch to which it is rewound; Bad Teacher as published goes over the data once, in batches of 256, at a fifth of RULER's rate.")
		return &Output{Table: t}, nil
	}
}
