package sdepaper

import (
	"errors"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/datasets/datatest"
	"github.com/lethe-ml/lethe/lib/paper"
)

// The scale of the large experiment, end to end on the real archive, with less of
// everything.
func TestTheLargeScaleOnItsOwnImages(t *testing.T) {
	dir := datatest.Dir(t)
	s, err := StudyAt("large")
	if err != nil {
		t.Fatal(err)
	}
	s.Sizes, s.Subsets, s.Draws, s.Seeds = []int{10, 20}, 4, 2, 1
	s.Settings[0].Images, s.Settings[0].Held, s.Settings[0].Width, s.Settings[0].Fit.Epochs = 300, 120, 2, 5
	e := environment(t)
	t.Setenv(datasets.EnvDir, dir)
	p, err := planned(s, allCells)
	if err != nil {
		t.Fatal(err)
	}
	found, err := paper.Collect(t.Context(), e, judgedBy(partMain, partTrajectory, partLayers, partSpread, partSweep).in(e, p))
	if errors.Is(err, datasets.ErrMissing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	ev := verdicts{&evidence[Judged]{p.Study, e, found}}
	for _, size := range s.Sizes {
		for _, judge := range []string{"sde", "spread-only", "spread-matched"} {
			if c := f1Of(ev, "C10-R18", judge, 0.10, size); c.Value == nil {
				t.Errorf("%s, |S| = %d: %+v", judge, size, c)
			}
		}
	}
	if notes := strings.Join(ev.table(table1).Notes, " "); !strings.Contains(notes, "lossy") {
		t.Errorf("the notes do not say that the images are a lossy copy: %s", notes)
	}
}

func TestAScaleWithoutUnlearnedModelsSaysSo(t *testing.T) {
	for _, make := range []func() error{
		func() error { _, err := table4.Make(t.Context(), environment(t), "large"); return err },
		func() error { _, err := table4.Jobs(t.Context(), environment(t), "large"); return err },
	} {
		if err := make(); err == nil || !strings.Contains(err.Error(), "no models are unlearned") {
			t.Errorf("%v", err)
		}
	}
}
