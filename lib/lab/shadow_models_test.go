// Tests of shadow_models.go.

package lab

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/store"
	"github.com/lethe-ml/lethe/lib/store/storetest"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

func rowsFrom(first, end int) (out []int) {
	for i := first; i < end; i++ {
		out = append(out, i)
	}
	return out
}

func openShadowModels(t *testing.T, l *Lab, s Setting, models int, whole bool) *ShadowModels {
	t.Helper()
	f, err := l.ShadowModels(t.Context(), s, models, whole)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// The mask that attackers get is what was trained on, for every training and every request.
func TestTheMaskIsWhatWasTrainedOn(t *testing.T) {
	for _, s := range []Setting{smallSetting(), {Data: Table{Set: "two_moons", MaxRows: 121}, Forget: Random{Fraction: 0.2}}} {
		for _, whole := range []bool{false, true} {
			l := newLab(t)
			alone := openCase(t, l, s)
			f := openShadowModels(t, l, s, 6, whole)
			assigned := alone.Forget
			if whole {
				assigned = rowsFrom(0, alone.Problem.Train.X.Rows)
			}
			if !slices.Equal(f.Assigned, assigned) {
				t.Fatalf("whole %t: %v are assigned", whole, f.Assigned)
			}
			in := f.Membership()
			for m, c := range f.Models {
				original, oracle := c.training(c.Original()), c.training(c.Oracle())
				r := c.request(unlearn.SCRUB{}, &Trajectory{Final: c.InitialWeights(7), AtEpoch: nil})
				if int(original.Fit.Seed) != s.Seed+m || int(oracle.Fit.Seed) != s.Seed+m {
					t.Errorf("model %d has the seeds %d and %d", m, original.Fit.Seed, oracle.Fit.Seed)
				}
				for i, row := range f.Assigned {
					forget := slices.Contains(alone.Forget, row)
					if slices.Contains(original.Rows, row) != in[m][i] || slices.Contains(oracle.Rows, row) != (in[m][i] && !forget) ||
						slices.Contains(r.Forget.IDs, row) != (in[m][i] && forget) || slices.Contains(r.Retain.IDs, row) != (in[m][i] && !forget) {
						t.Errorf("whole %t, model %d, row %d: the mask says %t, forgotten %t", whole, m, row, in[m][i], forget)
					}
				}
				for row := range alone.Problem.Train.X.Rows {
					if !slices.Contains(f.Assigned, row) && (!slices.Contains(original.Rows, row) || !slices.Contains(oracle.Rows, row)) {
						t.Errorf("row %d is not assigned and is not in model %d", row, m)
					}
				}
			}
		}
	}
}

func TestAPairSplitsTheAssignedRecords(t *testing.T) {
	l := newLab(t)
	s := Setting{Data: Table{Set: "two_moons", MaxRows: 120}, Forget: Random{Fraction: 0.22}} // 21 of 96 are assigned
	f := openShadowModels(t, l, s, 8, false)
	in := f.Membership()
	for m := 0; m < len(in); m += 2 {
		had := 0
		for i := range f.Assigned {
			if in[m][i] == in[m+1][i] {
				t.Errorf("record %d is in both models of pair %d, or in none", i, m/2)
			}
			if in[m][i] {
				had++
			}
		}
		if had != len(f.Assigned)/2 || len(f.Assigned) != 21 {
			t.Errorf("model %d has %d of %d", m, had, len(f.Assigned))
		}
		for k := range m {
			if slices.Equal(in[k], in[m]) {
				t.Errorf("models %d and %d have the same half", k, m)
			}
		}
	}
	longer := openShadowModels(t, l, s, 12, false).Membership()
	for m := range in {
		if !slices.Equal(longer[m], in[m]) {
			t.Errorf("with more shadow models model %d has another half", m)
		}
	}
	moved := openShadowModels(t, l.Reseed(1), Setting{Data: s.Data, Forget: s.Forget}, 8, false)
	if slices.Equal(moved.Membership()[0], in[0]) {
		t.Error("with every seed moved the deal is the same")
	}
}

func TestInvalidShadowModelsAreRefused(t *testing.T) {
	l := newLab(t)
	for words, at := range map[string]struct {
		s      Setting
		models int
	}{
		"3 shadow models": {Setting{Data: Table{Set: "two_moons"}}, 3},
		"0 shadow models": {Setting{Data: Table{Set: "two_moons"}}, 0},
	} {
		if _, err := l.ShadowModels(t.Context(), at.s, at.models, false); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%v, want %q", err, words)
		}
	}
	if err := (ShadowSplit{}).removeOthers(&Case{Setting: Setting{ShadowSplit: &ShadowSplit{}}, Forget: []int{3}, Retain: []int{4}}); err == nil {
		t.Error("one record is split between two models")
	}
	s := Setting{Data: Table{Set: "two_moons"}, ShadowSplit: &ShadowSplit{Model: -1}}
	if _, err := l.Case(t.Context(), s); err == nil || !strings.Contains(err.Error(), "model -1") {
		t.Errorf("%v", err)
	}
}

