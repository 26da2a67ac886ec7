package train

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
)

// jobs are trainings that differ in everything but their form: records, their number, initial
// weights, seed, epochs, learning rate groups, early stop.
func jobs(plan func(Objective) Plan, c Config, arch model.Architecture) []Job {
	var out []Job
	for k := range 4 {
		x, y := toy(engine.Root(10+k), []int{37, 40, 31, 35}[k], arch.Inputs(), 3)
		own := c
		own.Seed, own.Epochs = engine.Root(5+k), 3+k%2
		if k == 2 {
			own.EarlyStop = EarlyStop{Patience: 1, MinDelta: 10}
		}
		out = append(out, Job{Start: model.InitialWeights(arch, engine.Root(k).Stream("init")), Plan: plan(labelled(x, y)), Config: own})
	}
	return out
}

// fitTogether fits jobs side by side and returns their last states.
func fitTogether(t *testing.T, r *model.Runner, all []Job) []*State {
	t.Helper()
	last := make([]*State, len(all))
	all = slices.Clone(all)
	for k := range all {
		all[k].Hooks = Hooks{SaveEvery: 1, Save: func(s *State) error { last[k] = s; return nil }}
	}
	for k, f := range FitMany(t.Context(), r, all) {
		if f.Err != nil {
			t.Fatal(k, f.Err)
		}
		if f.Params.Hash() != last[k].Params.Hash() && last[k].Best == nil {
			t.Errorf("model %d: the result is not the last state", k)
		}
	}
	return last
}

func TestModelsSideBySideAreThoseOfSingleFits(t *testing.T) {
	single := func(o Objective) Plan { return Plan{Passes: singlePass(o)} }
	c := Config{Batch: 8}
	adam, full, clipped := c, c, c
	adam.Optimizer, full.Batch, clipped.Clip = nn.Adam{}, 0, 0.3
	mask := Mask{Open: make([][]bool, len(initial(small))), Restore: true}
	for i, w := range initial(small) {
		for j := range w.Data {
			mask.Open[i] = append(mask.Open[i], (i+j)%3 > 0)
		}
	}
	game := func(o Objective) Plan {
		return Plan{Game: &Game{Rule: ExtraGradient, Players: []Player{
			{Name: "first", Owns: []string{"hidden"}, Objective: o}, {Name: "second", Owns: []string{"head"}, Objective: o},
		}}}
	}
	for name, of := range map[string]struct {
		plan func(Objective) Plan
		c    Config
	}{
		"mini-batches": {single, adam},
		"full batches": {single, full},
		"clipped":      {single, clipped},
		"masked":       {func(o Objective) Plan { return Plan{Passes: singlePass(o), Transforms: Chain{mask}} }, c},
		"two terms": {func(o Objective) Plan {
			return Plan{Passes: singlePass(Objective{o[0], o[0].Scaled(-0.2)}), Combiner: PCGrad{}, Transforms: Chain{L1{Weight: 0.01}}}
		}, c},
		"two terms, one whole": {func(o Objective) Plan {
			few := o[0].X.Rows % 10 // another number in every model
			x, y := toy(3, 5+few, 5, 3)
			forget := labelled(x, y)[0].Scaled(-0.3)
			forget.Whole = true
			return Plan{Passes: singlePass(Objective{o[0], forget})}
		}, c},
		"two terms, full batches": {func(o Objective) Plan {
			x, y := toy(3, 5+o[0].X.Rows%10, 5, 3)
			return Plan{Passes: singlePass(Objective{o[0], labelled(x, y)[0].Scaled(-0.3)})}
		}, full},
		"a game":  {game, c},
		"private": {func(o Objective) Plan { return Plan{Passes: singlePass(o), Private: &Private{Norm: 0.4, Noise: 0.8}} }, c},
		"augmented": {func(o Objective) Plan {
			o[0].Augment = doublerInGraph{}
			return single(o)
		}, c},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			skipOnXLA(t, name)
			all := jobs(of.plan, of.c, small)
			if name == "private" { // early stops are not private
				all[2].Config.EarlyStop = EarlyStop{}
			}
			var graphs atomic.Int64
			counting := slices.Clone(all)
			for k := range counting {
				counting[k].Config.Optimizer = inGraphs(all[k].Config.WithDefaults().Optimizer, &graphs)
			}
			got := fitTogether(t, onDevice(t, small), counting)
			for k, j := range all {
				want := lastOfPlan(t, openRunner(t, small, 32), j.Start, j.Plan, j.Config, nil)
				sameState(t, want, got[k], 1e-4)
				if got[k].Done != want.Done || far(j.Start, want.Params) < 1e-3 {
					t.Errorf("model %d: %d epochs, want %d; or nothing moved", k, got[k].Done, want.Done)
				}
			}
			if graphs.Load() == 0 {
				t.Error("the optimiser is part of no graph")
			}
		})
	}
}

