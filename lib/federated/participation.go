// Which users take part in a round.

package federated

import (
	"fmt"
	"math"
	"slices"

	"github.com/lethe-ml/lethe/lib/engine"
)

// Participation says which of the users (their IDs, ascending) answer in a round, and which
// are drawn and do not answer. It must be a function of its two arguments.
type Participation func(round int, users []int) (answered, silent []int, err error)

// drawParticipants draws max(1, floor(C K)) of K users, and which of them do not answer.
// Whether a user answers depends on the seed, the round and the user alone.
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
	const slack = 1e-9 // 0.29 of 100 users are 29, although 0.29 is a little less in binary
	n := max(1, int(math.Floor(float64(c.Fraction*float64(len(users)))+slack)))
	var out []int
	for _, k := range c.Seed.Stream(engine.StreamRound, uint64(round)).Perm(len(users))[:n] {
		out = append(out, users[k])
	}
	slices.Sort(out)
	return out
}

// ReplayParticipation repeats the participation of an earlier run, in one process or over a
// network. It returns an error for a round that the history does not have.
func ReplayParticipation(history []Round) Participation {
	return func(round int, _ []int) (answered, silent []int, err error) {
		if round > len(history) || history[round-1].Round != round {
			return nil, nil, fmt.Errorf("the history does not say who took part")
		}
		return history[round-1].Answered, history[round-1].Silent, nil
	}
}

// participants returns the users who answer in a round, by ascending ID, and the IDs of
// those who do not.
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
			return nil, nil, fmt.Errorf("user %d takes part, but is not among the users of this round", id)
		}
	}
	for _, id := range slices.Sorted(slices.Values(answered)) {
		answering = append(answering, byID[id])
	}
	return answering, slices.Sorted(slices.Values(silent)), nil
}
