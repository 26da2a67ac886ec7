package fishing

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/model/tabular"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/verify/fisher"
)

// shallow is the brief study with a small classifier, and its evidence with one seed.
func shallow() Study {
	s := briefStudy()
	c := &s.Cases[0]
	c.Deep = tabular.Blocks{Hidden: []int{8}}
	c.DeepEpochs, s.Seeds = 2, 1
	return s
}

// From cells to the three tables and figures, and again from the store.
func TestOverlapsMakeTheirTables(t *testing.T) {
	e := newEnv(t)
	o, err := collectOverlaps(t.Context(), e, shallow())
	if err != nil {
		t.Fatal(err)
	}
	label := o.Cases[0].Label
	want := []string{ModelVAE, ModelRetrained, ModelConditional, ModelNarrow, ModelNarrowAgain, ModelDeep, ModelDeepAgain, ModelLinear}
	if got := o.models(label); !slices.Equal(got, want) {
		t.Fatalf("models %q", got)
	}
	for _, f := range o.Rows {
		if f.Control != strings.HasSuffix(f.Model, "retrained") || f.Cells+f.Others != 1700 || f.Forgot != (f.Type == "rare0") {
			t.Errorf("%+v", f)
		}
		draws := 1
		if f.Forgot {
			draws = overlapDraws
		}
		for _, l := range f.Layers {
			all := append(append([]float64{l.Cosine}, l.Random...), l.Pairs...)
			if len(l.Random) != draws || len(l.Pairs) != draws || slices.Min(all) < 0 || slices.Max(all) > 1 {
				t.Errorf("%s, %s, %s: %v", f.Model, f.Type, l.Layer, all)
			}
			if f.Forgot && (len(l.CodedRandom) != codedDraws || l.Weights == 0 || !(l.Rank > 0 && l.Rank <= 1 && l.CodedRank > 0)) {
				t.Errorf("%s, %s: %+v", f.Model, l.Layer, l)
			}
			if f.Forgot && (len(l.TopRandom) != draws || len(l.CodedTopRandom) != codedDraws || !(l.TopRandom[0].Ten > 0) || l.TopRandom[0].Ten > 1) {
				t.Errorf("%s, %s: the largest entries in common are %+v", f.Model, l.Layer, l)
			}
			if !f.Forgot && (l.TopRandom != nil || l.CodedTopRandom != nil) {
				t.Errorf("%s, %s: %+v of a type that is not forgotten", f.Model, l.Layer, l)
			}
			if l.Layer == LayerClusters && l.Cosine > 1e-6 {
				t.Errorf("%s: cluster columns of different types have the cosine %v", f.Model, l.Cosine)
			}
		}
		if (f.Proposition != nil) != (f.Forgot && f.Model == ModelVAE) || (f.Points != nil) != f.Forgot {
			t.Errorf("%s, %s: a proposition or points in the wrong place", f.Model, f.Type)
		}
	}
	table := o.table7().Table
	if err := table.Check(); err != nil {
		t.Error(err)
	}
	if last := table.Rows[len(table.Rows)-1].Cells; last[0].Text != ModelLinear || last[1].Text != LayerOutput || last[11].Text != "0.018  0.037" {
		t.Errorf("the last row is %+v", last)
	}
	for _, r := range table.Rows {
		if (r.Kind == report.Control) != strings.HasSuffix(r.Cells[0].Text, "retrained") {
			t.Errorf("%s is of kind %q", r.Cells[0].Text, r.Kind)
		}
	}
	top := o.largest().Table
	if err := top.Check(); err != nil || len(top.Rows) != len(table.Rows) {
		t.Errorf("%d rows, %v", len(top.Rows), err)
	}
	if row := top.Rows[len(o.Rows[0].Layers)-1]; row.Cells[10].Text != "0.205  0.496" || *row.Cells[2].Value != o.Rows[0].layerNamed(fisher.Global).Top1 ||
		*row.Cells[8].Value != o.Rows[0].layerNamed(fisher.Global).CodedTop.Ten {
		t.Errorf("the row of the whole autoencoder is %+v", row)
	}
	if out := o.proposition1(); out.Table.Check() != nil || len(out.Table.Rows) != len(propositionRows) {
		t.Errorf("%v", out.Table.Check())
	}
	if text := o.figure3().Figure.Text(); !strings.Contains(text, ModelDeep) {
		t.Errorf("the figure lacks the classifier: %s", text)
	}
	again, err := collectOverlaps(t.Context(), e, shallow())
	if err != nil || !slices.Equal(again.Runs, o.Runs) {
		t.Errorf("again: %v, %v", again.Runs, err)
	}
}