func TestEveryPlanTrainsSideBySide(t *testing.T) {
	for name, of := range devicePlans() {
		t.Run(name, func(t *testing.T) {
			skipOnXLA(t, "every plan side by side")
			var all []Job
			for k := range 3 {
				c := of.c
				c.Seed, c.Epochs = engine.Root(3+k), 2+k%2
				all = append(all, Job{Start: model.InitialWeights(small, engine.Root(k).Stream("init")), Plan: of.plan, Config: c})
			}
			for k, got := range fitTogether(t, onDevice(t, small), all) {
				sameState(t, lastOfPlan(t, openRunner(t, small, 32), all[k].Start, all[k].Plan, all[k].Config, nil), got, 1e-4)
			}
		})
	}
}

func TestEveryNetworkTrainsSideBySide(t *testing.T) {
	for name, of := range deviceNetworks() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			skipOnXLA(t, name)
			var all []Job
			for k := range 2 {
				c := Config{Epochs: 2, Batch: 7, Seed: engine.Root(2 + k), Optimizer: nn.SGD{LR: 0.003, Momentum: 0.9}}
				all = append(all, Job{Start: model.InitialWeights(of.arch, engine.Root(2+k).Stream("init")), Plan: fixedPlan(of.o), Config: c})
			}
			for k, got := range fitTogether(t, onDevice(t, of.arch), all) {
				sameState(t, lastOfPlan(t, openRunner(t, of.arch, 32), all[k].Start, all[k].Plan, all[k].Config, nil), got, 3e-3)
			}
		})
	}
}

// TestModelsSideBySideAreOneExecution counts the executions of one model and of four side by side, each
// of which takes a millisecond by a clock that a busy machine does not slow. Two epochs are three
// executions: in the first epoch one step is executed alone, to measure it.
func TestModelsSideBySideAreOneExecution(t *testing.T) {
	timeSince = func(time.Time) time.Duration { return time.Millisecond }
	defer func() { timeSince = time.Since }()
	for _, models := range []int{1, 4} {
		r := onDevice(t, small)
		all := jobs(func(o Objective) Plan { return Plan{Passes: singlePass(o)} }, Config{Batch: 8}, small)[:models]
		for k := range all {
			all[k].Config.Epochs = 2
		}
		before := executions.Load()
		fitTogether(t, r, all)
		if n := executions.Load() - before; n != 3 {
			t.Errorf("%d models: %d executions for two epochs", models, n)
		}
	}
}

// TestModelsMayShareTheirRecords trains two models with records of their own, then two with the same
// records, by one runner.
func TestModelsMayShareTheirRecords(t *testing.T) {
	r, host := onDevice(t, small), openRunner(t, small, 32)
	x, y := toy(3, 37, 5, 3)
	other, labels := toy(4, 37, 5, 3)
	one, two := labelled(x, y), labelled(other, labels)
	for _, of := range [][]Objective{{one, two}, {one, one}, {two, one}} {
		var all []Job
		for k, o := range of {
			all = append(all, Job{Start: model.InitialWeights(small, engine.Root(k).Stream("init")), Plan: fixedPlan(o), Config: Config{Epochs: 2, Batch: 8, Seed: engine.Root(k)}})
		}
		for k, got := range fitTogether(t, r, all) {
			sameState(t, lastOfPlan(t, host, all[k].Start, all[k].Plan, all[k].Config, nil), got, 1e-4)
		}
	}
}

