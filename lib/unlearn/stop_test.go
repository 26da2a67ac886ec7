// Tests of stop.go.

package unlearn

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/federated"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/train"
)

// program is the published program's loop on recorded accuracies: it returns the number of
// steps of each epoch. batches are the accuracies of every epoch's batches, ends those of
// the epochs.
func program(s Stop, batches [][]float64, ends []float64) (steps []int) {
	low := 0
	for epoch, all := range batches {
		taken := 0
		for _, accuracy := range all {
			taken++ // the step is taken before the program looks
			if accuracy < s.Batch {
				break
			}
		}
		steps = append(steps, taken)
		if ends[epoch] < s.Epoch {
			if low++; low >= max(1, s.Times) {
				break
			}
		}
	}
	return steps
}

// taken returns the steps of a history's epochs.
func taken(history []train.Epoch) (steps []int) {
	before := 0
	for _, e := range history {
		steps, before = append(steps, e.Steps-before), e.Steps
	}
	return steps
}

// The rule is the program's on any sequence of accuracies.
func TestTheStopIsTheProgramsOnRecordedAccuracies(t *testing.T) {
	s := newServer(t)
	o, err := objectiveOf(s.asked)
	if err != nil {
		t.Fatal(err)
	}
	rng, early, ended, exchanged := rand.New(rand.NewPCG(1, 2)), 0, 0, 0
	for range 60 {
		stop := Stop{Batch: float64(rng.IntN(5)) / 20, Epoch: float64(rng.IntN(5)) / 20, Times: 0}
		if stop.Epoch > 0 {
			stop.Times = rng.IntN(4)
		}
		right, batches, ends := make([][]int, 6), make([][]float64, 6), make([]float64, 6)
		for e := range right {
			ends[e] = float64(rng.IntN(10)) / 40
			for range 5 {
				n := rng.IntN(10)
				right[e], batches[e] = append(right[e], n), append(batches[e], float64(n)/20)
			}
		}
		in, epoch := 0, -1
		plan := train.Plan{Passes: singlePass(o), Watch: func(k train.StepInfo) (bool, error) {
			if in++; k.Epoch != epoch {
				in, epoch = 0, k.Epoch
			}
			return stop.reached(right[k.Epoch][in], 20), nil
		}}
		plan.Validation = stop.validation(func(_ context.Context, _ nn.Params, epoch int) (float64, error) { return ends[epoch-1], nil })
		_, history, err := train.FitPlan(t.Context(), s.runner, s.weights, plan, train.Config{Epochs: 6, Batch: 20, Optimizer: nn.SGD{LR: 1e-6}}, train.Hooks{})
		if err != nil {
			t.Fatal(err)
		}
		want := program(stop, batches, ends)
		if !slices.Equal(taken(history), want) {
			t.Errorf("%+v: steps %v, the program's %v", stop, taken(history), want)
		}
		if len(want) < 6 {
			ended++
		}
		if slices.Min(want) < 5 {
			early++
		}
		if !slices.Equal(want, program(Stop{Batch: stop.Epoch, Epoch: stop.Batch, Times: stop.Times}, batches, ends)) {
			exchanged++
		}
	}
	if early < 20 || ended < 20 || exchanged < 20 {
		t.Errorf("%d of 60 end an epoch early, %d end, %d differ where batch and epoch are exchanged", early, ended, exchanged)
	}
}

// "Less than" is strict, at a batch and at an epoch's end.
func TestTheStopIsBelowAndNotAt(t *testing.T) {
	for _, c := range []struct {
		batch    float64
		right, n int
		want     bool
	}{{0.02, 0, 20, true}, {0.02, 1, 20, false}, {0.05, 1, 20, false}, {0.05, 5, 100, false}, {0.05, 4, 100, true}, {0, 0, 20, false}, {0.1, 2, 20, false}} {
		if got := (Stop{Batch: c.batch}).reached(c.right, c.n); got != c.want {
			t.Errorf("%d of %d right at %v: %t", c.right, c.n, c.batch, got)
		}
	}
	for end, want := range map[float64]bool{0.1: false, 0.0999999: true, 0: true, 1: false} {
		if got := (Stop{Epoch: 0.1}).validation(nil).IsBelow([]train.Epoch{{Valid: &end}}); got != want {
			t.Errorf("an epoch that ends at %v: %t", end, got)
		}
	}
	never := 0.0
	if (Stop{Batch: 0.5}).validation(nil).IsBelow([]train.Epoch{{Valid: &never}}) {
		t.Error("without a rule for epochs one ends")
	}
	for _, s := range []Stop{{Batch: -1, Epoch: 1}, {Batch: 2}, {Epoch: math.NaN()}, {Epoch: 1.5}, {Epoch: 0.1, Times: -1}, {Times: 2}, {Batch: math.NaN()}} {
		if err := s.check(); err == nil || !strings.Contains(err.Error(), "shares must be between 0 and 1") {
			t.Errorf("%+v: %v", s, err)
		}
	}
}

