// Groups of records, such as those of one author or patient: what intervals and floors are over.

package audit

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/lethe-ml/lethe/lib/attack"
	"github.com/lethe-ml/lethe/lib/stats"
)

// Clusters returns the groups of some records; nil where there are none.
func (e *Evidence) Clusters(rows []int) stats.Clusters {
	if e.Groups == nil {
		return nil
	}
	return stats.Clusters(valuesAt(e.Groups, rows))
}

// CountGroups returns the number of groups that some records are of; without groups it is that of
// the records.
func (e *Evidence) CountGroups(rows []int) int { return e.Clusters(rows).Count(len(rows)) }

// Unit names n groups: "1 author", "3 authors".
func (e *Evidence) Unit(n int) string {
	if n == 1 {
		return "1 " + cmp.Or(e.GroupUnit, "group")
	}
	return fmt.Sprintf("%d %s", n, e.Units())
}

// Units names groups in the plural: "authors", "cities".
func (e *Evidence) Units() string {
	unit := cmp.Or(e.GroupUnit, "group")
	stem, y := strings.CutSuffix(unit, "y")
	switch {
	case y && !strings.ContainsAny(lastLetter(stem), "aeiou"):
		return stem + "ies"
	case strings.HasSuffix(unit, "s"), strings.HasSuffix(unit, "x"), strings.HasSuffix(unit, "ch"), strings.HasSuffix(unit, "sh"):
		return unit + "es"
	}
	return unit + "s"
}

func lastLetter(s string) string { return s[max(0, len(s)-1):] }

// halves parts rows in two without parting a group; see stats.Clusters.Halves.
func (e *Evidence) halves(rows []int, permutation func(n int) []int) (first, second []int) {
	a, b := e.Clusters(rows).Halves(len(rows), permutation)
	return valuesAt(rows, a), valuesAt(rows, b)
}

// tooFewGroups returns the reason against an estimate over fewer than MinRecords groups on a side.
func (e *Evidence) tooFewGroups(c *stats.Clustered) Reason {
	if c == nil || c.Smallest >= MinRecords {
		return Reason{}
	}
	return Reason{TooFew, fmt.Sprintf("%s in the smaller set, and with fewer than %d no value is significant at 5 %%", e.Unit(c.Smallest), MinRecords)}
}

// signedAUC is contrastAUC of scores of membership.
func (e *Evidence) signedAUC(lens, model string, forget, heldOut Scored) (*Reading, error) {
	r, err := e.contrastAUC(lens, model, forget, heldOut)
	if err == nil {
		r.Membership = true
	}
	return r, err
}

// contrastAUC is SignedAUC of records that may be in groups, the AUC that values of higher exceed those of
// lower: the interval is that of stats.ClusterAUC, and the floor grows with its standard error.
func (e *Evidence) contrastAUC(lens, model string, higher, lower Scored) (*Reading, error) {
	r, err := SignedAUC(lens, model, attack.Samples{Members: higher.Values, Nonmembers: lower.Values})
	if err != nil {
		return nil, err
	}
	ours, theirs := e.Clusters(higher.Rows), e.Clusters(lower.Rows)
	if ours.Trivial(theirs) {
		return r, nil
	}
	auc, err := stats.ClusterAUC(higher.Values, lower.Values, ours, theirs, level, e.Units())
	if err != nil {
		return nil, fmt.Errorf("audit: the lens %q: %w", lens, err)
	}
	worst := stats.ChanceFloor(ours.Count(len(ours)), theirs.Count(len(theirs)))
	r.Estimate = auc.WithNull(0.5, stats.NearNull)
	r.Floor = r.Floor.Clustered(auc.Clustered, stats.Floor{Mean: worst.Mean / 2, P95: worst.P95 / 2}, 0.5)
	r.NoEvidence = firstReason(r.NoEvidence, e.tooFewGroups(auc.Clustered))
	return r, nil
}

// share returns the share of records for which something holds, with Wilson's interval, or that of
// stats.ClusterShare over groups; over names the records.
func (e *Evidence) share(rows []int, holds []bool, over string) (stats.Estimate, error) {
	s, err := stats.ClusterShare([][]bool{holds}, []stats.Clusters{e.Clusters(rows)}, level, e.Units())
	if s.Clustered == nil {
		s.Over = over
	}
	return s, err
}
