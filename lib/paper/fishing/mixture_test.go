package fishing

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/lethe-ml/lethe/lib/report"
)

// The closed form is what F(d, d) gives at (n + 1)/(n - 1), and by hand where d is 2: there
// the ratio of the squares is below r with the probability r/(1 + r). Values of SciPy 1.17.1:
// scipy.special.betainc(d/2, d/2, (n+1)/(2*n)).
func TestTheClosedFormOfAFit(t *testing.T) {
	for _, c := range []struct {
		n, d int
		want float64
	}{{1600, 5, 0.5005305163733562}, {30, 5, 0.5282784957186818}, {10, 5, 0.5844588605139718}, {30, 2000, 0.932011370480446}} {
		if got := expectedAUC(c.n, c.d); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%d members, %d dimensions: %v, want %v", c.n, c.d, got, c.want)
		}
		r := float64(c.n+1) / float64(c.n-1)
		if got := (distuv.F{D1: float64(c.d), D2: float64(c.d)}).CDF(r); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("F(%d, %d) at %v: %v, want %v", c.d, c.d, r, got, c.want)
		}
	}
	if got, want := expectedAUC(10, 2), 11.0/20; math.Abs(got-want) > 1e-12 {
		t.Errorf("in the plane %v, want %v", got, want)
	}
}

// Draws have the closed form's mean where the mean was fitted to the members, and one half
// where it was not: exchanged means are told apart.
func TestFitsHaveTheClosedFormsAUC(t *testing.T) {
	for _, c := range []struct{ n, d int }{{10, 5}, {30, 100}} {
		var met, unmet []float64
		for draw := range uint64(300) {
			a, b, err := fitAUC(c.n, c.d, rand.New(rand.NewPCG(draw, 3)))
			if err != nil {
				t.Fatal(err)
			}
			met, unmet = append(met, a), append(unmet, b)
		}
		for _, v := range []struct {
			x    []float64
			want float64
		}{{met, expectedAUC(c.n, c.d)}, {unmet, 0.5}} {
			sum, squares := 0.0, 0.0
			for _, a := range v.x {
				sum, squares = sum+a, squares+a*a
			}
			n := float64(len(v.x))
			mean := sum / n
			if se := math.Sqrt((squares/n - mean*mean) / n); math.Abs(mean-v.want) > 3.5*se {
				t.Errorf("%d members, %d dimensions: %v +- %v, want %v", c.n, c.d, mean, se, v.want)
			}
		}
	}
}

// The mixture is split like the program's: the roles are disjoint, and only the forgotten
// component's records are attacked.
func TestTheToyOfTheMixture(t *testing.T) {
	e := newEnv(t)
	toy, err := newMixtureStudy(e.Engine, 1)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(toy.forget) + len(toy.retain); n != 4800 || len(toy.forget) < 1450 || len(toy.forget) > 1750 || len(toy.unseen) < 330 || len(toy.unseen) > 470 {
		t.Errorf("%d forgotten of %d, %d unseen", len(toy.forget), n, len(toy.unseen))
	}
	for _, rows := range [][]int{toy.forget, toy.unseen} {
		var mean, square float64
		for _, i := range rows {
			mean += float64(toy.x.Row(i)[0]) / float64(len(rows))
			square += float64(toy.x.Row(i)[1]*toy.x.Row(i)[1]) / float64(len(rows))
		}
		if math.Abs(mean) > 0.15 || math.Abs(square-0.5) > 0.1 {
			t.Errorf("mean %v, variance %v", mean, square)
		}
	}
	if slices.ContainsFunc(toy.retain, func(i int) bool { return slices.Contains(toy.forget, i) }) {
		t.Error("a record is forgotten and retained")
	}
	toy.fit.Epochs = 2
	models, err := toy.models(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	hashes := map[string]bool{}
	for _, m := range models {
		hashes[m.weights.Hash()] = true
		byLoss, fair, err := toy.attackAUCs(t.Context(), e.Engine, m.weights, 1)
		if err != nil || math.Abs(byLoss-0.5) > 0.08 || math.Abs(fair-0.5) > 0.1 {
			t.Errorf("%s: AUC %v and %v, %v", m.label, byLoss, fair, err)
		}
		if m.control != (m.label != FisherSum && m.label != mixtureAscent) {
			t.Errorf("%s is a control: %t", m.label, m.control)
		}
	}
	if len(hashes) != 5 {
		t.Errorf("%d models of 5 differ", len(hashes))
	}
	// What was planted is found: members whose loss is low.
	for _, i := range toy.forget {
		clear(toy.x.Row(i))
	}
	if byLoss, fair, err := toy.attackAUCs(t.Context(), e.Engine, models[0].weights, 1); err != nil || fair < 0.9 || math.Abs(byLoss-0.5) < 0.1 {
		t.Errorf("planted members have an AUC of %v and %v, %v", byLoss, fair, err)
	}
}

// The table has every fit twice and every model once, with the program's values.
func TestTheTableOfTheMixture(t *testing.T) {
	if testing.Short() {
		t.Skip("trains fifteen autoencoders")
	}
	out, err := recipe(t, "mixture").Make(t.Context(), newEnv(t), "quick")
	if err != nil {
		t.Fatal(err)
	}
	rows := out.Table.Rows
	if err := out.Table.Check(); err != nil || len(rows) != 2*len(fittedGaussians)+5 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	for k, f := range fittedGaussians {
		if got := *rows[2*k].Cells[5].Value; got != expectedAUC(f.members, f.dimensions) || *rows[2*k+1].Cells[5].Value != 0.5 {
			t.Errorf("%+v has the closed form %v", f, got)
		}
		if got := *rows[2*k].Cells[3].Value; math.Abs(got-expectedAUC(f.members, f.dimensions)) > 0.04 {
			t.Errorf("%+v has an AUC of %v", f, got)
		}
	}
	for k, r := range rows[2*len(fittedGaussians):] {
		if (r.Kind == report.Control) != (k < 3) || math.Abs(*r.Cells[4].Value-0.5) > 0.06 {
			t.Errorf("%+v", r)
		}
	}
	if _, err := recipe(t, "mixture").Make(t.Context(), newEnv(t), "huge"); err == nil {
		t.Error("an unknown scale is taken")
	}
}