// Plain ascent as coded ends within an epoch, by the batch's own outputs, random numbers
// included; at the end of an epoch more of the model is gone.
func TestVBUAsCodedEndsWithinAnEpoch(t *testing.T) {
	s := newServer(t)
	r := s.request()
	m := VBU{Divergence: new(0.0), LR: 0.02, Batch: 2, Clip: new(0.0)}
	byEpoch, rep, err := Apply(t.Context(), m, r)
	if err != nil || rep.Steps%50 != 0 {
		t.Fatal(rep, err)
	}
	m.Stop = &Stop{Batch: 0.02, Epoch: 0.5}
	coded, early, err := Apply(t.Context(), m, r)
	if err != nil {
		t.Fatal(err)
	}
	if early.Steps >= rep.Steps/2 || early.Steps%50 == 0 || !strings.HasPrefix(early.Note, "forgotten after") {
		t.Errorf("%d steps (%s), by the end of an epoch %d", early.Steps, early.Note, rep.Steps)
	}
	kept, left, gone := s.accuracy(t, coded, s.others), s.accuracy(t, byEpoch, s.others), s.accuracy(t, coded, s.asked)
	if kept < left+0.3 || gone > 0.5 {
		t.Errorf("%v of other records are right, by the end of an epoch %v; %v of what is forgotten", kept, left, gone)
	}
	m.Stop = &Stop{Batch: 0.5, Epoch: 0.02}
	if exchanged, _, err := Apply(t.Context(), m, r); err != nil || exchanged.Hash() == coded.Hash() {
		t.Errorf("batch and epoch exchanged change nothing (%v)", err)
	}
	m.Stop = &Stop{Batch: 2}
	if _, _, err := Apply(t.Context(), m, r); err == nil {
		t.Error("a stop that is none is followed")
	}
}

// VBU as coded takes the program's steps for the accuracies of its own batches.
func TestVBUsStopIsTheProgramsOnItsOwnBatches(t *testing.T) {
	s := newServer(t)
	r := s.request()
	for _, stop := range []Stop{{Batch: 0.02, Epoch: 0.1}, {Batch: 0.02, Epoch: 0.02, Times: 2}, {Batch: 0.3}, {Epoch: 0.1}} {
		plan := train.Plan{Passes: singlePass(train.Objective{r.term("forget", r.Forget, false, r.labelTarget(r.Forget, -1))})}
		if err := (VBU{Stop: &stop}).addStop(&plan, r); err != nil {
			t.Fatal(err)
		}
		var batches [][]float64
		rule := plan.Watch
		plan.Watch = func(k train.StepInfo) (bool, error) {
			share, err := k.Mean(0, errorRateTarget(r.Forget.Y, 3))
			if k.Epoch == len(batches) {
				batches = append(batches, nil)
			}
			batches[k.Epoch] = append(batches[k.Epoch], math.Round(20*(1-share))/20)
			if err != nil {
				return false, err
			}
			return rule(k)
		}
		c := train.Config{Epochs: 8, Batch: 20, Optimizer: nn.Adam{LR: 2e-3}, Seed: r.Seed, Clip: 1}
		_, history, err := train.FitPlan(t.Context(), r.Runner, r.Original, plan, c, train.Hooks{})
		if err != nil {
			t.Fatal(err)
		}
		var ends []float64
		for _, e := range history {
			ends = append(ends, *e.Valid)
		}
		if want := program(stop, batches, ends); !slices.Equal(taken(history), want) {
			t.Errorf("%+v: steps %v, the program's %v of %v", stop, taken(history), want, batches)
		}
	}
}