func TestFormsThatDifferRunInOneGroup(t *testing.T) {
	all := jobs(func(o Objective) Plan { return Plan{Passes: singlePass(o)} }, Config{Batch: 8}, small)
	all[1].Config.Optimizer = nn.SGD{LR: 0.1}
	all[3].Plan.Transforms = Chain{L1{Weight: 0.01}}
	for k, got := range fitTogether(t, onDevice(t, small), all) {
		sameState(t, lastOfPlan(t, openRunner(t, small, 32), all[k].Start, all[k].Plan, all[k].Config, nil), got, 1e-4)
	}
}

// TestAModelThatDivergesDoesNotStopTheOthers gives one of four models a learning rate at which it
// diverges. Its error is that of a fit alone.
func TestAModelThatDivergesDoesNotStopTheOthers(t *testing.T) {
	all := jobs(func(o Objective) Plan { return Plan{Passes: singlePass(o)} }, Config{Batch: 8, Optimizer: nn.SGD{LR: 0.1}}, small)
	all[1].Plan.Passes = singlePass(Objective{{X: all[1].objective()[0].X, Targets: []Target{all[1].objective()[0].Targets[0]}}})
	x := all[1].objective()[0].X
	for i := range x.Data {
		x.Data[i] *= 1e30
	}
	r := onDevice(t, small)
	_, _, want := FitPlan(t.Context(), r, all[1].Start, all[1].Plan, all[1].Config, Hooks{})
	for k, f := range FitMany(t.Context(), r, all) {
		d := (*Diverged)(nil)
		switch {
		case k != 1 && f.Err != nil:
			t.Errorf("model %d: %v", k, f.Err)
		case k == 1 && (!errors.As(f.Err, &d) || f.Err.Error() != want.Error()):
			t.Errorf("%v, want %v", f.Err, want)
		}
	}
}

func (j Job) objective() Objective {
	passes, _ := j.Plan.Passes(0)
	return passes[0]
}

// TestAGroupThatIsInterruptedGoesOn ends all fits after the second epoch and resumes them.
func TestAGroupThatIsInterruptedGoesOn(t *testing.T) {
	all := jobs(func(o Objective) Plan { return Plan{Passes: singlePass(o)} }, Config{Batch: 8}, small)
	for k := range all {
		all[k].Config.Epochs, all[k].Config.EarlyStop = 4, EarlyStop{}
	}
	r := onDevice(t, small)
	whole := fitTogether(t, r, all)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	saved := make([]*State, len(all))
	var ended sync.WaitGroup
	ended.Add(len(all))
	for k := range all {
		all[k].Hooks = Hooks{
			Save: func(s *State) error { saved[k] = s; return nil },
			Progress: func(e Epoch) {
				if e.Epoch == 2 { // the last to end its epoch stops all
					ended.Done()
					ended.Wait()
					stop()
				}
			},
		}
	}
	for k, f := range FitMany(ctx, r, all) {
		if !errors.Is(f.Err, context.Canceled) || saved[k] == nil || saved[k].Done != 2 {
			t.Fatalf("model %d: %v; saved: %+v", k, f.Err, saved[k])
		}
		all[k].Hooks = Hooks{Resume: throughFile(t, saved[k])}
	}
	for k, f := range FitMany(t.Context(), r, all) {
		if f.Err != nil || f.Params.Hash() != whole[k].Params.Hash() {
			t.Errorf("model %d has other bits after a resume: %v", k, f.Err)
		}
	}
}

// TestAMemberThatLeavesIsNotWaitedFor lets members fit different numbers of models.
func TestAMemberThatLeavesIsNotWaitedFor(t *testing.T) {
	all := jobs(func(o Objective) Plan { return Plan{Passes: singlePass(o)} }, Config{Batch: 8}, small)
	r, g := onDevice(t, small), NewGroup(len(all))
	var done sync.WaitGroup
	errs := make([]error, len(all))
	for k, j := range all {
		done.Go(func() {
			defer g.Leave(k)
			for range k { // member 0 leaves at once
				if _, _, errs[k] = FitPlan(g.Join(t.Context(), k), r, j.Start, j.Plan, j.Config, Hooks{}); errs[k] != nil {
					return
				}
			}
		})
	}
	done.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
}

