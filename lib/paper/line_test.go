package paper

import (
	"encoding/json"
	"testing"

	"github.com/lethe-ml/lethe/lib/report"
)

type measured struct {
	Seed  int     `json:"seed"`
	Value float64 `json:"value"`
	End   string  `json:"diverged,omitempty"`
}

// A mean outside its bounds is a gap that says so, not an interval without its value.
func TestAMeanOutsideItsBoundsIsAGap(t *testing.T) {
	l := Line[measured]{Models: []measured{{Value: 63}, {Value: 70}}} // without Diverged none did
	value := func(r measured) float64 { return r.Value }
	row := l.Row([]Column[measured]{ShareColumn("percent", "", value), BoundedColumn("right", "", 0, 100, value), BoundedColumn("exchanged", "", 100, 0, value)})
	if row.Cells[1].Missing != "66.5 is not between 0 and 1" || row.Cells[2].Missing != "" || row.Cells[3].Missing != "66.5 is not between 100 and 0" {
		t.Errorf("%+v", row.Cells)
	}
}

func TestAModelThatDivergedHasNoNumbersAndKeepsThePapersWords(t *testing.T) {
	rows := []measured{{Seed: 0, Value: 0.25}, {Seed: 1, End: "NaN in epoch 2"}}
	l := Line[measured]{"group", "arm", true, rows, func(r measured) string { return r.End }}
	columns := []Column[measured]{
		MeanColumn("value", "its note", 3, func(r measured) float64 { return r.Value }),
		TextColumn("paper", "", "", func(l Line[measured]) string { return l.Label + " 12.3 in the paper" }),
		TextColumn("more", "", "not measured", func(l Line[measured]) string { return "" }),
	}
	row := l.Row(columns)
	if row.Group != "group" || row.Kind != report.Control || row.Cells[0].Text != "arm" || row.Cells[1].Missing != "diverged in 1 of 2" ||
		row.Cells[2].Text != "arm 12.3 in the paper" || row.Cells[3].Missing != "not measured" {
		t.Errorf("%+v", row)
	}
	columns[0].Unit = "nats"
	if h := Headings("model", columns); len(h) != 4 || h[0].Name != "model" || h[1] != (report.Column{Name: "value", Note: "its note", Unit: "nats"}) {
		t.Errorf("%+v", h)
	}
	l.Models = rows[1:]
	if row := l.Row(columns); row.Cells[1].Missing != "diverged" || row.Cells[3].Missing != "not measured" {
		t.Errorf("all diverged: %+v", row)
	}
	l.Models = rows[:1]
	if row := l.Row(columns); row.Cells[1].Text != "0.250 [no interval]" {
		t.Errorf("none diverged: %+v", row)
	}
	runs, err := json.Marshal(RunRecords(rows, func(r measured) any {
		if r.End == "" {
			return nil
		}
		return Diverged{"MNIST", "VBU", false, r.Seed, r.End}
	}))
	want := `[{"seed":0,"value":0.25},{"case":"MNIST","arm":"VBU","control":false,"seed":1,"diverged":"NaN in epoch 2"}]`
	if err != nil || string(runs) != want {
		t.Errorf("%s, %v", runs, err)
	}
}
