// Tests of protocol.go.

package lab

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/progress"
	"github.com/lethe-ml/lethe/lib/progress/progresstest"
	"github.com/lethe-ml/lethe/lib/store"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

func TestWhoIsTrainedOnWhat(t *testing.T) {
	s := imageSetting()
	s.Seed, s.Augment = 4, true
	c := openCase(t, newLab(t), s)
	both := append(slices.Clone(c.Forget), c.Retain...)
	slices.Sort(both)
	for _, want := range []struct {
		method unlearn.Method
		rows   []int
		seed   int
	}{
		{unlearn.NoOp{}, both, 4},
		{unlearn.Retrain{}, c.Retain, 4},
		{unlearn.SecondOracle, c.Retain, 10_004},
		{unlearn.Retrain{SeedShift: 2}, c.Retain, 6},
	} {
		o := c.ModelSpec(want.method)
		got := c.training(o)
		if o.Method != nil || !slices.Equal(got.Rows, want.rows) || int(got.Fit.Seed) != want.seed || !slices.Equal(got.Keep, []int{5}) {
			t.Errorf("%s: seed %d, %d rows, weights kept after %v", want.method.Info().Name, got.Fit.Seed, len(got.Rows), got.Keep)
		}
	}
	if len(both) != 200 || both[0] != 0 || both[199] != 199 || len(slices.Compact(both)) != 200 {
		t.Errorf("the original is trained on %v", both)
	}
}

func TestWhatARequestHolds(t *testing.T) {
	l := newLab(t)
	s := imageSetting()
	s.Augment, s.Seed = true, 3
	c, w := opened(t, l, s)
	r := c.request(unlearn.Unroll{}, w)
	if !slices.Equal(r.Forget.IDs, c.Forget) || !slices.Equal(r.Retain.IDs, c.Retain) || r.Seed != UnlearnSeed || r.Batch != s.Fit.Batch || r.Fit.Seed != 3 {
		t.Errorf("%d forget and %d retain rows, seed %d, batches of %d, the original's seed %d", len(r.Forget.IDs), len(r.Retain.IDs), r.Seed, r.Batch, r.Fit.Seed)
	}
	for i, row := range r.Forget.IDs {
		if r.Forget.Y[i] != c.Problem.Train.Y[row] || r.Forget.X.Row(i)[0] != c.Problem.Train.X.Row(row)[0] {
			t.Fatalf("record %d of the forget set is not row %d", i, row)
		}
	}
	if r.Earlier == nil || r.Earlier.Epoch != s.Fit.Epochs-1 || r.Earlier.Params.Hash() != w.AtEpoch[s.Fit.Epochs-1].Hash() {
		t.Errorf("the earlier state is %+v", r.Earlier)
	}
	if len(r.HeldOut.Y) > 0 {
		t.Error("a method that does not ask for held-out records gets some")
	}
	if a, ok := r.Augment.(Augmenter); !ok || a.Seed != UnlearnSeed {
		t.Errorf("records are augmented by %+v: the model was trained on augmented ones", r.Augment)
	}
	if a, ok := c.request(unlearn.Retrain{}, w).Augment.(Augmenter); !ok || a.Seed != 3 {
		t.Errorf("retraining is augmented by %+v, not as the training was", r.Augment)
	}
	s.Augment = false
	if c, w := opened(t, l, s); c.request(unlearn.SCRUB{}, w).Augment != nil {
		t.Error("records are augmented that were not in training")
	}
}

// The held-out records are half of the test part, the same for every seed.
func TestHeldOutRecordsAreHalfOfTheTestPart(t *testing.T) {
	l := newLab(t)
	c, w := opened(t, l, imageSetting())
	d := c.request(unlearn.SCRUBKurmanji{}, w).HeldOut
	if n := c.Test.X.Rows; d.X.Rows != (n+1)/2 || !slices.IsSorted(d.IDs) || len(slices.Compact(slices.Clone(d.IDs))) != len(d.IDs) {
		t.Fatalf("%d of %d test records: %v", d.X.Rows, n, d.IDs)
	}
	for i, row := range d.IDs {
		if d.Y[i] != c.Test.Y[row] || !slices.Equal(d.X.Row(i), c.Test.X.Row(row)) {
			t.Fatalf("record %d of the held-out set is not row %d of the test part", i, row)
		}
	}
	both := slices.Concat(d.IDs, c.EvalRows())
	if slices.Sort(both); len(both) != c.Test.X.Rows || len(slices.Compact(both)) != len(both) || len(c.EvalRows()) < len(d.IDs)-1 {
		t.Errorf("judged are %v: not the other half", c.EvalRows())
	}
	other := imageSetting()
	other.Seed = 5
	c, w = opened(t, l, other)
	if !slices.Equal(c.request(unlearn.Tuned[unlearn.SalUn]{}, w).HeldOut.IDs, d.IDs) {
		t.Error("another seed holds out other records")
	}
}

