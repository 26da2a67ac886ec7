// Checks of what a lens is given: the model, and all forgotten records.

package lenstest

import (
	"testing"

	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/stats"
)

// checkReadsGivenModel reads the oracle in evidence of the original: it must read as in its own.
func checkReadsGivenModel(t *testing.T, lens audit.Lens, c *audit.Case) {
	t.Helper()
	oracle, err := c.Evidence(lens.Info().Needs, c.Oracle)
	if err != nil {
		t.Fatal(err)
	}
	both := *evidenceOf(t, lens, c)
	alone, beside := readArrays(t, lens, oracle, oracle.Models[0]), readArrays(t, lens, &both, oracle.Models[0])
	if beside.Value != alone.Value {
		t.Errorf("the oracle reads %v, and %v in evidence whose first model is the original (e.Models[0]): a lens reads the model that it is given",
			alone.Value, beside.Value)
	}
}

// checkEveryForgotten changes some of the forgotten records: the reading of the original or that of the oracle must change.
func checkEveryForgotten(t *testing.T, lens audit.Lens, g *fixture) {
	t.Helper()
	read := func(changed func(k, n int) bool) (original, oracle audit.Reading) {
		c := g.newCase(visible, forgottenAreMembers)
		for k, i := range c.Forget {
			if changed(k, len(c.Forget)) {
				row := c.Problem.Train.X.Row(i)
				for j := range row { // against what is memorised, and no symmetry of the cases
					row[j] = 0.5*float32(j%3) - 2*row[j]
				}
			}
		}
		return readModel(t, lens, c, c.Original), readModel(t, lens, c, c.Oracle)
	}
	original, oracle := read(func(int, int) bool { return false })
	if readsOthers(&original) {
		return
	}
	for name, changed := range map[string]func(k, n int) bool{
		"the first half of":  func(k, n int) bool { return k < n/2 },
		"the second half of": func(k, n int) bool { return k >= n/2 },
		"every other one of": func(k, _ int) bool { return k%2 == 0 },
		"the others of":      func(k, _ int) bool { return k%2 == 1 },
	} {
		if a, b := read(changed); a.Value == original.Value && b.Value == oracle.Value {
			t.Errorf("with other features of %s the forgotten records the readings of the original and of the oracle are %v and %v all the same: a "+
				"lens reads all of them (e.Forget)", name, a.Value, b.Value)
		}
	}
}

// readsOthers reports whether a reading is of other records than the forgotten ones, such as "triggered records".
func readsOthers(r *audit.Reading) bool {
	return r.Over != "records" && r.Over != "" && r.Over != stats.OverDraws && r.Over != stats.OverSubsets
}
