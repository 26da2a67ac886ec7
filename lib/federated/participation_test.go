// Tests of participation.go.

package federated

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"
)

func numbers(n int) (out []int) {
	for i := range n {
		out = append(out, 3*i)
	}
	return out
}

// Of 100 users floor(C 100), at least one, are drawn, each equally often, different ones in
// every round.
func TestSoManyUsersAreDrawn(t *testing.T) {
	for c, want := range map[float64]int{0: 100, 1: 100, 0.29: 29, 0.299: 29, 0.001: 1, 0.07: 7} {
		answered, silent, err := Config{Fraction: c, Seed: 3}.drawParticipants(1, numbers(100))
		if err != nil || len(answered) != want || silent != nil || !slices.IsSorted(answered) {
			t.Errorf("fraction %v: %d users, %v (%v)", c, len(answered), silent, err)
		}
		if _, twice := findDuplicate(answered); twice {
			t.Errorf("fraction %v: a user twice", c)
		}
	}
	times, sets := map[int]int{}, map[string]bool{}
	const rounds, n, drawn = 2000, 10, 3
	for round := range rounds {
		answered, _, _ := Config{Fraction: 0.3, Seed: 3}.drawParticipants(round+1, numbers(n))
		sets[fmt.Sprint(answered)] = true
		for _, u := range answered {
			times[u]++
		}
	}
	checkBinomial(t, times, numbers(n), rounds, float64(drawn)/n)
	if len(sets) != 120 { // 10 choose 3
		t.Errorf("%d sets of users, want all 120", len(sets))
	}
}

// checkBinomial checks that every user took part as often as a binomial variable allows, up
// to five standard deviations.
func checkBinomial(t *testing.T, times map[int]int, users []int, n int, p float64) {
	t.Helper()
	for _, u := range users {
		if d := math.Abs(float64(times[u]) - float64(n)*p); d > 5*math.Sqrt(float64(n)*p*(1-p)) {
			t.Errorf("user %d was there %d times of %d, with chance %v", u, times[u], n, p)
		}
	}
}

func TestSoManyDoNotAnswer(t *testing.T) {
	times, sets := map[int]int{}, map[string]bool{}
	const rounds = 2000
	for round := range rounds {
		answered, silent, _ := Config{Silent: 0.2, Seed: 3}.drawParticipants(round+1, numbers(8))
		if all := slices.Sorted(slices.Values(slices.Concat(answered, silent))); !slices.Equal(all, numbers(8)) {
			t.Fatalf("round %d: %v and %v", round+1, answered, silent)
		}
		sets[fmt.Sprint(silent)] = true
		for _, u := range silent {
			times[u]++
		}
	}
	checkBinomial(t, times, numbers(8), rounds, 0.2)
	if len(sets) < 100 { // of 256, those of five and more being rare
		t.Errorf("%d sets of silent users: they are not silent independently", len(sets))
	}
	if answered, _, _ := (Config{Silent: 1}).drawParticipants(1, numbers(8)); answered != nil {
		t.Errorf("%v answered", answered)
	}
}

// Whether a user answers does not depend on who else was drawn.
func TestASilentUserIsSilentWhoeverIsDrawn(t *testing.T) {
	all, some := Config{Silent: 0.5, Seed: 9}, Config{Silent: 0.5, Seed: 9, Fraction: 0.5}
	for round := 1; round < 30; round++ {
		_, want, _ := all.drawParticipants(round, numbers(8))
		answered, silent, _ := some.drawParticipants(round, numbers(8))
		for _, u := range silent {
			if !slices.Contains(want, u) {
				t.Errorf("round %d: user %d is silent in one draw only", round, u)
			}
		}
		for _, u := range answered {
			if slices.Contains(want, u) {
				t.Errorf("round %d: user %d answers in one draw only", round, u)
			}
		}
	}
}

// A run with the participation of another has its bits, although it draws nothing.
func TestReplayedParticipationGivesTheSameRun(t *testing.T) {
	f := federation(t)
	f.Fraction, f.Silent = 0.75, 0.4
	want, history := run(t, f)
	silent := 0
	for _, h := range history {
		silent += len(h.Silent)
	}
	if silent == 0 {
		t.Fatal("everybody answered: this test sees too little")
	}
	f.Fraction, f.Silent, f.Participation = 0, 0, ReplayParticipation(history)
	got, h := run(t, f)
	if got.Hash() != want.Hash() || !reflect.DeepEqual(h, history) {
		t.Error("another result")
	}
	f.Participation = func(round int, users []int) ([]int, []int, error) { // answers come in any order
		answered, silent, err := ReplayParticipation(history)(round, users)
		answered, silent = slices.Clone(answered), slices.Clone(silent)
		slices.Reverse(answered)
		slices.Reverse(silent)
		return answered, silent, err
	}
	if got, h := run(t, f); got.Hash() != want.Hash() || !reflect.DeepEqual(h, history) {
		t.Error("another result where the answers come the other way round")
	}
}
