package lenses

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/engine/enginetest"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/model/vae"
	"github.com/lethe-ml/lethe/lib/model/vision"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

func environment(t *testing.T) *paper.Env {
	t.Helper()
	e, s := enginetest.WithStore(t)
	return &paper.Env{Engine: e, Store: s}
}

// pictures is a small case of images.
func pictures() lab.Setting {
	return lab.Setting{
		Data: lab.Images{Set: "glyphs", MaxTrain: 200, MaxTest: 60}, Forget: lab.Random{Fraction: 0.1},
		Fit:   train.Config{Epochs: 2, Batch: 50, Optimizer: nn.SGD{LR: 0.05, Momentum: 0.9}, Schedule: train.Cosine()},
		Model: vision.SmallCNN{Channels: 1, Side: 16, Width: 4, Hidden: 32, Norm: true},
	}
}

func TestTheTableOfLensesHasEveryCaseAndEveryControl(t *testing.T) {
	e := environment(t)
	all, err := Cases("quick")
	if err != nil {
		t.Fatal(err)
	}
	cases := []NamedCase{all[0], all[3]}
	cases[1].Data = lab.Limit(cases[1].Data, 200, 0)
	few := cases[0]
	few.Name, few.Setting = "a few drawings", pictures()
	blind := all[len(all)-1]
	blind.Data, blind.Fit.Epochs, blind.Methods = lab.Limit(blind.Data, 400, 100), 6, blind.Methods[3:]
	rare := all[len(all)-2]
	fewGenes := rare.Data.(lab.Cells)
	fewGenes.Variable.Top = 60
	rare.Data, rare.Fit.Epochs, rare.Methods = fewGenes, 2, rare.Methods[2:4]
	rare.Model = vae.Cells{Hidden: []int{16}, Latent: 4}
	cases = append(cases, few, rare, blind)
	out, err := Make(t.Context(), e, append(cases, NamedCase{Name: "no file", Setting: lab.Setting{Data: lab.Table{Set: "adult"}}}), "quick")
	if err != nil {
		t.Fatal(err)
	}
	made := out.Table
	if want := 5*4 + 2*(len(tableMethods())+1) + len(imageMethods()) + len(rare.Methods) + len(blind.Methods); len(made.Rows) != want {
		t.Errorf("%d rows, want %d", len(made.Rows), want)
	}
	var b strings.Builder
	if err := made.Markdown(&b); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "lethe data get adult") {
		t.Error("the table does not say that a case is left out")
	}
	for _, n := range cases {
		if !strings.Contains(b.String(), n.Name) {
			t.Errorf("no case %q", n.Name)
		}
	}
	if n := len(made.Provenance.Data); n != 5 {
		t.Errorf("%d data sets of five cases are named: %v", n, made.Provenance.Data)
	}
	if _, err := out.Figure.PNG(); err != nil {
		t.Error(err)
	}
	text := out.Figure.Text()
	for _, row := range made.Rows {
		end := row.Cells[0].Text == "original (do nothing)" || row.Cells[0].Text == "retrained (oracle)"
		if !end && !strings.Contains(text, row.Cells[0].Text) {
			t.Errorf("no %q in the picture", row.Cells[0].Text)
		}
	}
	// Of every case the original is remembered and the oracle forgotten through
	// every lens that is not blind; the table would contradict itself otherwise.
	for _, row := range made.Rows {
		together := row.Cells[len(row.Cells)-1].Text
		for label, want := range map[string]string{"original (do nothing)": "remembered", "retrained (oracle)": "forgotten"} {
			if row.Cells[0].Text == label && !strings.HasPrefix(together, want) && together != "no lens can tell" {
				t.Errorf("%s, %s: %s", row.Group, label, together)
			}
		}
	}
	if _, err := Cases("huge"); err == nil {
		t.Error("a scale that does not exist was accepted")
	}
}

func TestAMethodThatDivergesLeavesTheOtherRowsAsTheyAre(t *testing.T) {
	e := environment(t)
	few := NamedCase{Name: "a few drawings", Setting: pictures()}
	made := func(more ...lab.Variant) *report.Table {
		out := &report.Table{ID: id, Title: title, Columns: make([]report.Column, len(audit.TableLenses())+2)}
		for i := range out.Columns {
			out.Columns[i].Name = fmt.Sprint("column ", i)
		}
		if _, err := addCase(t.Context(), e.Lab(), out, few, append(few.variants(), more...)); err != nil {
			t.Fatal(err)
		}
		return out
	}
	plain, wild := made(), made(lab.Variant{Label: "runaway", Method: unlearn.GradientAscent{LR: 1e38}})
	last := wild.Rows[len(wild.Rows)-1]
	if !reflect.DeepEqual(wild.Rows[:len(wild.Rows)-1], plain.Rows) || last.Cells[0].Text != "runaway" || last.Cells[1].Missing != "diverged" {
		t.Errorf("the last of %d rows, %d without it, is %+v", len(wild.Rows), len(plain.Rows), last)
	}
	if notes := strings.Join(wild.Notes, "\n"); !strings.Contains(notes, "a few drawings (20), runaway: diverged in epoch 1: ") {
		t.Errorf("notes: %s", notes)
	}
	if err := wild.Check(); err != nil {
		t.Error(err)
	}
}