// Every printed value is that of a row.
func TestPrintedOverlapsHaveTheirRows(t *testing.T) {
	n := 0
	for _, m := range []string{ModelVAE, ModelRetrained, ModelConditional, ModelNarrow, ModelNarrowAgain, ModelDeep, ModelDeepAgain, ModelLinear} {
		for _, l := range []string{LayerEncoder, LayerBottleneck, LayerDecoder, LayerOutput, LayerClusters, LayerHidden, fisher.Global} {
			if printed7(m, l) != "" {
				n++
			}
		}
	}
	if n != 18 {
		t.Errorf("%d of 18 printed values", n)
	}
}

// plantedType is a linear classifier of records in which class 0 has a feature of its own.
func plantedType(t *testing.T) (comparedModel, []cellType) {
	t.Helper()
	e := newEnv(t)
	const n = 120
	rng := engine.Root(1).Stream(engine.StreamBench)
	data := &datasets.Prepared{About: datasets.About{Name: "planted", Classes: []string{"rare", "a", "b"}}, Hash: "planted"}
	data.Train = datasets.Part{X: array.New[float32](n, 4), Y: make([]int, n), IDs: make([]int, n)}
	for i := range n {
		data.Train.Y[i] = min(i/10, 1+i%2)
		x := data.Train.X.Row(i)
		for j := range 3 {
			x[j] = float32(rng.NormFloat64())
		}
		if data.Train.Y[i] == 0 {
			clear(x)
			x[3] = 2
		}
	}
	p, err := e.Lab().Join(data, tabular.Blocks{Features: 4, Outputs: 3, Linear: true})
	if err != nil {
		t.Fatal(err)
	}
	s := comparedModel{name: "planted", Problem: p, goal: lab.Labels{}, weights: p.InitialWeights(1), layer: classifierLayer}
	return s, forgettableTypes(&lab.Case{Problem: p, Setting: lab.Setting{Forget: lab.Class("rare")}})
}