// An epoch's end is evaluated with one random code per record, other ones in every epoch.
func TestAnEpochIsJudgedByDraws(t *testing.T) {
	s := newServer(t)
	judge, err := sampledAccuracy(s.runner, s.others, 5)
	if err != nil {
		t.Fatal(err)
	}
	wide := s.weights.Clone() // so much noise that a draw decides
	for _, v := range wide {
		if v.Name == "compressor.out.bias" || strings.HasSuffix(v.Name, "compressor.output.bias") {
			for i := 4; i < 8; i++ {
				v.Data[i] += 5
			}
		}
	}
	seen := map[string]bool{}
	for epoch := range 4 {
		a, err := judge(t.Context(), wide, epoch)
		if err != nil {
			t.Fatal(err)
		}
		if again, _ := judge(t.Context(), wide, epoch); again != a {
			t.Errorf("epoch %d: %v, again %v", epoch, a, again)
		}
		seen[fmt.Sprint(a)] = true
	}
	if len(seen) < 2 {
		t.Errorf("every epoch has the same draws: %v; weights %v", seen, names(wide))
	}
}

func names(p nn.Params) (out []string) {
	for _, v := range p {
		out = append(out, v.Name)
	}
	return out
}

// In portions a user goes through all erased records in one order, and users with the same
// records use the same ones.
func TestPortionsMeetEverythingInTurn(t *testing.T) {
	rows := make([]int, 30)
	for i := range rows {
		rows[i] = 100 + i
	}
	u := defaults.Fill(Users{Portion: 1.0 / 3, Batch: 4})
	var all []int
	for round := 1; round <= 3; round++ {
		part := u.portionRows(rows, round, 9)
		if len(part) != 10 || !slices.Equal(part, u.portionRows(rows, round, 9)) {
			t.Errorf("round %d: %v", round, part)
		}
		all = append(all, part...)
	}
	if !slices.Equal(u.portionRows(rows, 4, 9), all[:10]) || slices.Equal(u.portionRows(rows, 1, 10), all[:10]) {
		t.Error("the fourth round is not the first, or the order is that of another seed")
	}
	slices.Sort(all)
	if !slices.Equal(all, rows) {
		t.Errorf("three thirds are %v", all)
	}
	if got := u.stepsPerRound(30); got != 3 {
		t.Errorf("%d steps for ten records in batches of four", got)
	}
	if got := defaults.Fill(Users{Portion: 0.2}).stepsPerRound(6000); got != 12 {
		t.Errorf("%d steps for a fifth of 6,000 records in batches of 100", got)
	}
	if got := defaults.Fill(Users{Portion: 1.0 / 3}).portionSize(3600); got != 1200 {
		t.Errorf("a third of 3,600 are %d", got)
	}
	if got := defaults.Fill(Users{Portion: 0.001}).portionRows(rows, 1, 9); len(got) != 1 {
		t.Errorf("the least portion has %d records", len(got))
	}
	if whole := defaults.Fill(Users{}).portionRows(rows, 2, 9); !slices.Equal(whole, rows) {
		t.Errorf("all are %v", whole)
	}
	r := newServer(t).request()
	for _, portion := range []float64{-0.1, 1.1, math.NaN()} {
		if _, _, err := Apply(t.Context(), HBFU{Users: Users{Portion: portion}}, r); err == nil || !strings.Contains(err.Error(), "of the erased records per round") {
			t.Errorf("a portion of %v: %v", portion, err)
		}
	}
}

