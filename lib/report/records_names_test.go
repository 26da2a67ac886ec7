// Names of columns of values.

package report_test

import (
	"io"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/report"
)

// Two values that would stand in one column, and one without a name, are refused.
func TestValuesOfOneNameAreRefused(t *testing.T) {
	type row struct {
		Deep map[string]map[string]float64 `json:"deep"`
	}
	for _, r := range []row{
		{map[string]map[string]float64{"a.b": {"c": 1}, "a": {"b.c": 2}}},
		{map[string]map[string]float64{"a": {"": 1}}},
	} {
		if err := (report.Records{r}).CSV(io.Discard); err == nil || !strings.Contains(err.Error(), "record 0: two values have the name") {
			t.Errorf("%v: %v", r, err)
		}
	}
	if err := (report.Records{row{map[string]map[string]float64{"a": {"b": 1, "c": 2}}}}).CSV(io.Discard); err != nil {
		t.Error(err)
	}
}

// Of several columns of one name each is named after the one that it belongs to.
func TestRecordsOfRepeatedColumnsAreTold(t *testing.T) {
	table := &report.Table{
		Columns: []report.Column{{Name: "model"}, {Name: "loss"}, {Name: "minus retrained"}, {Name: "lira"}, {Name: "minus retrained"}},
		Rows:    []report.Row{{Cells: []report.Cell{report.Str("m"), report.Num(1, 0), report.Num(2, 0), report.Num(3, 0), report.Num(4, 0)}}},
	}
	var b strings.Builder
	if err := table.Records().CSV(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"m,loss,", `m,"loss, minus retrained",`, "m,lira,", `m,"lira, minus retrained",`} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in\n%s", want, b.String())
		}
	}
}
