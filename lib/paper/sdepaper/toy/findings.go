package toy

import (
	"fmt"

	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/stats"
)

// findings compares the paper's claim with the results, in sentences with computed numbers.
func (r *Result) findings() []string {
	var out []string
	for layer, name := range layers {
		last := r.rows(r.Setting.last())
		same, null, fresh := r.summary(layer, r.Setting.last(), last[0]), r.summary(layer, r.Setting.last(), last[1]), r.summary(layer,
			r.Setting.last(), last[2])
		pairs := len(same.Differences)
		out = append(out,
			fmt.Sprintf("%s, epoch %d, the paper's test on %d single pairs: same above across in %.0f %%, below in %.0f %%; across "+
				"against across, where nothing can be found, %.0f %% and %.0f %%. A p of 2.11e-54 or less: same above %d times, "+
				"below %d times; across against across %d and %d times.",
				name, r.Setting.last(), pairs, 100*same.SingleHigher, 100*same.SingleLower, 100*null.SingleHigher, 100*null.SingleLower,
				same.ExtremeHigher, same.ExtremeLower, null.ExtremeHigher, null.ExtremeLower),
			fmt.Sprintf("%s: why. The exact means of random sets differ by %.1f %% (standard deviation), the permutations of one set "+
				"scatter by %.1f %%, and the standard error of 200 is a fourteenth of that. Taken as 200 observations, the "+
				"permutations find that two sets hold different records, whatever was trained.",
				name, null.Between, null.Within),
			r.trajectoryFinding(layer, name),
			fmt.Sprintf("%s, epoch %d, one number per batch: same − across %s, Wilcoxon p %s; fresh batches %s, p %s; across − across %s, p %s.",
				name, r.Setting.last(), text(same.OverBatches), formatP(same.Wilcoxon), text(fresh.OverBatches), formatP(fresh.Wilcoxon),
				text(null.OverBatches), formatP(null.Wilcoxon)),
			r.permutationFinding(layer, name),
			fmt.Sprintf("%s: is there more than spread? Beyond the products of spreads the permutations add %s to the difference; "+
				"the halves as they stand are at %s standard deviations from the mean of their permutations (both: interval over batches, null 0).",
				name, text(same.Rest), interval(same.Identity, 3)),
			r.plantedFinding(layer, name))
	}
	return append(out, r.fitFinding(), "Both contrasts of a network use the same sets B, so that they rise and fall together. The "+
		"signed-rank and sign tests are a little cautious for same − across: the batches of a seed share out the records, so that "+
		"their H varies less together than that of independent sets. The permutations have no such error.")
}

// trajectoryFinding is on the gap that grows with training in the paper.
func (r *Result) trajectoryFinding(layer int, name string) string {
	first, last := r.Setting.Epochs[0], r.Setting.last()
	row := r.rows(last)[0]
	before, after := r.summary(layer, first, row), r.summary(layer, last, row)
	change := make([]float64, len(after.Differences))
	for i, d := range after.Differences {
		change[i] = d - before.Differences[i]
	}
	text := fmt.Sprintf("%s, does the gap grow? From epoch %d to %d same − across changes by %s", name, first, last,
		text(stats.MeanInterval(change, 0.95, "batches")))
	if r, err := stats.Pearson(before.Differences, after.Differences); err == nil {
		text += fmt.Sprintf("; the differences of single batches at the two epochs are correlated with %.2f", r)
	}
	return text + "."
}

func formatP(p float64) string {
	if p < 0.001 {
		return fmt.Sprintf("%.1e", p)
	}
	return report.FormatP(p)
}

func text(e stats.Estimate) string { return interval(e, 2) + " %" }

func interval(e stats.Estimate, digits int) string {
	return report.FormatNumber(e.Value, digits) + " " + report.FormatInterval(e.Low, e.High, digits)
}

func (r *Result) permutationFinding(layer int, name string) string {
	fixed, fresh := r.permutationTest(layer, r.Setting.last(), true), r.permutationTest(layer, r.Setting.last(), false)
	return fmt.Sprintf("%s, epoch %d, the true batches among random permutations of the same records: %s %% (95 %% of permutations: %s), p %s; "+
		"fresh batches %s %% (%s), p %s. An effect of same-batch training on H is bounded by this.",
		name, r.Setting.last(), report.FormatNumber(fixed.Effect, 3), report.FormatInterval(fixed.Low, fixed.High, 3), formatP(fixed.P),
		report.FormatNumber(fresh.Effect, 3), report.FormatInterval(fresh.Low, fresh.High, 3), formatP(fresh.P))
}

func (r *Result) plantedFinding(layer int, name string) string {
	rows := r.rows(r.Setting.last())
	scaled, shift := r.summary(layer, r.Setting.last(), rows[3]), r.summary(layer, r.Setting.last(), rows[4])
	return fmt.Sprintf("%s, planted: activations of the batches scaled by 5 %% are found, %s, p %s, though nothing depends on "+
		"anything. A shift that all records of a batch share makes them truly dependent, and H of same − across becomes %s, p %s: "+
		"the sign is the opposite of the paper's, because H of a set does not see what its records have in common.",
		name, text(scaled.OverBatches), formatP(scaled.Wilcoxon), text(shift.OverBatches), formatP(shift.Wilcoxon))
}

func (r *Result) fitFinding() string {
	var accuracy, flipped []float64
	for _, s := range r.Snapshots {
		if s.Fixed && s.Epoch == r.Setting.last() {
			accuracy, flipped = append(accuracy, s.Accuracy), append(flipped, s.Flipped)
		}
	}
	return fmt.Sprintf("With fixed batches, after %d epochs the networks are right on %.1f %% of their training labels, and on %.1f "+
		"%% of those that were flipped, which can only be memorised.",
		r.Setting.last(), 100*mean(accuracy), 100*mean(flipped))
}