// A type with weights of its own has a low cosine, random cells have a high one, and
// everything is what each set's own pass gives.
func TestOverlapsAreThoseOfTheSetsThemselves(t *testing.T) {
	s, kinds := plantedType(t)
	if len(kinds) != 1 || len(kinds[0].cells) != 10 || len(kinds[0].other) != 110 || len(kinds[0].randomPairs) != overlapDraws {
		t.Fatalf("%+v", kinds)
	}
	found, err := s.overlaps(t.Context(), kinds, 1)
	if err != nil {
		t.Fatal(err)
	}
	of := func(e fisher.Estimator, rows []int) fisher.Diagonal {
		o, err := s.objective(rows)
		if err != nil {
			t.Fatal(err)
		}
		d, err := e.Estimate(t.Context(), s.Runner, s.weights, o)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	by := fisher.Estimator(fisher.Exact{})
	same := func(what string, got float64, a, b []int) {
		t.Helper()
		want, err := fisher.Cosine(of(by, a), of(by, b))
		if err != nil || math.Abs(got-want) > 1e-5 {
			t.Errorf("%s: %v, want %v (%v)", what, got, want, err)
		}
	}
	k, l := kinds[0], found[0].Layers[0]
	same("the type", l.Cosine, k.cells, k.other)
	same("random cells", l.Random[2], k.randomPairs[2][0], rowsWithout(k.other, k.randomPairs[2][0]))
	same("two sets", l.Pairs[1], k.randomPairs[1][0], k.randomPairs[1][1])
	by = fisher.Coded{Seed: 1}
	same("the type, as coded", l.Coded, k.cells, k.other)
	same("random cells, as coded", l.CodedRandom[1], k.randomPairs[1][0], rowsWithout(k.other, k.randomPairs[1][0]))
	top := func(what string, got fisher.TopShares, dead bool, a, b []int) {
		t.Helper()
		want, err := fisher.TopSharesByCategory(of(by, a), of(by, b), s.layer, dead)
		if err != nil || got != want[LayerOutput] {
			t.Errorf("%s: %v, want %v (%v)", what, got, want, err)
		}
	}
	top("largest as coded", l.CodedTop, true, k.cells, k.other)
	top("largest of random cells, as coded", l.CodedTopRandom[1], true, k.randomPairs[1][0], rowsWithout(k.other, k.randomPairs[1][0]))
	by = fisher.Exact{}
	top("largest", fisher.TopShares{One: l.Top1, Ten: l.Top10}, false, k.cells, k.other)
	top("largest of random cells", l.TopRandom[2], false, k.randomPairs[2][0], rowsWithout(k.other, k.randomPairs[2][0]))
	if l.Cosine > 0.5 || meanOf(l.Random) < 0.7 || meanOf(l.Pairs) > meanOf(l.Random) {
		t.Errorf("%+v", l)
	}
	for _, p := range k.randomPairs {
		both := slices.Concat(p[0], p[1])
		slices.Sort(both)
		if len(slices.Compact(both)) != 20 || slices.ContainsFunc(both, func(r int) bool { return slices.Contains(k.cells, r) }) {
			t.Errorf("the sets %v", p)
		}
	}
}

// Points are at equal distances among living weights, the forgotten cells' first.
func TestPointsOfTheFigure(t *testing.T) {
	v := make([]float64, 4*pointsShown)
	for i := range v {
		v[i] = float64(1 + i)
	}
	a, b := fisher.Tensor{Name: "w", Shape: []int{len(v)}, Values: v}, fisher.Tensor{Name: "w", Shape: []int{len(v)}, Values: slices.Repeat([]float64{0.5}, len(v))}
	b.Values[0] = 0
	p := newPoints(fisher.Diagonal{Tensors: []fisher.Tensor{a}}, fisher.Diagonal{Tensors: []fisher.Tensor{b}})
	if len(p.Forget) != pointsShown || p.Forget[0] != 2 || p.Forget[1] != 5 || p.Others[3] != 0.5 {
		t.Errorf("%d points: %v, %v", len(p.Forget), p.Forget[:3], p.Others[:3])
	}
}

// The residuals behind the proposition are those of the reconstruction: with the
// library size their squares add up to the loss.
func TestDecodedResidualsAreThoseOfTheLoss(t *testing.T) {
	e := newEnv(t)
	c, err := e.Lab().Case(t.Context(), shallow().Cases[0].setting(0))
	if err != nil {
		t.Fatal(err)
	}
	s := comparedModel{Problem: c.Problem, goal: lab.Reconstruction{Plain: true, Beta: new(0.0)}, weights: c.InitialWeights(1)}
	rows := []int{3, 7, 100}
	d, err := s.decodedStats(rows)
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, v := range d.moments.Sigma {
		sum += v
	}
	o, err := s.objective(rows)
	if err != nil {
		t.Fatal(err)
	}
	want, err := train.Evaluate(t.Context(), s.Runner, s.weights, o)
	if err != nil || math.Abs(sum-want) > 1e-4*want {
		t.Errorf("the squared residuals add up to %v, the loss is %v (%v)", sum, want, err)
	}
	if len(d.moments.Nu) != 16 {
		t.Errorf("%d hidden units", len(d.moments.Nu))
	}
}

// Which set the proposition's values are of: profiles of the head against those of the
// same cells' data, shares of the same set's spectrum.
func TestThePropositionKnowsItsSets(t *testing.T) {
	e := newEnv(t)
	c, err := e.Lab().Case(t.Context(), shallow().Cases[0].setting(0))
	if err != nil {
		t.Fatal(err)
	}
	s := comparedModel{Problem: c.Problem, goal: lab.Reconstruction{Plain: true, Beta: new(0.0)}, weights: c.InitialWeights(1)}
	k := cellType{cells: []int{3, 7, 100}, other: []int{200, 9, 31, 44, 58, 71}}
	matrix := func(values ...float64) fisher.Diagonal {
		shape := []int{len(c.About.Features), 16}
		v := make([]float64, shape[0]*shape[1])
		for i := range v {
			v[i] = values[i%len(values)]
		}
		return fisher.Diagonal{Tensors: []fisher.Tensor{{Name: head, Shape: shape, Values: v}}}
	}
	own, others := matrix(1, 2, 5), matrix(4, 1, 1, 9, 2)
	p, err := measureProposition(s, k, own, others)
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range []struct {
		set              string
		info             fisher.Diagonal
		rows             []int
		sigma, nu, first float64
	}{{"forgotten", own, k.cells, p.SigmaForget, p.NuForget, p.FirstForget}, {"others", others, k.other, p.SigmaOthers, p.NuOthers, p.FirstOthers}} {
		d, err := s.decodedStats(of.rows)
		if err != nil {
			t.Fatal(err)
		}
		sigma, nu, _, err := fisher.TensorMarginals(of.info.Tensors[0]).Cosines(d.moments)
		if err != nil || sigma != of.sigma || nu != of.nu {
			t.Errorf("%s: %v and %v, want %v and %v: %v", of.set, of.sigma, of.nu, sigma, nu, err)
		}
		if shares, err := fisher.Spectrum(of.info.Tensors[0]); err != nil || shares[0] != of.first {
			t.Errorf("%s: the first share is %v, want %v: %v", of.set, of.first, shares, err)
		}
	}
	if p.SigmaForget == p.SigmaOthers || p.FirstForget == p.FirstOthers {
		t.Errorf("the sets are alike: %+v", p)
	}
}
