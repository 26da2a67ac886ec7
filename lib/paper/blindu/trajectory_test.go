package blindu

import (
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/paper"
)

// A trajectory begins at the original and ends at the model of the tables.
func TestATrajectoryEndsAtTheModelOfTheTables(t *testing.T) {
	e, s := newEnv(t), briefStudy()
	s.Seeds, s.Cases = 1, s.Cases[:1]
	s.Cases[0].Only = []string{Original, VBU, WithoutReplacement}
	ev, err := collect(t.Context(), e, s)
	if err != nil {
		t.Fatal(err)
	}
	s.Cases[0].Only = []string{VBU, WithoutReplacement}
	found, err := paper.Collect(t.Context(), e, trajectoryMeasurements(e, s))
	if err != nil {
		t.Fatal(err)
	}
	label := s.Cases[0].Label
	for _, variant := range s.Cases[0].Only {
		var way []Step
		for _, x := range found.Rows {
			if x.Variant == variant {
				way = append(way, x)
			}
		}
		if len(way) < 3 {
			t.Fatalf("%s: %d steps", variant, len(way))
		}
		first, last := ev.rowsOf(label, Original)[0], ev.rowsOf(label, variant)[0]
		if a := way[0]; a.Epoch != 0 || a.Erased != first.Erased || a.Retain != first.Retain || a.Test != first.Test || a.Bound != nil {
			t.Errorf("%s begins at %+v, the original is %+v", variant, a, first)
		}
		if b := way[len(way)-1]; b.Epoch != len(way)-1 || b.Erased != last.Erased || b.Retain != last.Retain || b.Test != last.Test || (b.Bound != nil) != (variant == WithoutReplacement) {
			t.Errorf("%s ends at %+v, its model is %+v", variant, b, last)
		}
	}
	c := &trajectories{s, e, found}
	if text := c.figure8().Figure.Text(); !strings.Contains(text, "forget set") || !strings.Contains(text, VBU) {
		t.Errorf("the figure does not show both: %s", text)
	}
	if _, err := c.figure5().Figure.PNG(); err != nil {
		t.Error(err)
	}
}
