package cells

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
)

// umap-learn 0.5.12, find_ab_params(spread, min_dist).
func TestTheCurveIsUMAPLearns(t *testing.T) {
	for _, c := range []struct{ spread, minDist, a, b float64 }{
		{1, 0.5, 0.5830300203968329, 1.3341669926352966}, {1, 0.1, 1.57694346046584, 0.8950608779639974}, {2, 0.25, 0.4162734968171346, 0.9218551322939014},
	} {
		a, b := UMAP{MinDist: c.minDist, Spread: c.spread}.curve()
		if math.Abs(a-c.a) > 1e-6 || math.Abs(b-c.b) > 1e-6 {
			t.Errorf("min dist %v, spread %v: a %v, b %v, want %v and %v", c.minDist, c.spread, a, b, c.a, c.b)
		}
	}
}

// A step down log v, and one down log(1 - v), by differences.
func TestPullAndPushAreGradients(t *testing.T) {
	l := layout{a: 0.6, b: 1.3}
	v := func(x float64) float64 { return 1 / (1 + l.a*math.Pow(x*x, l.b)) }
	const h = 1e-6
	for _, x := range []float64{0.3, 1, 4} {
		if got, want := l.pull(x*x)*x, (math.Log(v(x+h))-math.Log(v(x-h)))/(2*h); math.Abs(got-want) > 1e-6 {
			t.Errorf("at distance %v it pulls with %v, want %v", x, got, want)
		}
		got, want := l.push(x*x)*x, (math.Log(1-v(x+h))-math.Log(1-v(x-h)))/(2*h)
		if want *= x * x / (x*x + 0.001); math.Abs(got-want) > 1e-6 {
			t.Errorf("at distance %v it pushes with %v, want %v", x, got, want)
		}
	}
	if l.pull(0) != 0 || math.IsInf(l.push(0), 0) {
		t.Errorf("of one point: %v, %v", l.pull(0), l.push(0))
	}
}

// An edge half as heavy as the heaviest is drawn half as often, both ways, and one that would
// not be drawn once is left out.
func TestSpringsActAsOftenAsTheyWeigh(t *testing.T) {
	graph := graphOf(4, [][2]int{{0, 1}, {1, 2}, {2, 3}})
	for k, j := range graph.Columns {
		i := 0
		for graph.Starts[i+1] <= k {
			i++
		}
		graph.Values[k] = []float64{1, 0.5, 0.09}[min(i, int(j))]
	}
	every := map[[2]int]float64{}
	for _, s := range springs(graph, 10) {
		every[[2]int{s.from, s.to}] = s.every
		if s.next != s.every {
			t.Errorf("%+v is due before its time", s)
		}
	}
	if want := (map[[2]int]float64{{0, 1}: 1, {1, 0}: 1, {1, 2}: 2, {2, 1}: 2}); !maps.Equal(every, want) {
		t.Errorf("springs %v, want %v", every, want)
	}
}

// scikit-learn 1.9.1, manifold.trustworthiness.
func TestTrustworthinessIsScikitLearns(t *testing.T) {
	x, y := array.New[float64](40, 3), array.New[float64](40, 2)
	for k := range x.Data {
		x.Data[k] = math.Sin(0.3 + 1.7*float64(k))
	}
	for k := range y.Data {
		y.Data[k] = math.Cos(0.2 + 0.9*float64(k))
	}
	for i := range y.Rows {
		y.Row(i)[0] += x.Row(i)[1]
	}
	for k, want := range map[int]float64{1: 0.6697368421052632, 5: 0.59234375, 12: 0.5979651162790698} {
		if got, err := Trustworthiness(x, y, k); err != nil || math.Abs(got-want) > 1e-12 {
			t.Errorf("of %d neighbours %v, want %v (%v)", k, got, want, err)
		}
	}
	if got, err := Trustworthiness(x, x, 5); err != nil || got != 1 {
		t.Errorf("of the space itself %v, %v", got, err)
	}
	for what, call := range map[string]func() (float64, error){
		"39 in the picture": func() (float64, error) { return Trustworthiness(x, y.Gather(firstInts(39)), 5) },
		"20 neighbours":     func() (float64, error) { return Trustworthiness(x, y, 20) },
		"0 neighbours":      func() (float64, error) { return Trustworthiness(x, y, 0) },
		"row 3, column 0 is": func() (float64, error) {
			bad := x.Gather(firstInts(40))
			bad.Row(3)[0] = math.NaN()
			return Trustworthiness(bad, y, 5)
		},
	} {
		if _, err := call(); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("want %q, got %v", what, err)
		}
	}
}