func TestAMethodGoesBackToTheStateThatItAsksFor(t *testing.T) {
	l := newLab(t)
	s := imageSetting()
	s.Fit.Epochs, s.Keep = 10, []int{4, 8, 9}
	c, w := opened(t, l, s)
	for _, k := range []struct {
		m    unlearn.Method
		want int
	}{
		{unlearn.Unroll{}, 9}, {unlearn.UnrollThudi{}, 8}, {unlearn.UnrollThudi{Last: 0.5}, 4}, {unlearn.UnrollThudi{Last: 0.6}, 4},
	} {
		if r := c.request(k.m, w); r.Earlier == nil || r.Earlier.Epoch != k.want {
			t.Errorf("%+v goes back to %+v, want epoch %d", k.m, r.Earlier, k.want)
		}
	}
	if r := c.request(unlearn.UnrollThudi{Last: 0.9}, w); r.Earlier != nil {
		t.Errorf("nothing was kept before the second epoch, it goes back to epoch %d", r.Earlier.Epoch)
	}
}

func TestControlsAreNotComputedTwice(t *testing.T) {
	l := newLab(t)
	c := openCase(t, l, Setting{Data: Table{Set: "two_moons", MaxRows: 120}})
	original := originalOf(t, c)
	for _, m := range []unlearn.Method{unlearn.NoOp{}, unlearn.Retrain{}, unlearn.SecondOracle, unlearn.RandomWeights{}, MatchedFineTuning(2)} {
		w, rep, err := c.Weights(t.Context(), m)
		if err != nil {
			t.Fatalf("%s: %v", m.Info().Name, err)
		}
		_, idle := m.(unlearn.NoOp)
		if (w.Hash() == original.Hash()) != idle || (rep == nil) != (c.ModelSpec(m).Method == nil) {
			t.Errorf("%s: the original's weights: %t, report %+v", m.Info().Name, w.Hash() == original.Hash(), rep)
		}
	}
	runs, err := l.Store.List()
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]int{}
	for _, r := range runs {
		kinds[r.Key.Recipe]++
	}
	if kinds["train"] != 3 || kinds["unlearn"] != 2 || len(kinds) != 2 {
		t.Errorf("the store holds %v: wanted are an original, two oracles, random weights and a fine-tuning", kinds)
	}
}

func TestJobsAreListedBeforeAndKnownAfterwards(t *testing.T) {
	l := newLab(t)
	s := Setting{Data: Table{Set: "two_moons", MaxRows: 120}}
	methods := []unlearn.Method{unlearn.SCRUB{}, unlearn.Retrain{}, unlearn.NoOp{}}
	jobs, err := l.Jobs(t.Context(), s, methods...)
	if err != nil {
		t.Fatal(err)
	}
	if runs, err := l.Store.List(); err != nil || len(runs) > 0 {
		t.Fatalf("listing computed %d runs (%v)", len(runs), err)
	}
	if len(jobs) != 3 || jobs[0].Key == "" || jobs[1].Key != "" || jobs[2].Key == "" || !slices.Equal(jobs[1].Needs, []string{jobs[0].ID}) {
		t.Fatalf("before: %+v", jobs)
	}
	c := openCase(t, l, s)
	arch := c.Problem.Arch
	if jobs[0].Cost != Cost(arch, 3*96*50) || jobs[2].Cost >= jobs[0].Cost || jobs[1].Cost != Cost(arch, 3*(96+96/3)*10) {
		t.Errorf("they cost %d, %d and %d", jobs[0].Cost, jobs[1].Cost, jobs[2].Cost)
	}
	shown := progresstest.Record(t)
	ctx, task := TrackJobs(t.Context(), "everything", jobs)
	for _, m := range methods {
		if _, _, err := c.Weights(ctx, m); err != nil {
			t.Fatal(err)
		}
	}
	task.Done()
	states := shown.States()
	if last := states[len(states)-1]; !last.Ended || last.Share != 1 {
		t.Errorf("the bar ends at %+v", last)
	}
	for _, words := range []string{"everything · training on two_moons, seed ", "everything · scrub on two_moons"} {
		if !shown.HasNamed(words) {
			t.Errorf("the bar does not say %q", words)
		}
	}
	after, err := l.Jobs(t.Context(), s, methods...)
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range after {
		run, err := l.Store.List()
		if err != nil {
			t.Fatal(err)
		}
		if !j.Done || !slices.ContainsFunc(run, func(e store.Entry) bool { return e.ID == j.Key }) {
			t.Errorf("after: %+v", j)
		}
	}
	missing, err := l.Jobs(t.Context(), Setting{Data: Table{Set: "adult"}}, methods...)
	if err != nil || len(missing) != 3 || !missing[0].Missing || missing[0].Key != "" || missing[0].Cost == 0 {
		t.Errorf("without its data: %+v, %v", missing, err)
	}
}

