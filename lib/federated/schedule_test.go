// Tests of schedule.go.

package federated

import (
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/lethe-ml/lethe/lib/train"
)

var three = []User{{ID: 4, Rows: []int{9, 8, 7}}, {ID: 0, Rows: []int{1, 2, 3}}, {ID: 2, Rows: []int{3, 5}}}

var asked = Schedule{
	{Round: 3, User: 4, Leaves: true},
	{Round: 2, User: 0, Rows: []int{3, 1}},
	{Round: 4, User: 2, Rows: []int{5}},
}

// User 2 holds row 3 too and loses it by user 0's request; without row 5 they have nothing
// left.
func TestWhoTrainsOnWhatAfterwards(t *testing.T) {
	for round, want := range map[int][]User{
		1: {{0, []int{1, 2, 3}}, {2, []int{3, 5}}, {4, []int{9, 8, 7}}},
		2: {{0, []int{2}}, {2, []int{5}}, {4, []int{9, 8, 7}}},
		3: {{0, []int{2}}, {2, []int{5}}},
		4: {{0, []int{2}}},
		9: {{0, []int{2}}},
	} {
		if got := asked.UsersAt(three, round); !reflect.DeepEqual(got, want) {
			t.Errorf("round %d: %v, want %v", round, got, want)
		}
	}
	erased := func(k, round int) []int { return asked.ErasedRows(three[k], three, round) }
	if got := erased(1, 1); len(got) != 0 {
		t.Errorf("before anybody asks: %v", got)
	}
	if a, b, c := erased(1, 2), erased(2, 2), erased(0, 3); !slices.Equal(a, []int{1, 3}) || !slices.Equal(b, []int{3}) || !slices.Equal(c, []int{9, 8, 7}) {
		t.Errorf("erased: %v, %v, %v", a, b, c)
	}
	if !slices.Equal(three[1].Rows, []int{1, 2, 3}) {
		t.Error("the schedule wrote to the users")
	}
	if got := Schedule(nil).UsersAt(three, 5); len(got) != 3 {
		t.Errorf("without requests: %v", got)
	}
}

// The rows of a user who leaves are dropped for other holders as well.
func TestNoUserTrainsOnTheRowsOfAUserWhoLeft(t *testing.T) {
	got := Schedule{{Round: 1, User: 0, Leaves: true}}.UsersAt(three, 1)
	if want := []User{{2, []int{5}}, {4, []int{9, 8, 7}}}; !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestARunObeysTheRequests(t *testing.T) {
	f := federation(t)
	f.Rounds = 5
	var mu sync.Mutex
	trained, told := map[int]map[int]bool{}, map[int][]int{}
	data := newTable(60)
	f.Work = func(t UserRound) (Task, error) {
		mu.Lock()
		defer mu.Unlock()
		if t.User == 1 {
			told[t.Round] = t.Erased
		}
		return LocalTraining(func(rows []int) (train.Objective, error) {
			if trained[t.Round] == nil {
				trained[t.Round] = map[int]bool{}
			}
			for _, row := range rows {
				trained[t.Round][row] = true
			}
			return data.objective(rows)
		}, local)(t)
	}
	erased := f.Users[1].Rows[:2]
	f.Requests = Schedule{{Round: 3, User: 1, Rows: erased}, {Round: 4, User: 2, Leaves: true}}
	_, history := run(t, f)
	in := func(round int, rows []int) (n int) {
		for _, row := range rows {
			if trained[round][row] {
				n++
			}
		}
		return n
	}
	for round := 1; round <= 5; round++ {
		wantErased, wantLeft, wantUsers := 2, len(f.Users[2].Rows), []int{0, 1, 2, 3}
		if round >= 3 {
			wantErased = 0
		}
		if round >= 4 {
			wantLeft, wantUsers = 0, []int{0, 1, 3}
		}
		if got := in(round, erased); got != wantErased {
			t.Errorf("round %d trains on %d of the 2 erased rows", round, got)
		}
		if got := in(round, f.Users[2].Rows); got != wantLeft {
			t.Errorf("round %d trains on %d rows of the user who leaves", round, got)
		}
		if !slices.Equal(history[round-1].Answered, wantUsers) {
			t.Errorf("round %d: users %v", round, history[round-1].Answered)
		}
		if round < 3 && len(told[round]) != 0 || round >= 3 && !slices.Equal(told[round], erased) {
			t.Errorf("round %d: the user is told of %v", round, told[round])
		}
	}
}

func TestARunWithoutUsersLeftIsRefused(t *testing.T) {
	f := federation(t)
	for _, u := range f.Users {
		f.Requests = append(f.Requests, Request{Round: 2, User: u.ID, Leaves: true})
	}
	_, _, err := Run(t.Context(), open(t), initial(), f, Hooks{})
	wantWords(t, err, "round 2", "no user is left")
}

func TestImpossibleRequestsAreRefusedByName(t *testing.T) {
	for _, c := range []struct {
		q     Request
		words []string
	}{
		{Request{Round: 0, User: 4, Leaves: true}, []string{"round 0"}},
		{Request{Round: 1, User: 5, Leaves: true}, []string{"user 5"}},
		{Request{Round: 1, User: 4}, []string{"user 4", "erases nothing"}},
		{Request{Round: 1, User: 4, Leaves: true, Rows: []int{9}}, []string{"user 4", "leaves", "rows"}},
		{Request{Round: 1, User: 4, Rows: []int{1}}, []string{"user 4", "row 1", "which they do not have"}},
		{Request{Round: 1, User: 4, Rows: []int{9, 9}}, []string{"user 4", "row 9 twice"}},
	} {
		err := Schedule{{Round: 1, User: 4, Rows: []int{8}}, c.q}.Check(three)
		wantWords(t, err, append(c.words, "request 2")...)
	}
}
