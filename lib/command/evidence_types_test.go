// The types of evidence of all recipes.

package command

import (
	"reflect"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/report"
)

// No number of any paper's evidence is left out because it is 0. Types of evidence are told
// from the configurations of keys, which leave defaults out, by where they are named: a
// recipe names what it is made of (paper.StudyRecipe does it for its rows), and no key.
// Whatever else a recipe gives as its runs is refused by report.Records when written.
func TestNoEvidenceLeavesOutAZero(t *testing.T) {
	types := map[reflect.Type]bool{}
	for _, p := range Papers() {
		for _, r := range p.Recipes {
			if r.Jobs != nil && !r.Timed && len(r.Evidence) == 0 { // what the clock says is not kept
				t.Errorf("%s keeps what it computes, and names no type of evidence", r.ID)
			}
			for _, of := range r.Evidence {
				types[of] = true
				if left := report.OmittedZeros(of); len(left) > 0 {
					t.Errorf("%s: %v leaves out what is 0: %s", r.ID, of, strings.Join(left, ", "))
				}
				if lost := report.LostFields(of); len(lost) > 0 {
					t.Errorf("%s: %v loses %s", r.ID, of, strings.Join(lost, ", "))
				}
			}
		}
	}
	var names []string
	for of := range types {
		names = append(names, of.String())
	}
	// Some that must be among them; the walk is over all.
	for _, want := range []string{
		"blindu.Row", "blindu.Leak", "blindu.Step", "blindu.AttributeResult", "fishing.Row", "fishing.Overlap", "fishing.AttackResult", "rulerpaper.Row", "sdepaper.Judged",
		"sdepaper.Unlearned", "sdepaper.Learned", "sdepaper.Distribution", "toy.Snapshot",
		"diffusion.Variant", "power.LensReading", "attacks.AttackResult", "attacks.Distances", "audit.Reading",
	} {
		if all := strings.Join(names, " ") + " "; !strings.Contains(all, want+" ") {
			t.Errorf("no recipe is made of %s; there are %s", want, all)
		}
	}
}

// A recipe that can be made again of its values refuses a scale and columns that it does
// not know, by their names.
func TestRecipesThatKeepRowsCanBeMadeAgain(t *testing.T) {
	again := 0
	for _, p := range Papers() {
		for _, r := range p.Recipes {
			if r.FromRuns == nil {
				continue
			}
			again++
			if _, err := r.FromRuns(nil, "vast", strings.NewReader("")); err == nil || !strings.Contains(err.Error(), r.ID) || !strings.Contains(err.Error(), "vast") {
				t.Errorf("%s at a scale that is not there: %v", r.ID, err)
			}
			if _, err := r.FromRuns(nil, "quick", strings.NewReader("nobody's\n1\n")); err == nil || !strings.Contains(err.Error(), r.ID) || !strings.Contains(err.Error(), "nobody's") {
				t.Errorf("%s of columns that it has not: %v", r.ID, err)
			}
		}
	}
	if again < 30 {
		t.Errorf("only %d recipes can be made again", again)
	}
}
