// Cases whose records are in groups, for lenses that need weights or data.

package lenstest

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/audit"
)

// The cases in groups, and the coverage that 95 % intervals over groups must have: 0.95 less 4 standard errors.
const (
	groupedCases              = 80
	caseGroup                 = 5 // records in a group
	leastGroupedCases float64 = 0.85
)

// checkGroupsOf is checkGroups, of cases for a lens that needs one.
func checkGroupsOf(t *testing.T, lens audit.Lens, g *fixture) {
	t.Helper()
	if !lens.Info().Needs.Case {
		checkGroups(t, lens)
		return
	}
	trained := g.newCase(1, forgottenAreMembers)
	checkGroupedReadings(t, lens, groupedCases, leastGroupedCases, func(k int) (over, alone audit.Reading, groups int) {
		c := inGroups(g.newCase(uint64(3000+k), noMembers), uint64(k))
		c.Original, c.Oracle, c.SecondOracle = c.NewModel("original", trained.Original.Weights), c.NewModel("oracle", trained.Oracle.Weights),
			c.NewModel("another oracle", trained.SecondOracle.Weights)
		groups = len(c.Forget)/caseGroup + c.Test.X.Rows/caseGroup
		m := c.Oracle
		if c.Backdoor() != nil {
			m = c.Original // a trigger changes no answer of the oracle
		}
		over = readModel(t, lens, c, m)
		c.CountRecords = true
		return over, readModel(t, lens, c, m), groups
	})
}

// inGroups makes the records of a case groups that are nearly alike, of the same class, and differ more from each
// other than records did. Forgotten, retained and test records share none, as after a split that keeps groups
// together.
func inGroups(c *audit.Case, seed uint64) *audit.Case {
	rng, p := rand.New(rand.NewPCG(seed, 0x960)), *c.Prepared
	column := datasets.Column{Name: "author", Kind: datasets.Number, Numbers: make([]float64, p.Train.X.Rows+p.Test.X.Rows)}
	next := 0
	group := func(part datasets.Part, rows []int) {
		for k, i := range rows {
			if k%caseGroup == 0 {
				next++
			}
			column.Numbers[part.IDs[i]] = float64(next)
			first := rows[k-k%caseGroup]
			part.Y[i] = part.Y[first]
			for j, v := range part.X.Row(first) {
				apart := 0.2
				if i == first {
					apart = 1.5
				}
				part.X.Row(i)[j] = v + float32(apart*rng.NormFloat64())
			}
		}
	}
	test := make([]int, p.Test.X.Rows)
	for i := range test {
		test[i], p.Test.IDs[i], p.TestGroups = i, p.Train.X.Rows+i, append(p.TestGroups, i/caseGroup)
	}
	group(p.Train, c.Forget)
	group(p.Train, c.Retain)
	group(p.Test, test)
	p.About.GroupColumn, p.About.Columns = column.Name, append(slices.Clone(p.About.Columns), column)
	c.Problem.Prepared = &p
	return c
}
