package sdepaper

import (
	"errors"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/datasets/datatest"
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
	p, err := newLabEnv(e).openSetting(t.Context(), s.Settings[0])
	if errors.Is(err, datasets.ErrMissing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	ev := &evidence{Study: s, env: e, data: map[string]string{"cifar10_jpeg": p.Hash}, caveats: []string{p.About.Caveat}}
	for _, piece := range judgedIn(partMain, partTrajectory, partLayers, partSpread, partSweep)(s) {
		if err := ev.addMeasurement(t.Context(), p, piece); err != nil {
			t.Fatal(err)
		}
	}
	for _, size := range s.Sizes {
		for _, judge := range []string{"sde", "spread-only", "spread-matched"} {
			if c := ev.f1("C10-R18", judge, 0.10, size); c.Value == nil {
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
