package report_test

import (
	"bytes"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/report"
)

type read struct {
	Case string `json:"case"`
	Base
	N        int                 `json:"n"`
	Small    uint8               `json:"small"`
	Yes      bool                `json:"yes"`
	V        float64             `json:"tpr_at_0.01"`
	P        *float64            `json:"p"`
	Rates    map[string]float64  `json:"rates"`
	By       map[string][]inner0 `json:"by"`
	Lists    [][]float64         `json:"lists"`
	Pair     [2]float64          `json:"pair"`
	Report   *Base               `json:"report,omitempty"`
	Shadowed float64             `json:"shadowed"`
}

// Base is inside others.
type Base struct {
	Seed     int     `json:"seed"`
	Shadowed float64 `json:"shadowed"`
}

// Rows that were written are read back as they were: keys with dots, nil and 0 apart,
// every digit.
func TestRowsAreReadBackFromCSV(t *testing.T) {
	zero, tiny := 0.0, math.SmallestNonzeroFloat64
	rows := []read{
		{Case: "a, \"b\"\nc", Base: Base{Seed: 3}, N: -4, Small: 255, Yes: true, V: 1. / 3, P: &zero, Rates: map[string]float64{"0.01": 0.1, "0.001": tiny},
			By:    map[string][]inner0{"x 1.05/hp": {{1}, {2}}},
			Lists: [][]float64{{1, 2}, {3}}, Pair: [2]float64{0, 5}, Report: &Base{Shadowed: 2}, Shadowed: 9},
		{Case: "d", Rates: map[string]float64{"0.1": 1e300}, Lists: [][]float64{{7, 8, 9}}, Pair: [2]float64{1, 2}},
	}
	var b bytes.Buffer
	if err := report.NewRecords(rows).CSVWithHash(&b, "abc"); err != nil {
		t.Fatal(err)
	}
	back, err := report.ReadRecords[read](bytes.NewReader(b.Bytes()))
	if err != nil || !reflect.DeepEqual(back, rows) {
		t.Errorf("%v\n got %+v\nwant %+v", err, back, rows)
	}
	if hash, err := report.ReadRunsHash(bytes.NewReader(b.Bytes())); err != nil || hash != "abc" {
		t.Errorf("hash %q, %v", hash, err)
	}
	var again bytes.Buffer
	if err := report.NewRecords(back).CSVWithHash(&again, "abc"); err != nil || again.String() != b.String() {
		t.Errorf("written again it is other text, %v", err)
	}
}

func TestRecordsThatAreNoneOfATypeAreRefused(t *testing.T) {
	for text, word := range map[string]string{
		"":                             "no header",
		"case,other\na,1\n":            `"other"`,
		"case\na,b\n":                  "wrong number of fields",
		"n\n1.5\n":                     `line 2, column "n"`,
		"small\n256\n":                 "256",
		"yes\nmaybe\n":                 "maybe",
		"tpr_at_0.01\n1\n\nx\n":        `line 4`,
		"pair.2\n1\n":                  "pair.2",
		"lists.99999999999.0\n1\n":     "lists.99999999999.0",
		"lists.01.0\n1\n":              "lists.01.0",
		"lists.-1.0\n1\n":              "lists.-1.0",
		"case.x\n1\n":                  "case.x",
		"report\n1\n":                  `"report"`,
		"rates.\n1\n":                  `"rates."`,
		"seed,runs_hash\n1,a\n\"2,b\n": "quote",
	} {
		if _, err := report.ReadRecords[read](strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%q: error %v, want %q", text, err, word)
		}
	}
	if _, err := report.ReadRunsHash(strings.NewReader("a,runs_hash\n1,x\n2,y\n")); err == nil || !strings.Contains(err.Error(), "line 3") {
		t.Errorf("two hashes: %v", err)
	}
	if hash, err := report.ReadRunsHash(strings.NewReader("a\n1\n")); err != nil || hash != "" {
		t.Errorf("no column: %q, %v", hash, err)
	}
}
