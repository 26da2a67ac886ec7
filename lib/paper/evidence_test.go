package paper_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/engine/enginetest"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/lab/labtest"
	"github.com/lethe-ml/lethe/lib/model/tabular"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/store"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// size is what is measured here: how much there is to forget.
type size struct {
	Data   string `json:"data"`
	Forget int    `json:"forget"`
}

func newMeasurement(e *paper.Env, data string, measured *int) paper.Measurement[size] {
	s := lab.Setting{Data: lab.Table{Set: data}, Forget: lab.Random{Fraction: 0.1}, Fit: train.Config{Epochs: 1}}
	return paper.Measurement[size]{
		ID: "evidence/" + data, About: data, Setting: s, Methods: []unlearn.Method{unlearn.NoOp{}},
		Key:  func(c *lab.Case) store.Key { return e.Lab().Key("sizes", c.Problem, data, nil) },
		Cost: func(c *lab.Case) int64 { return int64(c.Problem.Train.X.Rows) },
		Measure: func(ctx context.Context, c *lab.Case) ([]size, error) {
			*measured++
			return []size{{data, len(c.Forget)}}, c.Precompute(ctx, unlearn.NoOp{})
		},
	}
}

// Evidence is measured once and kept; what has no files is left out, and named; jobs
// are what is measured, and done afterwards.
func TestEvidenceIsCollectedOnce(t *testing.T) {
	t.Setenv(datasets.EnvDir, t.TempDir())
	engine, kept := enginetest.WithStore(t)
	e := &paper.Env{Engine: engine, Store: kept}
	measured := 0
	pieces := func(*paper.Env, []string) []paper.Measurement[size] {
		var out []paper.Measurement[size]
		for _, data := range []string{"two_moons", "adult", "adult", "moons_island"} {
			out = append(out, newMeasurement(e, data, &measured))
		}
		return out
	}
	r := paper.StudyRecipe(paper.Recipe{ID: "none/sizes"}, func(scale string) ([]string, error) {
		if scale != "quick" {
			return nil, errors.New("scale is not quick")
		}
		return nil, nil
	}, pieces, func(_ *paper.Env, _ []string, found *paper.Evidence[size]) *paper.Output {
		if !slices.Equal(found.Rows, []size{{"two_moons", 80}, {"moons_island", 50}}) || !slices.Equal(found.Missing, []string{"adult"}) || len(found.Synthetic) != 2 {
			t.Errorf("%+v", found)
		}
		if notes := found.MissingNotes(); len(notes) != 1 || !strings.Contains(notes[0], "lethe data get adult") {
			t.Errorf("left out: %q", notes)
		}
		p := found.Provenance(e, "none/sizes", "quick", 7, 2)
		if len(p.Data) != 2 || p.Runs != 2 || p.ResultsVersion != "7" || !slices.Equal(p.Seeds, []int64{0, 1}) {
			t.Errorf("%+v", p)
		}
		return &paper.Output{}
	})
	for range 2 {
		if _, err := r.Run(t.Context(), e, "quick"); err != nil {
			t.Fatal(err)
		}
	}
	if measured != 2 {
		t.Errorf("measured %d times", measured)
	}
	jobs, err := r.List(t.Context(), e, "quick")
	if err != nil || len(jobs) != 6 {
		t.Fatalf("%d jobs, %v", len(jobs), err)
	}
	for _, j := range jobs {
		if missing := strings.Contains(j.ID, "adult"); j.Missing != missing || j.Done == missing {
			t.Errorf("%+v", j)
		}
		if want := lab.Cost(tabular.MLP{Features: 2, Outputs: 2, Hidden: 128}, 800); strings.HasPrefix(j.ID, "evidence/two_moons") && j.Cost != want {
			t.Errorf("%s costs %d %s, want %d", j.ID, j.Cost, lab.CostUnit, want)
		}
	}
	labtest.CheckWorkListed(t, kept, slices.DeleteFunc(slices.Clone(jobs), func(j lab.Job) bool { return j.Missing }))
	for _, j := range jobs {
		if !j.Missing {
			continue
		}
		if run, err := j.Work(t.Context()); !errors.Is(err, datasets.ErrMissing) || run != "" {
			t.Errorf("%s without its data: %q, %v", j.ID, run, err)
		}
	}
	_, empty := enginetest.WithStore(t)
	apart := &paper.Env{Engine: engine, Store: empty}
	labtest.CheckWorkMakesRuns(t, empty, func() ([]lab.Job, error) {
		return paper.MeasurementJobs(t.Context(), apart, []paper.Measurement[size]{newMeasurement(apart, "two_moons", &measured)})
	})
	if _, err := r.Run(t.Context(), e, "vast"); err == nil || !strings.Contains(err.Error(), "not quick") {
		t.Errorf("a scale that is not there: %v", err)
	}
	if _, err := paper.Collect(t.Context(), e, []paper.Measurement[size]{newMeasurement(e, "adult", &measured)}); !errors.Is(err, datasets.ErrMissing) {
		t.Errorf("nothing that could be measured: %v", err)
	}
}

