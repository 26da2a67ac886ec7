package report_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/report"
)

// run is what a store might keep of one.
type run struct {
	Variant string             `json:"arm"`
	Seed    int                `json:"seed"`
	M2      float64            `json:"m2"`
	OTR     map[string]float64 `json:"otr,omitempty"`
	F1      []float64          `json:"f1,omitempty"`
	Gate    *float64           `json:"gate"`
}

func ExampleRecords_CSV() {
	rows := []run{
		{Variant: "Retrain, other seed", Seed: 1, M2: -0.25, OTR: map[string]float64{"sde/h": 0.5}},
		{Variant: "do nothing", Seed: 2, M2: 1e-7, F1: []float64{0.5, 1}},
	}
	report.NewRecords(rows).CSV(os.Stdout)
	// Output:
	// arm,seed,m2,otr.sde/h,gate,f1.0,f1.1
	// "Retrain, other seed",1,-0.25,0.5,,,
	// do nothing,2,1e-7,,,0.5,1
}

func TestRecordsAreReadBackAsTheyWere(t *testing.T) {
	rows := []run{{Variant: "a\n\"b\"", Seed: 7, M2: math.Pi}, {Variant: "c", M2: math.SmallestNonzeroFloat64}}
	var b bytes.Buffer
	if err := report.NewRecords(rows).JSON(&b); err != nil {
		t.Fatal(err)
	}
	var back []run
	if err := json.Unmarshal(b.Bytes(), &back); err != nil || len(back) != 2 || back[0].Variant != rows[0].Variant || back[1].M2 != rows[1].M2 {
		t.Errorf("%+v, %v", back, err)
	}
	if lines := strings.Count(b.String(), "\n"); lines != len(rows)+2 {
		t.Errorf("%d lines for %d records", lines, len(rows))
	}
	b.Reset()
	if err := report.NewRecords(rows).CSV(&b); err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(&b).ReadAll()
	if err != nil || lines[1][0] != rows[0].Variant || lines[1][2] != "3.141592653589793" || lines[2][2] != "5e-324" {
		t.Errorf("%q, %v", lines, err)
	}
}

func TestNoRecordsAreAnEmptyList(t *testing.T) {
	var b bytes.Buffer
	if err := report.NewRecords([]run(nil)).JSON(&b); err != nil || strings.TrimSpace(b.String()) != "[\n]" {
		t.Errorf("%q, %v", b.String(), err)
	}
}

func TestARecordThatHasNoNumberIsNamed(t *testing.T) {
	for name, write := range map[string]func(report.Records, *bytes.Buffer) error{
		"csv":  func(r report.Records, b *bytes.Buffer) error { return r.CSV(b) },
		"json": func(r report.Records, b *bytes.Buffer) error { return r.JSON(b) },
	} {
		err := write(report.NewRecords([]run{{}, {M2: math.NaN()}}), new(bytes.Buffer))
		if err == nil || !strings.Contains(err.Error(), "record 1") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
