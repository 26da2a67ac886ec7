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
	l := NewLine("group", "arm", true, rows, func(r measured) string { return r.End })
	l.AddMean(3, func(r measured) float64 { return r.Value })
	l.AddCell(report.Str("12.3 in the paper"))
	row := l.Row()
	if row.Group != "group" || row.Cells[0].Text != "arm" || row.Cells[1].Missing != "diverged in 1 of 2" || row.Cells[2].Text != "12.3 in the paper" {
		t.Errorf("%+v", row)
	}
	all := NewLine("group", "arm", false, rows[1:], func(r measured) string { return r.End })
	all.AddMean(3, func(r measured) float64 { return r.Value })
	all.AddCell(report.Gap("not measured"))
	if row := all.Row(); row.Cells[1].Missing != "diverged" || row.Cells[2].Missing != "not measured" {
		t.Errorf("all diverged: %+v", row)
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
