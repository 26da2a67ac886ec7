package lenses

import (
	"math"
	"testing"

	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/plot"
)

// Two lenses agree in the cases where both say something: by hand.
func TestPairsAreComparedWhereBothSaySomething(t *testing.T) {
	none := math.NaN()
	pairs := []Pair{{A: 0, B: 1}, {A: 0, B: 2}, {A: 1, B: 2}}
	addCaseToPairs(pairs, "one", [][]float64{{1, 10, none}, {0.5, 7, none}, {0.2, 3, none}, {0, 1, none}})
	addCaseToPairs(pairs, "two", [][]float64{{1, 1, 4}, {0.5, 2, 3}, {0.2, 3, 2}, {0, 4, 1}})
	addCaseToPairs(pairs, "all the same", [][]float64{{1, 1, 2}, {1, 1, 2}, {1, 1, 2}, {1, 1, 2}})
	addCaseToPairs(pairs, "a model of which one says nothing", [][]float64{{1, 2, 1}, {0.5, none, 2}, {0.3, 1, 3}, {0.2, 0.5, 4}, {0, 0, none}})
	addCaseToPairs(pairs, "too few", [][]float64{{1, 1, 4}, {0.5, 2, 3}})
	for k, want := range [][]float64{{1, -1, 1}, {1, -1}, {-1}} {
		if len(pairs[k].Rho) != len(want) {
			t.Fatalf("pair %d: %v", k, pairs[k])
		}
		for i, rho := range want {
			if math.Abs(pairs[k].Rho[i]-rho) > 1e-12 {
				t.Errorf("pair %d: %v, want %v", k, pairs[k].Rho, want)
			}
		}
	}
	if e := pairs[1].Mean(); e.Value != 0 || e.Low != -1 || e.High != 1 {
		t.Errorf("the mean is %v", e)
	}
}

func TestAgreementShowsEveryPairOfLenses(t *testing.T) {
	e := environment(t)
	all, err := Cases("quick")
	if err != nil {
		t.Fatal(err)
	}
	few := all[0]
	few.Fit.Epochs = 60
	out, err := MeasureAgreement(t.Context(), e, []NamedCase{few}, "quick")
	if err != nil {
		t.Fatal(err)
	}
	n := len(audit.TableLenses())
	if err := out.Table.Check(); err != nil || len(out.Table.Rows) != n*(n-1)/2 {
		t.Errorf("%d rows, %v", len(out.Table.Rows), err)
	}
	panels := out.Figure.(plot.Panels).Figures
	h := panels[0].(plot.Heatmap)
	for i := range n {
		for j := range n {
			if h.Values[i][j] != h.Values[j][i] || h.Missing[i][j] != h.Missing[j][i] || i == j && h.Values[i][j] != 1 {
				t.Errorf("%s and %s: %v and %v", h.Rows[i], h.Columns[j], h.Values[i][j], h.Values[j][i])
			}
		}
	}
	if _, err := out.Figure.PNG(); err != nil {
		t.Error(err)
	}
	// A pair that one case speaks of is no evidence; two cases give a mean and an interval.
	lenses := audit.TableLenses()
	pairs := []Pair{{A: 0, B: 1, Rho: []float64{0.9}}, {A: 0, B: 2, Rho: []float64{0.2, 0.4}}, {A: 1, B: 2, Rho: []float64{0.7, 0.5, 0.9}}}
	two := pairFigure(lenses, pairs, "").Figures
	means, rows := two[0].(plot.Heatmap), two[1].(plot.Forest).Rows
	if means.Missing[1][0] == "" || math.Abs(means.Values[0][2]-0.3) > 1e-12 || len(rows) != 2 || math.Abs(rows[0].Estimate.Value-0.7) > 1e-12 {
		t.Errorf("%v, %v, %+v", means.Missing, means.Values, rows)
	}
}
