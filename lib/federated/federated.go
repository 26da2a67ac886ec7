// Package federated trains one model with many users, none of whom shares their records:
// federated averaging (FedAvg; McMahan et al., "Communication-Efficient Learning of Deep
// Networks from Decentralized Data", AISTATS 2017, algorithm 1). In round t = 1, 2, ... a
// subset S of the users gets the weights w. Each user k in S trains a copy on their n_k
// records, and the new weights are the mean of the copies:
//
//	w_k = local training from w(t-1),  w(t) = sum over k in S of n_k w_k / sum over k in S of n_k
//
// Mean has other ways to weight the users. A user's optimiser starts afresh in every round.
//
// # Reproducibility
//
// Everything random in a round is a function of the seed, the round and the user's ID: who
// is drawn, who does not answer, and the seed of a user's local training. The mean is added
// up in float64 by ascending user ID and rounded once, so the order in which users are
// listed or answer does not matter. A killed run resumes after its last saved round with
// the same bits (State).
//
// # Network state other than weights
//
// Running statistics of batch normalisation are averaged like weights. The mean of the
// users' variances leaves out the differences between the users' means; so with
// heterogeneous users it is below the variance of all records, as in every program that
// averages a state_dict. The vectors of spectral normalisation are averaged too; they do
// not keep unit length, and the next step does not need that.
//
// # Differences from the paper
//
// (1) C K users are drawn, rounded down and at least one; in the paper C K is an integer.
// (2) Users may fail to answer; the mean is over those who do. A round without answers
// leaves the weights unchanged and is recorded as such, as in Flower.
package federated

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/train"
)

// User is a holder of records. Everything that is drawn for a user is drawn by ID, so that
// adding, removing or reordering other users does not change their work.
type User struct {
	ID   int   `json:"id"`   // 0 or more
	Rows []int `json:"rows"` // of the training data
}

// UserRound is one user's part in one round: everything that their work may depend on.
type UserRound struct {
	Round int // 1, 2, ...
	User  int // the user's ID
	Rows  []int
	// Erased are those of the user's rows that they, or another holder of the same rows,
	// asked to erase. They are for methods that work on erased records; training ignores
	// them.
	Erased []int
}

// Task is what a user does in a round: a fit that starts from the round's weights.
type Task struct {
	Plan train.Plan
	// Config is the configuration of the fit; its seed is replaced by Config.UserRoundSeed.
	Config train.Config
}

// Worker returns what a user does in a round. It must be a function of its argument alone.
type Worker func(UserRound) (Task, error)

// LocalTraining is the Worker of users who train on their rows.
func LocalTraining(objective func(rows []int) (train.Objective, error), c train.Config) Worker {
	return func(t UserRound) (Task, error) {
		o, err := objective(t.Rows)
		if err != nil {
			return Task{}, err
		}
		return Task{Plan: train.Plan{Passes: func(int) ([]train.Objective, error) { return []train.Objective{o}, nil }}, Config: c}, nil
	}
}

// Config says how a federation trains.
type Config struct {
	Rounds int `json:"rounds"`
	// Fraction is C, the share of the users drawn in every round, 0: all.
	Fraction float64 `json:"fraction,omitempty"`
	// Silent is the probability that a drawn user does not answer.
	Silent float64     `json:"silent,omitempty"`
	Mean   Mean        `json:"mean,omitempty"`
	Seed   engine.Root `json:"seed"`
}

// UserRoundSeed returns the seed of a user's work in a round.
func (c Config) UserRoundSeed(round, user int) engine.Root {
	return engine.Root(c.Seed.Counter(engine.StreamUser, uint64(round), uint64(user)))
}

// Check returns an error for a configuration that cannot be run.
func (c Config) Check() error {
	switch {
	case c.Rounds < 1:
		return fmt.Errorf("%d rounds", c.Rounds)
	case !(c.Fraction >= 0 && c.Fraction <= 1):
		return fmt.Errorf("a fraction of %v of the users per round; it must be above 0 and at most 1", c.Fraction)
	case !(c.Silent >= 0 && c.Silent <= 1):
		return fmt.Errorf("users do not answer with probability %v; it must be between 0 and 1", c.Silent)
	case c.Mean < ByRecords || c.Mean > Equally:
		return fmt.Errorf("unknown mean %d", c.Mean)
	}
	return nil
}

// Federation is a set of users and how they train together.
type Federation struct {
	Config
	Users []User
	Work  Worker
	// Requests are what users ask to have forgotten, and when; nil: nothing.
	Requests Schedule
	// IncludeEmptied lets users take part who have no rows left because they leave or have
	// erased everything. It is for methods whose users work on what they erase
	// (UserRound.Erased). Such users have no Rows and weight 0 in a mean by records.
	IncludeEmptied bool
	// Participation says who takes part in a round; nil: users are drawn as Config says.
	Participation Participation
	// StopAfter ends the run after the first round for which it returns true; nil: all
	// rounds. It sees the state that all users know after a round.
	StopAfter func(context.Context, *State) (bool, error)
}

func (f Federation) check() error {
	if err := f.Config.Check(); err != nil {
		return err
	}
	if f.Work == nil {
		return errors.New("there is no Worker")
	}
	if err := checkUsers(f.Users); err != nil {
		return err
	}
	return f.Requests.Check(f.Users)
}

func checkUsers(users []User) error {
	if len(users) == 0 {
		return errors.New("there are no users")
	}
	seen := map[int]bool{}
	for _, u := range users {
		switch {
		case u.ID < 0:
			return fmt.Errorf("a user has the ID %d", u.ID)
		case seen[u.ID]:
			return fmt.Errorf("two users have the ID %d", u.ID)
		case len(u.Rows) == 0:
			return fmt.Errorf("user %d has no records", u.ID)
		}
		seen[u.ID] = true
		if i := slices.IndexFunc(u.Rows, func(row int) bool { return row < 0 }); i >= 0 {
			return fmt.Errorf("user %d has the row %d", u.ID, u.Rows[i])
		}
		if row, twice := findDuplicate(u.Rows); twice {
			return fmt.Errorf("user %d has row %d twice", u.ID, row)
		}
	}
	return nil
}

// findDuplicate returns a row that is listed more than once.
func findDuplicate(rows []int) (row int, twice bool) {
	seen := make(map[int]bool, len(rows))
	for _, row := range rows {
		if seen[row] {
			return row, true
		}
		seen[row] = true
	}
	return 0, false
}
