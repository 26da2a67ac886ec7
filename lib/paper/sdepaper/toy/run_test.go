package toy

import (
	"bytes"
	"context"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/lethe-ml/lethe/lib/engine/enginetest"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/lab/labtest"
	"github.com/lethe-ml/lethe/lib/progress/progresstest"
	"github.com/lethe-ml/lethe/lib/report"
)

func tiny() Setting {
	return Setting{Seeds: []int{1, 2}, Epochs: []int{0, 1, 2}, Batches: 3, Permutations: 3}
}

// countdown is a context that ends after its error was asked for some times, as
// a training does before every step.
type countdown struct {
	context.Context
	left *atomic.Int64
}

func (c countdown) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return c.Context.Err()
}

func TestGoesOnWhereItWasStopped(t *testing.T) {
	e, whole := enginetest.WithStore(t)
	want, err := tiny().Run(t.Context(), e, whole)
	if err != nil {
		t.Fatal(err)
	}
	_, broken := enginetest.WithStore(t)
	r, err := tiny().withDefaults().open(t.Context(), e, broken)
	if err != nil {
		t.Fatal(err)
	}
	for _, steps := range []int64{100, 250, 60} { // in the first epoch of 157 steps, and twice in the second
		left := &atomic.Int64{}
		left.Store(steps)
		if _, err := r.train(countdown{t.Context(), left}, r.parts()[0]); !errors.Is(err, context.Canceled) {
			t.Fatalf("after %d steps: %v", steps, err)
		}
	}
	got, err := tiny().Run(t.Context(), e, broken)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got.Snapshots, want.Snapshots) || !slices.Equal(got.Runs, want.Runs) {
		t.Error("a training that was stopped has another result")
	}
}

func TestEachJobIsDoneByItself(t *testing.T) {
	e, s := enginetest.WithStore(t)
	l := &lab.Lab{Engine: e, Store: s}
	labtest.CheckWorkMakesRuns(t, s, func() ([]lab.Job, error) { return tiny().jobs(t.Context(), l) })
}

func TestReadsWhatTheStoreHas(t *testing.T) {
	e, s := enginetest.WithStore(t)
	first, err := tiny().Run(t.Context(), e, s)
	if err != nil {
		t.Fatal(err)
	}
	r, err := tiny().withDefaults().open(t.Context(), e, s)
	if err != nil {
		t.Fatal(err)
	}
	var again []Snapshot
	for _, p := range r.parts() {
		left := &atomic.Int64{}
		left.Store(100) // an epoch asks 157 times
		found, _, err := r.part(countdown{t.Context(), left}, p)
		if err != nil {
			t.Fatalf("reading takes as much as computing: %v", err)
		}
		again = append(again, found...)
	}
	if !reflect.DeepEqual(first.Snapshots, again) {
		t.Error("what was read is not what was computed")
	}
}

func TestComparesFixedWithFreshBatches(t *testing.T) {
	e, s := enginetest.WithStore(t)
	shown := progresstest.Record(t)
	toy := tiny()
	r, err := toy.Run(t.Context(), e, s)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Snapshots) != 12 || len(r.Runs) != 12 {
		t.Fatalf("%d snapshots, %d runs", len(r.Snapshots), len(r.Runs))
	}
	states := shown.States()
	if last := states[len(states)-1]; !last.Ended || last.Share != 1 {
		t.Errorf("the bar ends at %+v", last)
	}
	a, b := r.contrasts(0, 0, Same, true), r.contrasts(0, 0, Same, false)
	if len(a) != 2 || !reflect.DeepEqual(a, b) {
		t.Error("the untrained networks of fixed and fresh batches differ")
	}
	a, b = r.contrasts(0, 2, Same, true), r.contrasts(0, 2, Same, false)
	if reflect.DeepEqual(a, b) {
		t.Error("fixed and fresh batches train the same network")
	}
	if len(r.contrasts(1, 2, Shifted, true)) != 2 || len(r.contrasts(1, 2, Shifted, false)) != 0 || len(r.contrasts(1, 1, Shifted, true)) != 0 {
		t.Error("the planted contrasts are not at the last epoch of fixed batches only")
	}
	checkOutput(t, r)
	checkSummaries(t, r)
}

