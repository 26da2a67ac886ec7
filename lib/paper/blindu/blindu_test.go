package blindu

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/engine/enginetest"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/lab/labtest"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/report"
)

// briefStudy is the quick study with few variants, records and epochs.
func briefStudy() Study {
	c := glyphs()
	c.Data, c.Fit.Epochs = lab.Limit(c.Data, 900, 200), 12
	c.Only = []string{Original, Retrained, VBUCoded, WithoutReplacement}
	return Study{Scale: "brief", Seeds: 2, Cases: bothRequests(c)}
}

func newEnv(t *testing.T) *paper.Env {
	e, s := enginetest.WithStore(t)
	return &paper.Env{Engine: e, Store: s}
}

// From drawings to a table: the original has the backdoor and the retrained model has
// not, every variant has a row, nothing is computed twice, and the jobs are what is done.
func TestAStudyMakesItsTables(t *testing.T) {
	e := newEnv(t)
	ev, err := collect(t.Context(), e, briefStudy())
	if err != nil {
		t.Fatal(err)
	}
	if r := ev.rowsOf(ev.Cases[0].Label, Original)[0]; r.Masked == r.Erased {
		t.Errorf("masked and not: %v", r.Erased)
	}
	if len(ev.Rows) != 2*2*4 {
		t.Fatalf("%d rows", len(ev.Rows))
	}
	for _, r := range ev.Rows {
		backdoor := strings.HasSuffix(r.Case, "backdoor")
		if r.Forget != 54 || r.Train != 900 || r.Judged != 100 || (r.Opened > 0) != backdoor {
			t.Errorf("%s, %s: %d of %d to forget, %d judged, %d with the trigger", r.Case, r.Variant, r.Forget, r.Train, r.Judged, r.Opened)
		}
		switch {
		case r.Variant == Original && (r.Erased < 0.6 || r.Retain < 0.6 || r.Test < 0.5):
			t.Errorf("%s: the original has learned too little: %+v", r.Case, r)
		case backdoor && r.Variant == Original && r.Open < 0.6:
			t.Errorf("the original's backdoor is open for %v", r.Open)
		case backdoor && r.Variant == Retrained && (r.Erased > 0.2 || r.Open > 0.2):
			t.Errorf("the retrained model has the backdoor: %+v", r)
		case !backdoor && r.Variant == Retrained && r.Erased < 0.5:
			t.Errorf("the retrained model does not know what it never met and may know: %+v", r)
		case r.Variant == WithoutReplacement && r.Steps == 0 || r.Control && r.Steps != 0:
			t.Errorf("%s has taken %d steps", r.Variant, r.Steps)
		}
	}
	out := ev.table3()
	if err := out.Table.Check(); err != nil {
		t.Error(err)
	}
	for _, row := range out.Table.Rows {
		if label := row.Cells[0].Text; row.Kind != report.Header && (row.Kind == report.Control) != (label == Original || label == Retrained) {
			t.Errorf("%s is of kind %s", label, row.Kind)
		}
	}
	if text := ev.figure6().Figure.Text(); !strings.Contains(text, Retrained) {
		t.Errorf("the figure does not show the retrained model: %s", text)
	}
	torn := *ev
	torn.Rows = slices.Clone(ev.Rows)
	torn.Rows[slices.IndexFunc(torn.Rows, func(r Row) bool { return r.Variant == WithoutReplacement })].Diverged = "in epoch 1"
	if text := torn.figure6().Figure.Text(); !strings.Contains(text, WithoutReplacement+": 1 of 2 models diverged") {
		t.Errorf("the figure does not say what it leaves out: %s", text)
	}
	lost := torn.table3().Table
	if i := slices.IndexFunc(lost.Rows, func(r report.Row) bool { return r.Cells[0].Text == WithoutReplacement }); lost.Rows[i].Cells[1].Missing != "diverged in 1 of 2" ||
		!strings.Contains(strings.Join(lost.Notes, "\n"), "in epoch 1") {
		t.Errorf("the table does not say which models are lost: %+v, %q", lost.Rows[i], lost.Notes)
	}
	again, err := collect(t.Context(), e, briefStudy())
	if err != nil || !slices.Equal(again.Runs, ev.Runs) || len(ev.Runs) != 4 {
		t.Errorf("again: %v, %v", again.Runs, err)
	}
	jobs, err := paper.MeasurementJobs(t.Context(), e, measurements(e, briefStudy()))
	if err != nil {
		t.Fatal(err)
	}
	// Two cases with two seeds: two models, two methods and the evidence.
	if want := 2 * 2 * 5; len(jobs) != want {
		t.Errorf("%d jobs, want %d", len(jobs), want)
	}
	for _, j := range jobs {
		if !j.Done {
			t.Errorf("the job %s is not done", j.ID)
		}
	}
	labtest.CheckWorkListed(t, e.Store, jobs)
}

func TestAStudyWithoutItsFilesSaysWhereTheyAre(t *testing.T) {
	t.Setenv(datasets.EnvDir, t.TempDir())
	e := newEnv(t)
	for _, scale := range []string{"hour", "standard", "paper"} {
		s, err := StudyAt(scale)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := collect(t.Context(), e, s); !errors.Is(err, datasets.ErrMissing) || !strings.Contains(err.Error(), "lethe data get mnist") {
			t.Errorf("%s: %v", scale, err)
		}
		jobs, err := paper.MeasurementJobs(t.Context(), e, measurements(e, s))
		if err != nil || len(jobs) == 0 || slices.ContainsFunc(jobs, func(j paper.Job) bool { return !j.Missing || j.Done }) {
			t.Errorf("%s: %d jobs, %v", scale, len(jobs), err)
		}
	}
	if _, err := StudyAt("day"); err == nil || !strings.Contains(err.Error(), "quick, hour, photographs, copies, standard, paper, lossy, collections") {
		t.Errorf("an unknown scale: %v", err)
	}
}
