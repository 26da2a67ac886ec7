// A comparison is one bar.

package comparison

import (
	"testing"

	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/engine/enginetest"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/progress/progresstest"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

func TestAComparisonIsOneBar(t *testing.T) {
	e, s := enginetest.WithStore(t)
	moons, err := lab.DataSet("two_moons")
	if err != nil {
		t.Fatal(err)
	}
	study := Study{
		Lab: &lab.Lab{Engine: e, Store: s}, Setting: lab.Setting{Data: moons, Fit: train.Config{Epochs: 3}},
		Methods: []unlearn.Method{unlearn.SCRUB{}, unlearn.SSD{}}, Seeds: 2, Lenses: []audit.Lens{audit.Outputs{}},
	}
	shown := progresstest.Record(t)
	if _, err := study.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	last, bars := 0.0, 0
	for _, s := range shown.States() {
		if s.What[0] != "comparing methods on two_moons" {
			continue // the data are loaded before
		}
		if s.Share < last {
			t.Errorf("%v after %v: %v", s.Share, last, s.What)
		}
		if last = s.Share; s.Ended {
			bars++
		}
	}
	if last != 1 || bars != 1 {
		t.Errorf("%d bars, the last ends at %v", bars, last)
	}
	for _, words := range []string{"seed 1 of 2", "seed 2 of 2", "reading models"} {
		if !shown.HasNamed(words) {
			t.Errorf("the bar never says %q", words)
		}
	}
	// Both run at once, and the bar shows one of them.
	if !shown.HasNamed("scrub on ") && !shown.HasNamed("ssd on ") {
		t.Error("the bar never says which method runs")
	}
	for k, s := range shown.States() {
		if k > 0 && len(s.What) == 1 && !s.Ended && s.What[0] != "comparing methods on two_moons" && s.What[0] != "loading two_moons" {
			t.Errorf("a bar beside the bar: %v", s.What)
		}
	}
}