// TestMemoryThatIsTooSmallHalvesTheGroup fails executions of more than two models.
func TestMemoryThatIsTooSmallHalvesTheGroup(t *testing.T) {
	all := jobs(func(o Objective) Plan { return Plan{Passes: singlePass(o)} }, Config{Batch: 8}, small)
	full := func(models int) error {
		if models > 2 {
			return fmt.Errorf("RESOURCE_EXHAUSTED: Out of memory while trying to allocate %d bytes", models)
		}
		return nil
	}
	beforeExecution = full
	defer func() { beforeExecution = nil }()
	for k, got := range fitTogether(t, onDevice(t, small), all) {
		sameState(t, lastOfPlan(t, openRunner(t, small, 32), all[k].Start, all[k].Plan, all[k].Config, nil), got, 1e-4)
	}
	beforeExecution = func(int) error { return full(3) }
	for _, f := range FitMany(t.Context(), onDevice(t, small), all) {
		if !engine.IsOutOfMemory(f.Err) || !strings.Contains(f.Err.Error(), small.Name()) {
			t.Errorf("%v", f.Err)
		}
	}
}

// TestHalvesBeginTheEpochAnew fails an execution of four models after some of them succeeded, or with
// sets of records that were padded to the largest of the four.
func TestHalvesBeginTheEpochAnew(t *testing.T) {
	for name, batch := range map[string]int{"in the second execution": 8, "full batches": 0} {
		t.Run(name, func(t *testing.T) {
			all := jobs(func(o Objective) Plan { return Plan{Passes: singlePass(o)} }, Config{Batch: batch}, small)
			together := 0
			beforeExecution = func(models int) error {
				if models == len(all) {
					together++
				}
				if models == len(all) && (batch == 0 || together%2 == 0) {
					return errors.New("RESOURCE_EXHAUSTED: Out of memory while trying to allocate 12345678 bytes.")
				}
				return nil
			}
			defer func() { beforeExecution = nil }()
			for k, got := range fitTogether(t, onDevice(t, small), all) {
				sameState(t, lastOfPlan(t, openRunner(t, small, 32), all[k].Start, all[k].Plan, all[k].Config, nil), got, 1e-4)
			}
			if want := map[int]int{8: 2, 0: 1}[batch]; together != want {
				t.Errorf("%d executions of all models, want %d", together, want)
			}
		})
	}
}

// TestAGroupThatWasTooLargeIsNotTriedAgain counts the executions of four models whose records are too
// many. The halves find no records of four on the device.
func TestAGroupThatWasTooLargeIsNotTriedAgain(t *testing.T) {
	all := jobs(func(o Objective) Plan { return Plan{Passes: singlePass(o)} }, Config{Batch: 8}, small)
	r, g := onDevice(t, small), NewGroup(len(all))
	together := 0
	beforeExecution = func(models int) error {
		for _, on := range g.memory.records {
			if len(on.of) == len(all) && models < len(all) {
				t.Errorf("records of all are there in an execution of %d", models)
			}
		}
		if models == len(all) {
			together++
			return errors.New("RESOURCE_EXHAUSTED: Out of memory while trying to allocate 12345678 bytes.")
		}
		return nil
	}
	defer func() { beforeExecution = nil }()
	var done sync.WaitGroup
	for k, j := range all {
		done.Go(func() {
			defer g.Leave(k)
			if _, _, err := FitPlan(g.Join(t.Context(), k), r, j.Start, j.Plan, j.Config, Hooks{}); err != nil {
				t.Error(err)
			}
		})
	}
	done.Wait()
	if together != 1 {
		t.Errorf("four models were tried %d times", together)
	}
}

// TestAHalfThatFitsKeepsItsEpoch fails the second of two halves.
func TestAHalfThatFitsKeepsItsEpoch(t *testing.T) {
	all := jobs(func(o Objective) Plan { return Plan{Passes: singlePass(o)} }, Config{}, small)
	halves := 0
	beforeExecution = func(models int) error {
		if models == len(all) {
			return errors.New("RESOURCE_EXHAUSTED: Out of memory while trying to allocate 12345678 bytes.")
		}
		if halves++; halves == 2 {
			return errors.New("the card fell off the bus")
		}
		return nil
	}
	defer func() { beforeExecution = nil }()
	for k, f := range FitMany(t.Context(), onDevice(t, small), all) {
		if (f.Err == nil) != (k < 2) {
			t.Errorf("model %d: %v", k, f.Err)
		}
	}
}

