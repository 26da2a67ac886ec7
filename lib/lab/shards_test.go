// Tests of shards.go.

package lab

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/federated"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// federatedSetting is a case of four users, one of whom requests to forget.
func federatedSetting(asks int, share, alpha float64) Setting {
	s := smallSetting()
	s.Data, s.Fit.Batch = Table{Set: "moons_island", MaxRows: 300}, 40
	s.Forget = User{Number: asks, Share: share, Alpha: alpha, Users: unlearn.Users{Count: 4, Rounds: 3, LocalEpochs: 2, Batch: 40}}
	return s
}

// withUser returns a setting with another request.
func withUser(s Setting, change func(*User)) Setting {
	u := *s.User()
	change(&u)
	s.Forget = u
	return s
}

func rowsOf(c *Case, user int) []int {
	return c.Holders[slices.IndexFunc(c.Holders, func(u federated.User) bool { return u.ID == user })].Rows
}

// A user who leaves takes all of their records and no others; one who erases a share takes
// that many of their own. With another user the other's records are forgotten, and who
// holds what stays the same.
func TestTheForgetSetIsTheAskingUsers(t *testing.T) {
	l := newLab(t)
	for _, alpha := range []float64{0, 0.5} {
		for _, share := range []float64{0, 0.3} {
			var before *Case
			for _, asks := range []int{1, 2} {
				c := openCase(t, l, federatedSetting(asks, share, alpha))
				own, n := rowsOf(c, asks), len(rowsOf(c, asks))
				if share > 0 {
					n = int(share * float64(n))
				}
				if len(c.Forget) != n || slices.ContainsFunc(c.Forget, func(row int) bool { return !slices.Contains(own, row) }) {
					t.Errorf("alpha %v: user %d, who holds %d records, asks for %d to be forgotten, want %d", alpha, asks, len(own), len(c.Forget), n)
				}
				if all := slices.Sorted(slices.Values(slices.Concat(c.Forget, c.Retain))); !slices.Equal(all, allRows(c.Prepared)) {
					t.Error("forget and retain set are not the train part")
				}
				if before != nil && (slices.Equal(before.Forget, c.Forget) || len(c.Holders) != 4 || !slices.Equal(rowsOf(before, 0), rowsOf(c, 0))) {
					t.Errorf("alpha %v: with another user the same is forgotten, or others hold something else", alpha)
				}
				before = c
			}
		}
	}
	even, uneven := openCase(t, l, federatedSetting(0, 0, 0)), openCase(t, l, federatedSetting(0, 0, 0.5))
	for c, equal := range map[*Case]bool{even: true, uneven: false} {
		if same := len(rowsOf(c, 0)) == len(rowsOf(c, 3)); same != equal {
			t.Errorf("users 0 and 3 hold %d and %d records", len(rowsOf(c, 0)), len(rowsOf(c, 3)))
		}
	}
}

