package fishing

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/model/vae"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// Every setting of the grids has a row, and among them are those of Table 2: the same work
// under another name.
func TestTheGridsHaveTableTwosAmongThem(t *testing.T) {
	s, err := byGrid("standard")
	if err != nil {
		t.Fatal(err)
	}
	standard, _ := StudyAt("standard")
	of := func(variants []lab.Variant, label string) unlearn.Method {
		return defaults.Fill(variants[slices.IndexFunc(variants, func(a lab.Variant) bool { return a.Label == label })].Method)
	}
	variants, table2 := s.Cases[0].variants(), standard.Cases[0].variants()
	labels := map[string]bool{}
	for _, a := range variants {
		labels[a.Label] = true
	}
	if len(variants) != 18 || len(labels) != 18 { // 5 controls, 6 of the ascent, 2 beside it, 5 of the scrubbing
		t.Errorf("%d variants with %d labels: %v", len(variants), len(labels), labels)
	}
	for label, other := range map[string]string{Ascended + ", 10 steps at 1e-05": Ascended, Fisher + ", damping 0.1, 100 steps": Fisher} {
		if a, b := of(variants, label), of(table2, other); !reflect.DeepEqual(a, b) || printedGrid(label) == "" {
			t.Errorf("%s is %+v, in Table 2 %+v", label, a, b)
		}
	}
	if m := of(variants, Ascended+", 50 steps at 0.0001").(unlearn.AscentTuning); m.Steps != 50 || m.LR != 1e-4 || m.Tune.Epochs != 30 {
		t.Errorf("%+v", m)
	}
	if m := of(variants, Fisher+", damping 0.01, 100 steps").(unlearn.FisherScrub); m.Damping != 0.01 || m.Steps != 100 {
		t.Errorf("%+v", m)
	}
	if _, err := byGrid("huge"); err == nil {
		t.Error("an unknown scale is taken")
	}
}

// The ascent moves the weights by no more than its steps' lengths together.
func TestTheTableOfTheGrids(t *testing.T) {
	s := shortenStudy(t, byGrid, Original, Retrained, OtherSeed)
	c := &s.Cases[0]
	c.Also = slices.DeleteFunc(c.Also, func(a lab.Variant) bool { return !strings.HasPrefix(a.Label, "ascent") })
	ev, err := collect(t.Context(), newEnv(t), s)
	if err != nil {
		t.Fatal(err)
	}
	if note := ev.rowsOf(c.Label, "ascent alone, 100 steps at 0.0001")[0].Note; !strings.HasPrefix(note, "the ascent moved the weights by 0.0") {
		t.Errorf("%q", note)
	}
	out := ev.grids().Table
	if err := out.Check(); err != nil || len(out.Rows) != 5 || out.Rows[0].Cells[7].Text != "0.783 (P-A 0.769)" {
		t.Errorf("%+v, %v", out.Rows, err)
	}
	for i, row := range out.Rows {
		if (row.Kind == report.Control) != (i < 3) {
			t.Errorf("%s is of kind %s", row.Cells[0].Text, row.Kind)
		}
	}
}

// Scattered sets have the paper's sizes and lie within each other; every size has its own
// retrained model and the same original.
func TestScatteredSetsOfSeveralSizes(t *testing.T) {
	s := shortenStudy(t, byScattered, Original, Retrained, OtherSeed, Fisher)
	if len(s.Cases) != len(spreads) {
		t.Fatalf("%d cases", len(s.Cases))
	}
	e := newEnv(t)
	var before []int
	for i := range s.Cases {
		c, err := e.Lab().Case(t.Context(), s.Cases[i].setting(0))
		if err != nil {
			t.Fatal(err)
		}
		if len(c.Forget) != spreads[i] || slices.ContainsFunc(before, func(r int) bool { return !slices.Contains(c.Forget, r) }) {
			t.Errorf("%d cells, not around the %d before", len(c.Forget), len(before))
		}
		before = c.Forget
	}
	s.Cases = []Case{s.Cases[0], s.Cases[2]}
	ev, err := collect(t.Context(), e, s)
	if err != nil {
		t.Fatal(err)
	}
	row := func(k int, variant string) Row { return ev.rowsOf(s.Cases[k].Label, variant)[0] }
	if row(0, Original).UnseenRecon != row(1, Original).UnseenRecon || row(0, Retrained).UnseenRecon == row(1, Retrained).UnseenRecon {
		t.Error("two originals, or one retrained model")
	}
	out := ev.scatteredSizes().Table
	if err := out.Check(); err != nil || len(out.Rows) != 8 || out.Rows[3].Cells[7].Text != "0.588 +- 0.018*" || out.Rows[7].Cells[7].Text != "0.574 +- 0.003*" {
		t.Errorf("%+v, %v", out.Rows, err)
	}
	if s, err := byScattered("standard"); err != nil || s.Seeds != 3 || s.Cases[4].scatteredCells() != 500 {
		t.Errorf("%d seeds, %v", s.Seeds, err)
	}
	if _, err := byScattered("huge"); err == nil {
		t.Error("an unknown scale is taken")
	}
}