// Every model is a job of its own, and what was listed is what is computed.
func TestShadowJobsAreTheModels(t *testing.T) {
	l := newLab(t)
	s := Setting{Data: Table{Set: "two_moons", MaxRows: 100}, Forget: Random{Fraction: 0.2}, Fit: train.Config{Epochs: 2}}
	methods := []unlearn.Method{unlearn.NoOp{}, unlearn.Retrain{}, MatchedFineTuning(1)}
	jobs, err := l.ShadowJobs(t.Context(), s, 4, false, methods...)
	if err != nil || len(jobs) != 12 {
		t.Fatalf("%d jobs, %v", len(jobs), err)
	}
	f := openShadowModels(t, l, s, 4, false)
	if err := f.Precompute(t.Context(), methods...); err != nil {
		t.Fatal(err)
	}
	jobs, err = l.ShadowJobs(t.Context(), s, 4, false, methods...)
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range jobs {
		if !j.Done {
			t.Errorf("%s was listed and is not there", j.ID)
		}
	}
	runs, err := l.Store.List()
	if err != nil || len(runs) != 12 {
		t.Errorf("%d runs, %v", len(runs), err)
	}
	w, err := f.Weights(t.Context(), unlearn.NoOp{})
	if err != nil || len(w) != 4 || w[0].Hash() == w[1].Hash() {
		t.Errorf("%d models, %v", len(w), err)
	}
	if elsewhere, err := l.ShadowJobs(t.Context(), Setting{Data: Cells{Set: "pbmc3k"}, Forget: Class("DC")}, 2, false, methods...); err != nil || len(elsewhere) != 6 || !elsewhere[0].Missing {
		t.Errorf("without its files: %d jobs, %v", len(elsewhere), err)
	}
}

func TestMain(m *testing.M) { storetest.Main(m, sweepChild) }

// sweepChild trains and unlearns shadow models and prints the hash of every model.
func sweepChild(dir string) error {
	e, err := engine.Open("auto")
	if err != nil {
		return err
	}
	s, err := store.Open(dir)
	if err != nil {
		return err
	}
	f, err := (&Lab{Engine: e, Store: s}).ShadowModels(context.Background(), smallSetting(), 6, false)
	if err != nil {
		return err
	}
	for _, m := range []unlearn.Method{unlearn.NoOp{}, unlearn.Retrain{}, MatchedFineTuning(10)} {
		weights, err := f.Weights(context.Background(), m)
		if err != nil {
			return err
		}
		for _, w := range weights {
			fmt.Println(w.Hash())
		}
	}
	return nil
}

func TestAKilledSweepEndsInTheSameModels(t *testing.T) {
	if all := (storetest.Kills{Times: 12, Seed: 4}).Run(t); strings.Count(all, "\n") != 18 {
		t.Errorf("the models are\n%s", all)
	}
}
