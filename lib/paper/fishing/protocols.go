package fishing

import (
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/lib/attack/learned"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/report"
)

var protocols = paper.Recipe{
	ID:    "fishing/protocols",
	Title: "Fishing, Section 4. Six protocols under one name, and three attackers that are fair",
	Doc: "The paper's tables have numbers of six protocols (P-A to P-F), which differ in whose features the attacker learns on and in whether it is " +
		"scored on what it learned. All look at the same models and cells here. Cross-fitted attackers are ours: the model's own, on standardised " +
		"features, every cell scored by one that has not seen it nor the cell beside it; logistic regression, the paper's perceptron, and boosted trees, " +
		"which find what no line does. A protocol that finds members in retrained models, which never had them, has found something else. Compare rows, " +
		"not columns.",
}

// judged are the arms that every protocol looks at.
func judged() []string {
	return []string{Original, Retrained, OtherSeed, RetrainedCoded, RetainTuned, Ascended, Scrubbed, Fisher, Private, PrivateExact}
}

// byProtocol is the first case of a scale, looked at by every protocol.
func byProtocol(scale string) (Study, error) {
	s, err := StudyAt(scale)
	if err != nil {
		return s, err
	}
	c := s.Cases[0]
	arms := judged()
	if c.Only != nil {
		arms = slices.DeleteFunc(arms, func(label string) bool { return !slices.Contains(c.Only, label) })
	}
	c.Part, c.Only, c.Protocols = "protocols", arms, looking()
	s.Cases = []Case{c}
	return s, nil
}

// narrowed is what a protocol is asked, without the last feature where it is short of it.
func narrowed(p learned.Protocol, q learned.Question) learned.Question {
	if !p.Short {
		return q
	}
	n := q.Model.Members.Cols - 1
	q.Model = q.Model.First(n)
	if q.Original != nil {
		original := q.Original.First(n)
		q.Original = &original
	}
	return q
}

// looking are the protocols that the table compares: P-A is P-B with other cells to measure
// the last feature by, which are all of them here.
func looking() []learned.Protocol {
	return slices.DeleteFunc(learned.Protocols(), func(p learned.Protocol) bool { return p.Name == learned.PA().Name })
}

// recordedBy are mean AUCs by protocol and arm on PBMC-33k: those of the paper, and, marked
// with *, those that only its program's outputs have.
func recordedBy(protocol, arm string) string {
	return map[string]map[string]string{
		"P-B": {Original: "0.783 (P-A 0.769)", RetrainedCoded: "0.523 (P-A 0.481)", RetainTuned: "0.665", Ascended: "0.702", Scrubbed: "0.737",
			Fisher: "P-A 0.814", Private: "0.464"},
		"P-D": {RetainTuned: "1.000*", Ascended: "1.000*"},
		"P-E": {Original: "0.775*", RetrainedCoded: "0.495*", Fisher: "0.815*"},
	}[protocol][arm]
}

func (ev *evidence) protocols() *paper.Output {
	t := &report.Table{
		ID: protocols.ID, Title: protocols.Title, Caption: protocols.Doc, Provenance: ev.provenance(protocols.ID),
		Columns: []report.Column{{Name: "AUC of the model"}}, Notes: append(ev.notes(), ev.overModels()),
	}
	for _, p := range looking() {
		name, own := strings.CutPrefix(p.Name, "cross-fitted-")
		if own {
			name = "ours, " + p.Attacker.Name()
		}
		t.Columns = append(t.Columns, report.Column{Name: name, Note: p.About + "; null 0.5"})
	}
	for _, c := range ev.Cases {
		for _, a := range c.arms() {
			rows := ev.of(c.Label, a.Label)
			if len(rows) == 0 {
				continue
			}
			l := newLine(c, a, rows)
			for _, p := range looking() {
				l.Share(ByProtocol(p.Name))
			}
			t.Rows = append(t.Rows, l.Row())
		}
	}
	for _, arm := range judged() {
		row := report.Row{Kind: report.Paper, Cells: []report.Cell{report.Str(arm)}}
		for _, p := range looking() {
			row.Cells = append(row.Cells, report.Str(recordedBy(p.Name, arm)))
		}
		if slices.ContainsFunc(row.Cells[1:], func(c report.Cell) bool { return c.Text != "" }) {
			t.Rows = append(t.Rows, row)
		}
	}
	t.Notes = append(t.Notes, "P-C, P-D and P-F do without the last feature, the distance to retained cells. P-D's reconstruction is with "+
		"library size here, which its program leaves out.",
		"The paper's values are of PBMC-33k. P-A is P-B with other cells to measure the distance by; here it is to all of them. *: not in the paper, in its "+
			"program's recorded outputs. Of P-C it has frozen critics alone (0.992), "+
			"of P-F a conditional autoencoder (0.864*).")
	return &paper.Output{Table: t}
}