// The sweep is over the paper's weights, on mouse cells wherever their files may be.
func TestTheSweepOnMouseCells(t *testing.T) {
	for scale, set := range map[string]string{"quick": "simulated_cells", "hour": "tabula_muris_sample", "standard": "tabula_muris_sample", "atlas": "simulated_cells", "paper": "tabula_muris"} {
		s, err := byLambda(scale)
		if err != nil || len(s.Cases) != 1 || s.Cases[0].DataSet() != set {
			t.Fatalf("%s: %+v, %v", scale, s.Cases, err)
		}
		variants := s.Cases[0].variants()
		for k, v := range lambdas {
			if m := variants[3+k].Method.(unlearn.ExtraGradient); m.Lambda != v || variants[3+k].Label != lambdaName(v) {
				t.Errorf("%s: variant %s has lambda %v", scale, variants[3+k].Label, m.Lambda)
			}
		}
		if len(variants) != 8 {
			t.Errorf("%s: %d variants", scale, len(variants))
		}
	}
	if _, err := byLambda("huge"); err == nil {
		t.Error("an unknown scale is taken")
	}
	s := shortenStudy(t, byLambda, Original, Retrained, OtherSeed)
	s.Cases[0].Also = []lab.Variant{{Label: lambdaName(5), Method: unlearn.ExtraGradient{Lambda: 5, Epochs: 2}}}
	ev, err := collect(t.Context(), newEnv(t), s)
	if err != nil {
		t.Fatal(err)
	}
	out := ev.mouseSweep().Table
	if err := out.Check(); err != nil || len(out.Rows) != 4 || out.Rows[3].Cells[7].Text != "about 0.87" {
		t.Errorf("%+v, %v", out.Rows, err)
	}
}

// The conditional network is trained on genes with types behind them, as by hand; the encoder does not see the types, the decoder does.
func TestTheConditionalAutoencoderIsAttackedLikeThePlainOne(t *testing.T) {
	s := shortenStudy(t, byConditional, Original, Retrained, OtherSeed, Fisher)
	s.Cases[1] = s.Cases[1].conditional() // shortened gave it the plain network and cells
	label := s.Cases[1].Label
	e := newEnv(t)
	plain, err := e.Lab().Case(t.Context(), s.Cases[0].setting(0))
	if err != nil {
		t.Fatal(err)
	}
	c, err := e.Lab().Case(t.Context(), s.Cases[1].setting(0))
	if err != nil {
		t.Fatal(err)
	}
	genes, types := plain.Problem.Train.X.Cols, c.Classes()
	if c.Problem.Train.X.Cols != genes+types || len(c.About.Features) != genes+types || c.Hash == plain.Hash || !slices.Equal(c.Forget, plain.Forget) {
		t.Fatalf("%d columns of %d genes and %d types", c.Problem.Train.X.Cols, genes, types)
	}
	w, _, err := c.Weights(t.Context(), unlearn.NoOp{})
	if err != nil {
		t.Fatal(err)
	}
	// A brute-force twin: the same cells joined by hand to the same network.
	fit := c.Fit // its seed is 0
	arch := vae.Cells{Genes: genes, Hidden: []int{16}, Latent: 4, Clusters: types}
	byHand, err := e.Lab().Join(c.Prepared, arch)
	if err != nil {
		t.Fatal(err)
	}
	o, err := lab.Goal(lab.Reconstruction{}).Objective(byHand, allRows(c.Problem.Train))
	if err != nil {
		t.Fatal(err)
	}
	again, _, err := train.Fit(t.Context(), byHand.Runner, byHand.InitialWeights(0), o, fit, train.Hooks{})
	if err != nil || again.Hash() != w.Hash() {
		t.Errorf("by hand it is another network (%v)", err)
	}
	x := c.Test.X.Gather([]int{0, 1})
	first, err := c.Runner.Predict(w, x)
	if err != nil {
		t.Fatal(err)
	}
	row := x.Row(0)
	clear(row[genes:])
	row[genes+(c.Test.Y[0]+1)%types] = 1
	second, err := c.Runner.Predict(w, x)
	if err != nil {
		t.Fatal(err)
	}
	for name, same := range map[string]bool{loss.LatentMean: true, loss.Proportion: false} {
		if got := slices.Equal(first.Outputs[name].Row(0), second.Outputs[name].Row(0)); got != same {
			t.Errorf("%s is the same with another type: %t", name, got)
		}
	}
	ev, err := collect(t.Context(), e, s)
	if err != nil {
		t.Fatal(err)
	}
	r := ev.rowsOf(label, Fisher)[0]
	if !(r.ForgetRecon > 0) || r.Drawn.Attack.All.NMembers != r.Forget || len(r.Attacks) != 3 {
		t.Errorf("%+v", r)
	}
	out := ev.conditional().Table
	if err := out.Check(); err != nil || len(out.Rows) != 9 || out.Rows[4].Cells[7].Text != "0.864*  0.73" || out.Rows[0].Cells[7].Text != "0.769  0.54 (P-A)" {
		t.Errorf("%+v, %v", out.Rows, err)
	}
	if m := defaults.Fill(s.Cases[1].Also[0].Method).(unlearn.FisherScrub); m.Damping != 1e-8 || m.Steps != 100 {
		t.Errorf("%+v", m)
	}
	if _, err := byConditional("huge"); err == nil {
		t.Error("an unknown scale is taken")
	}
}
