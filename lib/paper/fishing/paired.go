package fishing

import (
	"fmt"
	"strings"

	"github.com/lethe-ml/lethe/lib/attack/learned"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/stats"
)

// quantity is a value of a model in the words and digits of a note.
type quantity struct {
	name   string
	digits int
	of     func(Row) float64
}

func byPB() quantity { return quantity{"AUC by P-B", 3, ByProtocol(learned.PB().Name)} }

func byCrossFitted() quantity {
	return quantity{"cross-fitted AUC", 3, ByProtocol(learned.CrossFitted(nil).Name)}
}

func byLoss() quantity {
	return quantity{"reconstruction loss of the forgotten cells", 1, func(r Row) float64 { return r.ForgetRecon }}
}

// compared says what a value of an arm less that of another one comes to, by seed.
func (rows Rows) compared(q quantity, arm, other string) string {
	return tested(fmt.Sprintf("%s less %s", arm, other), q.digits, rows.Less(arm, other, q.of))
}

// tested is a mean difference with its interval and the P of the paired t test.
func tested(what string, digits int, diff []float64) string {
	r, err := stats.PairedT(diff, stats.OverModels)
	if err != nil { // one model, or the same difference in all
		return fmt.Sprintf("%s: %s, no test of %d models", what, report.Est(stats.MeanInterval(diff, 0.95, stats.OverModels), digits).Text, len(diff))
	}
	return fmt.Sprintf("%s: %s, P %s", what, report.Est(r.Mean, digits).Text, shortP(r.P))
}

// shortP is a P with two digits that count.
func shortP(p float64) string {
	if p < 1e-4 {
		return "below 0.0001"
	}
	return fmt.Sprintf("%.2g", p)
}

// pairedLaw says what the tests are.
func pairedLaw(n int) string {
	return fmt.Sprintf("paired t test by seed, n = %d, P not corrected for the number of tests", n)
}

// forgettingNotes say whether original and retrained models differ at all: on cells that
// both judge alike there is nothing to forget, however an attacker's mean compares with
// chance.
func (ev *evidence) forgettingNotes() []string {
	var out []string
	for _, c := range ev.Cases {
		rows := Rows(nil)
		for _, r := range ev.Rows {
			if r.Case == c.Label {
				rows = append(rows, r)
			}
		}
		retrained := ev.of(c.Label, Retrained)
		if len(retrained) < 2 || len(ev.of(c.Label, Original)) < 2 {
			continue
		}
		var said []string
		for _, q := range []quantity{byPB(), byCrossFitted(), byLoss()} {
			said = append(said, fmt.Sprintf("%s: %s", q.name, rows.compared(q, Original, Retrained)))
		}
		for _, arm := range []string{Original, Retrained} {
			if diff := lessNull(ev.of(c.Label, arm), retrained); diff != nil {
				said = append(said, tested("cross-fitted AUC of "+arm+" less that of cells that nobody trained on", 3, diff))
			}
		}
		out = append(out, fmt.Sprintf("%s: is there something to forget? %s (%s).", c.Label, strings.Join(said, "; "), pairedLaw(len(retrained))))
	}
	return out
}

// lessNull is the cross-fitted AUC of models less the null of the retrained model of the
// same seed.
func lessNull(rows, retrained []Row) (diff []float64) {
	for _, r := range rows {
		for _, other := range retrained {
			if other.Seed == r.Seed && other.Null != nil {
				diff = append(diff, byCrossFitted().of(r)-other.Null.Mean)
			}
		}
	}
	return diff
}

// paperMarkers is the paper's mean marker correlation over some genes, where it prints
// all of them.
func paperMarkers(genes []string, arm string) (mean float64, known bool) {
	for _, gene := range genes {
		var r float64
		if _, err := fmt.Sscan(printed8()[gene][arm], &r); err != nil {
			return 0, false
		}
		mean += r / float64(len(genes))
	}
	return mean, len(genes) > 0
}

// markersNote says over which genes marker r is a mean, and what the paper has of the same.
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
