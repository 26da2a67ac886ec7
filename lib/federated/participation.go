package federated

import (
	"fmt"
	"math"
	"slices"

	"github.com/lethe-ml/lethe/lib/engine"
)

// Participation says who of the users (their numbers, ascending) answers in a round
// and who is drawn and does not. It must be a function of the two.
type Participation func(round int, users []int) (answered, silent []int, err error)

// drawParticipants draws max(1, floor(C K)) of K users, and who of them does not answer. The
// draw of the silent knows the round and the user alone.
func (c Config) drawParticipants(round int, users []int) (answered, silent []int, err error) {
	for _, u := range c.drawUsers(round, users) {
		if c.Seed.Stream(engine.StreamSilent, uint64(round), uint64(u)).Float64() < c.Silent {
			silent = append(silent, u)
		} else {
			answered = append(answered, u)
		}
	}
	return answered, silent, nil
}

func (c Config) drawUsers(round int, users []int) []int {
	if c.Fraction == 0 || c.Fraction == 1 {
		return users
	}
	const slack = 1e-9 // 0.29 of 100 are 29, and not 28 because 0.29 is no binary fraction
	n := max(1, int(math.Floor(float64(c.Fraction*float64(len(users)))+slack)))
	var out []int
	for _, k := range c.Seed.Stream(engine.StreamRound, uint64(round)).Perm(len(users))[:n] {
		out = append(out, users[k])
	}
	slices.Sort(out)
	return out
}

// ReplayParticipation is the attendance of a run that has been, here or over a network, for one
// that is to be like it. It refuses a round that the history does not have.
func ReplayParticipation(history []Round) Participation {
	return func(round int, _ []int) (answered, silent []int, err error) {
		if round > len(history) || history[round-1].Round != round {
			return nil, nil, fmt.Errorf("the history does not say who took part")
		}
		return history[round-1].Answered, history[round-1].Silent, nil
	}
}

// participants asks who takes part, and returns those who answer in the order of their
// numbers.
func (f Federation) participants(round int, users []User) (answering []User, silent []int, err error) {
	attend := f.Participation
	if attend == nil {
		attend = f.drawParticipants
	}
	var ids []int
	byID := map[int]User{}
	for _, u := range users {
		ids = append(ids, u.ID)
		byID[u.ID] = u
	}
	answered, silent, err := attend(round, ids)
	if err != nil {
		return nil, nil, err
	}
	if id, twice := findDuplicate(slices.Concat(answered, silent)); twice {
		return nil, nil, fmt.Errorf("user %d takes part twice", id)
	}
	for _, id := range slices.Concat(answered, silent) {
		if _, there := byID[id]; !there {
			return nil, nil, fmt.Errorf("user %d takes part, who is none of the users of this round", id)
		}
	}
	for _, id := range slices.Sorted(slices.Values(answered)) {
		answering = append(answering, byID[id])
	}
	return answering, slices.Sorted(slices.Values(silent)), nil
}
