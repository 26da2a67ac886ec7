package sdepaper

import (
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/lab/labtest"
	"github.com/lethe-ml/lethe/lib/paper"
)

// A study's measurements are listed, then computed: the runs are those of the list, and listing
// computes nothing, whatever is in the store.
func TestTheListedJobsAreTheRunsThatAreMade(t *testing.T) {
	e := environment(t)
	s := small()
	runs := func() int {
		all, err := e.Store.List()
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	list := func(pieces []measurement) []lab.Job {
		before := runs()
		jobs, err := newLabEnv(e).jobs(t.Context(), s, pieces)
		if err != nil {
			t.Fatal(err)
		}
		if n := runs(); n != before {
			t.Fatalf("listing computed %d runs", n-before)
		}
		return jobs
	}
	rows := table4Measurements(tenth)(s)
	var all []lab.Job
	for _, pieces := range [][]measurement{judgedIn(partTrajectory)(s), firstSeedMeasurements(s), rows} {
		before := list(pieces)
		list(rows) // some of their models are there
		ev := &evidence{Study: s, env: e}
		for _, p := range pieces {
			if err := ev.addMeasurement(t.Context(), opened(t, e), p); err != nil {
				t.Fatal(err)
			}
		}
		if pieces[0].judge == "" && !pieces[0].rows {
			if _, err := ev.models(t.Context(), opened(t, e)); err != nil {
				t.Fatal(err)
			}
		}
		after := list(pieces)
		if !slices.Equal(lab.JobIDs(before), lab.JobIDs(after)) {
			t.Error("the jobs have other names after the work")
		}
		for _, j := range after {
			if !j.Done || j.Cost <= 0 {
				t.Errorf("after the work: %+v", j)
			}
		}
		all = append(all, after...)
	}
	labtest.CheckRunsListed(t, e.Store, all)
}

// The paper's grid: 6 settings, 3 fractions, 5 seeds; originals are shared by
// fractions.
func TestThePapersTablesAreListedWithoutTheirData(t *testing.T) {
	e := environment(t)
	jobs, err := paper.Jobs(t.Context(), e, "paper", table1, table8)
	if err != nil {
		t.Fatal(err)
	}
	study, err := StudyAt("paper")
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]int{}
	for _, j := range jobs {
		kind, _, _ := strings.Cut(j.ID, "/")
		kinds[kind]++
		if !j.Missing {
			t.Errorf("its data are here: %+v", j)
		}
	}
	if kinds["train"] != 6*5+2*6*5*3 || kinds["unlearn"] != 6*5*3*10 || kinds["evidence"] != 6*5*3*(2+len(study.Variants())) {
		t.Errorf("%v", kinds)
	}
}
