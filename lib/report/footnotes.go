// Footnotes of a table: its notes, and warnings about its intervals.

package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/lib/stats"
)

// overlapMark follows an interval over units that share records.
const overlapMark = "\u2020"

// Footnotes returns the notes that are printed under the table: its own, and warnings about the
// intervals in its cells.
func (t *Table) Footnotes() []string {
	out := slices.Clone(t.Notes)
	var units []string
	models := map[int]bool{}
	for _, r := range t.Rows {
		for _, c := range r.Cells {
			if c.Estimate == nil || !c.Estimate.HasInterval() {
				continue
			}
			if over := c.Estimate.Over; strings.Contains(c.Text, overlapMark) && !slices.Contains(units, over) {
				units = append(units, over)
			}
			if c.Estimate.OverFewModels() {
				models[c.Estimate.N] = true
			}
		}
	}
	for _, over := range units {
		out = append(out, fmt.Sprintf("%s over %s, which share records: too narrow to be read as an interval of the level that it is computed for.",
			overlapMark, over))
	}
	if len(models) > 0 {
		out = append(out, fewRates(models))
	}
	return out
}

// fewRates returns the warning about the coverage of intervals over few models.
func fewRates(models map[int]bool) string {
	var counts []string
	low, high := 1.0, 0.0
	for _, n := range slices.Sorted(maps.Keys(models)) {
		worst, best, _ := stats.RateCoverage(n)
		low, high, counts = min(low, worst), max(high, best), append(counts, fmt.Sprint(n))
	}
	return fmt.Sprintf("Intervals over %s models: in simulation Student's 95 %% interval over so few rates holds their mean in %.0f to %.0f of 100 cases.",
		strings.Join(counts, " and "), 100*low, 100*high)
}
