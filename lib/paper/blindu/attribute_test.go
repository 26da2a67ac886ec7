package blindu

import (
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/datasets/datatest"
	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/paper"
)

// The record is attacked without the column in question, which would tell everything.
func TestTheSexIsInferredFromTheOtherColumns(t *testing.T) {
	x := array.Matrix[float32]{Rows: 2, Cols: 3, Data: []float32{1, 2, 3, 4, 5, 6}}
	if got := dropColumn(x, 1); got.Cols != 2 || !slices.Equal(got.Data, []float64{1, 3, 4, 6}) {
		t.Errorf("without the second column: %+v", got)
	}
	real := datatest.Dir(t) // before the environment hides it
	e := newEnv(t)
	s, err := attributeStudy("quick")
	if err != nil {
		t.Fatal(err)
	}
	drawn := s
	drawn.Cases = []Case{glyphs()}
	if _, err := paper.Collect(t.Context(), e, attributeMeasurements(e, drawn)); err == nil || !strings.Contains(err.Error(), `no column is called "sex"`) {
		t.Errorf("drawings have no sex: %v", err)
	}
	t.Setenv(datasets.EnvDir, real)
	s.Seeds, s.Cases[0].Data, s.Cases[0].Fit.Epochs, s.Cases[0].Known = 1, lab.Limit(s.Cases[0].Data, 1500, 0), 2, 140
	found, err := paper.Collect(t.Context(), e, attributeMeasurements(e, s))
	if err != nil {
		t.Fatal(err)
	}
	if len(found.Rows) != 3 {
		t.Fatalf("%d rows", len(found.Rows))
	}
	for _, r := range found.Rows {
		if r.Persons != 140 || r.Raw < 0.6 || r.Raw > 0.99 || r.Majority < 0.5 || r.Majority > 0.85 {
			t.Errorf("%+v", r)
		}
	}
	if err := attributeTable(e, s, found).Check(); err != nil {
		t.Error(err)
	}
}
