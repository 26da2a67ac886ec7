package fishing

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/datasets"
	datacells "github.com/lethe-ml/lethe/datasets/cells"
	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/unlearn"
	"github.com/lethe-ml/lethe/lib/utility"
)

// opened is the brief case of one seed.
func opened(t *testing.T) (*paper.Env, *attackCase) {
	t.Helper()
	e, of := newEnv(t), briefStudy().Cases[0]
	c, err := e.Lab().Case(t.Context(), of.setting(0))
	if err != nil {
		t.Fatal(err)
	}
	q, err := newAttackCase(t.Context(), c, of)
	if err != nil {
		t.Fatal(err)
	}
	return e, q
}

// Utility is measured on the unseen cells only.
func TestUtilityIsOfUnseenCells(t *testing.T) {
	e, q := opened(t)
	row, err := q.measureRow(t.Context(), e.Engine, lab.Variant{Label: Original, Method: unlearn.NoOp{}})
	if err != nil {
		t.Fatal(err)
	}
	w, _, err := q.Weights(t.Context(), unlearn.NoOp{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := q.Runner.Predict(w, q.Test.X)
	if err != nil {
		t.Fatal(err)
	}
	library := utility.LibrarySizes(q.Test.X)
	recon, err := utility.SquaredErrors(p.Outputs[loss.Proportion], q.Test.X, library)
	if err != nil {
		t.Fatal(err)
	}
	if mean, _ := stats.Mean(recon); mean != row.UnseenRecon {
		t.Errorf("reconstruction %v, of the test part %v", row.UnseenRecon, mean)
	}
	s, err := utility.Silhouette(array.Convert[float64](p.Outputs[loss.LatentMean]), q.Test.Y)
	if err != nil || s != row.Latent.Silhouette || row.Latent.Cells != q.Test.X.Rows {
		t.Errorf("%+v, silhouette of the test part %v, %v", row.Latent, s, err)
	}
	if l := row.Latent; !(l.ARI > -0.1 && l.ARI <= 1 && l.Probe > 0 && l.Probe <= 1 && l.Majority < 0.5 && l.Types > 5) {
		t.Errorf("%+v", l)
	}
	for k, m := range row.Markers {
		j := slices.IndexFunc(q.About.Features, func(f datasets.Feature) bool { return f.Name == m.Gene })
		said, is := make([]float64, q.Test.X.Rows), make([]float64, q.Test.X.Rows)
		for i := range said {
			said[i], is[i] = library[i]*float64(p.Outputs[loss.Proportion].Row(i)[j]), float64(q.Test.X.Row(i)[j])
		}
		if r, err := stats.Pearson(said, is); err != nil || m.Gene != plantedMarkers()[k] || math.Abs(*m.R-r) > 1e-12 || *m.Bare == *m.R {
			t.Errorf("%+v, by hand %v, %v", m, r, err)
		}
	}
	if r := row.MarkerR(); len(row.Markers) != 6 || math.IsNaN(r) || r == row.BareMarkerR() {
		t.Errorf("%d markers, mean %v and %v", len(row.Markers), r, row.BareMarkerR())
	}
}

// A gene of which the decoder says the same of every cell has no correlation, and
// then the mean has none.
func TestAConstantMarkerHasNoCorrelation(t *testing.T) {
	flat := array.Matrix[float32]{Rows: 3, Cols: 1, Data: []float32{1, 1, 1}}
	x := array.Matrix[float32]{Rows: 3, Cols: 1, Data: []float32{1, 2, 4}}
	if r, err := correlation(flat, x, []float64{1, 1, 1}, 0); r != nil || err != nil {
		t.Errorf("%v, %v", r, err)
	}
	one := 1.0
	if r := (Row{Markers: []Marker{{R: &one}, {}}}).MarkerR(); !math.IsNaN(r) {
		t.Errorf("mean %v", r)
	}
	if _, err := correlation(flat, x, []float64{1}, 0); err == nil {
		t.Error("one library size of three is taken")
	}
}

// Cells without a published type are left out.
func TestCellsWithoutATypeAreLeftOut(t *testing.T) {
	p := &datasets.Prepared{About: datasets.About{Classes: []string{"a", "b", datacells.Unlabelled}}}
	p.Test = datasets.Part{X: array.New[float32](20, 1), Y: make([]int, 20)}
	s := cellOutputs{mean: array.New[float32](20, 2)}
	for i := range 20 {
		p.Test.Y[i] = i % 3
		s.mean.Row(i)[0] = float32(10*(i%3)) + float32(i)/100
		if i%3 == 2 {
			s.mean.Row(i)[1] = float32(1000 * i)
		}
	}
	l, err := measureLatent(context.Background(), &lab.Case{Problem: &lab.Problem{Prepared: p}}, s)
	if err != nil || l.Cells != 14 || l.Types != 2 || l.ARI != 1 || l.Silhouette < 0.9 || l.Probe != 1 || l.Majority != 0.5 {
		t.Errorf("%+v, %v", l, err)
	}
}

// The planted marker of a type is one, and a variable gene at every scale.
func TestPlantedMarkersAreThoseOfTheirTypes(t *testing.T) {
	s, rng := datacells.Simulation()
	m, err := s.Draw(t.Context(), rng)
	if err != nil {
		t.Fatal(err)
	}
	for k, gene := range plantedMarkers() {
		j := slices.Index(m.Genes, gene)
		if m.Types[k] != fmt.Sprintf("type%d", k) || !slices.Contains(m.Markers[k], j) {
			t.Errorf("%s is no marker of %s", gene, m.Types[k])
		}
	}
}

// A draw is the mean plus the deviation times normal noise: from a sure posterior it
// is the mean, and everything that follows is the same; else codes and losses differ,
// and mean, variance and divergence do not.
func TestDrawnCodes(t *testing.T) {
	_, q := opened(t)
	w, _, err := q.Weights(t.Context(), unlearn.NoOp{})
	if err != nil {
		t.Fatal(err)
	}
	v, err := predictSplits(q.Case, w)
	if err != nil {
		t.Fatal(err)
	}
	sure := v
	for _, s := range []*cellOutputs{&sure.forget, &sure.retain, &sure.unseen} {
		s.logVar = array.New[float32](s.logVar.Rows, s.logVar.Cols)
		for k := range s.logVar.Data {
			s.logVar.Data[k] = -80
		}
	}
	if sure, err = sure.withSampledCodes(q.Case, w); err != nil {
		t.Fatal(err)
	}
	for i, r := range sure.unseen.recon {
		if math.Abs(r-v.unseen.recon[i]) > 1e-4*r || math.Abs(sure.unseen.bare[i]-v.unseen.bare[i]) > 1e-4 {
			t.Fatalf("cell %d: %v, %v of its mean", i, r, v.unseen.recon[i])
		}
	}
	d, err := v.withSampledCodes(q.Case, w)
	if err != nil {
		t.Fatal(err)
	}
	var z []float64
	for k, code := range d.unseen.codes.Data {
		z = append(z, (float64(code)-float64(v.unseen.mean.Data[k]))/math.Exp(float64(v.unseen.logVar.Data[k])/2))
	}
	mean, _ := stats.Mean(z)
	sd, _ := stats.SD(z)
	if math.Abs(mean) > 0.12 || math.Abs(sd-1) > 0.1 {
		t.Errorf("noise has mean %v and deviation %v", mean, sd)
	}
	if d.forget.codes.Data[0] == d.unseen.codes.Data[0] || !slices.Equal(d.unseen.divergence, v.unseen.divergence) || d.unseen.recon[3] == v.unseen.recon[3] {
		t.Error("draws do not follow the role, or change more than they should")
	}
	if v.unseen.codes.Data[0] != v.unseen.mean.Data[0] {
		t.Error("drawing has changed the view that it was given")
	}
	// The program's reading matches other cells, on draws of the original.
	matched, rows, err := q.matchNonmembers(d)
	if err != nil || !slices.Equal(rows, q.drawn.negatives) || matched.Cells != len(rows) || slices.Equal(rows, q.negatives) {
		t.Errorf("%d matched, of the question %d; %v", len(rows), len(q.drawn.negatives), err)
	}
	sum := 0
	for _, n := range matched.ByType {
		sum += n
	}
	if sum != len(rows) || q.drawn.shared > min(len(rows), len(q.negatives)) {
		t.Errorf("%v of %d, %d shared", matched.ByType, len(rows), q.drawn.shared)
	}
}

// The last feature is the distance of codes, the others are not of codes.
func TestTheDistanceIsOfCodes(t *testing.T) {
	at := func(mean, code float32) cellOutputs {
		m, c := array.New[float32](6, 1), array.New[float32](6, 1)
		for i := range 6 {
			m.Data[i], c.Data[i] = mean, code
		}
		v := make([]float64, 6)
		return cellOutputs{mean: m, codes: c, logVar: array.New[float32](6, 1), recon: v, divergence: v, bare: v}
	}
	f, err := at(1, 5).features(at(2, 8))
	if err != nil || f.Row(0)[3] != 1 || f.Row(0)[f.Cols-1] != 3 {
		t.Errorf("%v, %v", f, err)
	}
}

// Every table and figure of utility has its rows, and printed values stand beside
// a variant.
func TestTablesOfUtility(t *testing.T) {
	ev, err := collect(t.Context(), newEnv(t), briefStudy())
	if err != nil {
		t.Fatal(err)
	}
	for rows, out := range map[int]*paper.Output{len(properties()): ev.table1(), 4: ev.table6(), 8: ev.table8(), len(table5Variants()) + 1: ev.table5()} {
		if err := out.Table.Check(); err != nil || len(out.Table.Rows) != rows {
			t.Errorf("%s has %d rows, want %d: %v", out.Table.ID, len(out.Table.Rows), rows, err)
		}
	}
	if text := ev.figure2().Figure.Text(); !strings.Contains(text, Foster) || !strings.Contains(text, "marker r") {
		t.Errorf("the figure shows %s", text)
	}
	t1 := ev.table1()
	for _, want := range []string{"rare0", "sampled z"} {
		if !strings.Contains(strings.Join(t1.Table.Notes, " "), want) {
			t.Errorf("the notes do not say %q: %q", want, t1.Table.Notes)
		}
	}
	r := ev.rowsOf(ev.Cases[0].Label, Original)[0]
	if got := t1.Table.Rows[0].Cells[1].Text; got != "2000" {
		t.Errorf("%s cells", got)
	}
	if r.Drawn.Attack.All.NNonmembers != r.Drawn.Draws.Cells || r.Drawn.Means.Cells != r.Negatives || r.Drawn.Attack.All.NMembers != r.Forget {
		t.Errorf("%+v", r.Drawn)
	}
	labels := map[string]bool{}
	for _, a := range pbmc3k("", "", 1).variants() {
		labels[a.Label] = true
	}
	for _, label := range slices.Concat(table8Variants(), table5Variants(), []string{Ascended, Dampened, Scrubbed, Contrasted}) {
		if !labels[label] {
			t.Errorf("%s is no variant", label)
		}
	}
	for _, variant := range table8Variants() {
		if len(strings.Fields(printed6(variant))) != 4 {
			t.Errorf("%s: printed is %q", variant, printed6(variant))
		}
	}
}

// A variant that another case has and this one has not is a gap; a marker too.
func TestGapsHaveTheirReason(t *testing.T) {
	c := Case{Label: "c", Markers: []string{"A"}, Only: []string{Original}}
	one := 1.0
	ev := &evidence{Study: Study{Cases: []Case{c, {Label: "d", Markers: []string{"B"}}}}, Evidence: &paper.Evidence[Row]{
		Rows: []Row{{Case: "c", Variant: Original, Markers: []Marker{{Gene: "A", R: &one}}}},
	}}
	if cells := ev.acrossCells(c, Fisher); len(cells) != 2 || cells[0].Missing != "not a variant" {
		t.Errorf("%+v", cells)
	}
	row := lineOf(c, c.variants()[0], ev.Rows).Row(ev.geneColumns(ev.markerNames(), false))
	if row.Kind != report.Control || len(row.Cells) != 4 || *row.Cells[1].Value != 1 || row.Cells[2].Missing == "" {
		t.Errorf("%+v", row)
	}
}

// Table 1 counts cells, for which no method is needed; scattered cells stand beside the type
// that they are scattered in the place of.
func TestDescribed(t *testing.T) {
	for scale, cases := range map[string]int{"quick": 2, "hour": 3, "standard": 3, "atlas": 2, "paper": 3} {
		s, err := table1Study(scale)
		if err != nil || len(s.Cases) != cases {
			t.Fatalf("%s: %d cases, %v", scale, len(s.Cases), err)
		}
		labels := map[string]bool{}
		for i, c := range s.Cases {
			labels[c.Label] = true
			if !slices.Equal(c.Only, []string{Original, Retrained, OtherSeed}) || (forgottenClass(c.Setting) == "") != (i == 1) || (c.scatteredCells() == scattered) != (i == 1) {
				t.Errorf("%s: %s has the variants %q, forgets %q and %d scattered cells", scale, c.Label, c.Only, forgottenClass(c.Setting), c.scatteredCells())
			}
		}
		if len(labels) != cases {
			t.Errorf("%s: columns of one name: %v", scale, labels)
		}
	}
	if _, err := table1Study("huge"); err == nil {
		t.Error("an unknown scale is taken")
	}
}

// The share of a type is of the cells it is counted among, and there is none where cells of
// all types are forgotten.
func TestShareOfTheForgottenType(t *testing.T) {
	unseen := typeShare(func(r Row) map[string]int { return r.Sizes.Unseen })
	r := Row{Type: "a", Sizes: Sizes{Unseen: map[string]int{"a": 2, "b": 6}}}
	if got := unseen([]Row{r}); got != "2 of 8" {
		t.Errorf("the share of a is %q", got)
	}
	r.Type = ""
	if got := unseen([]Row{r}); got != "" {
		t.Errorf("of scattered cells it is %q", got)
	}
}

// Every line of Table 1 counts what it says, and none what its neighbour does: unseen cells and
// those open to matching, draws and means.
func TestEveryLineOfTable1CountsItsOwn(t *testing.T) {
	types := func(a, b int) map[string]int { return map[string]int{"a": a, "b": b} }
	r := Row{Type: "a", Forget: 31, Unseen: 7, Sizes: Sizes{Train: 50, Genes: 40, Types: 9, Unseen: types(5, 2), Judged: types(3, 1)},
		Drawn: SampledCodes{Shared: 13, Draws: Matching{Cells: 21, ByType: types(4, 17), Distance: 5.5}, Means: Matching{Cells: 18, ByType: types(6, 12), Distance: 1.5}}}
	want := []string{"57", "40", "9", "50", "7", "31", "5 of 7", "3 of 4", "21", "4 of 21", "18", "6 of 18", "13", "5.50", "1.50"}
	if len(properties()) != len(want) {
		t.Fatalf("%d lines, %d are known here", len(properties()), len(want))
	}
	for i, p := range properties() {
		if got := p.of([]Row{r}); got != want[i] {
			t.Errorf("%s: %q, want %q", p.name, got, want[i])
		}
	}
}

// Scales without Tabula Muris' files list its jobs all the same.
func TestAcrossScales(t *testing.T) {
	for scale, cases := range map[string]int{"quick": 1, "hour": 2, "standard": 3, "atlas": 1, "paper": 3} {
		s, err := acrossStudy(scale)
		if err != nil || len(s.Cases) != cases {
			t.Errorf("%s: %d cases, %v", scale, len(s.Cases), err)
		}
	}
	if _, err := acrossStudy("huge"); err == nil {
		t.Error("an unknown scale is taken")
	}
}
