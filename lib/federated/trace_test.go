package federated

import (
	"testing"
	"time"
)

// Every user round is reported once, and tracing does not change the run.
func TestATraceReportsEveryUserRound(t *testing.T) {
	f := federation(t)
	f.Rounds = 3
	want, _ := run(t, f)
	seen, total := map[[2]int]int{}, time.Duration(0)
	ctx := WithTrace(t.Context(), func(turn UserRound, took time.Duration) {
		seen[[2]int{turn.Round, turn.User}]++
		total += took
		if len(turn.Rows) == 0 || took <= 0 {
			t.Errorf("%+v took %v", turn, took)
		}
	})
	began := time.Now()
	got, history, err := Run(ctx, open(t), initial(), f, Hooks{})
	if err != nil || got.Hash() != want.Hash() {
		t.Errorf("a traced run is another: %v", err)
	}
	if whole := time.Since(began); total > whole {
		t.Errorf("the turns of a run took %v, the run %v", total, whole)
	}
	turns := 0
	for _, r := range history {
		for _, user := range r.Answered {
			turns++
			if seen[[2]int{r.Round, user}] != 1 {
				t.Errorf("round %d, user %d: told %d times", r.Round, user, seen[[2]int{r.Round, user}])
			}
		}
	}
	if len(seen) != turns {
		t.Errorf("%d turns are told of %d", len(seen), turns)
	}
}

// Users who have nothing left take part with IncludeEmptied only, with what they erase and
// no rows; in a mean by records their weight is 0.
func TestEmptiedUsersTakePartWithIncludeEmptied(t *testing.T) {
	for _, q := range []Request{{Round: 2, User: 1, Leaves: true}, {Round: 2, User: 1, Rows: federation(t).Users[1].Rows}} {
		for _, parting := range []bool{false, true} {
			f := federation(t)
			f.Rounds, f.Requests, f.IncludeEmptied = 2, Schedule{q}, parting
			work, met := f.Work, map[int]UserRound{}
			f.Work = func(turn UserRound) (Task, error) {
				if turn.Round == 2 {
					met[turn.User] = turn
				}
				if len(turn.Rows) == 0 {
					turn.Rows = turn.Erased
				}
				return work(turn)
			}
			p, _ := run(t, f)
			gone, there := met[1]
			if there != parting || parting && (len(gone.Rows) != 0 || len(gone.Erased) != len(f.Users[1].Rows)) {
				t.Errorf("parting %t: user 1's turn is %+v", parting, gone)
			}
			f.IncludeEmptied = false
			if without, _ := run(t, f); parting && p.Hash() != without.Hash() {
				t.Error("who has no records moves a mean by records")
			}
			f.Mean, f.IncludeEmptied = Equally, parting
			equally, _ := run(t, f)
			f.IncludeEmptied = false
			if without, _ := run(t, f); parting == (equally.Hash() == without.Hash()) {
				t.Errorf("parting %t: an equal mean moves: %t", parting, !parting)
			}
		}
	}
}
