package sdepaper

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/verify/sde"
)

// remade is the table that a recipe makes of the values behind another, as their CSV has them.
func remade(t *testing.T, r paper.Recipe, runs report.Records) *report.Table {
	t.Helper()
	var csv bytes.Buffer
	if err := runs.CSV(&csv); err != nil {
		t.Fatal(err)
	}
	out, err := r.FromRuns(&paper.Env{}, "quick", &csv)
	if err != nil {
		t.Fatal(err)
	}
	return out.Table
}

// quickEvidence are rows as if measured on the models of a recipe at scale quick, two rows per cell.
func quickEvidence[R any](t *testing.T, choose func(Study) []cell, row func(k cell, i int) R) *evidence[R] {
	t.Helper()
	p, err := plannedAt("quick", choose)
	if err != nil {
		t.Fatal(err)
	}
	ev := &evidence[R]{p.Study, &paper.Env{}, &paper.Evidence[R]{}}
	for i, k := range p.cells {
		ev.Rows = append(ev.Rows, row(k, 2*i), row(k, 2*i+1))
	}
	return ev
}

// Table 4 is made again of its values: the verdicts of every method and layer, the attack, and a method
// that diverged, which has none of them.
func TestTable4IsMadeAgainOfItsValues(t *testing.T) {
	ev := unlearnings{quickEvidence(t, unlearnedCells(tenth), func(k cell, i int) Unlearned {
		u := Unlearned{Setting: k.Label, Fraction: k.fraction, Seed: k.seed, Variant: []string{RandomLabel, Retrain}[i%2]}
		if i == 0 {
			u.Diverged = "diverged in epoch 2: the loss is NaN"
			return u
		}
		u.ImageAccuracies, u.Moved = ImageAccuracies{0.9, 1 / float64(3+i), 0.5}, float64(i)/7
		u.ASR, u.HeldOut = stats.Wilson(0.25, 4*i, 0.95), stats.Wilson(0.5, 2*i, 0.95)
		u.Out, u.Known = map[string][]Sample{}, map[string][]Draw{}
		for n, name := range otrNames() {
			u.Out[name] = []Sample{{sde.Tally{In: i, Out: n, Ties: 1}, n == 1}, {sde.Tally{Out: 2}, false}}
		}
		p := 0.125
		for _, layer := range otrLayers() {
			u.Known[layer] = []Draw{{sde.Confusion{Inside: sde.Tally{In: 3, Out: i}, Outside: sde.Tally{Ties: 2}}, true, &p}}
		}
		return u
	})}
	runs := records(ev.Rows)
	for r, want := range map[*paper.Recipe]*report.Table{&table4: ev.unlearnedTable(table4), &table4b: ev.ratesTable(table4b)} {
		if got := remade(t, *r, runs); !reflect.DeepEqual(got.Rows, want.Rows) || !reflect.DeepEqual(got.Columns, want.Columns) {
			t.Errorf("%s: made again it has the rows %+v, not %+v", r.ID, got.Rows, want.Rows)
		}
	}
	whole := ev.unlearnedTable(table4)
	for i, row := range whole.Rows {
		diverged := row.Cells[1].Missing == "diverged in 1 of 3"
		if lost := row.Cells[0].Text == RandomLabel; diverged != lost {
			t.Errorf("row %d: %+v", i, row)
		}
	}
	ev.Rows[1].Out["sde/hp"][0].In++ // another verdict is another table
	if reflect.DeepEqual(remade(t, table4, records(ev.Rows)).Rows, whole.Rows) {
		t.Error("the table does not depend on the verdicts")
	}
}