// In a round a user takes the steps of their portion, uses those records and no others, and
// ends a pass after the first batch that is forgotten. All reported steps are those taken.
func TestAUsersRoundEndsByTheirBatches(t *testing.T) {
	s := newServer(t)
	r := s.request()
	users := Users{Count: 4, Requesters: 2, Rounds: 2, LocalEpochs: 1, ErasingEpochs: 6, Batch: 10, Portion: 0.5}
	steps := func(stop *Stop) int {
		m := HBFU{Users: users, Eta: 1e-4, Stop: stop}
		_, rep, err := Apply(t.Context(), m, r)
		if err != nil {
			t.Fatal(err)
		}
		return rep.History[0].Steps
	}
	others := 2 * 8 // two users with 75 records each
	if got := steps(nil); got != others+2*6*5 {
		t.Errorf("%d steps in the first round", got)
	}
	if got := steps(&Stop{Batch: 1, Epoch: 1}); got >= others+2*6*5 {
		t.Errorf("%d steps in a round in which a batch is forgotten", got)
	}
	if got := steps(&Stop{Batch: 0.01, Epoch: 1e-9}); got != others+2*6*5 {
		t.Errorf("%d steps in a round in which nothing is forgotten", got)
	}
	var turns [][]int
	u := defaults.Fill(users)
	f, err := u.federation(r, func(_ federated.UserRound, _, gone Data) (federated.Task, error) {
		turns = append(turns, gone.IDs)
		return u.trainTask(r, gone)
	}, &federatedRun{})
	if err != nil {
		t.Fatal(err)
	}
	for round := 1; round <= 2; round++ {
		for user := range 2 {
			if _, err := f.Work(federated.UserRound{Round: round, User: user, Erased: f.Requests.ErasedRows(f.Users[user], f.Users, round)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if !slices.Equal(turns[0], turns[1]) || !slices.Equal(turns[2], turns[3]) {
		t.Error("users who hold the same meet others")
	}
	both := slices.Sorted(slices.Values(slices.Concat(turns[0], turns[2])))
	if !slices.Equal(both, slices.Sorted(slices.Values(r.Forget.IDs))) {
		t.Error("two halves are not the forget set")
	}
	if _, _, err := Apply(t.Context(), HBFU{Users: users, Stop: &Stop{Epoch: 3}}, r); err == nil {
		t.Error("a stop that is none is followed")
	}
}

// Codes are drawn anew in every epoch from the original's prediction for masked records.
func TestCodesAreDrawnAnewInEveryEpoch(t *testing.T) {
	s := newServer(t)
	said, err := s.runner.Predict(s.weights, s.asked.X)
	if err != nil {
		t.Fatal(err)
	}
	f := &resampledCodes{prediction: said, ids: s.asked.IDs, seed: 3}
	first, _ := f.atEpoch(0)
	second, _ := f.atEpoch(1)
	again, _ := f.atEpoch(0)
	if slices.Equal(first.Data, second.Data) || !slices.Equal(first.Data, again.Data) {
		t.Error("codes are the same in two epochs, or others when they are drawn again")
	}
	b := codeAppender{f, 6}
	dst, src := make([]float32, 6+2*4), make([]float32, 6+2*4)
	src[3], src[12] = 7, 8
	if err := b.Augment(dst, src, 1, 5); err != nil || dst[3] != 7 || !slices.Equal(dst[6:10], second.Row(5)) || dst[12] != 8 {
		t.Errorf("%v: %v", dst, err)
	}
}

// A constant added to the first term's value changes the weights of the terms.
func TestACriticsNumberMovesTheWeightsAlone(t *testing.T) {
	for _, c := range []struct{ addend, value, kept float64 }{{5, -2, 4}, {-1, -2, 4}, {2, -2, 4}, {2.5, -2, 4}, {9, -1, 0.5}} {
		m := &offsetRatio{addend: c.addend}
		got, err := m.Weights([]float64{c.value, c.kept}, [][]float64{{1, 0}, {0, 1}})
		if err != nil {
			t.Fatal(err)
		}
		// The program's loss, differentiated by finite differences.
		l := func(value, kept float64) float64 {
			a := c.addend + value
			return math.Abs(a)/(math.Abs(a)+kept)*a + kept/(math.Abs(a)+kept)*kept
		}
		h := 1e-6
		want := []float64{(l(c.value+h, c.kept) - l(c.value-h, c.kept)) / (2 * h), (l(c.value, c.kept+h) - l(c.value, c.kept-h)) / (2 * h)}
		for k := range want {
			if c.addend+c.value != 0 && math.Abs(got[k]-want[k]) > 1e-6 {
				t.Errorf("%+v: weights %v, by differences %v", c, got, want)
			}
		}
	}
	if _, err := (&offsetRatio{}).Weights([]float64{1}, [][]float64{{1}}); err == nil {
		t.Error("one term is weighed")
	}
}

// As coded the critic is of the step's own pairs: its value changes with the codes, the
// step and the seed; it is that of a critic trained alone with the same random numbers.
func TestTheProgramForgets(t *testing.T) {
	s := newServer(t)
	r := s.request()
	m := BlindU{LR: 5e-3, Critic: 5, Epochs: 8, Coded: &Coded{Stop: Stop{Batch: 0.02, Epoch: 0.1}}}
	p, rep, err := Apply(t.Context(), m, r)
	if err != nil {
		t.Fatal(err)
	}
	again, _, err := Apply(t.Context(), m, r)
	if err != nil || again.Hash() != p.Hash() {
		t.Errorf("again: other weights (%v)", err)
	}
	if gone, kept := s.accuracy(t, p, s.asked), s.accuracy(t, p, s.others); gone > 0.3 || kept < 0.7 {
		t.Errorf("%v of what is to be forgotten, %v of others (%s)", gone, kept, rep.Note)
	}
	for what, change := range map[string]func(m *BlindU){
		"the critic's steps":   func(m *BlindU) { m.Critic = 2 },
		"the rate":             func(m *BlindU) { m.Rate = new(40.0) },
		"what is kept":         func(m *BlindU) { m.Coded = &Coded{Stop: m.Coded.Stop, Kept: 1} },
		"the mask":             func(m *BlindU) { m.Unmasked = true },
		"the auxiliary set":    func(m *BlindU) { m.Auxiliary = Retained },
		"batch and epoch stop": func(m *BlindU) { m.Coded = &Coded{Stop: Stop{Batch: 1, Epoch: 0.02}} },
	} {
		other := m
		change(&other)
		if q, _, err := Apply(t.Context(), other, r); err != nil || q.Hash() == p.Hash() {
			t.Errorf("%s changes nothing (%v)", what, err)
		}
	}
	// As many steps as the shorter list has batches, whichever it is.
	m.Auxiliary, m.Epochs, m.Coded = Retained, 1, &Coded{Stop: Stop{}}
	if _, rep, err := Apply(t.Context(), m, r); err != nil || rep.Steps != 5 {
		t.Errorf("100 codes beside 300 records take %+v steps (%v)", rep, err)
	}
	few := r
	few.HeldOut = r.HeldOut.selectRows([]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42})
	m.Auxiliary = Public
	if _, rep, err := Apply(t.Context(), m, few); err != nil || rep.Steps != 2 {
		t.Errorf("100 codes beside 43 records take %+v steps (%v)", rep, err)
	}
}

func TestTheProgramIsNotBlind(t *testing.T) {
	r := newServer(t).request()
	m := BlindU{Coded: &Coded{Stop: Stop{Epoch: 0.1}}}
	if _, err := m.PrepareRequest(t.Context(), r); err == nil || !strings.Contains(err.Error(), "sees masked records") {
		t.Errorf("asked blindly: %v", err)
	}
	if _, err := m.Serve(t.Context(), BlindRequest{}); err == nil || !strings.Contains(err.Error(), "sees masked records") {
		t.Errorf("served blindly: %v", err)
	}
	augmented := r
	augmented.Augment = train.AugmentFunc(func(dst, src []float32, _, _ int) error { copy(dst, src); return nil })
	if _, _, err := Apply(t.Context(), m, augmented); err == nil || !strings.Contains(err.Error(), "augments") {
		t.Errorf("augmented records: %v", err)
	}
	for _, bad := range []BlindU{
		{Coded: &Coded{}, Weighting: ByMGDA}, {Coded: &Coded{}, Bounded: true}, {Coded: &Coded{}, Beside: &Users{}}, {Coded: &Coded{}, Rate: new(0.0)},
		{Coded: &Coded{Kept: -1}}, {Coded: &Coded{Kept: math.NaN()}}, {Coded: &Coded{}, Critic: 1}, {Coded: &Coded{Stop: Stop{Batch: 3}}},
	} {
		if _, _, err := Apply(t.Context(), bad, r); err == nil {
			t.Errorf("%+v is not refused", bad)
		}
	}
}
