package rulerpaper

// Tables 1 and 3 to 5.

import (
	"fmt"

	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/stats"
)

var table1 = Recipe{
	ID:    "ruler/table1",
	Title: "RULER Table 1. Residuals in the representation after unlearning",
	Doc: "The paper claims that M2 is negative after every method, significantly in 10 of 12 conditions, so that traces of the forgotten records remain. " +
		"Read every method beside the controls: 'do nothing' is the original model, of which nothing was ever unlearned; 'oracle, " +
		"other seed' never saw the forget set at all; " +
		"ΔM4 is M4 less the M4 of the oracle, which cannot remember.",
}

func init() {
	table1.studies = oneStudy(mainStudy)
	table1.make = func(e *Env, s Scale, parts []*Collected) (*Output, error) {
		c := parts[0]
		all := []columns{
			testColumns("M2 gap", m2), testColumns("M4 rank", m4), effectColumn("ΔM4", "M4 less the oracle's own M4; interval over data sets", deltaM4),
			movedColumn(),
		}
		t := e.variantTable(table1, s, all, c)
		addFractions(t, c, fractionGroup, all)
		t.Notes = append(t.Notes, table1Findings(c)...)
		return &Output{Table: t, Figure: effectForest(e, table1, s, c, m2)}, nil
	}
}

func values(rows []Row, f func(Row) float64) []float64 {
	out := make([]float64, len(rows))
	for i, r := range rows {
		out[i] = f(r)
	}
	return out
}

// table1Findings compares the paper's main claims with the controls, in sentences with computed
// numbers.
func table1Findings(c *Collected) []string {
	var z, tt, negative, all, idle, idleZ, positive4, delta int
	for _, f := range c.Study.Fractions {
		for _, a := range methods() {
			e := newEffect(rowsOf(c.Rows, a.Label, f), m2)
			all++
			if e.mean() < 0 {
				negative++
			}
			if e.significant() && e.mean() < 0 {
				z++
			}
			if e.significantT() && e.mean() < 0 {
				tt++
			}
			if newEffect(rowsOf(c.Rows, a.Label, f), m4).mean() > 0.5 {
				positive4++
			}
			if newEffect(rowsOf(c.Rows, a.Label, f), deltaM4).significantT() {
				delta++
			}
		}
		e := newEffect(rowsOf(c.Rows, NoOp, f), m2)
		if e.mean() < 0 {
			idle++
		}
		if e.significant() && e.mean() < 0 {
			idleZ++
		}
	}
	n := len(c.Study.Fractions)
	out := []string{
		fmt.Sprintf("Paper: M2 negative in 12 of 12 conditions and significant in 10 (z). Here: negative in %d of %d, significant in "+
			"%d by z and %d by t.", negative, all, z, tt),
		fmt.Sprintf("Control: the original model, never unlearned, has a negative mean M2 at %d of %d fractions, significant by z at %d.", idle, n, idleZ),
		fmt.Sprintf("Paper: mean M4 above 0.5 in 12 of 12 conditions. Here: in %d of %d. M4 differs from the oracle's own (t, 5 %%) "+
			"in %d of %d.", positive4, all, delta, all),
	}
	same := mean(values(filter(c.Rows, func(r Row) bool { return r.Variant == NoOp }), func(r Row) float64 { return r.M1 }))
	other := mean(values(filter(c.Rows, func(r Row) bool { return r.Variant == OtherOracle }), func(r Row) float64 { return r.M1 }))
	return append(out, fmt.Sprintf("Mean cosine on the forget set, original and oracle of the same seed: %.3f (paper: about 0.99); "+
		"oracles of different seeds: %.3f (paper: about 0.43).", same, other))
}

var table3 = Recipe{
	ID:    "ruler/table3",
	Title: "RULER Table 3. Evaluation at the outputs",
	Doc:   "The paper claims that all methods pass at the outputs: mean attack accuracy within 0.05 of 0.5, with retain and test accuracy preserved.",
}

func init() {
	table3.studies = oneStudy(mainStudy)
	table3.make = func(e *Env, s Scale, parts []*Collected) (*Output, error) {
		c := parts[0]
		accuracy := func(name, note string, value func(Row) float64) columns {
			return dataSetColumn(name, note, metric{Value: value, Digits: 3})
		}
		all := []columns{
			accuracy("MIA accuracy", "mean over data sets of the means over seeds; t interval over data sets; null 0.5; "+
				"passes the paper's rule when within 0.05",
				mia.Value),
			oneColumn("pass", "", func(rows []Row) report.Cell {
				if v := overDataSets(rows, mia.Value).Value; v > 0.45 && v < 0.55 {
					return report.Str("yes")
				}
				return report.Str("no")
			}),
			accuracy("MIA AUC", "forget against held-out records, no threshold; below 0.5 the forget set looks "+
				"less like members than non-members do (over-unlearning)", func(r Row) float64 { return r.MIAAUC }),
			accuracy("forget acc.", "", func(r Row) float64 { return r.ForgetAcc }),
			accuracy("retain acc.", "", func(r Row) float64 { return r.RetainAcc }),
			accuracy("test acc.", "", func(r Row) float64 { return r.TestAcc }),
		}
		t := e.variantTable(table3, s, all, c)
		addFractions(t, c, fractionGroup, all)
		return &Output{Table: t}, nil
	}
}

