// Every lens shows that it reads.

package audit

import (
	"slices"
	"testing"

	"github.com/lethe-ml/lethe/lib/progress"
	"github.com/lethe-ml/lethe/lib/progress/progresstest"
)

func TestEveryLensAnnouncesItself(t *testing.T) {
	c := openCase(t, newLab(t), island())
	shown := progresstest.Record(t)
	for _, l := range TableLenses() {
		shown.Forget()
		c.Lenses = []Lens{l}
		if _, err := c.Readings(c.Original); err != nil {
			t.Errorf("%s: %v", l.Name(), err)
		}
		if !shown.HasNamed("reading models · " + l.Name() + " of " + c.Original.Label) {
			t.Errorf("%s is not shown", l.Name())
		}
	}
}

// Lenses that train say how far they are inside the bar of all readings, though Read has no
// context.
func TestALensThatTrainsMovesTheBarOfTheReadings(t *testing.T) {
	c := openCase(t, newLab(t), island())
	for _, l := range []Lens{Reconstruction{}, Relearning{}, Subsets{}} {
		shown := progresstest.Record(t)
		c.Lenses = []Lens{l, Outputs{}}
		if _, err := c.Readings(c.Original); err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(shown.States(), func(s progress.State) bool { return len(s.What) > 2 || s.Share > 0 && s.Share < 0.5 }) {
			t.Errorf("%s: %v", l.Name(), shown.States())
		}
		for _, s := range shown.States() {
			if s.What[0] != "reading models" && s.What[0] != "predicting" {
				t.Errorf("%s has a bar of its own: %v", l.Name(), s.What)
			}
		}
	}
}