func checkSummaries(t *testing.T, r *Result) {
	t.Helper()
	parts, err := r.Contrasts(1, 2, Null, true)
	if err != nil || len(parts) != 2 || len(parts[0].A) != 3 {
		t.Fatalf("%d seeds, %v", len(parts), err)
	}
	s, err := r.Summary(1, 2, Null, true)
	if err != nil {
		t.Fatal(err)
	}
	var own float64
	for k := range parts[1].A { // the second seed's share of the differences
		own += 100 * (parts[1].A[k].Exact - parts[1].B[k].Exact) / (parts[1].B[0].Exact + parts[1].B[1].Exact + parts[1].B[2].Exact)
	}
	if got := mean(s.Differences[3:]); s.Runs != 2 || len(s.Differences) != 6 || math.Abs(got-own) > 1e-9 {
		t.Errorf("the second seed differs by %v %%, want %v %%", got, own)
	}
	for want, err := range map[string]error{
		"layer 2":             second(r.Contrasts(2, 2, Same, true)),
		"after epoch 7":       second(r.Summary(0, 7, Same, true)),
		"fixed batches: fals": second(r.Summary(0, 2, Scaled, false)),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error with %q", err, want)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// Another rate or size of the batches is another training, and the sets follow.
func TestTakesRateAndBatchSizeFromTheCaller(t *testing.T) {
	e, s := enginetest.WithStore(t)
	run := func(toy Setting) Contrast {
		toy.Seeds, toy.Epochs, toy.Batches, toy.Permutations = []int{1}, []int{0, 1}, 2, 1
		r, err := toy.Run(t.Context(), e, s)
		if err != nil {
			t.Fatal(err)
		}
		parts, err := r.Contrasts(0, 1, Same, true)
		if err != nil {
			t.Fatal(err)
		}
		return parts[0]
	}
	usual, named, fast, small := run(Setting{}), run(Setting{Batch: 64, LR: 0.1}), run(Setting{LR: 1}), run(Setting{Batch: 16})
	if !reflect.DeepEqual(usual, named) {
		t.Error("64 and 0.1 are not the default")
	}
	if usual.A[0].Exact == fast.A[0].Exact {
		t.Error("the rate changes nothing")
	}
	for n, set := range map[float64]Set{32: usual.A[0], 8: small.A[0]} { // E[H] = product of spreads/(n-1)
		if want := set.Spread[0] * set.Spread[1] / (n - 1); math.Abs(set.Exact/want-1) > 1e-9 {
			t.Errorf("halves of %v: exact mean %v, want %v", n, set.Exact, want)
		}
	}
}

func checkOutput(t *testing.T, r *Result) {
	t.Helper()
	table := r.Table("tiny")
	var text bytes.Buffer
	if err := table.Text(&text); err != nil {
		t.Fatal(err)
	}
	if want := 2 * (2 + 3 + 5); len(table.Rows) != want {
		t.Errorf("%d rows, want %d", len(table.Rows), want)
	}
	for _, row := range table.Rows {
		if (row.Kind == report.Control) == strings.HasPrefix(row.Cells[0].Text, "fixed batches: same") {
			t.Errorf("row %q is of kind %q", row.Cells[0].Text, row.Kind)
		}
	}
	for _, want := range []string{"fixed batches: same − across", "2 of 5 seeds", "2.11e-54", "random permutations"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the table does not say %q", want)
		}
	}
	if _, err := r.Figure("tiny").PNG(); err != nil {
		t.Error(err)
	}
}

func TestRefusesSettingsThatMeanNothing(t *testing.T) {
	e, s := enginetest.WithStore(t)
	for want, toy := range map[string]Setting{
		"0 seeds":               {Seeds: []int{}},
		"epochs to measure are": {Epochs: []int{0, 5, 2}},
		"measure are [0]":       {Epochs: []int{0}},
		"measure are [1 1]":     {Epochs: []int{1, 1}},
		"measure are [-1 1]":    {Epochs: []int{-1, 1}},
		"-2 batches":            {Batches: -2},
		"1 batches":             {Batches: 1},
		"-1 random":             {Permutations: -1},
		"3 records in a batch":  {Batch: 3},
		"65 records in a batch": {Batch: 65},
		"learning rate is -1":   {LR: -1},
		"learning rate is +Inf": {LR: math.Inf(1)},
		"not enough to take":    {Epochs: []int{1}, Batch: 102, Batches: 2}, // 98 full batches
		"157 batches requested": {Batches: 157},
	} {
		if _, err := toy.Run(t.Context(), e, s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want an error with %q", toy, err, want)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, _, err := Output(ctx, &lab.Lab{Engine: e, Store: s}, "quick"); err == nil {
		t.Error("a stopped recipe has an output")
	}
}

func TestFullScaleIsTheZeroValue(t *testing.T) {
	full, quick := SettingAt("paper").withDefaults(), SettingAt("quick").withDefaults()
	if len(full.Seeds) != 5 || full.last() != 200 || full.Batches != 0 || quick.last() != 30 || quick.Batches != 40 {
		t.Errorf("full %+v, quick %+v", full, quick)
	}
	if full.check() != nil || quick.check() != nil {
		t.Error("the scales of the recipe are refused")
	}
}