func firstInts(n int) (out []int) {
	for i := range n {
		out = append(out, i)
	}
	return out
}

// drawnCells are simulated cells with their graph.
func drawnCells(t *testing.T) *Prepared {
	t.Helper()
	m, err := Simulation{}.Draw(t.Context(), rand.New(rand.NewPCG(1, 0)))
	if err != nil {
		t.Fatal(err)
	}
	p, err := Options{Choice: Choice{OnCounts: true, Variable: Variable{Top: 200}}}.Prepare(m.Counts, m.Genes, rand.New(rand.NewPCG(1, 0)))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// umap-learn 0.5.12 with min_dist 0.5, of these cells' 30 components, by scikit-learn's
// trustworthiness of 15 neighbours: 0.9296 to 0.9319 over five seeds, from eigenvectors, and
// 0.9301 to 0.9309 from two components.
func TestThePictureIsAsTrueAsUMAPLearns(t *testing.T) {
	p := drawnCells(t)
	place := func(seed uint64, epochs int) array.Matrix[float64] {
		y, err := UMAP{Epochs: epochs}.Layout(p.Graph, p.Places, rand.New(rand.NewPCG(seed, 0)))
		if err != nil {
			t.Fatal(err)
		}
		return y
	}
	trust := func(y array.Matrix[float64]) float64 {
		v, err := Trustworthiness(p.Places, y, 15)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	if whole, begin := trust(place(1, 0)), trust(p.Places.FirstColumns(2)); whole < 0.928 || begin > 0.85 {
		t.Errorf("trustworthiness %v, of two components %v", whole, begin)
	}
	y := place(1, 5)
	if again := place(1, 5); !slices.Equal(again.Data, y.Data) {
		t.Error("the same seed draws another picture")
	}
	if slices.Equal(place(2, 5).Data, y.Data) {
		t.Error("the seed does not matter")
	}
}

func TestABadPictureIsRefused(t *testing.T) {
	graph, rng := graphOf(4, [][2]int{{0, 1}, {1, 2}, {2, 3}}), rand.New(rand.NewPCG(1, 1))
	begin := array.Matrix[float64]{Rows: 4, Cols: 2, Data: []float64{0, 1, 2, 3, 4, 5, 6, 8}}
	flat := array.Matrix[float64]{Rows: 4, Cols: 2, Data: []float64{0, 1, 2, 1, 4, 1, 6, 1}}
	odd := array.Matrix[float64]{Rows: 4, Cols: 2, Data: []float64{0, 1, 2, math.Inf(1), 4, 5, 6, 8}}
	huge := array.Matrix[float64]{Rows: 4, Cols: 2, Data: []float64{-math.MaxFloat64, 1, 2, 3, 4, 5, math.MaxFloat64, 8}}
	if y, err := (UMAP{}).Layout(graph, huge, rng); err != nil || y.Check("y") != nil {
		t.Errorf("places at the ends of the numbers: %v, %v", y, err)
	}
	for want, call := range map[string]func() (array.Matrix[float64], error){
		"rng is nil":      func() (array.Matrix[float64], error) { return UMAP{}.Layout(graph, begin, nil) },
		"positions of 3":  func() (array.Matrix[float64], error) { return UMAP{}.Layout(graph, begin.Gather([]int{0, 1, 2}), rng) },
		"in 1 dimensions": func() (array.Matrix[float64], error) { return UMAP{}.Layout(graph, begin.FirstColumns(1), rng) },
		"column 1":        func() (array.Matrix[float64], error) { return UMAP{}.Layout(graph, flat, rng) },
		"places":          func() (array.Matrix[float64], error) { return UMAP{}.Layout(graph, odd, rng) },
		"no edge":         func() (array.Matrix[float64], error) { return UMAP{}.Layout(graphOf(4, nil), begin, rng) },
		"min dist 3":      func() (array.Matrix[float64], error) { return UMAP{MinDist: 3}.Layout(graph, begin, rng) },
		"-1 epochs":       func() (array.Matrix[float64], error) { return UMAP{Epochs: -1}.Layout(graph, begin, rng) },
		"-2 negatives":    func() (array.Matrix[float64], error) { return UMAP{Negatives: -2}.Layout(graph, begin, rng) },
		"rate NaN":        func() (array.Matrix[float64], error) { return UMAP{Rate: math.NaN()}.Layout(graph, begin, rng) },
	} {
		if _, err := call(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}
