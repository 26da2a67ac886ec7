// The rounds of a federation.

package federated

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/progress"
	"github.com/lethe-ml/lethe/lib/train"
)

// Round is the record of one round.
type Round struct {
	Round    int   `json:"round"`            // 1, 2, ...
	Answered []int `json:"answered"`         // IDs of the users whose weights are in the mean, ascending
	Silent   []int `json:"silent,omitempty"` // IDs of the users who were drawn and did not answer
	// Loss is the mean of the users' losses, weighted like their weights: of each user the
	// objective in the last local epoch. nil: no user answered.
	Loss *float64 `json:"loss,omitempty"`
}

// Hooks let a caller watch, save and resume a run. All may be nil.
type Hooks struct {
	// Progress is called after every round.
	Progress func(Round)
	// Save stores a state from which Resume continues with the same bits. It is called
	// every SaveEvery rounds (0: only at the end of ctx) and when ctx ends.
	Save      func(*State) error
	SaveEvery int
	// Resume is a state that Save stored, or nil.
	Resume *State
}

// Run runs the rounds of the federation from the weights p, which it does not change, and
// returns the new weights and one record per round. Users work one after another.
//
// A user whose loss, gradient or weights become non-finite ends the run with an error that
// names the user and the round, and is [train.Diverged].
//
// When ctx ends, Run stops within one step of a user's work, calls Hooks.Save with the last
// complete round, and returns the context's error.
func Run(ctx context.Context, r *model.Runner, p nn.Params, f Federation, h Hooks) (nn.Params, []Round, error) {
	if err := f.check(); err != nil {
		return nil, nil, fmt.Errorf("federated: %w", err)
	}
	if err := r.CheckWeights(p); err != nil {
		return nil, nil, fmt.Errorf("federated: %w", err)
	}
	s := &State{Params: p}
	if h.Resume != nil {
		s = h.Resume
		if err := s.check(p, f.Rounds); err != nil {
			return nil, nil, fmt.Errorf("federated: the saved state: %w", err)
		}
	}
	ctx, task := progress.Start(ctx, "federated averaging", f.Rounds)
	defer task.Done()
	task.Skip(s.RoundsDone())
	for done := false; s.RoundsDone() < f.Rounds && !done; {
		next, err := f.nextState(ctx, r, s)
		if err == nil && f.StopAfter != nil {
			done, err = f.StopAfter(ctx, next)
		}
		if err != nil {
			return nil, nil, interrupted(err, ctx, s, h)
		}
		s = next
		task.Add(1)
		if h.Progress != nil {
			h.Progress(s.History[len(s.History)-1])
		}
		if h.Save != nil && h.SaveEvery > 0 && s.RoundsDone()%h.SaveEvery == 0 {
			if err := h.Save(s); err != nil {
				return nil, nil, fmt.Errorf("federated: saving after round %d: %w", s.RoundsDone(), err)
			}
		}
	}
	return s.Params.Clone(), s.History, nil
}

func interrupted(err error, ctx context.Context, s *State, h Hooks) error {
	if ctx.Err() == nil || h.Save == nil {
		return err
	}
	if saveErr := h.Save(s); saveErr != nil {
		return fmt.Errorf("federated: stopped (%w) and could not save: %v", err, saveErr)
	}
	return fmt.Errorf("federated: stopped; %d rounds are saved: %w", s.RoundsDone(), err)
}

// nextState returns the state after one more round.
func (f Federation) nextState(ctx context.Context, r *model.Runner, s *State) (*State, error) {
	n := s.RoundsDone() + 1
	users := f.eligibleUsers(n)
	if len(users) == 0 {
		return nil, fmt.Errorf("federated: round %d: no user is left", n)
	}
	answering, silent, err := f.participants(n, users)
	if err != nil {
		return nil, fmt.Errorf("federated: round %d: %w", n, err)
	}
	record := Round{Round: n, Answered: []int{}, Silent: silent}
	next := &State{Params: s.Params, History: slices.Clip(s.History)}
	sum, loss := newSum(s.Params), 0.0
	ctx, task := progress.Start(ctx, "", len(answering))
	defer task.Done()
	for _, u := range answering {
		t := UserRound{Round: n, User: u.ID, Rows: u.Rows, Erased: f.erasedRows(u.ID, n)}
		p, last, err := f.runUser(ctx, r, s.Params, t)
		if err == nil {
			err = sum.add(p, f.Mean.weight(len(u.Rows)))
		}
		if err != nil {
			return nil, fmt.Errorf("federated: round %d, user %d: %w", n, u.ID, err)
		}
		loss += float64(f.Mean.weight(len(u.Rows)) * last)
		record.Answered = append(record.Answered, u.ID)
		task.Add(1)
	}
	if len(answering) > 0 {
		if loss /= sum.counts; math.IsNaN(loss) || math.IsInf(loss, 0) {
			return nil, fmt.Errorf("federated: round %d: the mean loss is %v", n, loss)
		}
		record.Loss = &loss
		if next.Params, err = sum.mean(); err != nil {
			return nil, err
		}
	}
	next.History = append(next.History, record)
	return next, nil
}

// eligibleUsers returns the users who may take part in a round, by ascending ID.
func (f Federation) eligibleUsers(round int) []User {
	users := f.Requests.UsersAt(f.Users, round)
	if !f.IncludeEmptied {
		return users
	}
	for _, u := range f.Users {
		there := slices.ContainsFunc(users, func(v User) bool { return v.ID == u.ID })
		if !there && len(f.erasedRows(u.ID, round)) > 0 {
			users = append(users, User{ID: u.ID})
		}
	}
	slices.SortFunc(users, func(a, b User) int { return cmp.Compare(a.ID, b.ID) })
	return users
}

// erasedRows returns the rows that a user held and that are to be forgotten.
func (f Federation) erasedRows(user, round int) []int {
	k := slices.IndexFunc(f.Users, func(u User) bool { return u.ID == user })
	return f.Requests.ErasedRows(f.Users[k], f.Users, round)
}

// runUser does a user's work of one round; it returns their weights and their loss in the
// last epoch.
func (f Federation) runUser(ctx context.Context, r *model.Runner, p nn.Params, t UserRound) (nn.Params, float64, error) {
	defer reportTime(ctx, t, time.Now())
	task, err := f.Work(t)
	if err != nil {
		return nil, 0, err
	}
	return task.Do(ctx, r, p, f.UserRoundSeed(t.Round, t.User))
}

// Do fits from the weights p, which it does not change, with the seed of a UserRound. It
// returns the user's weights and the objective in the last epoch.
func (t Task) Do(ctx context.Context, r *model.Runner, p nn.Params, seed engine.Root) (nn.Params, float64, error) {
	t.Config.Seed = seed
	out, history, err := train.FitPlan(ctx, r, p, t.Plan, t.Config, train.Hooks{})
	if err != nil {
		return nil, 0, err
	}
	return out, history[len(history)-1].Loss, nil
}
