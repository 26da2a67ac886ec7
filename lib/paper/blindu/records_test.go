package blindu

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/report"
)

// rowsOf are made-up rows of two variants on three seeds, of a backdoor or not.
func rowsOf(label string, opened int) (out []Row) {
	for _, variant := range []string{Original, Retrained} {
		for seed := range 3 {
			out = append(out, Row{Case: label, Variant: variant, Control: true, Seed: seed, Erased: float64(seed) / 7, Opened: opened, Test: 0.5, Displacement: float64(len(variant) % 2)})
		}
	}
	return out
}

func csvOf(t *testing.T, r report.Records) string {
	t.Helper()
	var b bytes.Buffer
	if err := r.CSV(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// columnTexts are the texts of a column.
func columnTexts(t *testing.T, text, name string) (out []string) {
	t.Helper()
	at := -1
	for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
		cells := strings.Split(line, ",")
		for j, c := range cells {
			if i == 0 && c == name {
				at = j
			}
		}
		if at < 0 {
			t.Fatalf("no column %q in %s", name, line)
		}
		if i > 0 {
			out = append(out, cells[at])
		}
	}
	return out
}

// A rate of 0 is published as 0, so that a mean of the published values is the table's; what a
// case does not have is empty.
func TestAZeroIsGivenAndWhatWasNotMeasuredIsEmpty(t *testing.T) {
	text := csvOf(t, paper.RunRecords(rowsOf("a backdoor", 40), Row.record))
	if got := strings.Join(columnTexts(t, text, "triggered"), " "); got != "0 0 0 0 0 0" {
		t.Errorf("with a backdoor: %q", got)
	}
	if got := strings.Join(columnTexts(t, text, "displacement"), " "); got != "0 0 0   " {
		t.Errorf("displacement of the original and of models trained anew: %q", got)
	}
	if got := strings.Join(columnTexts(t, csvOf(t, paper.RunRecords(rowsOf("normal", 0), Row.record)), "triggered"), ""); got != "" {
		t.Errorf("without a backdoor: %q", got)
	}
	leaks := []Leak{{Upload: PlainCodes}, {Upload: OwnGradients}}
	for _, name := range []string{"coded", "found", "above", "read", "pair", "before"} {
		if got := strings.Join(columnTexts(t, csvOf(t, paper.RunRecords(leaks, Leak.record)), name), " "); got != "0 " {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// Rows of an earlier store have no zeros; they are still read.
func TestRowsOfAnEarlierStoreAreRead(t *testing.T) {
	var r Row
	if err := json.Unmarshal([]byte(`{"case":"c","arm":"original","erased":0.5,"n_triggered":40}`), &r); err != nil || r.Open != 0 || r.Opened != 40 {
		t.Errorf("%+v, %v", r, err)
	}
	b, err := json.Marshal(r)
	if err != nil || !strings.Contains(string(b), `"triggered":0,"n_triggered":40`) {
		t.Errorf("%s, %v", b, err)
	}
}

// Table III is made from its published values, without a store or an engine.
func TestATableIsMadeAgainOfItsRuns(t *testing.T) {
	s, err := StudyAt("quick")
	if err != nil {
		t.Fatal(err)
	}
	rows := append(rowsOf(s.Cases[0].Label, 40), rowsOf(s.Cases[1].Label, 0)...)
	rows = append(rows, Row{Case: s.Cases[0].Label, Variant: WithReplacement, Diverged: "epoch 2: the loss is NaN"})
	r := modelRecipe(table3, StudyAt, (*evidence).table3)
	want := (&evidence{s, &paper.Env{}, &paper.Evidence[Row]{Rows: rows, Data: map[string]string{}}}).table3()
	out, err := r.FromRuns(&paper.Env{}, "quick", strings.NewReader(csvOf(t, paper.RunRecords(rows, Row.record))))
	if err != nil {
		t.Fatal(err)
	}
	var a, b bytes.Buffer
	if err := want.Table.JSON(&a); err != nil {
		t.Fatal(err)
	}
	if err := out.Table.JSON(&b); err != nil {
		t.Fatal(err)
	}
	if a.String() != b.String() || len(out.Table.Rows) != 5 {
		t.Errorf("%d rows; another table:\n%s\n%s", len(out.Table.Rows), a.String(), b.String())
	}
}
