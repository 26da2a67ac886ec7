// Package labtest has the conformance suite of data, and checks, for tests, that lists of jobs agree with
// what is computed.
package labtest

import (
	"testing"

	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/store"
)

// CheckRunsListed checks that the store holds exactly the runs of the jobs.
func CheckRunsListed(t *testing.T, s *store.Store, jobs []lab.Job) {
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
		t.Error("no run was made: this test checks nothing")
	}
	CheckWorkListed(t, s, jobs)
}

// CheckWorkListed checks that every job can run by itself after the work is done: it must
// find the run that the list names and make no other.
func CheckWorkListed(t *testing.T, s *store.Store, jobs []lab.Job) {
	t.Helper()
	before, err := s.List()
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range lab.Dedup(jobs) {
		if j.Work == nil {
			t.Errorf("%s cannot be done", j.ID)
			continue
		}
		if run, err := j.Work(t.Context()); err != nil || run != j.Key || !j.Done {
			t.Errorf("%s (done: %v) is run %q, its work made %q: %v", j.ID, j.Done, j.Key, run, err)
		}
	}
	after, err := s.List()
	if err != nil || len(after) != len(before) || len(jobs) == 0 {
		t.Errorf("the work of %d jobs made %d runs of %d, %v", len(jobs), len(after), len(before), err)
	}
}

// CheckWorkMakesRuns runs jobs in order in an empty store and checks that each becomes the
// run that is listed afterwards.
func CheckWorkMakesRuns(t *testing.T, s *store.Store, list func() ([]lab.Job, error)) {
	t.Helper()
	jobs, err := list()
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range jobs {
		if j.Done || j.Work == nil {
			t.Errorf("%s: done %v", j.ID, j.Done)
			continue
		}
		if _, err := j.Work(t.Context()); err != nil {
			t.Errorf("%s: %v", j.ID, err)
		}
	}
	if jobs, err = list(); err != nil {
		t.Fatal(err)
	}
	CheckRunsListed(t, s, jobs)
}