// A judged model's values hold what its table shows: draws, the gate, and the training, of which rows other
// than SDE's may have none.
func TestTheLastBatchTableIsMadeAgainOfItsValues(t *testing.T) {
	ev := verdicts{quickEvidence(t, lastBatches, func(k cell, i int) Judged {
		p := 0.25
		j := Judged{Setting: k.Label, Fraction: k.fraction, Seed: k.seed, Percent: JudgedAt, Layer: "hp", Size: k.Sizes[0], Sigma: 8,
			Method: sde.SDE{}.Name(), Bandwidth: sde.SqrtDim().String(), Disjoint: 2 + i, Training: &Training{1 / float64(1+i), 9, ImageAccuracies{1, 0.5, 0.25}},
			Draws: []Draw{{sde.Confusion{Inside: sde.Tally{In: 4, Out: i}, Outside: sde.Tally{Out: 3, Ties: 1}}, i == 3, &p}, {Confusion: sde.Confusion{Inside: sde.Tally{Ties: 2}}}}}
		if i%2 == 1 {
			j.Method, j.Training = HeldOut, nil
		}
		return j
	})}
	want := ev.lastBatchComparison().Table
	got := remade(t, lastBatchTable, report.NewRecords(ev.Rows))
	if !reflect.DeepEqual(got.Rows, want.Rows) || !reflect.DeepEqual(got.Columns, want.Columns) || !reflect.DeepEqual(got.Notes, want.Notes) {
		t.Errorf("made again it is %+v, not %+v", got, want)
	}
	if last := want.Columns[len(want.Columns)-1]; last.Name != "last batch" || last.Unit != "images" {
		t.Errorf("the last column is %+v", last)
	}
	if text := want.Rows[0].Cells[len(want.Columns)-1].Text; !strings.HasPrefix(text, "9") {
		t.Errorf("the last batch has %q images, not 9", text)
	}
}

// The note on overlap is about the subsets that were drawn, and about every setting.
func TestTheNoteOnOverlapSpansSettings(t *testing.T) {
	row := func(setting string, size, disjoint int) Judged {
		return Judged{Setting: setting, Fraction: 0.1, Size: size, Method: sde.SDE{}.Name(), Disjoint: disjoint}
	}
	other := row("a", 20, 1)
	other.Method = HeldOut // has other subsets
	s := Study{Fractions: []float64{0.1}, Sizes: []int{10, 20, 40}, Subsets: 8}
	ev := verdicts{&evidence[Judged]{s, nil, &paper.Evidence[Judged]{Rows: []Judged{
		row("a", 10, 8), row("a", 20, 4), row("b", 10, 9), row("b", 20, 5), row("b", 20, 4), other, row("a", 40, 2), row("b", 40, 2)}}}}
	notes := ev.overlapNotes()
	if want := "in the drawn subsets could form so many disjoint ones: 4 to 5 (R = 10 %, |S| = 20), 2 (R = 10 %, |S| = 40); 8 are drawn"; len(notes) != 1 ||
		!strings.Contains(notes[0], want) {
		t.Errorf("%q, want %q", notes, want)
	}
}

// A column of Table 7 has one moment of the training, and a row one kind of images.
func TestTable7TellsImagesAndMomentsApart(t *testing.T) {
	value := func(kind, percent, seed int) float64 { return (float64(100*kind+percent) + float64(seed)) / 1000 }
	p, err := plannedAt("quick", allCells)
	if err != nil {
		t.Fatal(err)
	}
	var rows []Learned
	for _, k := range p.cells {
		for _, percent := range append([]int{100}, k.Checkpoints...) {
			rows = append(rows, Learned{k.Label, k.fraction, k.seed, percent,
				ImageAccuracies{value(1, percent, k.seed), value(2, percent, k.seed), value(3, percent, k.seed)}})
		}
	}
	table := remade(t, table7, report.NewRecords(rows))
	if err := table.Check(); err != nil {
		t.Fatal(err)
	}
	middle := float64(p.Seeds-1) / 2
	for i, kind := range imageKinds() {
		row := table.Rows[i]
		if row.Cells[0].Text != kind.name || row.Group != group(p.Settings[0], p.Fractions[0]) {
			t.Errorf("row %d: %+v", i, row)
		}
		for k, percent := range append(append([]int{}, p.Checkpoints...), 100) {
			want := (float64(100*(i+1)+percent) + middle) / 1000
			if cell := row.Cells[1+k]; cell.Value == nil || *cell.Value < want-1e-12 || *cell.Value > want+1e-12 || cell.Estimate.N != p.Seeds {
				t.Errorf("%s after %d %%: %+v, want %v", kind.name, percent, cell, want)
			}
		}
	}
}
