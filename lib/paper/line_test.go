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
