package blindu

// The table of auxiliary records.

import (
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

var auxiliary = paper.Recipe{
	ID:    "blindu/auxiliary",
	Title: "BlindU with other auxiliary records",
	Doc: "A backdoor is to be forgotten by BlindU_w/o, whose server continues to train on auxiliary records: unseen ones with their labels, " +
		"unless a row says otherwise; those that the original itself takes for its classes (model inversion, the paper's way to obtain them); noise, " +
		"with the labels that the original gives it; the retain set, an upper bound and what the program does on CIFAR-10 and Adult. The rows 'alone' " +
		"train on the same records for three epochs, without the codes: what they forget is forgotten without the request. " +
		"Inverted records and noise are made with the original, and may hold what it holds: its backdoor too. The original is sure of inverted records from " +
		"the start, and MGDA gives the shorter gradient the larger weight; 'plain sum' adds the two objectives as they are.",
}

// auxiliaryLabel is the label of continued training on auxiliary records of a kind.
func auxiliaryLabel(a unlearn.Auxiliary) string {
	return map[unlearn.Auxiliary]string{
		unlearn.Public: Auxiliary, unlearn.Inverted: "inverted records alone", unlearn.Noise: "noise alone", unlearn.Retained: "retain set alone",
	}[a]
}

// InvertedSum is BlindU on inverted records with the plain sum of its objectives.
const InvertedSum = "BlindU_w/o, on inverted records, plain sum"

// blindUOnLabel is the label of BlindU_w/o with auxiliary records of a kind.
func blindUOnLabel(a unlearn.Auxiliary) string {
	return map[unlearn.Auxiliary]string{
		unlearn.Public: WithoutReplacement, unlearn.Inverted: "BlindU_w/o, on inverted records", unlearn.Noise: "BlindU_w/o, on noise",
		unlearn.Retained: OnTheRetains,
	}[a]
}

// auxiliaryVariants are the additional rows of the table of auxiliary records, beside those of
// Table III.
func (c Case) auxiliaryVariants() (out []lab.Variant) {
	for _, a := range []unlearn.Auxiliary{unlearn.Inverted, unlearn.Noise, unlearn.Retained} {
		out = append(out, lab.Variant{Label: auxiliaryLabel(a), Method: unlearn.AuxiliaryTuning{Auxiliary: a, Epochs: 3, LR: c.LR}, Control: true})
		if a != unlearn.Retained {
			out = append(out, lab.Variant{Label: blindUOnLabel(a), Method: unlearn.BlindU{LR: c.LR, Masking: c.masking(false), Auxiliary: a}})
		}
	}
	sum := unlearn.BlindU{LR: c.LR, Masking: c.masking(false), Auxiliary: unlearn.Inverted, Weighting: unlearn.Added}
	return append(out, lab.Variant{Label: InvertedSum, Method: sum})
}

// auxiliaryStudy is the first case of a scale with every kind of auxiliary records.
func auxiliaryStudy(scale string) (Study, error) {
	s, err := StudyAt(scale)
	if err != nil {
		return s, err
	}
	c := s.Cases[0]
	c.Only = []string{Original, Retrained}
	for _, label := range []func(unlearn.Auxiliary) string{auxiliaryLabel, blindUOnLabel} {
		for _, source := range unlearn.Sources() {
			c.Only = append(c.Only, label(source.Name()))
		}
	}
	c.Only = append(c.Only, Summed, InvertedSum)
	s.Cases = []Case{c}
	return s, nil
}

func (ev *evidence) auxiliary() *paper.Output {
	columns := []column{erasedColumn, triggeredColumn, retainColumn, testColumn}
	t := ev.table(auxiliary, columns)
	for _, c := range ev.Cases {
		for _, label := range c.Only {
			if rows := ev.rowsOf(c.Label, label); len(rows) > 0 {
				t.Rows = append(t.Rows, lineOf(c.Label, label, rows[0].Control, rows).Row(columns))
			}
		}
	}
	return &paper.Output{Table: t}
}
