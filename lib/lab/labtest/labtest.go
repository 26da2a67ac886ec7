// Package labtest checks lists of jobs against what was computed.
package labtest

import (
	"testing"

	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/store"
)

// RunsAreListed demands that the store holds exactly the runs of the jobs: a
// list that is not made of what the work is made of drifts from it.
func RunsAreListed(t *testing.T, s *store.Store, jobs []lab.Job) {
	t.Helper()
	runs, err := s.List()
	if err != nil {
		t.Fatal(err)
	}
	made, listed := map[string]string{}, map[string]string{}
	for _, r := range runs {
		made[r.ID] = r.Key.Recipe
	}
	for _, j := range jobs {
		listed[j.Key] = j.ID
		if made[j.Key] == "" {
			t.Errorf("listed and not made: %s", j.ID)
		}
	}
	for id, recipe := range made {
		if listed[id] == "" {
			t.Errorf("made and not listed: %s %s", recipe, id)
		}
	}
	if len(made) == 0 {
		t.Error("nothing was made: this test looks at nothing")
	}
}
