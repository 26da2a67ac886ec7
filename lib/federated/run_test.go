// Tests of run.go.

package federated

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/store/safetensors"
	"github.com/lethe-ml/lethe/lib/train"
)

// A single user with all rows does in every round what train.Fit does with the seed of that
// round, whatever the mean.
func TestOneUserWithAllRowsIsPlainTraining(t *testing.T) {
	r, data := open(t), newTable(30)
	u := User{ID: 7}
	for i := range 30 {
		u.Rows = append(u.Rows, i)
	}
	for _, mean := range []Mean{ByRecords, Equally} {
		f := Federation{Config: Config{Rounds: 3, Seed: 5, Mean: mean}, Users: []User{u}, Work: LocalTraining(data.objective, local)}
		want, o := initial(), must(data.objective(u.Rows))
		var losses []float64
		for round := 1; round <= 3; round++ {
			c := local
			c.Seed = f.UserRoundSeed(round, 7)
			p, epochs, err := train.Fit(t.Context(), r, want, o, c, train.Hooks{})
			if err != nil {
				t.Fatal(err)
			}
			want, losses = p, append(losses, epochs[1].Loss)
		}
		got, history := run(t, f)
		if got.Hash() != want.Hash() {
			t.Errorf("mean %d: another result than plain training's", mean)
		}
		for i, h := range history {
			if *h.Loss != losses[i] || !slices.Equal(h.Answered, []int{7}) {
				t.Errorf("round %d: %+v, loss %v, want %v", i+1, h, *h.Loss, losses[i])
			}
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func weights(values ...float32) nn.Params {
	return nn.Params{{Name: "w", Shape: []int{2}, Data: values[:2]}, {Name: "mean", Shape: []int{1}, Data: values[2:], State: true}}
}

// By hand: (1 + 2 + 6)/3 = 3; with 1, 1 and 6 records (1 + 2 + 36)/8 = 4.875.
func TestTheMeanOfThreeIsThatByHand(t *testing.T) {
	three := []Update{{0, 1, weights(1, -1, 10)}, {1, 1, weights(2, -2, 20)}, {2, 6, weights(6, -6, 60)}}
	for mean, want := range map[Mean]nn.Params{Equally: weights(3, -3, 30), ByRecords: weights(4.875, -4.875, 48.75)} {
		if got := must(mean.Average(three)); got.Hash() != want.Hash() || !got[1].State {
			t.Errorf("mean %d: %v, want %v", mean, got, want)
		}
	}
	if three[0].Params[0].Data[0] != 1 {
		t.Error("the mean wrote to what the users sent")
	}
}

// In float32 1e8 + 3 + 3 - 1e8 is 0 or 8; added in float64 it is 6 in every order.
func TestTheMeanIsAddedUpInDoublePrecision(t *testing.T) {
	four := []Update{{0, 1, weights(1e8, 0, 0)}, {1, 1, weights(3, 0, 0)}, {2, 1, weights(3, 0, 0)}, {3, 1, weights(-1e8, 0, 0)}}
	for _, mean := range []Mean{Equally, ByRecords} {
		if got := must(mean.Average(four))[0].Data[0]; got != 1.5 {
			t.Errorf("mean %d: %v, want 1.5", mean, got)
		}
	}
}

func TestTheMeanRefusesWhatIsNoModelByItsUser(t *testing.T) {
	nan := float32(math.NaN())
	for _, c := range []struct {
		updates []Update
		words   []string
	}{
		{nil, []string{"no weights"}},
		{[]Update{{3, 1, weights(1, 2, 3)}, {8, 1, weights(1, nan, 3)}}, []string{"user 8", "weights w", "element 1", "NaN"}},
		{[]Update{{3, 1, weights(1, 2, nan)}}, []string{"user 3", "weights mean"}},
		{[]Update{{3, 1, weights(1, 2, 3)}, {4, 1, weights(1, 2, 3)[:1]}}, []string{"user 4", "1 tensors against 2"}},
		{[]Update{{3, 0, weights(1, 2, 3)}}, []string{"0 records"}},
		{[]Update{{3, 5, weights(1, 2, 3)}, {4, -2, weights(1, 2, 3)}}, []string{"user 4", "-2 records"}},
		{[]Update{{3, 5, weights(1, 2, 3)}, {4, 1, weights(1, 2, 3)}, {3, 5, weights(1, 2, 3)}}, []string{"user 3", "sent twice"}},
	} {
		_, err := ByRecords.Average(c.updates)
		wantWords(t, err, c.words...)
	}
}

// The same users in another order: the same bits, with either mean.
func TestPermutedUsersGiveTheSameBits(t *testing.T) {
	for _, mean := range []Mean{ByRecords, Equally} {
		f := federation(t)
		f.Mean, f.Fraction, f.Silent = mean, 0.8, 0.2
		want, history := run(t, f)
		for range 3 {
			f.Users = append(f.Users[1:len(f.Users):len(f.Users)], f.Users[0])
			if got, h := run(t, f); got.Hash() != want.Hash() || !reflect.DeepEqual(h, history) {
				t.Errorf("mean %d, users %v first: another result", mean, f.Users[0].ID)
			}
		}
	}
}

// A round by hand: each user's fit, and their mean.
func TestARoundIsTheMeanOfTheUsersOwnFits(t *testing.T) {
	r := open(t)
	for _, mean := range []Mean{ByRecords, Equally} {
		f := federation(t)
		f.Rounds, f.Mean = 1, mean
		var sent []Update
		var loss, counts float64
		for _, u := range f.Users {
			task := must(f.Work(UserRound{Round: 1, User: u.ID, Rows: u.Rows}))
			p, last, err := task.Do(t.Context(), r, initial(), f.UserRoundSeed(1, u.ID))
			if err != nil {
				t.Fatal(err)
			}
			sent = append(sent, Update{u.ID, len(u.Rows), p})
			loss, counts = loss+mean.weight(len(u.Rows))*last, counts+mean.weight(len(u.Rows))
		}
		got, history := run(t, f)
		if got.Hash() != must(mean.Average(sent)).Hash() || math.Abs(*history[0].Loss-loss/counts) > 1e-12 {
			t.Errorf("mean %d: another round", mean)
		}
		if other := must((1 - mean).Average(sent)); other.Hash() == got.Hash() {
			t.Error("the two means are one, so this test tells nothing")
		}
	}
}

// Rows, numbers, rounds and seeds each make another run.
func TestEverythingThatARunDependsOnMatters(t *testing.T) {
	f := federation(t)
	base, _ := run(t, f)
	for name, change := range map[string]func(*Federation){
		"seed":   func(f *Federation) { f.Seed++ },
		"rounds": func(f *Federation) { f.Rounds++ },
		"mean":   func(f *Federation) { f.Mean = Equally },
		"number": func(f *Federation) { f.Users[0].ID = 99 },
		"rows":   func(f *Federation) { f.Users[0].Rows = f.Users[0].Rows[1:] },
		"silent": func(f *Federation) { f.Silent = 0.5 },
		"drawn":  func(f *Federation) { f.Fraction = 0.5 },
	} {
		other := f
		other.Users = slices.Clone(f.Users)
		change(&other)
		if got, _ := run(t, other); got.Hash() == base.Hash() {
			t.Errorf("%s: the same weights", name)
		}
	}
	if again, _ := run(t, f); again.Hash() != base.Hash() {
		t.Error("the same run twice has two results")
	}
}

func TestARunLearns(t *testing.T) {
	f := federation(t)
	f.Rounds = 12
	_, history := run(t, f)
	if first, last := *history[0].Loss, *history[11].Loss; !(last < 0.7*first) {
		t.Errorf("the loss went from %v to %v", first, last)
	}
}

func TestEveryTurnHasASeedOfItsOwn(t *testing.T) {
	seen := map[engine.Root]string{}
	for seed := range engine.Root(3) {
		for round := 1; round < 20; round++ {
			for user := range 20 {
				turn, s := fmt.Sprint(seed, round, user), Config{Seed: seed}.UserRoundSeed(round, user)
				if seen[s] != "" {
					t.Errorf("turns %s and %s (seed, round, user) have one seed", turn, seen[s])
				}
				seen[s] = turn
			}
		}
	}
}

// Another user does not change a user's work.
func TestAUsersWorkDoesNotDependOnOtherUsers(t *testing.T) {
	f := federation(t)
	seen := func(f Federation) map[string]string {
		out := map[string]string{}
		plain := f.Work
		f.Work = func(t UserRound) (Task, error) {
			task, err := plain(t)
			out[fmt.Sprint(t.Round, t.User)] = fmt.Sprint(t.Rows, f.UserRoundSeed(t.Round, t.User))
			return task, err
		}
		run(t, f)
		return out
	}
	all := seen(f)
	f.Users = f.Users[:3]
	for turn, want := range seen(f) {
		if all[turn] != want {
			t.Errorf("turn %s: %s with another user, %s without", turn, all[turn], want)
		}
	}
	if len(all) != 16 {
		t.Errorf("%d turns", len(all))
	}
}

// A round without answers changes nothing but the record; the next one goes on.
func TestARoundWithoutAnswersIsSkipped(t *testing.T) {
	f := federation(t)
	silent := 2
	f.Participation = func(round int, users []int) ([]int, []int, error) {
		if round == silent {
			return nil, users, nil
		}
		return users, nil, nil
	}
	var states []nn.Params
	h := Hooks{SaveEvery: 1, Save: func(s *State) error { states = append(states, s.Params); return nil }}
	_, history, err := Run(t.Context(), open(t), initial(), f, h)
	if err != nil {
		t.Fatal(err)
	}
	if states[0].Hash() != states[1].Hash() || states[1].Hash() == states[2].Hash() {
		t.Error("a round without answers moved the weights, or the next one did not")
	}
	if b := string(must(json.Marshal(history[1]))); b != `{"round":2,"answered":[],"silent":[0,1,2,3]}` {
		t.Errorf("its record is %s", b)
	}
	silent = 1 // nor in the first round
	if _, history, err = Run(t.Context(), open(t), initial(), f, Hooks{}); err != nil || history[0].Loss != nil {
		t.Errorf("%+v, %v", history, err)
	}
}

func through(t *testing.T, s *State) *State {
	t.Helper()
	f, rest := s.File()
	f = must(safetensors.Decode(must(safetensors.Encode(f))))
	return must(LoadState(f, must(json.Marshal(rest)), initial()))
}

func TestARunResumedAfterAnyRoundHasTheSameBits(t *testing.T) {
	f := federation(t)
	f.Fraction, f.Silent = 0.75, 0.3
	r := open(t)
	var saved []*State
	want, history, err := Run(t.Context(), r, initial(), f, Hooks{SaveEvery: 1, Save: func(s *State) error { saved = append(saved, s); return nil }})
	if err != nil {
		t.Fatal(err)
	}
	if len(saved) != 4 {
		t.Fatalf("%d states", len(saved))
	}
	for _, s := range saved {
		before := s.Params.Hash()
		got, h, err := Run(t.Context(), r, initial(), f, Hooks{Resume: through(t, s)})
		if err != nil {
			t.Fatal(err)
		}
		if got.Hash() != want.Hash() || !reflect.DeepEqual(h, history) {
			t.Errorf("resumed after round %d: another result", s.RoundsDone())
		}
		if s.Params.Hash() != before {
			t.Errorf("resuming after round %d wrote to the state", s.RoundsDone())
		}
	}
}

// The context ends within a user's work: the last complete round is saved.
func TestAStopWithinARoundSavesTheLastWholeOne(t *testing.T) {
	f := federation(t)
	want, _ := run(t, f)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	plain := f.Work
	f.Work = func(t UserRound) (Task, error) {
		if t.Round == 3 && t.User == 2 {
			cancel()
		}
		return plain(t)
	}
	var state *State
	_, _, err := Run(ctx, open(t), initial(), f, Hooks{Save: func(s *State) error { state = s; return nil }})
	wantWords(t, err, "2 rounds are saved", "round 3, user 2")
	if !errors.Is(err, context.Canceled) || state == nil || state.RoundsDone() != 2 {
		t.Fatalf("%v, %+v", err, state)
	}
	f.Work = plain
	got, _, err := Run(t.Context(), open(t), initial(), f, Hooks{Resume: through(t, state)})
	if err != nil || got.Hash() != want.Hash() {
		t.Errorf("resumed: another result (%v)", err)
	}
	_, _, err = Run(ctx, open(t), initial(), f, Hooks{Save: func(*State) error { return errors.New("disk full") }})
	wantWords(t, err, "could not save: disk full", "canceled")
}

// One user's plan differs: it ascends where the others descend.
func TestAUserMayHaveTheirOwnPlan(t *testing.T) {
	f, data := federation(t), newTable(60)
	plain := f.Work
	f.Work = func(t UserRound) (Task, error) {
		task, err := plain(t)
		if t.User != 1 {
			return task, err
		}
		o := must(data.objective(t.Rows))
		o[0].Targets[0].Weight = -1
		task.Plan = train.Plan{Passes: func(int) ([]train.Objective, error) { return []train.Objective{o}, nil }, Transforms: train.Chain{train.ClipNorm{Max: 1}}}
		task.Config.Optimizer = nn.SGD{LR: 0.5}
		return task, nil
	}
	climbed, _ := run(t, f)
	f.Work = plain
	descended, _ := run(t, f)
	own := must(data.objective(f.Users[1].Rows))
	r := open(t)
	high, low := must(train.Evaluate(t.Context(), r, climbed, own)), must(train.Evaluate(t.Context(), r, descended, own))
	if !(high > low+0.1) {
		t.Errorf("the loss is %v where the user ascends and %v where they descend", high, low)
	}
}

func TestNonsenseIsRefusedByName(t *testing.T) {
	r := open(t)
	for name, c := range map[string]struct {
		change func(*Federation)
		words  []string
	}{
		"no users":        {func(f *Federation) { f.Users = nil }, []string{"no users"}},
		"empty shard":     {func(f *Federation) { f.Users[2].Rows = nil }, []string{"user 2", "no records"}},
		"twice a number":  {func(f *Federation) { f.Users[2].ID = 1 }, []string{"two users", "1"}},
		"negative number": {func(f *Federation) { f.Users[2].ID = -1 }, []string{"-1"}},
		"twice a row":     {func(f *Federation) { f.Users[2].Rows = []int{4, 5, 4} }, []string{"user 2", "row 4 twice"}},
		"negative row":    {func(f *Federation) { f.Users[2].Rows = []int{4, -5} }, []string{"user 2", "row -5"}},
		"no Worker":       {func(f *Federation) { f.Work = nil }, []string{"no Worker"}},
		"no rounds":       {func(f *Federation) { f.Rounds = 0 }, []string{"0 rounds"}},
		"fraction":        {func(f *Federation) { f.Fraction = 1.5 }, []string{"1.5"}},
		"fraction below":  {func(f *Federation) { f.Fraction = -0.1 }, []string{"-0.1"}},
		"fraction NaN":    {func(f *Federation) { f.Fraction = math.NaN() }, []string{"NaN"}},
		"chance":          {func(f *Federation) { f.Silent = 1.01 }, []string{"1.01"}},
		"mean":            {func(f *Federation) { f.Mean = 2 }, []string{"mean 2"}},
		"work fails":      {func(f *Federation) { f.Work = failing }, []string{"round 1, user 0", "no such file"}},
		"no optimiser":    {func(f *Federation) { f.Work = LocalTraining(newTable(60).objective, train.Config{Batch: -1}) }, []string{"round 1, user 0", "batches of -1"}},
		"stranger": {func(f *Federation) {
			f.Participation = func(int, []int) ([]int, []int, error) { return []int{1, 12}, nil, nil }
		}, []string{"round 1", "user 12"}},
		"twice there": {func(f *Federation) {
			f.Participation = func(int, []int) ([]int, []int, error) { return []int{1, 2}, []int{2}, nil }
		}, []string{"round 1", "user 2", "twice"}},
		"short history": {func(f *Federation) { f.Participation = ReplayParticipation([]Round{{Round: 1, Answered: []int{1}}}) }, []string{"round 2", "history"}},
		"request":       {func(f *Federation) { f.Requests = Schedule{{Round: 1, User: 9, Leaves: true}} }, []string{"request 1", "user 9"}},
	} {
		f := federation(t)
		c.change(&f)
		_, _, err := Run(t.Context(), r, initial(), f, Hooks{})
		if wantWords(t, err, c.words...); t.Failed() {
			t.Fatal(name)
		}
	}
	_, _, err := Run(t.Context(), r, initial()[1:], federation(t), Hooks{})
	wantWords(t, err, "federated", "weights")
}

func failing(UserRound) (Task, error) { return Task{}, errors.New("no such file") }

// A learning rate that diverges: the error names the user and the round, and is
// train.Diverged.
func TestNumbersThatAreNoneNameTheUserAndTheRound(t *testing.T) {
	f := federation(t)
	plain := f.Work
	f.Work = func(t UserRound) (Task, error) {
		task, err := plain(t)
		if t.Round == 3 && t.User == 1 {
			task.Config.Optimizer = nn.SGD{LR: 1e38}
		}
		return task, err
	}
	_, _, err := Run(t.Context(), open(t), initial(), f, Hooks{})
	wantWords(t, err, "round 3, user 1", "diverged")
	if d := (*train.Diverged)(nil); !errors.As(err, &d) {
		t.Errorf("%T is no divergence", err)
	}
}

func TestDamagedStatesAreRefusedByName(t *testing.T) {
	good := (&State{Params: initial()})
	f, _ := good.File()
	for _, c := range []struct {
		f     *safetensors.File
		text  string
		words []string
	}{
		{f, "", []string{"saved state"}},
		{f, `{"rounds":3}`, []string{"rounds"}},
		{f, `{"history":[{"round":2,"answered":[]}]}`, []string{"round 1", "round 2"}},
		{&safetensors.File{Tensors: f.Tensors[1:]}, `{}`, []string{"weights.hidden.weight", "missing"}},
	} {
		_, err := LoadState(c.f, []byte(c.text), initial())
		wantWords(t, err, c.words...)
	}
	nan := initial()
	nan[0].Data[0] = float32(math.Inf(1))
	f, rest := (&State{Params: nan}).File()
	_, err := LoadState(f, must(json.Marshal(rest)), initial())
	wantWords(t, err, "hidden.weight")
	five := federation(t)
	_, _, err = Run(t.Context(), open(t), initial(), five, Hooks{Resume: &State{Params: initial(), History: make([]Round, 5)}})
	wantWords(t, err, "5 rounds are done, only 4")
}

// The run ends after the first round for which StopAfter returns true, and asks once per
// round.
func TestARunEndsByStopAfter(t *testing.T) {
	f := federation(t)
	_, all := run(t, f)
	var asked []int
	f.StopAfter = func(_ context.Context, s *State) (bool, error) {
		asked = append(asked, s.RoundsDone())
		return s.RoundsDone() == 2, nil
	}
	p, history := run(t, f)
	if len(history) != 2 || !slices.Equal(asked, []int{1, 2}) || !reflect.DeepEqual(history, all[:2]) {
		t.Errorf("asked of the rounds %v; %d were run", asked, len(history))
	}
	f.StopAfter, f.Rounds = nil, 2
	if q, _ := run(t, f); q.Hash() != p.Hash() {
		t.Error("the weights are not those after the second round")
	}
	wrong := errors.New("no light")
	f.StopAfter = func(context.Context, *State) (bool, error) { return false, wrong }
	if _, _, err := Run(t.Context(), open(t), initial(), f, Hooks{}); !errors.Is(err, wrong) {
		t.Errorf("error %v", err)
	}
}
