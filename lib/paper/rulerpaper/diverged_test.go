package rulerpaper

import (
	"bytes"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

const (
	RunawayLabel = "runaway"
	FarLabel     = "far"
)

// withDiverging returns s with two variants that diverge.
func withDiverging(s Study) Study {
	s.Variants = append([]Variant{{Label: RunawayLabel, Method: unlearn.GradientAscent{LR: 1e38}}, {Label: FarLabel, Method: unlearn.GradientAscent{LR: 1e6}}}, s.Variants...)
	return s
}

func TestAMethodThatDivergesIsARowAndTheTableGoesOn(t *testing.T) {
	e := newEnv(t, t.TempDir(), 0)
	twice := withDiverging(withDiverging(oneSet()))
	if _, err := e.Collect(t.Context(), twice); err == nil || !strings.Contains(err.Error(), "two variants are called") {
		t.Errorf("two variants of one label: %v", err)
	}
	plain, err := e.Collect(t.Context(), oneSet())
	if err != nil {
		t.Fatal(err)
	}
	wild, err := e.Collect(t.Context(), withDiverging(oneSet()))
	if err != nil {
		t.Fatal(err)
	}
	others := filter(wild.Rows, func(r Row) bool { return r.Variant != RunawayLabel && r.Variant != FarLabel })
	if !reflect.DeepEqual(others, plain.Rows) {
		t.Error("the rows of the others are not those of the study without it")
	}
	for _, variant := range []string{RunawayLabel, FarLabel} {
		rows := rowsOf(wild.Rows, variant, 0.05)
		if len(rows) != len(plain.Study.Seeds) {
			t.Fatalf("%s: %d rows", variant, len(rows))
		}
		for _, r := range rows {
			if variant == RunawayLabel && (!strings.Contains(r.Diverged, "epoch ") || !math.IsNaN(r.M4) || r.Forget == 0) {
				t.Errorf("%+v", r)
			}
		}
	}
	tables := 0
	for _, r := range Recipes() {
		if checkWild(t, e, r, plain, wild) {
			tables++
		}
	}
	if tables < 4 {
		t.Errorf("only %d tables show it as a row", tables)
	}
	for _, a := range append(methods(), Variant{Label: BT}) {
		checkLost(t, e, plain, a.Label)
	}
}

// checkLost makes every table without the numbers of one of the paper's own
// methods.
func checkLost(t *testing.T, e *Env, plain *Collected, variant string) {
	t.Helper()
	lost := *plain
	lost.Rows = slices.Clone(plain.Rows)
	for i, r := range lost.Rows {
		if r.Variant == variant && r.Seed == 0 {
			lost.Rows[i].Diverged = "diverged in epoch 3"
			lost.Rows[i].setNaN()
		}
	}
	for _, r := range Recipes() {
		if !needsOnly(t, r, plain.Study) {
			continue
		}
		out, err := r.make(e, tiny(), []*Collected{&lost})
		if err != nil {
			t.Errorf("%s without %s: %v", r.ID, variant, err)
			continue
		}
		addCommon(out, []*Collected{&lost})
		var b bytes.Buffer
		if err := errors.Join(out.Runs.JSON(&b), out.Runs.CSV(&b)); err != nil || !strings.Contains(b.String(), "diverged in epoch 3") {
			t.Errorf("%s without %s: the records: %v", r.ID, variant, err)
		}
		if out.Table == nil {
			continue
		}
		if err := out.Table.JSON(&b); err != nil || !strings.Contains(strings.Join(out.Table.Notes, " "), variant+" on breast_cancer, seed 0") {
			t.Errorf("%s without %s: %v, notes %q", r.ID, variant, err, out.Table.Notes)
		}
	}
}

// needsOnly reports whether a recipe is made of one study.
func needsOnly(t *testing.T, r Recipe, s Study) bool {
	studies, err := r.studies(t.Context(), tiny())
	return err == nil && len(studies) == 1 && studies[0].Name == s.Name
}

// checkWild makes a table of both studies: the rows of the other variants are the
// same, those of the two say what happened. It reports whether the variants are rows.
func checkWild(t *testing.T, e *Env, r Recipe, plain, wild *Collected) bool {
	t.Helper()
	if !needsOnly(t, r, plain.Study) {
		return false
	}
	made := func(c *Collected) *Output {
		out, err := r.make(e, tiny(), []*Collected{c})
		if err != nil {
			t.Fatalf("%s: %v", r.ID, err)
		}
		addCommon(out, []*Collected{c})
		return out
	}
	a, b := made(plain).Table, made(wild).Table
	if a == nil || !slices.ContainsFunc(b.Rows, func(r report.Row) bool { return r.Cells[0].Text == RunawayLabel }) {
		return false
	}
	var others []string
	for _, row := range b.Rows {
		switch row.Cells[0].Text {
		case RunawayLabel:
			if !strings.Contains(textOf(row), "diverged") {
				t.Errorf("%s: the row is %s", r.ID, textOf(row))
			}
		case FarLabel:
		default:
			others = append(others, textOf(row))
		}
	}
	for i, row := range a.Rows {
		if i >= len(others) || others[i] != textOf(row) {
			t.Errorf("%s: row %d, %s, is another beside a method that diverges", r.ID, i, textOf(row))
		}
	}
	notes := strings.Join(b.Notes, "\n")
	for _, want := range []string{RunawayLabel + " on breast_cancer, seed 0, fraction 0.05, forget seed 999: diverged in epoch 1: ", "weights hidden1.weight", FarLabel + " on breast_cancer, seed 1",
		"times their own length"} {
		if !strings.Contains(notes, want) {
			t.Errorf("%s: no note says %q: %s", r.ID, want, notes)
		}
	}
	return true
}

func textOf(row report.Row) string {
	var cells []string
	for _, c := range row.Cells {
		cells = append(cells, c.Text+c.Missing)
	}
	return strings.Join(cells, " | ")
}

func TestADivergedRunIsKeptAndNotComputedAgain(t *testing.T) {
	e := newEnv(t, t.TempDir(), 0)
	c := problemCell(t, e)
	method := unlearn.GradientAscent{LR: 1e38}
	for range 2 {
		_, _, err := c.Weights(t.Context(), method)
		if d, ok := err.(*train.Diverged); !ok || d.Epoch < 1 || d.Tensor == "" {
			t.Errorf("%T %v", err, err)
		}
		if ready, err := c.Ready(t.Context(), method); err != nil || !ready {
			t.Errorf("the store has nothing to say of it: %v", err)
		}
	}
}
