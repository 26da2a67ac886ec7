package blindu

// Table IV: sampling rates and differential privacy.

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/privacy"
	"github.com/lethe-ml/lethe/lib/report"
)

var table4 = paper.Recipe{
	ID:    "blindu/table4",
	Title: "BlindU Table IV. Masking by its rate, and noise",
	Doc: "A backdoor is to be forgotten. 'epsilon' and 'delta' of masking are what the paper claims, by its formulas with n = 100, which are those " +
		"that it prints, and with the number of features that the record has; beside them delta is the share of the record that is sent as it is. " +
		"The other rows' epsilon is that of noise on gradients (federations) or on the records themselves (VBU), centred at 0, on vectors " +
		"shortened to length 1, over all that a user releases or in each of their steps. The paper does not say which of these its 2 is, nor how " +
		"long a vector may be. 'erased' is measured on the records as they are, 'masked' on masked ones; the program measures BlindU alone on masked ones.",
}

// rates are the sampling rates of the table; the last is that of the other rows.
var rates = []float64{0.2, 0.4, 0.6}

// table4Study is the study of the table.
func table4Study(scale string) (Study, error) {
	s, err := StudyAt(scale)
	if err != nil {
		return s, err
	}
	return withAllRates(s), nil
}

// withAllRates is a study's first case at every rate; at the last rate with the variants that
// mask nothing.
func withAllRates(s Study) Study {
	c := s.Cases[0]
	s.Cases = nil
	for _, rate := range rates {
		at := c
		at.Label, at.Rate, at.At, at.Only = fmt.Sprintf("%s, rate %g", c.Label, rate), rate, rate, maskedVariants
		s.Cases = append(s.Cases, at)
	}
	s.Cases[len(rates)-1].Only = unmaskedVariants
	return s
}

// unmaskedVariants are the rows at the table's last rate, in order.
var unmaskedVariants = append([]string{Original, Retrained, HBFU, HBFUCoded, PrivateHBFU, EachHBFU, BFU, PrivateBFU, EachBFU, VBU, VBUCoded,
	PrivateVBU}, maskedVariants...)

// maskedVariants are the rows at every rate.
var maskedVariants = []string{WithReplacement, WithoutReplacement, WithWeighted, WithoutWeighted}

// printed4 are the paper's backdoor and test accuracy, in per cent, at a rate if there is one.
func printed4(variant string, rate float64) string {
	return map[string]string{
		HBFUCoded: "5.08 +- 1.13  96.04 +- 0.32", PrivateHBFU: "23.66 +- 3.39  75.94 +- 1.64",
		BFU: "8.52 +- 0.96  96.38 +- 0.31", PrivateBFU: "27.31 +- 3.53  81.73 +- 2.17",
		VBUCoded: "2.03 +- 0.25  88.19 +- 0.76", PrivateVBU: "2.33 +- 0.36  48.02 +- 4.37",
		WithReplacement + " 0.2": "3.31 +- 0.51  95.86 +- 0.30", WithReplacement + " 0.4": "2.87 +- 0.67  95.30 +- 0.24",
		WithReplacement + " 0.6":    "1.89 +- 1.20  94.56 +- 0.85",
		WithoutReplacement + " 0.2": "2.11 +- 0.49  94.67 +- 0.34", WithoutReplacement + " 0.4": "2.14 +- 0.50  93.93 +- 0.43",
		WithoutReplacement + " 0.6": "1.56 +- 0.95  94.65 +- 0.68",
	}[labelWithRate(variant, rate)]
}

// claimed4 are epsilon and delta as the paper prints them for masking.
func claimed4(variant string, rate float64) string {
	return map[string]string{
		WithReplacement + " 0.2": "0.199, 0.182", WithReplacement + " 0.4": "0.398, 0.331", WithReplacement + " 0.6": "0.597, 0.453",
		WithoutReplacement + " 0.2": "0.221, 0.2", WithoutReplacement + " 0.4": "0.504, 0.5", WithoutReplacement + " 0.6": "0.902, 0.8",
	}[labelWithRate(variant, rate)]
}

// labelWithRate is the label of a variant with its rate, if it has one.
func labelWithRate(variant string, rate float64) string {
	if variant == WithReplacement || variant == WithoutReplacement {
		return variant + " " + strconv.FormatFloat(rate, 'g', -1, 64)
	}
	return variant
}

func (ev *evidence) table4() *paper.Output {
	var columns []column
	for k, c := range []report.Column{
		{Name: "epsilon, n = 100", Note: "as claimed; of noise, as set"}, {Name: "delta, n = 100"},
		{Name: "epsilon", Note: "the same formula with the features of a record"}, {Name: "delta", Note: "the share of a record that is sent as it is"},
	} {
		columns = append(columns, column{Name: c.Name, Note: c.Note, Cell: func(l line) report.Cell {
			return claimCells(l.Models[0].Variant, ev.caseOf(l).Rate, l.Models[0].Features)[k]
		}})
	}
	columns = append(columns, erasedColumn,
		paper.ShareColumn("masked", "the same with the records masked uniformly without replacement, whatever the row's own mask; at the row's rate, "+
			"60 % where it has none", func(r Row) float64 { return r.Masked }),
		testColumn,
		paper.TextColumn("claimed", "epsilon and delta as printed; its deltas without replacement at 40 and 60 % are those of 50 and 80 %", "",
			func(l line) string { return claimed4(l.Models[0].Variant, ev.caseOf(l).Rate) }),
		paper.TextColumn("paper", "backdoor and test accuracy in per cent, as printed, on MNIST", "",
			func(l line) string { return printed4(l.Models[0].Variant, ev.caseOf(l).Rate) }))
	t := ev.table(table4, columns)
	for _, variant := range unmaskedVariants {
		for _, c := range ev.Cases {
			if rows := ev.rowsOf(c.Label, variant); len(rows) > 0 {
				label := variant
				if slices.Contains(maskedVariants, variant) {
					label = fmt.Sprintf("%s, %.0f %%", variant, 100*c.Rate)
				}
				t.Rows = append(t.Rows, lineOf("", label, rows[0].Control, rows).Row(columns))
			}
		}
	}
	return &paper.Output{Table: t}
}

// claimCells are epsilon and delta with 100 features, and with the features of a record.
func claimCells(variant string, rate float64, features int) (out []report.Cell) {
	switch variant {
	case WithReplacement, WithoutReplacement:
		for _, n := range []int{100, features} {
			claim, err := privacy.Masking{Rate: rate, Replacement: variant == WithReplacement}.Claim(n)
			if err != nil {
				out = append(out, report.Gap(err.Error()), report.Gap(err.Error()))
				continue
			}
			out = append(out, report.Num(claim.Epsilon, 4), report.Num(claim.Delta, 4))
		}
		return out
	case PrivateHBFU, PrivateBFU, PrivateVBU:
		return []report.Cell{report.Num(2, 0), report.Num(0, 0), report.Num(2, 0), report.Num(0, 0)}
	case EachHBFU, EachBFU:
		each := report.Str("2 a step")
		return []report.Cell{each, report.Num(0, 0), each, report.Num(0, 0)}
	case WithWeighted, WithoutWeighted:
		none := report.Gap("no claim: the choice depends on the record")
		return []report.Cell{none, none, none, none}
	}
	none := report.Gap("not private")
	return []report.Cell{none, none, none, none}
}