// TestAContextThatEndsStopsItsMemberOnly ends the context of member 0 in its second epoch.
func TestAContextThatEndsStopsItsMemberOnly(t *testing.T) {
	all := jobs(func(o Objective) Plan { return Plan{Passes: singlePass(o)} }, Config{}, small)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	before := executions.Load()
	beforeExecution = func(int) error {
		if executions.Load() == before+2 {
			stop()
		}
		return nil
	}
	defer func() { beforeExecution = nil }()
	r, g := onDevice(t, small), NewGroup(len(all))
	var done sync.WaitGroup
	errs, saved := make([]error, len(all)), (*State)(nil)
	for k, j := range all {
		own, h := t.Context(), Hooks{}
		if k == 0 {
			own, h.Save = ctx, func(s *State) error { saved = s; return nil }
		}
		done.Go(func() {
			defer g.Leave(k)
			_, _, errs[k] = FitPlan(g.Join(own, k), r, j.Start, j.Plan, j.Config, h)
		})
	}
	done.Wait()
	for k, err := range errs {
		if errors.Is(err, context.Canceled) != (k == 0) || (err == nil) != (k > 0) {
			t.Errorf("member %d: %v", k, err)
		}
	}
	if saved == nil || saved.Done != 2 {
		t.Errorf("saved: %+v", saved)
	}
}

// panicking panics where the arrays of a step are made.
type panicking struct{ doublerInGraph }

func (panicking) Moves(int, int) ([]int32, error) { panic("no moves") }

// TestAPanicIsTheErrorOfTheGroup panics in an augmenter. Every member ends with an error that says what.
func TestAPanicIsTheErrorOfTheGroup(t *testing.T) {
	all := jobs(func(o Objective) Plan {
		o[0].Augment = panicking{}
		return Plan{Passes: singlePass(o)}
	}, Config{Batch: 8}, small)
	for k, f := range FitMany(t.Context(), onDevice(t, small), all) {
		if !errors.Is(f.Err, errNotRun) || !strings.Contains(f.Err.Error(), "no moves") {
			t.Errorf("model %d: %v", k, f.Err)
		}
	}
}

// TestATimerThatIsLateWaitsForTheNewEpoch fires the timer of an earlier wait after a member has come:
// the others are still waited for.
func TestATimerThatIsLateWaitsForTheNewEpoch(t *testing.T) {
	g := NewGroup(2)
	g.arrive(0, &arrival{nil, make(chan struct{})})
	g.runWaiting()
	if !g.present[1] || g.waiting[0] == nil {
		t.Error("the epoch began without a member")
	}
	g.late.Stop()
}

// TestADeviceThatFailsLeavesTheLastFinishedEpoch fails the third epoch of a training.
func TestADeviceThatFailsLeavesTheLastFinishedEpoch(t *testing.T) {
	x, y := toy(3, 40, 5, 3)
	c := Config{Epochs: 5, Batch: 8, Seed: 2}
	whole := lastState(t, onDevice(t, small), initial(small), labelled(x, y), c, nil)
	var saved *State
	epoch := 0
	beforeExecution = func(int) error {
		if epoch == 2 {
			return errors.New("RESOURCE_EXHAUSTED: Out of memory while trying to allocate 12345678 bytes.")
		}
		return nil
	}
	defer func() { beforeExecution = nil }()
	h := Hooks{Progress: func(e Epoch) { epoch = e.Epoch }, SaveLast: func(s *State) error { saved = s; return nil }}
	_, _, err := Fit(t.Context(), onDevice(t, small), initial(small), labelled(x, y), c, h)
	if !engine.IsOutOfMemory(err) || !strings.Contains(err.Error(), "2 epochs are saved") || saved == nil || saved.Done != 2 {
		t.Fatalf("%v; saved: %+v", err, saved)
	}
	beforeExecution = nil
	again := lastState(t, onDevice(t, small), initial(small), labelled(x, y), c, throughFile(t, saved))
	if fingerprint(again) != fingerprint(whole) {
		t.Error("the resumed training has other bits")
	}
}
