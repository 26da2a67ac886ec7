// Package federated trains one model by many users, none of whom shows his
// records: federated averaging (FedAvg; McMahan et al., "Communication-Efficient
// Learning of Deep Networks from Decentralized Data", AISTATS 2017, algorithm 1).
// In round t = 1, 2, ... a part S of the users gets the weights w, each user k in S
// trains a copy on his own n_k records, and the new weights are the mean of the
// copies:
//
//	w_k = local training from w(t-1),  w(t) = sum over k in S of n_k w_k / sum over k in S of n_k
//
// (Mean tells other weights of the mean.) A user's optimiser is fresh in every round.
//
// # What is exact
//
// Everything that a round depends on is a function of the seed, the round and the
// number of a user: who is drawn, who does not answer, and the seed of a user's own
// work. The mean is added up in float64 in the order of the users' numbers and
// rounded once, so that it does not matter in which order users are listed or
// answer: the same users give the same bits. A run that is killed goes on after its
// last saved round with the same bits (State).
//
// # State of the network that is no weight
//
// Running statistics of batch normalisation are averaged as the weights are. The
// mean of variances leaves out how far the users' means lie apart, so with users of
// different data it is below the variance of all records; so it is in every program
// that averages a state_dict. State of spectral normalisation is averaged too; it
// does not stay of length one, which its next step does not need.
//
// # Differences from the paper
//
// (1) C K users are drawn, rounded down and at least one, where C K is a whole
// number in the paper. (2) Users may not answer; the mean is over those who do.
// A round in which nobody answers leaves the weights as they are, and its record
// says so (Flower does the same).
package federated

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/train"
)

// User is one who holds records. His number is his for ever: everything that is
// drawn for him is drawn by it, so that another user more or less, or another order
// of the users, changes nothing of his work.
type User struct {
	ID   int   `json:"id"`   // 0 or more
	Rows []int `json:"rows"` // of the training data
}

// UserRound is one user's part in one round: all that his work may depend on.
type UserRound struct {
	Round int // 1, 2, ...
	User  int // his number
	Rows  []int
	// ErasedRows are the rows that were his and that he, or another who held them too,
	// has asked to erase: for methods that work on them. Training does not look at
	// them.
	Erased []int
}

// Task is what a user does in his turn: a fit from the weights of the round.
type Task struct {
	Plan train.Plan
	// Config is how; its seed is replaced by that of the turn (Config.UserRoundSeed).
	Config train.Config
}

// Worker says what a user does. It must be a function of the turn alone.
type Worker func(UserRound) (Task, error)

// LocalTraining is the work of a user who trains on the rows that he has.
func LocalTraining(objective func(rows []int) (train.Objective, error), c train.Config) Worker {
	return func(t UserRound) (Task, error) {
		o, err := objective(t.Rows)
		if err != nil {
			return Task{}, err
		}
		return Task{Plan: train.Plan{Passes: func(int) ([]train.Objective, error) { return []train.Objective{o}, nil }}, Config: c}, nil
	}
}

// Config is a federation's course.
type Config struct {
	Rounds int `json:"rounds"`
	// Fraction is C, the part of the users that is drawn in every round, 0: all.
	Fraction float64 `json:"fraction,omitempty"`
	// Silent is the chance that a user who is drawn does not answer.
	Silent float64     `json:"silent,omitempty"`
	Mean   Mean        `json:"mean,omitempty"`
	Seed   engine.Root `json:"seed"`
}

// UserRoundSeed is the seed of a user's work in a round.
func (c Config) UserRoundSeed(round, user int) engine.Root {
	return engine.Root(c.Seed.Counter(engine.StreamUser, uint64(round), uint64(user)))
}

// Check reports a course that cannot be run.
func (c Config) Check() error {
	switch {
	case c.Rounds < 1:
		return fmt.Errorf("%d rounds", c.Rounds)
	case !(c.Fraction >= 0 && c.Fraction <= 1):
		return fmt.Errorf("a fraction of %v of the users per round; it lies above 0 and is at most 1", c.Fraction)
	case !(c.Silent >= 0 && c.Silent <= 1):
		return fmt.Errorf("users do not answer with chance %v; it lies between 0 and 1", c.Silent)
	case c.Mean < ByRecords || c.Mean > Equally:
		return fmt.Errorf("mean %d is none", c.Mean)
	}
	return nil
}

// Federation is who trains together, at what.
type Federation struct {
	Config
	Users []User
	Work  Worker
	// Requests are what users ask to have forgotten, and when; nil: nobody asks.
	Requests Schedule
	// IncludeEmptied has those take part to whom nothing is left, because they leave or have
	// erased all: for methods whose users work on what they erase (Turn.Erased). Theirs
	// are Turns without Rows, of no weight in a mean by records.
	IncludeEmptied bool
	// Participation says who takes part in a round; nil: it is drawn, as the Config says.
	Participation Participation
	// StopAfter ends the run after the first round of which it says so; nil: all rounds.
	// It looks at what all know after a round.
	StopAfter func(context.Context, *State) (bool, error)
}

func (f Federation) check() error {
	if err := f.Config.Check(); err != nil {
		return err
	}
	if f.Work == nil {
		return errors.New("the users have no work")
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
			return fmt.Errorf("a user has the number %d", u.ID)
		case seen[u.ID]:
			return fmt.Errorf("two users have the number %d", u.ID)
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

// findDuplicate is a row that is listed more than once.
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