// externalFineTuning is a method outside Lethe's module: this test package stands for an
// external one.
type externalFineTuning struct{ unlearn.FineTuning }

// The key includes external code: of the measurement, though the configuration is a constant,
// and of the methods of its models.
func TestTheKeyOfEvidenceHasCodeFromOutside(t *testing.T) {
	engine, kept := enginetest.WithStore(t)
	e := &paper.Env{Engine: engine, Store: kept}
	measured := 0
	p := newMeasurement(e, "two_moons", &measured)
	p.Methods = append(p.Methods, externalFineTuning{unlearn.FineTuning{Epochs: 1}})
	found, err := paper.Collect(t.Context(), e, []paper.Measurement[size]{p})
	if err != nil {
		t.Fatal(err)
	}
	all, err := kept.List()
	if err != nil {
		t.Fatal(err)
	}
	var code []string
	for _, run := range all {
		if run.ID == found.Runs[0] {
			code = run.Key.Code
		}
	}
	for _, want := range []string{"paper_test.newMeasurement.func", "paper_test.externalFineTuning"} {
		if !slices.ContainsFunc(code, func(line string) bool { return strings.Contains(line, want) }) {
			t.Errorf("the key has the code %q, not %s", code, want)
		}
	}
}

// A case is opened once and its key is made once, from the listing of the work to the reading of its
// rows: computed now, or found in the store.
func TestACaseIsOpenedOnceFromListingToReading(t *testing.T) {
	engine, kept := enginetest.WithStore(t)
	e := &paper.Env{Engine: engine, Store: kept}
	measured, keys := 0, 0
	var seen *lab.Case
	p := newMeasurement(e, "two_moons", &measured)
	key, measure := p.Key, p.Measure
	p.Key = func(c *lab.Case) store.Key {
		keys, seen = keys+1, c
		return key(c)
	}
	p.Measure = func(ctx context.Context, c *lab.Case) ([]size, error) {
		if c != seen {
			t.Error("another case is measured than was opened")
		}
		return measure(ctx, c)
	}
	for run := 1; run <= 2; run++ {
		found, err := paper.Collect(t.Context(), e, []paper.Measurement[size]{p})
		if err != nil || len(found.Rows) != 1 || measured != 1 || keys != run {
			t.Errorf("run %d: %+v, measured %d times, %d keys, %v", run, found, measured, keys, err)
		}
	}
}

// What is required is an error where its data are missing, before anything is measured.
func TestRequiredDataThatAreMissingEndTheWorkBeforeItBegins(t *testing.T) {
	t.Setenv(datasets.EnvDir, t.TempDir())
	engine, kept := enginetest.WithStore(t)
	e := &paper.Env{Engine: engine, Store: kept}
	measured := 0
	there, missing := newMeasurement(e, "two_moons", &measured), newMeasurement(e, "adult", &measured)
	missing.Required = true
	if _, err := paper.Collect(t.Context(), e, []paper.Measurement[size]{there, missing}); !errors.Is(err, datasets.ErrMissing) {
		t.Errorf("required data are missing: %v", err)
	}
	if all, err := kept.List(); err != nil || len(all) > 0 || measured > 0 {
		t.Errorf("%d runs in the store, measured %d times, %v", len(all), measured, err)
	}
}

// Studies are measured side by side, each with its own evidence, and what is missing in one of them ends the work before it begins.
func TestStudiesAreMeasuredSideBySide(t *testing.T) {
	t.Setenv(datasets.EnvDir, t.TempDir())
	engine, kept := enginetest.WithStore(t)
	e := &paper.Env{Engine: engine, Store: kept, Workers: 2}
	none, met := 0, make(chan bool)
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
	defer stop()
	meets := func(data string) paper.Measurement[size] {
		m := newMeasurement(e, data, &none)
		m.Measure = func(ctx context.Context, c *lab.Case) ([]size, error) {
			select { // one sends and the other receives: alone, neither ends
			case met <- true:
			case <-met:
			case <-ctx.Done():
				return nil, ctx.Err()
			}
			return []size{{data, len(c.Forget)}}, nil
		}
		return m
	}
	all, err := paper.CollectAll(ctx, e, [][]paper.Measurement[size]{{meets("two_moons")}, {meets("moons_island")}})
	if err != nil || len(all) != 2 || !slices.Equal(all[0].Rows, []size{{"two_moons", 80}}) || !slices.Equal(all[1].Rows, []size{{"moons_island", 50}}) {
		t.Fatalf("%+v, %v", all, err)
	}
	if len(all[0].Data) != 1 || len(all[1].Runs) != 1 || all[0].Runs[0] == all[1].Runs[0] {
		t.Errorf("data %v, runs %v and %v", all[0].Data, all[0].Runs, all[1].Runs)
	}
	measured := 0
	studies := [][]paper.Measurement[size]{{newMeasurement(e, "blobs_duplicates", &measured)}, {newMeasurement(e, "adult", &measured)}}
	if _, err := paper.CollectAll(ctx, e, studies); !errors.Is(err, datasets.ErrMissing) || measured != 0 {
		t.Errorf("with a study without data: %v, measured %d times", err, measured)
	}
}
