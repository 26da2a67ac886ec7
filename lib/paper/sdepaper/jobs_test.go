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
	runs := func() int {
		all, err := e.Store.List()
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	list := func(jobs func() ([]lab.Job, error)) []lab.Job {
		before := runs()
		out, err := jobs()
		if err != nil {
			t.Fatal(err)
		}
		if n := runs(); n != before {
			t.Fatalf("listing computed %d runs", n-before)
		}
		return out
	}
	var all []lab.Job
	all = append(all, checkListed(t, e, list, firstCells, judgedBy(partTrajectory))...)
	all = append(all, checkListed(t, e, list, allCells, learning)...)
	all = append(all, checkListed(t, e, list, unlearnedCells(tenth), everyVariant)...)
	labtest.CheckRunsListed(t, e.Store, all)
}

// checkListed lists measurements, computes them and lists them again: now all are done.
func checkListed[R any](t *testing.T, e *paper.Env, list func(func() ([]lab.Job, error)) []lab.Job, choose func(Study) []cell,
	measure measurementsOf[R]) []lab.Job {
	t.Helper()
	p, err := planned(small(), choose)
	if err != nil {
		t.Fatal(err)
	}
	jobs := func() ([]lab.Job, error) { return paper.MeasurementJobs(t.Context(), e, measure.in(e, p)) }
	before := list(jobs)
	collected(t, e, choose, measure)
	after := list(jobs)
	if !slices.Equal(lab.JobIDs(before), lab.JobIDs(after)) {
		t.Error("the jobs have other names after the work")
	}
	for _, j := range after {
		if !j.Done || j.Cost <= 0 {
			t.Errorf("after the work: %+v", j)
		}
	}
	return after
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
