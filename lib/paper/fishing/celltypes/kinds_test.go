package celltypes_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/datasets"
	data "github.com/lethe-ml/lethe/datasets/cells"
	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/cells"
	"github.com/lethe-ml/lethe/lib/paper/fishing/celltypes"
	"github.com/lethe-ml/lethe/lib/plot"
	"github.com/lethe-ml/lethe/lib/stats"
)

// small are 300 simulated cells, every tenth without a type.
func small(t testing.TB) *data.Cells {
	t.Helper()
	m, err := cells.Simulation{Cells: 300, Types: 3, Rare: []int{12}}.Draw(t.Context(), rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		t.Fatal(err)
	}
	c := &data.Cells{About: datasets.About{Name: "small", Title: "Small", Classes: m.Types}, Counts: m.Counts, Genes: m.Genes, Y: slices.Clone(m.Type)}
	for i := 0; i < len(c.Y); i += 10 {
		if c.Y[i] != 3 {
			c.Y[i] = -1
		}
	}
	return c
}

func options() cells.Options {
	return cells.Options{Choice: cells.Choice{Filter: cells.Filter{MinGenes: 100}, Variable: cells.Variable{Top: 200}}, PCA: cells.PCA{Components: 10}, Use: 8}
}

func prepared(t testing.TB) *celltypes.Cells {
	t.Helper()
	c, err := celltypes.Prepare(small(t), options(), rand.New(rand.NewPCG(3, 4)))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// The rare type's matched cells are mostly of other types, so that its name alone
// tells them from the forgotten ones.
func ExampleMatch_TypeAUC() {
	rare, common := celltypes.Match{Forget: 30, Unseen: 5, Matched: 194, SameType: 3}, celltypes.Match{Forget: 600, Unseen: 100, Matched: 100, SameType: 100}
	fmt.Printf("%.3f %.3f\n", rare.TypeAUC(), common.TypeAUC())
	// Output: 0.992 0.500
}

func TestAgreementLeavesOutCellsWithoutAType(t *testing.T) {
	c := prepared(t)
	groups, other := slices.Clone(c.Types), slices.Clone(c.Types)
	for k, of := range c.Types {
		groups[k], other[k] = of+1, (of+5)%4
		if of < 0 { // where nobody knows, nothing may depend on it
			groups[k], other[k] = k%2, 7
		}
	}
	for _, g := range [][]int{groups, other} {
		if a, err := c.Agreement(g); err != nil || math.Abs(a-1) > 1e-12 {
			t.Errorf("agreement %v (%v), want 1", a, err)
		}
	}
	if _, err := c.Agreement(groups[1:]); err == nil {
		t.Error("groups of fewer cells are taken")
	}
}

// A twin by brute force, over all unseen cells.
func TestMatchIsThatOfAllPairs(t *testing.T) {
	c := prepared(t)
	const class, k, seed = 3, 7, 5
	m, err := c.MatchType(class, c.Places, k, seed)
	if err != nil {
		t.Fatal(err)
	}
	split, _ := cells.Divide(len(c.Types), 0.85, seed)
	found, want := map[int]bool{}, celltypes.Match{}
	for _, i := range split.Train {
		if c.Types[i] != class {
			continue
		}
		want.Forget++
		order := slices.Clone(split.Unseen)
		slices.SortFunc(order, func(a, b int) int { return int(math.Copysign(1, distance(c.Places, i, a)-distance(c.Places, i, b))) })
		for _, j := range order[:k] {
			found[j] = true
		}
	}
	var pos, neg []float64
	for j := range found {
		if neg = append(neg, 0); c.Types[j] == class {
			want.SameType++
			neg[len(neg)-1] = 1
		}
	}
	for range want.Forget {
		pos = append(pos, 1)
	}
	want.Unseen, want.Matched = 12-want.Forget, len(found)
	if *m != want || want.Matched <= want.SameType {
		t.Errorf("match %+v, by all pairs %+v", *m, want)
	}
	if auc, err := stats.AUC(pos, neg); err != nil || math.Abs(auc-m.TypeAUC()) > 1e-12 {
		t.Errorf("AUC of the type alone %v, of the cells themselves %v (%v)", m.TypeAUC(), auc, err)
	}
}

func distance(m array.Matrix[float64], a, b int) (d float64) {
	for j, v := range m.Row(a) {
		d += (v - m.Row(b)[j]) * (v - m.Row(b)[j])
	}
	return d
}

// Two draws of one cell are as far apart as was asked for.
func TestBlurredCodesAreSoFarApart(t *testing.T) {
	c := prepared(t)
	near, err := cells.Match(c.Places.Gather(c.Rows(3)), c.Places, 10)
	if err != nil {
		t.Fatal(err)
	}
	mean, _ := stats.Mean(near.Distance)
	rng, sum := rand.New(rand.NewPCG(7, 8)), 0.0
	a, errA := c.SampleCodes(3, 10, 3.4, rng)
	b, errB := c.SampleCodes(3, 10, 3.4, rng)
	if errA != nil || errB != nil {
		t.Fatal(errA, errB)
	}
	for i, v := range a.Data {
		sum += (v - b.Data[i]) * (v - b.Data[i])
	}
	if got, want := math.Sqrt(sum/float64(a.Rows)), 3.4*mean; math.Abs(got/want-1) > 0.05 {
		t.Errorf("two draws are %.3f apart, want %.3f", got, want)
	}
}

func TestFiguresShowEveryTypedCellOnce(t *testing.T) {
	c := prepared(t)
	typed, drawn := 0, 0
	for _, of := range c.Types {
		if of >= 0 {
			typed++
		}
	}
	plane := c.ComponentScatter()
	graph, err := c.UMAPScatter(rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []plot.Scatter{plane, graph} {
		drawn = 0
		for _, cloud := range f.Clouds {
			drawn += len(cloud.X)
		}
		if f.Clouds[0].Name != "rare0" || len(f.Clouds[0].X) != 12 || drawn != typed {
			t.Errorf("%s: %d of %d cells, first %q with %d", f.Title, drawn, typed, f.Clouds[0].Name, len(f.Clouds[0].X))
		}
	}
	if slices.Equal(plane.Clouds[0].X, graph.Clouds[0].X) {
		t.Error("the graph lies where the components do")
	}
	if _, err := c.UMAPScatter(nil); err == nil {
		t.Error("a picture was drawn without a generator")
	}
	f := c.ClusterHeatmap(c.Groups)
	if f.Rows[0] != "rare0 (12)" || len(f.Rows) != 4 {
		t.Errorf("rows %q", f.Rows)
	}
	for r, row := range f.Values {
		sum := 0.0
		for g, v := range row {
			sum += v
			n := 0
			for _, k := range c.Rows(c.BySize()[r]) {
				if c.Groups[k] == g {
					n++
				}
			}
			if want := float64(n) / float64(len(c.Rows(c.BySize()[r]))); math.Abs(v-want) > 1e-12 {
				t.Errorf("%s in cluster %d: %v, want %v", f.Rows[r], g, v, want)
			}
		}
		if math.Abs(sum-1) > 1e-12 {
			t.Errorf("row %s adds up to %v", f.Rows[r], sum)
		}
	}
	for _, f := range []interface{ PNG() ([]byte, error) }{plane, graph, f} {
		if _, err := f.PNG(); err != nil {
			t.Error(err)
		}
	}
}

func TestGenesThatDoNotVaryAreNotDrawn(t *testing.T) {
	d := &cells.Dispersion{Mean: []float64{1, 2, 0, 3}, Standardised: []float64{0.5, 4, 0, 2}}
	f := celltypes.GeneScatter("g", []int{1, 3}, d)
	if left, kept := f.Clouds[0], f.Clouds[1]; !slices.Equal(left.X, []float64{1}) || !slices.Equal(kept.X, []float64{2, 3}) || !slices.Equal(kept.Y, []float64{4, 2}) {
		t.Errorf("left out %v, kept %v", left, kept)
	}
}

func TestWhatCannotBeIsRefused(t *testing.T) {
	s := small(t)
	for i := range s.Y {
		s.Y[i] = -1
	}
	if _, err := celltypes.Prepare(s, options(), rand.New(rand.NewPCG(3, 4))); err == nil || !strings.Contains(err.Error(), "small: no cell has a type") {
		t.Errorf("error %v", err)
	}
	c := prepared(t)
	if _, err := c.MatchType(3, array.New[float64](5, 8), 10, 0); err == nil || !strings.Contains(err.Error(), "places of 5 cells") {
		t.Errorf("error %v", err)
	}
	if _, err := c.MatchType(9, c.Places, 10, 0); err == nil {
		t.Error("a type without cells is forgotten")
	}
}
