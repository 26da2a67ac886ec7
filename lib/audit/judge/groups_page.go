// What a report says of groups of records: how many there are, what intervals are over, and how much
// the groups matter.

package judge

import (
	"cmp"
	"fmt"

	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/report"
)

// grouped reports whether any two records are of one group.
func (e *Evidence) grouped() bool { return !e.Clusters(rowsOf(e.Records)).Trivial() }

// unit names one group.
func (e *Evidence) unit() string { return cmp.Or(e.GroupUnit, "group") }

// over says what the interval of a reading is over, where it is over groups: ", over 15 authors".
func (e *Evidence) over(r audit.Reading) string {
	if r.Clustered == nil {
		return ""
	}
	return ", over " + e.Unit(r.N)
}

// ofGroups says of how many groups some records are: " of 15 authors"; empty without groups.
func (e *Evidence) ofGroups(rows []int) string {
	if !e.grouped() {
		return ""
	}
	return " of " + e.Unit(e.CountGroups(rows))
}

// groupTexts explains what the groups of records change; nothing without groups.
func (r *Report) groupTexts() report.List {
	e := r.Evidence
	if !e.grouped() {
		return nil
	}
	out := report.List{fmt.Sprintf("The records are of %s. Records of one %s may be alike, so that intervals, chance and verdicts are over %s and not over "+
		"records. The design effect of a lens is the variance of its number over %s, divided by that over as many independent records: at 4 the records "+
		"are worth a quarter of their number.", e.Unit(e.CountGroups(rowsOf(e.Records))), e.unit(), e.Units(), e.Units())}
	seen := map[string]bool{}
	for _, v := range r.Verdicts {
		why := v.Lens.Info().Ungrouped
		if why == "" && v.Reading.Clustered == nil && v.Reading.Absent == "" {
			why = fmt.Sprintf("no two of the records that it uses are of one %s, or the lens does not know of groups", e.unit())
		}
		if why != "" && !seen[v.Name()] {
			out = append(out, fmt.Sprintf("%s: records taken as independent; %s.", v.Name(), why))
		}
		seen[v.Name()] = true
	}
	return out
}

// designEffect is the cell of a reading's design effect.
func designEffect(r audit.Reading) report.Cell {
	switch {
	case r.Clustered == nil:
		return report.Gap("independent")
	case r.Clustered.DesignEffect == 0:
		return report.Gap("unknown")
	}
	return report.Num(r.Clustered.DesignEffect, 2)
}

// jsonGroups is the JSON form of the groups of an audit.
type jsonGroups struct {
	Unit   string            `json:"unit"`
	Groups int               `json:"groups"`
	Sets   map[audit.Set]int `json:"sets"`
	Mixed  map[audit.Set]int `json:"mixed"` // groups with records to be forgotten and others of a set
}

// jsonGroups returns nil without groups.
func (e *Evidence) jsonGroups() *jsonGroups {
	if !e.grouped() {
		return nil
	}
	out := &jsonGroups{Unit: e.unit(), Groups: e.CountGroups(rowsOf(e.Records)), Sets: map[audit.Set]int{}, Mixed: map[audit.Set]int{}}
	for _, s := range []audit.Set{Forget, Retain, HeldOut} {
		out.Sets[s] = e.CountGroups(e.Rows(s))
	}
	for _, s := range []audit.Set{Retain, HeldOut} {
		out.Mixed[s] = len(e.mixedGroups(s))
	}
	return out
}