// The original is the same whoever requests. A retrained model is trained by the remaining
// users, from the same weights with the same random numbers; methods are told who held
// what.
func TestUsersTrainTogether(t *testing.T) {
	l := newLab(t)
	one, two := openCase(t, l, federatedSetting(1, 0, 0)), openCase(t, l, federatedSetting(2, 0, 0))
	key := func(c *Case, o ModelSpec) string {
		id, err := l.TrainKey(c.training(o)).ID()
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	if key(one, one.Original()) != key(two, two.Original()) || key(one, one.Oracle()) == key(two, two.Oracle()) {
		t.Error("the original is another where another user asks, or the oracle is not")
	}
	name := func(c *Case, o ModelSpec) string {
		id, err := c.ID(o)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	if name(one, one.Original()) != name(two, two.Original()) || name(one, one.Oracle()) == name(two, two.Oracle()) {
		t.Error("the job of the original has another name where another user asks, or that of the oracle has not")
	}
	oracle, err := one.TrainedModel(t.Context(), one.Oracle())
	if err != nil {
		t.Fatal(err)
	}
	if len(oracle.History) != 3 {
		t.Fatalf("%d rounds", len(oracle.History))
	}
	// By hand: plain federated averaging of the three remaining users.
	var left []federated.User
	for _, u := range one.Holders {
		if u.ID != 1 {
			left = append(left, u)
		}
	}
	f := federated.Federation{
		Config: federated.Config{Rounds: 3, Mean: federated.Equally, Seed: engine.Root(one.Seed)}, Users: left,
		Work: federated.LocalTraining(func(rows []int) (train.Objective, error) { return Labels{}.Objective(one.Problem, rows) },
			train.Config{Epochs: 2, Batch: 40, Optimizer: one.Fit.Optimizer}),
	}
	want, _, err := federated.Run(t.Context(), one.Runner, one.InitialWeights(engine.Root(one.Seed)), f, federated.Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	if oracle.Final.Hash() != want.Hash() {
		t.Error("the oracle is not what those who are left train together")
	}
	central := federatedSetting(1, 0, 0)
	central = withUser(central, func(u *User) { u.Central = true })
	c := openCase(t, l, central)
	if c.training(c.Original()).Federated != nil || !slices.Equal(c.Forget, one.Forget) {
		t.Error("a central training is federated, or forgets something else")
	}
	r, err := one.Request(t.Context(), unlearn.HBFU{})
	if err != nil || len(r.Holders) != 4 || !slices.Equal(r.Holders[1].Rows, r.Forget.IDs) {
		t.Errorf("a method is told of %d users (%v)", len(r.Holders), err)
	}
}

// The list of jobs is what is computed, and a training that is stopped between rounds
// resumes with the same bits.
func TestAFederatedTrainingGoesOn(t *testing.T) {
	l := newLab(t)
	s := federatedSetting(1, 0, 0)
	methods := []unlearn.Method{unlearn.NoOp{}, unlearn.Retrain{}, unlearn.HBFU{Users: s.User().Users}}
	c := openCase(t, l, s)
	for _, m := range methods {
		if _, _, err := c.Weights(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	jobs, err := l.Jobs(t.Context(), s, methods...)
	if err != nil {
		t.Fatal(err)
	}
	runs, err := l.Store.List()
	if err != nil || len(runs) != 3 || len(jobs) != 3 || slices.ContainsFunc(jobs, func(j Job) bool { return !j.Done }) {
		t.Errorf("%d runs of the jobs %+v (%v)", len(runs), jobs, err)
	}

	tr := c.training(c.Original())
	ctx, stop := context.WithCancel(t.Context())
	var saved *train.State
	hooks := train.Hooks{SaveEvery: 1, Progress: func(e train.Epoch) {
		if e.Epoch == 2 {
			stop()
		}
	}, Save: func(st *train.State) error { saved = st; return nil }}
	fresh := c.InitialWeights(tr.Fit.Seed)
	if _, _, err := tr.fitModel(ctx, fresh, tr.Fit, hooks); !errors.Is(err, context.Canceled) || saved == nil || saved.Done != 2 {
		t.Fatalf("stopped: %v", err)
	}
	p, history, err := tr.fitModel(t.Context(), fresh, tr.Fit, train.Hooks{Resume: saved})
	if want := originalOf(t, c); err != nil || p.Hash() != want.Hash() || len(history) != 3 {
		t.Errorf("it goes on to other weights (%v)", err)
	}
}

func TestWhatShardsCannotBeIsNamed(t *testing.T) {
	l := newLab(t)
	for words, change := range map[string]func(*Setting){
		"there is no user 4: users are 0 to 3":  func(s *Setting) { *s = withUser(*s, func(u *User) { u.Number = 4 }) },
		"erases the share 1.5 of their":         func(s *Setting) { *s = withUser(*s, func(u *User) { u.Share = 1.5 }) },
		"erases the share 0.001 of their":       func(s *Setting) { *s = withUser(*s, func(u *User) { u.Share = 0.001 }) },
		"alpha -1":                              func(s *Setting) { *s = withUser(*s, func(u *User) { u.Alpha = -1 }) },
		"240 records for -3 users":              func(s *Setting) { *s = withUser(*s, func(u *User) { u.Users.Count = -3 }) },
		"keeps no checkpoints":                  func(s *Setting) { s.Keep = []int{1} },
		"all must be positive":                  func(s *Setting) { *s = withUser(*s, func(u *User) { u.Users.LocalEpochs = -1 }) },
		"got 0 of 240 records, and must get at": func(s *Setting) { *s = withUser(*s, func(u *User) { u.Alpha, u.Users.Count = 1e-3, 100 }) },
	} {
		s := federatedSetting(1, 0, 0)
		change(&s)
		c, err := l.Case(t.Context(), s)
		if err == nil {
			_, err = c.TrainedModel(t.Context(), c.Original())
		}
		if err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%v, want %q", err, words)
		}
	}
}
