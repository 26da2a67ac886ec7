package fishing

// Paired tests in the notes of tables.

import (
	"fmt"
	"strings"

	"github.com/lethe-ml/lethe/lib/attack/learned"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/stats"
)

// quantity is a value of a model with its name and digits in a note.
type quantity struct {
	name   string
	digits int
	of     func(Row) float64
}

func pbAUC() quantity { return quantity{"AUC by P-B", 3, ProtocolAUC(learned.PB().Name)} }

func crossFittedAUC() quantity {
	return quantity{"cross-fitted AUC", 3, ProtocolAUC(learned.CrossFitted(nil).Name)}
}

func forgetLoss() quantity {
	return quantity{"reconstruction loss of the forgotten cells", 1, func(r Row) float64 { return r.ForgetRecon }}
}

// compareText describes the difference of a value between two variants, paired by seed.
func (rows Rows) compareText(q quantity, variant, other string) string {
	return testText(fmt.Sprintf("%s less %s", variant, other), q.digits, rows.Differences(variant, other, q.of))
}

// testText describes a mean difference with its interval and the P of the paired t test.
func testText(what string, digits int, diff []float64) string {
	r, err := stats.PairedT(diff, stats.OverModels)
	if err != nil { // one model, or equal differences
		return fmt.Sprintf("%s: %s, no test of %d models", what, report.Est(stats.MeanInterval(diff, 0.95, stats.OverModels), digits).Text, len(diff))
	}
	return fmt.Sprintf("%s: %s, P %s", what, report.Est(r.Mean, digits).Text, formatP(r.P))
}

// formatP is a P with two significant digits.
func formatP(p float64) string {
	if p < 1e-4 {
		return "below 0.0001"
	}
	return fmt.Sprintf("%.2g", p)
}

// pairedTestNote names the tests.
func pairedTestNote(n int) string {
	return fmt.Sprintf("paired t test by seed, n = %d, P not corrected for the number of tests", n)
}

// forgettingNotes say whether original and retrained models differ at all. If they do not, there
// is nothing to forget, whatever an attacker's mean is.
func (ev *evidence) forgettingNotes() []string {
	var out []string
	for _, c := range ev.Cases {
		rows, retrained := ev.rowsIn(c.Label), ev.rowsOf(c.Label, Retrained)
		if len(retrained) < 2 || len(ev.rowsOf(c.Label, Original)) < 2 {
			continue
		}
		var texts []string
		for _, q := range []quantity{pbAUC(), crossFittedAUC(), forgetLoss()} {
			texts = append(texts, fmt.Sprintf("%s: %s", q.name, rows.compareText(q, Original, Retrained)))
		}
		for _, variant := range []string{Original, Retrained} {
			if diff := differencesFromNull(ev.rowsOf(c.Label, variant), retrained); diff != nil {
				texts = append(texts, testText("cross-fitted AUC of "+variant+" less that of cells that nobody trained on", 3, diff))
			}
		}
		out = append(out, fmt.Sprintf("%s: is there something to forget? %s (%s).", c.Label, strings.Join(texts, "; "), pairedTestNote(len(retrained))))
	}
	return out
}

// rowsIn are the rows of a case.
func (ev *evidence) rowsIn(label string) (out Rows) {
	for _, r := range ev.Rows {
		if r.Case == label {
			out = append(out, r)
		}
	}
	return out
}

// differencesFromNull are the cross-fitted AUCs of models minus the null of the retrained model
// of the same seed.
func differencesFromNull(rows, retrained []Row) (diff []float64) {
	for _, r := range rows {
		for _, other := range retrained {
			if other.Seed == r.Seed && other.Null != nil {
				diff = append(diff, crossFittedAUC().of(r)-other.Null.Mean)
			}
		}
	}
	return diff
}

// paperMarkers is the paper's mean marker correlation over some genes, if it prints all of them.
func paperMarkers(genes []string, variant string) (mean float64, known bool) {
	for _, gene := range genes {
		var r float64
		if _, err := fmt.Sscan(printed8()[gene][variant], &r); err != nil {
			return 0, false
		}
		mean += r / float64(len(genes))
	}
	return mean, len(genes) > 0
}

// markersNote says which genes marker r is the mean of, and gives the paper's value for the same
// genes.
func markersNote(c Case, found []string) string {
	note := fmt.Sprintf("%s: marker r is the mean over %s: the other markers are not among the variable genes.", c.Label, strings.Join(found, ", "))
	original, known := paperMarkers(found, Original)
	if !known {
		return note
	}
	retrained, _ := paperMarkers(found, RetrainedCoded)
	return note + fmt.Sprintf(" Over the same genes, without library size, the paper has %.3f for the original and %.3f for the retrained model; "+
		"its %s and %s are means over eight.",
		original, retrained, printed8()[mean8][Original], printed8()[mean8][RetrainedCoded])
}