func TestABarKnowsWhatIsLeft(t *testing.T) {
	jobs := []Job{
		{ID: "old training", Cost: 100, Done: true}, {ID: "lost training", Cost: 70},
		{ID: "training", Cost: 50}, {ID: "method", Cost: 10, Needs: []string{"training", "old training"}},
		{ID: "finished", Cost: 1, Needs: []string{"lost training"}, Done: true},
		{ID: "evidence", Cost: 5, Needs: []string{"training", "method"}}, {ID: "elsewhere", Cost: 9, Missing: true},
	}
	shown := progresstest.Record(t)
	ctx, list := TrackJobs(t.Context(), "list", jobs)
	if again, none := TrackJobs(ctx, "list inside", jobs); again != ctx || none != nil {
		t.Error("a list inside a list has a bar of its own")
	}
	var shares []float64
	look := func() {
		shown.Forget()
		progress.Begin("look", 0).Done()
		shares = append(shares, 65*shown.States()[0].Share)
	}
	look()
	_, training := StartJob(context.Background(), "training", "not in the list's context")
	training.Done()
	_, training = StartJob(ctx, "training", "training")
	training.Expect(2)
	training.Add(1)
	look()
	_, lost := StartJob(ctx, "lost training", "no job needs it: what needed it is finished")
	lost.Expect(1)
	lost.Add(1)
	look()
	lost.Done()
	training.Done()
	for _, job := range []string{"lost training", "training", "training", "method", "evidence"} {
		ReportDone(ctx, job)
		look()
	}
	ReportDone(t.Context(), "training")
	if want := []float64{0, 25, 25, 25, 50, 50, 60, 65}; !slices.EqualFunc(shares, want, func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }) {
		t.Errorf("done: %v", shares)
	}
	list.Done()
}

func TestAnOriginThatIsNoTrainingIsNotTrained(t *testing.T) {
	c := openCase(t, newLab(t), Setting{Data: Table{Set: "two_moons", MaxRows: 120}})
	if _, err := c.TrainedModel(t.Context(), c.ModelSpec(unlearn.SCRUB{})); err == nil || !strings.Contains(err.Error(), "scrub") {
		t.Errorf("got %v", err)
	}
	s := Setting{Data: Table{Set: "two_moons"}, Augment: true}
	if _, err := c.Lab.Case(t.Context(), s); err == nil || !strings.Contains(err.Error(), "only images") {
		t.Errorf("a table was augmented: %v", err)
	}
	if _, err := c.Lab.Jobs(t.Context(), Setting{Data: Table{Set: "atlantis"}}, unlearn.SCRUB{}); err == nil || errors.Is(err, store.ErrDamaged) {
		t.Errorf("jobs on unknown data: %v", err)
	}
}

func TestAMethodCostsItsEpochsAndAFederationItsRounds(t *testing.T) {
	for _, c := range []struct {
		of   unlearn.Method
		want int
	}{
		{unlearn.RapidRetraining{Users: unlearn.Users{LocalEpochs: 2}}, 20 * 2},
		{unlearn.RapidRetraining{Users: unlearn.Users{Rounds: 3}}, 3 * 10},
		{MatchedFineTuning(7), 7},
		{unlearn.NoOp{}, 1},
	} {
		if got := methodEpochs(defaults.Fill(c.of)); got != c.want {
			t.Errorf("%s: %d epochs, want %d", c.of.Info().Name, got, c.want)
		}
	}
}

// A record counts as often as it goes through the network: forgotten ones with every mini-batch of the retain
// set, and once more, forward alone, for a teacher.
func TestCostsCountPassesThroughTheNetwork(t *testing.T) {
	for _, c := range []struct {
		method unlearn.Method
		batch  int
		want   int
	}{
		{unlearn.NegGrad{}, 0, 110}, {unlearn.NegGrad{}, 10, 90 + 9*20}, {unlearn.NegGrad{Batched: true}, 10, 90 + 9*10},
		{unlearn.NegGrad{Batched: true}, 50, 90 + 2*20}, {unlearn.SCRUB{Batched: true}, 10, 240}, {unlearn.SCRUB{}, 0, 146},
		{unlearn.FineTuning{}, 10, 90}, {unlearn.GradientAscent{}, 10, 20}, {unlearn.RandomLabel{}, 10, 110},
	} {
		if got := methodRecords(c.method, c.batch, 90, 20); got != c.want {
			t.Errorf("%s with batches of %d: %d records, want %d", c.method.Info().Name, c.batch, got, c.want)
		}
	}
}
