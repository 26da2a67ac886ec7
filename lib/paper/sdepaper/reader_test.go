package sdepaper

import (
	"fmt"
	"math"
	"testing"

	"github.com/lethe-ml/lethe/lib/verify/sde"
)

// sampleRows are the rows of two models: what each variant's sets were judged.
func sampleRows() Rows {
	row := func(seed int, variant string, out int, forget float64) Unlearned {
		return Unlearned{Seed: seed, Variant: variant, ImageAccuracies: ImageAccuracies{Forget: forget}, Out: map[string][]Sample{"sde/hp": {{Tally: sde.Tally{In: 10 - out, Ties: out}}}}}
	}
	return Rows{
		row(0, RandomLabel, 10, 0.5), row(0, SalUn, 10, 0.4), row(0, Unroll, 2, 1), row(0, Retrain, 6, 0.9),
		row(1, RandomLabel, 10, 0.7), row(1, SalUn, 10, 0.4), row(1, Unroll, 4, 1), row(1, Retrain, 8, 0.9),
	}
}

// Random labels have the highest rate of "out", though all of it is ties, and lie
// farther from the oracle than Unroll.
func ExampleRows() {
	rows := sampleRows()
	fmt.Println(rows.Values(RandomLabel, OTR("sde/hp")), rows.Values(Retrain, OTR("sde/hp")))
	fmt.Printf("%.1f\n", rows.OracleDistances(RandomLabel, AccForget))
	fmt.Println(rows.Ranks([]string{Unroll, RandomLabel, SalUn}, []string{Retrain}).Rows[1].Cells[2].Text)
	// Output:
	// [1 1] [0.6 0.8]
	// [0.4 0.2]
	// 1
}

func TestRanksShareAPlace(t *testing.T) {
	table := sampleRows().Ranks([]string{Unroll, RandomLabel, SalUn}, []string{Retrain})
	if err := table.Check(); err != nil {
		t.Fatal(err)
	}
	for i, want := range [][2]string{{"3", "3"}, {"1", "1"}, {"1", "1"}} {
		if row := table.Rows[i]; row.Cells[2].Text != want[0] || row.Cells[6].Text != want[1] {
			t.Errorf("%s: %s by rate, %s by distance; want %v", row.Cells[0].Text, row.Cells[2].Text, row.Cells[6].Text, want)
		}
	}
	if c := table.Rows[3].Cells[2]; c.Missing != "control" {
		t.Errorf("%+v", c)
	}
	lost := sampleRows() // a method that diverged in one model has no rank and takes none from the others
	lost[1] = Unlearned{Seed: 0, Variant: SalUn, Diverged: "diverged in epoch 2"}
	table = lost.Ranks([]string{SalUn, Unroll, RandomLabel}, []string{Retrain})
	if err := table.Check(); err != nil || table.Rows[0].Cells[2].Missing != "diverged in 1 of 2" || table.Rows[1].Cells[2].Text != "2" ||
		table.Rows[1].Cells[6].Text != "2" || table.Rows[2].Cells[6].Text != "1" {
		t.Errorf("%v: %+v", err, table.Rows)
	}
	if d := sampleRows().Differences(Unroll, AccForget, OTR("sde/hp")); math.Abs(d[0]-0.8) > 1e-12 || math.Abs(d[1]-0.6) > 1e-12 {
		t.Errorf("%v", d)
	}
}

func TestWhatANotebookReadsIsWhatTheProtocolSays(t *testing.T) {
	c := shortStudy(t)
	cases, err := c.AllSeeds(t.Context())
	if err != nil || len(cases) != 2 || cases[1].Seed != 1 {
		t.Fatal(len(cases), err)
	}
	n, err := c.LateModel()
	if err != nil {
		t.Fatal(err)
	}
	draws, err := c.JudgeDraws(n, sde.SDE{}, "hp", 20, 2)
	if err != nil || len(draws) != 2 || c.Draw != 0 {
		t.Fatal(draws, err)
	}
	first, err := c.Judge(n, sde.SDE{}, "hp", 20, c.Bandwidth("hp"))
	if err != nil || draws[0].Confusion != first.Confusion() || Accuracies(draws)[0] != first.Accuracy.Value {
		t.Errorf("%+v, want %+v (%v)", draws[0], first.Confusion(), err)
	}
	table, err := Verdicts(cases)
	if err != nil || table.Check() != nil || len(table.Rows) != 6 || math.Abs(*table.Rows[0].Cells[4].Value-first.F1.Value) > 1e-12 {
		t.Errorf("%v, %v", err, table)
	}
	f, err := Setup{Size: 20, Moment: JudgedAt, Sigma: 1}.Forest(cases)
	if err != nil || len(f.Rows) != 6 {
		t.Fatal(err)
	}
	if _, err := f.PNG(); err != nil {
		t.Error(err)
	}
	forgotten, test, err := Spreads(cases, func(c *Case) (*Network, error) { return c.Original(), nil })
	if err != nil || len(forgotten) != 2 || len(test) != 2 || !(forgotten[0] > 0.5 && forgotten[0] < 2) {
		t.Errorf("%v, %v, %v", forgotten, test, err)
	}
	a := CompareForest(sampleRows()[0], sampleRows()[3])
	if len(a.Rows) != 10 || a.Rows[0].Estimate.Value != 1 || a.Rows[2].Estimate.Value != 1 || a.Rows[5].Estimate.Value != 0.6 {
		t.Errorf("%+v", a.Rows)
	}
}
