package blindu

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// smallUsersStudy is a study of few users, with one case of either request.
func smallUsersStudy(rounds int) Study {
	c := glyphs()
	c.Data, c.Users = lab.Limit(c.Data, 400, 200), unlearn.Users{Count: 4, Rounds: rounds, LocalEpochs: 4, Batch: 20}
	s := withUsers(Study{Scale: "brief", Seeds: 1}, c)
	s.Cases = []Case{s.Cases[0], s.Cases[2]}
	for i := range s.Cases {
		s.Cases[i].Only = []string{Original, Retrained, HBFU, BFU, WithoutRounds}
	}
	return s
}

// From users to a table: the forget set is the leaving user's shard, or half of it if the user
// erases half; all users keep the same rounds; BlindU takes as many steps as the requesting
// user; the listed jobs are those that are done.
func TestUsersRequestUnlearning(t *testing.T) {
	e, s := newEnv(t), smallUsersStudy(3)
	ev, err := collect(t.Context(), e, s)
	if err != nil {
		t.Fatal(err)
	}
	if len(ev.Rows) != 2*5 {
		t.Fatalf("%d rows", len(ev.Rows))
	}
	for _, r := range ev.Rows {
		half, unequal := strings.Contains(r.Case, "half"), strings.Contains(r.Case, "unequal")
		if !unequal && (r.Forget != 100 || r.Least != 100 || r.Most != 100) || unequal && r.Least == r.Most || half != unequal {
			t.Errorf("%s: %d of %d to forget; users hold %d to %d", r.Case, r.Forget, r.Train, r.Least, r.Most)
		}
		forgotten := strings.HasPrefix(r.Note, "forgotten")
		if r.Variant == Original && (r.Rounds != 0 || r.Steps != 0) || r.Variant != Original && r.Rounds != 3 && !forgotten {
			t.Errorf("%s, %s: %d rounds, %d steps; %v of the retain set", r.Case, r.Variant, r.Rounds, r.Steps, r.Retain)
		}
		if batches := int(math.Ceil(float64(r.Forget) / 20)); r.Variant == WithoutRounds && r.Steps != 6*batches*r.Rounds {
			t.Errorf("%s, %s: %d steps in %d rounds for %d records", r.Case, r.Variant, r.Steps, r.Rounds, r.Forget)
		}
		// The remaining users, each four times through 100 records in batches of 20.
		if !half && r.Variant == Retrained && r.Steps != 3*4*5*3 {
			t.Errorf("%s, %s: %d steps", r.Case, r.Variant, r.Steps)
		}
	}
	out := ev.users()
	if err := out.Table.Check(); err != nil {
		t.Error(err)
	}
	for _, row := range out.Table.Rows {
		if label := row.Cells[0].Text; row.Kind != report.Header && (row.Kind == report.Control) != (label == Original || label == Retrained) {
			t.Errorf("%s is of kind %s", label, row.Kind)
		}
	}
	for _, row := range out.Table.Rows {
		erased, retain, gap := row.Cells[1].Estimate, row.Cells[3].Estimate, row.Cells[4].Estimate
		if row.Kind != report.Header && math.Abs(gap.Value-(erased.Value-retain.Value)) > 1e-12 {
			t.Errorf("%s: a gap of %v between %v and %v", row.Cells[0].Text, gap.Value, erased.Value, retain.Value)
		}
	}
	if notes := strings.Join(out.Table.Notes, " "); !strings.Contains(notes, "a user leaves: user 0 of 4 asks; they hold 100 to 100 records.") {
		t.Errorf("notes: %s", notes)
	}
	jobs, err := paper.MeasurementJobs(t.Context(), e, measurements(e, s))
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range jobs {
		if !j.Done {
			t.Errorf("the job %s is not done", j.ID)
		}
	}
	// Two federations with an original, an oracle, three methods and the evidence each.
	if want := 2 * 6; len(jobs) != want {
		t.Errorf("%d jobs, want %d", len(jobs), want)
	}
}

// With a staying user in the place of the leaving one others are forgotten, by the oracle
// and by every method.
func TestExchangingTheLeavingUserChangesWhoIsForgotten(t *testing.T) {
	e, s := newEnv(t), smallUsersStudy(1)
	c := s.Cases[0]
	weights := map[string][]string{}
	var forgotten [][]int
	for _, user := range []int{0, 3} {
		at := c
		h := *c.User()
		h.Number = user
		at.Forget = h
		opened, err := e.Lab().Case(t.Context(), at.setting(0))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(opened.Forget, opened.Holders[user].Rows) {
			t.Errorf("user %d leaves, and others' records are forgotten", user)
		}
		forgotten = append(forgotten, opened.Forget)
		for _, a := range at.variants() {
			p, _, err := opened.Weights(t.Context(), a.Method)
			if err != nil {
				t.Fatal(err)
			}
			weights[a.Label] = append(weights[a.Label], p.Hash())
		}
	}
	if slices.ContainsFunc(forgotten[0], func(row int) bool { return slices.Contains(forgotten[1], row) }) {
		t.Error("two users share a record")
	}
	for label, w := range weights {
		if same := w[0] == w[1]; same != (label == Original) {
			t.Errorf("%s: the same model whoever leaves: %t", label, same)
		}
	}
}

func TestUsersAreThereAtEveryScale(t *testing.T) {
	for _, scale := range []string{"quick", "hour", "standard", "paper"} {
		s, err := usersStudy(scale)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range s.Cases {
			if c.Backdoor() != nil || c.User() == nil || c.User().Central || strings.Contains(c.Label, "backdoor") || len(c.variants()) != len(usersVariants) {
				t.Errorf("%s: %q has %d variants", scale, c.Label, len(c.variants()))
			}
			if h := defaults.Fill(c.User().Users); h != defaults.Fill(c.Users) {
				t.Errorf("%s: the original is trained by %+v, methods count the rounds of %+v", c.Label, h, c.Users)
			}
		}
	}
	if _, err := usersStudy("day"); err == nil {
		t.Error("an unknown scale")
	}
}
