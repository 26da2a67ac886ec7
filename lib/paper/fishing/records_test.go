package fishing

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/attack"
	"github.com/lethe-ml/lethe/lib/attack/learned"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/report"
)

// readBack are rows as CSV has them for others, read back.
func readBack[R any](t *testing.T, records report.Records) []R {
	t.Helper()
	var b bytes.Buffer
	if err := records.CSV(&b); err != nil {
		t.Fatal(err)
	}
	out, err := report.ReadRecords[R](&b)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Rows are read back from what others get, protocols whose names hold dots and types
// among their keys, and a zero is none that is missing.
func TestRowsAreReadBackFromWhatIsGiven(t *testing.T) {
	scores := attack.ScoreReport{AUC: attack.Interval{Value: 0.5, High: 1}, TPRAtFPR: map[string]float64{"0.001": 0, "0.1": 0.25}, NMembers: 31}
	rows := []Row{
		{Case: "cells, rare", Variant: Original, Forget: 31, Attacks: map[string]ProtocolResult{learned.PB().Name: {All: scores, HeldOut: &scores}, "P 0.5, of 1": {All: scores}},
			Suite: map[string]*attack.ScoreReport{"kl": &scores}, Displacement: 0, Markers: []Marker{{Gene: "G1"}, {Gene: "G2"}}},
		{Case: "cells, rare", Variant: Retrained, Seed: 1, UnseenRecon: 364.25, Attacks: map[string]ProtocolResult{learned.PB().Name: {All: scores}}, Suite: map[string]*attack.ScoreReport{"kl": &scores}},
		{Case: "cells, rare", Variant: Ascended, Seed: 1, Diverged: "epoch 3: NaN"},
	}
	if back := readBack[Row](t, paper.RunRecords(rows, Row.record)); !reflect.DeepEqual(back, rows) {
		t.Errorf("got %+v\nwant %+v", back, rows)
	}
	var b bytes.Buffer
	if err := paper.RunRecords(rows, Row.record).JSON(&b); err != nil || !strings.Contains(b.String(), `"displacement":0`) || !strings.Contains(b.String(), `"displacement":null`) {
		t.Errorf("displacement of the original and of a retrained model: %s, %v", b.String(), err)
	}
}

// Of types that are not forgotten ranks were not measured, and of autoencoders no accuracy;
// of a forgotten one 0 is a value.
func TestOverlapsGiveZerosAndNoMore(t *testing.T) {
	rows := []Overlap{
		{Model: ModelVAE, Type: "a", Forgot: true, Layers: []LayerOverlap{{Layer: "output", Random: []float64{0, 0.5}, Pairs: []float64{0}}}, Points: &Points{Forget: []float64{1}, Others: []float64{2}}},
		{Model: ModelDeep, Type: "a", Forgot: true, Layers: []LayerOverlap{{Layer: "output", Random: []float64{0, 0.5}}}},
		{Model: ModelDeep, Type: "b", Layers: []LayerOverlap{{Layer: "output", Random: []float64{0}}}},
	}
	given := func(points bool) report.Records {
		return paper.RunRecords(rows, func(o Overlap) any { return o.record(points) })
	}
	var b bytes.Buffer
	if err := given(false).JSON(&b); err != nil {
		t.Fatal(err)
	}
	var out []map[string]any
	if err := json.Unmarshal(b.Bytes(), &out); err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct{ accuracy, rank any }{{nil, 0.0}, {0.0, 0.0}, {nil, nil}} {
		layer := out[i]["layers"].([]any)[0].(map[string]any)
		if out[i]["accuracy"] != want.accuracy || layer["rank"] != want.rank || out[i]["points"] != nil {
			t.Errorf("row %d: accuracy %v, rank %v, points %v", i, out[i]["accuracy"], layer["rank"], out[i]["points"])
		}
	}
	if back := readBack[Overlap](t, given(true)); !reflect.DeepEqual(back, rows) {
		t.Errorf("got %+v\nwant %+v", back, rows)
	}
}
