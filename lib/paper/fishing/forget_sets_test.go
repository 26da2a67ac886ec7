package fishing

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/attack/learned"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/report"
)

// shortenStudy makes a study brief, with these variants.
func shortenStudy(t *testing.T, of func(string) (Study, error), variants ...string) Study {
	t.Helper()
	s, err := of("quick")
	if err != nil {
		t.Fatal(err)
	}
	quick := briefStudy().Cases[0]
	s.Seeds = 1
	short := func(c *Case) {
		c.Data, c.Fit.Epochs, c.Model, c.Only = quick.Data, quick.Fit.Epochs, quick.Model, variants
	}
	for i := range s.Cases {
		short(&s.Cases[i])
		if b := s.Cases[i].AttackerFrom; b != nil {
			short(b)
		}
	}
	return s
}

// The scattered set has its own non-members and attacker, and also the result of the structured
// set's attacker.
func TestTableThreeHasBothKindsOfForgetSets(t *testing.T) {
	e := newEnv(t)
	s := shortenStudy(t, byForgetSet, Original, Retrained, OtherSeed, FisherSum)
	ev, err := collect(t.Context(), e, s)
	if err != nil {
		t.Fatal(err)
	}
	out := ev.table3()
	if err := out.Table.Check(); err != nil {
		t.Error(err)
	}
	structured, spread := ev.rowsOf(s.Cases[0].Label, Original)[0], ev.rowsOf(s.Cases[1].Label, Original)[0]
	if structured.OtherCase != nil || spread.OtherCase == nil || spread.Forget != 35 || structured.Forget == 35 || spread.OtherCase.NMembers != 35 {
		t.Fatalf("%d structured and %d scattered cells", structured.Forget, spread.Forget)
	}
	if spread.OtherCase.NNonmembers != spread.Negatives || spread.Negatives == structured.Negatives {
		t.Errorf("%d non-members, %d of the structured set", spread.Negatives, structured.Negatives)
	}
	if own := spread.Attacks[learned.PB().Name].All.AUC.Value; own == spread.OtherCase.AUC.Value {
		t.Error("the structured set's attacker is the scattered set's own")
	}
	// Both have the same original.
	if structured.UnseenRecon != spread.UnseenRecon {
		t.Error("the two kinds have different originals")
	}
	for _, row := range out.Table.Rows {
		if control := row.Cells[0].Text != FisherSum; (row.Kind == report.Control) != control {
			t.Errorf("%s is of kind %s", row.Cells[0].Text, row.Kind)
		}
	}
}

// For the structured set itself the other case's attacker is its own.
func TestABorrowedAttackerOfTheSameCaseIsItsOwn(t *testing.T) {
	e := newEnv(t)
	s := shortenStudy(t, byForgetSet, Original, Retrained, OtherSeed)
	c, err := e.Lab().Case(t.Context(), s.Cases[0].setting(0))
	if err != nil {
		t.Fatal(err)
	}
	own, err := newAttackCase(t.Context(), c, s.Cases[0])
	if err != nil {
		t.Fatal(err)
	}
	lent, err := otherCaseRecords(t.Context(), c, s.Cases[0])
	if err != nil || !slices.Equal(lent.Members.Data, own.original.Members.Data) || !slices.Equal(lent.Nonmembers.Data, own.original.Nonmembers.Data) {
		t.Fatalf("other features (%v)", err)
	}
	run, err := learned.PB().Run(context.Background(), e.Engine, learned.Target{Model: lent, Original: &lent}, 7)
	if err != nil {
		t.Fatal(err)
	}
	otherCase, err := learned.PB().FitAndScore(context.Background(), e.Engine, lent, lent, 7)
	if err != nil || math.Abs(otherCase.AUC.Value-run.AUC.Value) > 1e-12 {
		t.Errorf("otherCase %v, its own %v (%v)", otherCase.AUC.Value, run.AUC.Value, err)
	}
	if _, err := learned.CrossFitted(nil).FitAndScore(context.Background(), e.Engine, lent, lent, 7); err == nil || !strings.Contains(err.Error(), "no single attacker") {
		t.Errorf("%v", err)
	}
}

// The sizes are the paper's, each with its values, and the retrained model stands
// beside the method.
func TestTableNineGrowsItsForgetSets(t *testing.T) {
	e := newEnv(t)
	s := shortenStudy(t, bySize, Original, Retrained, OtherSeed)
	ev, err := collect(t.Context(), e, s)
	if err != nil {
		t.Fatal(err)
	}
	var got []int
	for _, c := range s.Cases {
		got = append(got, ev.rowsOf(c.Label, Retrained)[0].Forget)
		if len(strings.Fields(printed9(c, Extra))) != 4 || printed9(c, ExtraTrue) != "" {
			t.Errorf("%s: the paper has %q", c.Label, printed9(c, Extra))
		}
	}
	whole := ev.rowsOf(s.Cases[1].Label, Retrained)[0]
	if whole.Type != "rare0" || whole.Forget < 20 || whole.Forget > 32 {
		t.Errorf("Table 2's are %d cells of %s", whole.Forget, whole.Type)
	}
	if got = slices.Delete(got, 1, 2); !slices.Equal(got, []int{10, 50, 100}) {
		t.Errorf("%v cells are to be forgotten", got)
	}
	out := ev.table9()
	if err := out.Table.Check(); err != nil {
		t.Error(err)
	}
}

// Tables do not mistake one another's jobs, and no job is listed twice.
func TestEveryTableHasItsOwnEvidence(t *testing.T) {
	e, seen := newEnv(t), map[string]string{}
	for _, r := range []paper.Recipe{recipe(t, "table2"), recipe(t, "table3"), recipe(t, "table9")} {
		list, err := r.Jobs(t.Context(), e, "quick")
		if err != nil {
			t.Fatal(err)
		}
		for _, j := range list {
			if before := seen[j.ID]; strings.HasPrefix(j.ID, "evidence/") && before != "" {
				t.Errorf("%s is of %s and of %s", j.ID, before, r.ID)
			}
			seen[j.ID] = r.ID
		}
	}
}
