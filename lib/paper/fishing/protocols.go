package fishing

// The table of attack protocols.

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/lib/attack/learned"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/report"
)

var protocols = paper.Recipe{
	ID:    "fishing/protocols",
	Title: "Fishing, Section 4. Six protocols under one name, and four attackers that are fair",
	Doc: "The paper's tables have numbers of six protocols (P-A to P-F), which differ in whose features the attacker learns on and in whether it is " +
		"scored on what it learned. All look at the same models and cells here. Cross-fitted attackers are ours: the model's own, on standardised " +
		"features, every cell scored by one that has not seen it nor the cell beside it; logistic regression, the paper's perceptron, and boosted trees, " +
		"which find what no line does. 'within types' is logistic regression on features less the mean of the cell's type: it cannot find " +
		"the type. A protocol that finds members in retrained models, which never had them, has found something else. Compare rows, " +
		"not columns.",
}

// protocolVariants are the variants that every protocol attacks.
func protocolVariants() []string {
	return []string{Original, Retrained, OtherSeed, RetrainedCoded, RetainTuned, Ascended, Scrubbed, Fisher, Private, PrivateExact}
}

// byProtocol is the first case of a scale with every protocol.
func byProtocol(scale string) (Study, error) {
	s, err := StudyAt(scale)
	if err != nil {
		return s, err
	}
	c := s.Cases[0]
	variants := protocolVariants()
	if c.Only != nil {
		variants = slices.DeleteFunc(variants, func(label string) bool { return !slices.Contains(c.Only, label) })
	}
	c.Part, c.Only, c.Protocols = "protocols", variants, learned.Protocols()
	s.Cases = []Case{c}
	return s, nil
}

// protocolInput is the input of a protocol for a model: the features that the paper gives it,
// and the types of the cells.
func (q *attackCase) protocolInput(p learned.Protocol, v splitOutputs) (out learned.Target, err error) {
	if out.Model, err = q.features(p, v); err != nil {
		return out, err
	}
	original := q.original
	if p.FirstRetained > 0 {
		if original, err = q.features(p, q.originalOutputs); err != nil {
			return out, err
		}
	}
	out.Original, out.NearestMember, out.Groups = &original, q.matched.nearest, q.types()
	return withoutMissingFeature(p, out), nil
}

// features are those of members and non-members; the last is the distance to the retained cells
// of the protocol.
func (q *attackCase) features(p learned.Protocol, v splitOutputs) (learned.Records, error) {
	if p.OriginalCodes {
		v.retain.codes = q.originalOutputs.retain.codes
	}
	if n := p.FirstRetained; n > 0 && n < v.retain.codes.Rows {
		v.retain.codes = v.retain.codes.Gather(indices(n))
	}
	return v.attackRecords(q.negatives)
}

// types are those of the members and of the non-members.
func (q *attackCase) types() *learned.Groups {
	var g learned.Groups
	for _, i := range q.Forget {
		g.Members = append(g.Members, q.Problem.Train.Y[i])
	}
	for _, i := range q.negatives {
		g.Nonmembers = append(g.Nonmembers, q.Test.Y[i])
	}
	return &g
}

// withoutMissingFeature drops the last feature if the protocol lacks it.
func withoutMissingFeature(p learned.Protocol, q learned.Target) learned.Target {
	if !p.WithoutDistance {
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

// recordedAUC are mean AUCs by protocol and variant on PBMC-33k: those of the paper and, marked
// with *, those in its program's outputs only.
func recordedAUC(protocol, variant string) string {
	return map[string]map[string]string{
		"P-A":             {Original: "0.769", RetrainedCoded: "0.481"},
		"P-A, kept codes": {Fisher: "0.814"},
		"P-B":             {Original: "0.783", RetrainedCoded: "0.523", RetainTuned: "0.665", Ascended: "0.702", Scrubbed: "0.737", Private: "0.464"},
		"P-D":             {RetainTuned: "1.000*", Ascended: "1.000*"},
		"P-E":             {Original: "0.775*", RetrainedCoded: "0.495*", Fisher: "0.815*"},
	}[protocol][variant]
}

func (ev *evidence) protocols() *paper.Output {
	var columns []column
	for _, p := range learned.Protocols() {
		name, own := strings.CutPrefix(p.Name, "cross-fitted-")
		switch {
		case own:
			name = "ours, " + p.Attacker.Name()
		case p.Residual:
			name = "ours, within types"
		}
		columns = append(columns, paper.ShareColumn(name, p.About+"; null 0.5", ProtocolAUC(p.Name)))
	}
	t := ev.variantTable(protocols, columns)
	t.Columns[0].Name = "AUC of the model"
	t.Notes = append(ev.notes(), ev.intervalNote())
	for _, variant := range protocolVariants() {
		row := report.Row{Kind: report.Paper, Cells: []report.Cell{report.Str(variant)}}
		for _, p := range learned.Protocols() {
			row.Cells = append(row.Cells, report.Str(recordedAUC(p.Name, variant)))
		}
		if slices.ContainsFunc(row.Cells[1:], func(c report.Cell) bool { return c.Text != "" }) {
			t.Rows = append(t.Rows, row)
		}
	}
	t.Notes = append(append(t.Notes, ev.sameTypeNotes()...), "P-C, P-D and P-F do without the last feature, the distance to retained cells. P-D's "+
		"reconstruction is with library size here, which its program leaves out.",
		"P-A measures the last feature to the first 5,000 retained cells, P-B to 5,000 that it draws, here to all of them: of fewer retained cells the two "+
			"are the same. With kept codes these have the codes of the original, whatever model is attacked, as the program has it where "+
			"it attacks Fisher scrubbing; its codes are drawn with dropout, these without.",
		"P-E is the mean of attackers with five seeds in the program, and one attacker here.",
		"The program has a correction for groups, in no table: a logistic regression on the attacker's score and the groups, of which the score's term alone "+
			"is kept. One number times a score has the score's AUC, or 1 less it.",
		"The paper's values are of PBMC-33k. *: not in the paper, in its "+
			"program's recorded outputs. Of P-C it has frozen critics alone (0.992), "+
			"of P-F a conditional autoencoder (0.864*), which has a table of its own.")
	return &paper.Output{Table: t}
}

// sameTypeNotes say for every case how many pairs the attacker within types can compare.
func (ev *evidence) sameTypeNotes() (out []string) {
	for _, c := range ev.Cases {
		if rows := ev.rowsOf(c.Label, Original); len(rows) > 0 {
			out = append(out, fmt.Sprintf("%s: the attacker within types learns from types that have cells of both roles; of the non-members %s are of a type "+
				"that is forgotten. Where folds have none, its scores are all the same, and 0.5 says that nothing can be said.",
				c.Label, countRange(rows, func(r Row) int { return r.SameType })))
		}
	}
	return out
}

func indices(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}