// overDataSets is the mean over data sets of the means over their rows.
func overDataSets(rows []Row, f func(Row) float64) stats.Estimate {
	_, means := byDataSet(rows, metric{Value: f})
	return stats.MeanInterval(means, 0.95, "data sets")
}

var table4 = Recipe{
	ID:    "ruler/table4",
	Title: "RULER Table 4. Membership attack per data set",
	Doc: "Mean balanced accuracy of the loss-threshold attack over seeds, interval over seeds. A star marks a mean outside 0.45 to " +
		"0.55, the paper's pass rule. " +
		"The paper finds the oracle itself outside on German Credit and Breast Cancer. The last column is the distance from 0.5 that " +
		"a perfect unlearner shows by chance on one model.",
}

func init() {
	table4.studies = oneStudy(mainStudy)
	table4.make = func(e *Env, s Scale, parts []*Collected) (*Output, error) {
		c := parts[0]
		var all []columns
		for _, a := range c.variants() {
			all = append(all, oneColumn(a.Label, "", func(rows []Row) report.Cell {
				est := seedMean(rows, mia)
				cell := report.Est(est, 3)
				if est.Value <= 0.45 || est.Value >= 0.55 {
					cell.Text += " *"
				}
				return cell
			}).only(func(r Row) bool { return r.Variant == a.Label }))
		}
		all = append(all, oneColumn("chance floor", "mean and 95th percentile of |accuracy - 0.5| of a "+
			"fixed threshold on as many forget and held-out records, when nothing can be told", func(rows []Row) report.Cell {
			floor := stats.ChanceFloorBalanced(rows[0].Forget)
			return report.Str(fmt.Sprintf("%.3f, %.3f (n = %d)", floor.Mean, floor.P95, rows[0].Forget))
		}))
		t := e.columnTable(table4, s, "data set", all, c)
		for _, f := range c.Study.Fractions {
			for _, d := range c.Study.DataSets {
				addVariant(t, fractionGroup+percent(f), d, "", c.rowsIn(d, f), all)
			}
		}
		return &Output{Table: t}, nil
	}
}

var table5 = Recipe{
	ID:    "ruler/table5",
	Title: "RULER Table 5. Median against mean as the baseline of M2",
	Doc: "The paper subtracts the median of the retain similarities and reports that with the mean fewer conditions are significant and some change sign. " +
		"Where the sign of a result hangs on the choice between two averages, the effect is no larger than the skew of the baseline.",
}

func init() {
	table5.studies = oneStudy(mainStudy)
	table5.make = func(e *Env, s Scale, parts []*Collected) (*Output, error) {
		c := parts[0]
		all := []columns{testColumns("M2, median", m2), testColumns("M2, mean", metric{m2Mean.Name, m2Mean.Value, m2Mean.Null, m2.Digits})}
		t := e.variantTable(table5, s, all, c)
		addFractions(t, c, fractionGroup, all)
		t.Notes = append(t.Notes, table5Finding(c))
		return &Output{Table: t}, nil
	}
}

// table5Finding counts the conditions in which either baseline of M2 is significant, among those that were tested.
func table5Finding(c *Collected) string {
	var sigMedian, sigMean, ranMedian, ranMean, flips, n int
	for _, f := range c.Study.Fractions {
		for _, a := range methods() {
			rows := rowsOf(c.Rows, a.Label, f)
			median, average := newEffect(rows, m2), newEffect(rows, m2Mean)
			n++
			ranMedian, sigMedian = ranMedian+count(median.ranked()), sigMedian+count(median.significantRank())
			ranMean, sigMean = ranMean+count(average.ranked()), sigMean+count(average.significantRank())
			flips += count(median.mean()*average.mean() < 0)
		}
	}
	tests := untested
	if ranMedian+ranMean > 0 {
		tests = ofTests(sigMedian, ranMedian, " with the median, ") + ofTests(sigMean, ranMean, " with the mean")
	}
	return fmt.Sprintf("Significant by Wilcoxon at 5 %%: %s; the sign changes in %d of %d. (Four main methods.)", tests, flips, n)
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}
