package rulerpaper

import (
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/model/tabular"
)

// trainings are the listed jobs that train.
func trainings(jobs []lab.Job) []lab.Job {
	return slices.DeleteFunc(slices.Clone(jobs), func(j lab.Job) bool { return !strings.HasPrefix(j.ID, "train/") })
}

// The main study has 10 data sets, 10 seeds and 3 fractions: 300 cells, with an
// original per data set and seed and two oracles per cell. Listing needs no file.
func TestThePapersMainStudyIsSevenHundredTrainings(t *testing.T) {
	e := newEnv(t, t.TempDir(), 0)
	full, err := ScaleByName("paper")
	if err != nil {
		t.Fatal(err)
	}
	jobs, err := table1.Jobs(t.Context(), e, full)
	if err != nil {
		t.Fatal(err)
	}
	cells := 0
	for _, j := range jobs {
		if strings.HasPrefix(j.ID, "evidence/") {
			cells++
		}
	}
	if n := len(trainings(jobs)); cells != 300 || n != 700 {
		t.Errorf("%d cells and %d trainings", cells, n)
	}
	first := jobs[0]
	if first.ID[:len("train/adult/everything/seed-0/")] != "train/adult/everything/seed-0/" || first.Key != "" || !first.Missing || first.Cost != lab.Cost(tabular.MLP{Features: 14, Outputs: 2, Hidden: 128}, 3*50*39073) {
		t.Errorf("the first job is %+v", first)
	}
}

// checkJobs demands that a recipe's jobs have the same names and keys after the
// work as before it, and are done.
func checkJobs(t *testing.T, r Recipe, before, after []lab.Job) {
	t.Helper()
	if len(after) == 0 || !slices.Equal(lab.JobIDs(before), lab.JobIDs(after)) {
		t.Fatalf("%s: the %d jobs have other names after the work", r.ID, len(before))
	}
	for i, j := range after {
		if !j.Done || j.Key == "" || before[i].Key != "" && before[i].Key != j.Key || j.Cost <= 0 {
			t.Errorf("%s: %+v after the work, before it %+v", r.ID, j, before[i])
		}
	}
}
