package features

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/lethe-ml/lethe/lib/array"
)

// bent are codes that no few directions span.
func bent(rows, cols int, at float64, stretch ...float64) array.Matrix[float64] {
	m := array.New[float64](rows, cols)
	for k := range m.Data {
		m.Data[k] = math.Sin(at + float64(0.37*float64(k)*float64(k)))
		if stretch != nil {
			m.Data[k] *= stretch[k%cols]
		}
	}
	return m
}

// SciPy 1.17.1, linalg.orthogonal_procrustes of centred codes; the CCA map is NumPy 2.4.6's,
// A^-1/2 U V' B^1/2 with A and B the products of either codes and U S V' = A^-1/2 C B^-1/2.
func TestMapsAreSciPys(t *testing.T) {
	from, to := bent(8, 3, 0.5), bent(8, 3, 2.9, 1, 2, 0.5)
	m, err := Procrustes(from, to)
	if err != nil {
		t.Fatal(err)
	}
	checkClose(t, "rotation", m.Linear.Data, []float64{-0.06797150973547511, -0.7813182751222929, 0.6204205241803382, -0.5276393968070414, -0.4996245547703024,
		-0.6870021624476005, 0.846744672732803, -0.37405488531832176, -0.3782940681111928}, 1e-12)
	checkClose(t, "a cell", m.Means(from).Row(2), []float64{-0.6543415529380737, 0.27548670517956636, 1.042378987129509}, 1e-12)
	if m, err = CCA(from, to); err != nil {
		t.Fatal(err)
	}
	checkClose(t, "canonical map", m.Linear.Data, []float64{-0.12297904255047039, -1.2776743498092589, 0.1755009706338955, -0.6234894591059554, -0.9764262861385801,
		-0.1953389835514071, 0.5203207325768345, -0.7671187568852471, -0.32234321943264765}, 1e-10)
	logVar := bent(8, 3, 1.1)
	checkClose(t, "log-variances", m.LogVars(logVar).Row(2), []float64{-0.22979075859760723, 1.802255507732824, -1.5638346966314691}, 1e-10)
	checkClose(t, "spread", Spread(logVar)[2:3], []float64{1.5623358564293865}, 1e-12)
}

// turned are codes in other axes: x Q + shift, with Q orthogonal.
func turned(rng *rand.Rand, x array.Matrix[float64], shift float64) (array.Matrix[float64], Map) {
	m := Map{SourceMean: make([]float64, x.Cols), TargetMean: make([]float64, x.Cols), Linear: orthogonal(rng, x.Cols)}
	for k := range m.TargetMean {
		m.TargetMean[k] = shift * float64(k+1)
	}
	return m.Means(x), m
}

func orthogonal(rng *rand.Rand, d int) array.Matrix[float64] {
	u, _, _, err := svd(mat.NewDense(d, d, array.Normal(rng, d, d, 1).Data))
	if err != nil {
		panic(err)
	}
	return toMatrix(u)
}

func TestAPlantedRotationIsFound(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		x := array.Normal(rng, 40, 5, 1)
		y, planted := turned(rng, x, 2)
		for name, align := range map[string]Aligner{"Procrustes": Procrustes, "CCA": CCA} {
			m, err := align(x, y)
			if err != nil {
				t.Fatal(err)
			}
			checkClose(t, name, m.Linear.Data, planted.Linear.Data, 1e-9)
			checkClose(t, name+", cells", m.Means(x).Data, y.Data, 1e-9)
			back, err := align(y, x) // with the roles exchanged, the inverse
			if err != nil {
				t.Fatal(err)
			}
			checkClose(t, name+", back", back.Means(y).Data, x.Data, 1e-9)
			if math.Abs(back.Linear.Row(0)[1]-m.Linear.Row(0)[1]) < 1e-9 {
				t.Errorf("%s: either role has the same map", name)
			}
		}
	}
}

// A stretching is undone by canonical correlations, and is not by a rotation, which has no scale.
func TestAStretchingIsForCanonicalCorrelations(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 1))
	x := array.Normal(rng, 40, 3, 1)
	y := Map{SourceMean: make([]float64, 3), TargetMean: make([]float64, 3), Linear: array.Normal(rng, 3, 3, 1)}.Means(x)
	m, err := CCA(x, y)
	if err != nil {
		t.Fatal(err)
	}
	checkClose(t, "cells", m.Means(x).Data, y.Data, 1e-9)
	if m, err = Procrustes(x, y); err != nil {
		t.Fatal(err)
	}
	off := 0.0
	for k, v := range m.Means(x).Data {
		off = max(off, math.Abs(v-y.Data[k]))
	}
	if off < 0.1 {
		t.Errorf("a rotation comes within %v", off)
	}
	for a := range 3 {
		for b := range 3 {
			dot := 0.0
			for k := range 3 {
				dot += m.Linear.Row(a)[k] * m.Linear.Row(b)[k]
			}
			checkClose(t, "orthogonality", []float64{dot}, []float64{map[bool]float64{true: 1}[a == b]}, 1e-12)
		}
	}
}

// No other rotation is nearer.
func TestProcrustesIsTheNearest(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	x, y := array.Normal(rng, 30, 4, 1), array.Normal(rng, 30, 4, 1)
	best, err := Procrustes(x, y)
	if err != nil {
		t.Fatal(err)
	}
	distance := func(m Map) (sum float64) {
		for k, v := range m.Means(x).Data {
			sum += (v - y.Data[k]) * (v - y.Data[k])
		}
		return sum
	}
	least := distance(best)
	for range 200 {
		other := best
		if other.Linear = orthogonal(rng, 4); distance(other) < least {
			t.Fatal("another rotation is nearer")
		}
	}
}

// Whatever axes codes are written in, their principal ones are the same up to signs.
func TestPrincipalAxesForgetTheAxes(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 1))
	x := Map{SourceMean: make([]float64, 3), TargetMean: make([]float64, 3), Linear: array.Matrix[float64]{Rows: 3, Cols: 3, Data: []float64{3, 0, 0, 0, 1, 0, 0, 0, 0.2}}}.Means(array.Normal(rng, 50, 3, 1))
	y, _ := turned(rng, x, 1)
	a, err := Principal(x)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Principal(y)
	if err != nil {
		t.Fatal(err)
	}
	one, other := a.Means(x), b.Means(y)
	width := make([]float64, 3)
	for i := range one.Rows {
		for k, v := range one.Row(i) {
			checkClose(t, "an axis", []float64{math.Abs(v)}, []float64{math.Abs(other.Row(i)[k])}, 1e-9)
			width[k] += v * v
		}
	}
	if !(width[0] > width[1] && width[1] > width[2]) {
		t.Errorf("widths %v", width)
	}
}

// A map that exchanges axes and turns them round exchanges the variances, and the way back
// gives them again; of a turned covariance the diagonal is taken and its trace stays.
func TestVariancesInOtherAxes(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 1))
	logVar := array.Normal(rng, 6, 3, 1)
	swap := Map{SourceMean: make([]float64, 3), TargetMean: []float64{9, 9, 9}, Linear: array.Matrix[float64]{Rows: 3, Cols: 3, Data: []float64{0, -1, 0, 0, 0, 1, 1, 0, 0}}}
	got := swap.LogVars(logVar)
	for i := range got.Rows {
		was := logVar.Row(i)
		checkClose(t, "exchanged", got.Row(i), []float64{was[2], was[0], was[1]}, 1e-12)
	}
	_, m := turned(rng, logVar, 0)
	rotated := m.LogVars(logVar)
	checkClose(t, "trace", Spread(rotated), Spread(logVar), 1e-12)
	for i := range rotated.Rows {
		want := make([]float64, 3) // the diagonal of Q' diag(v) Q
		for b := range want {
			for a, v := range logVar.Row(i) {
				want[b] += m.Linear.Row(a)[b] * math.Exp(v) * m.Linear.Row(a)[b]
			}
			want[b] = math.Log(want[b])
		}
		checkClose(t, "diagonal", rotated.Row(i), want, 1e-12)
	}
}

// What no rotation changes: lengths of means, traces, and the losses as they are given.
func TestInvariantFeatures(t *testing.T) {
	p := three()
	was, err := Invariant(p)
	if err != nil || was.Cols != 5 {
		t.Fatalf("%d columns, %v", was.Cols, err)
	}
	full, err := Full(p)
	if err != nil {
		t.Fatal(err)
	}
	for i := range was.Rows {
		checkClose(t, "losses", was.Row(i)[:3], full.Row(i)[:3], 0)
		checkClose(t, "length", was.Row(i)[3:4], full.Row(i)[full.Cols-2:full.Cols-1], 0)
	}
	_, m := turned(rand.New(rand.NewPCG(8, 1)), array.Convert[float64](p.Mu.(array.Matrix[float64])), 0)
	p.Mu, p.LogVar = m.Means(p.Mu), m.LogVars(p.LogVar)
	now, err := Invariant(p)
	if err != nil {
		t.Fatal(err)
	}
	checkClose(t, "features", now.Data, was.Data, 1e-12)
	if _, err := Invariant(Posterior{}); err == nil {
		t.Error("features of nothing")
	}
}

// An axis that a model does not use is left out of a canonical map, and turned at no one's
// cost by a rotation.
func TestADeadAxis(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 1))
	x, y := array.Normal(rng, 30, 3, 1), array.Normal(rng, 30, 3, 1)
	for i := range x.Rows {
		x.Row(i)[1], y.Row(i)[2] = 0.5, 0
		y.Row(i)[0], y.Row(i)[1] = x.Row(i)[2], -x.Row(i)[0]
	}
	for name, align := range map[string]Aligner{"Procrustes": Procrustes, "CCA": CCA} {
		m, err := align(x, y)
		if err != nil {
			t.Fatal(err)
		}
		checkClose(t, name, m.Means(x).Data, y.Data, 1e-9)
		if err := m.LogVars(x).Check(name); err != nil {
			t.Error(err)
		}
	}
}

func TestCodesThatCannotBeAligned(t *testing.T) {
	x := bent(8, 3, 0.5)
	flat, broken := array.New[float64](8, 3), bent(8, 3, 0.5)
	broken.Data[4] = math.NaN()
	for words, c := range map[string][2]array.Matrix[float64]{
		"codes of 8 x 3 cannot be aligned with codes of 8 x 2": {x, bent(8, 2, 0)},
		"codes of 8 x 3 cannot be aligned with codes of 9 x 3": {x, bent(9, 3, 0)},
		"3 cells do not determine a rotation of 3 axes":        {bent(3, 3, 0), bent(3, 3, 1)},
		"0 cells do not determine a rotation of 0 axes":        {},
		"codes: row 1, column 1":                               {broken, x},
		"codes to be aligned with: row 1, column 1":            {x, broken},
	} {
		for name, align := range map[string]Aligner{"Procrustes": Procrustes, "CCA": CCA} {
			if _, err := align(c[0], c[1]); err == nil || !strings.Contains(err.Error(), words) {
				t.Errorf("%s: %v, want %q", name, err, words)
			}
		}
	}
	if _, err := CCA(x, flat); err == nil || !strings.Contains(err.Error(), "all codes are the same") {
		t.Errorf("%v", err)
	}
	if _, err := Principal(bent(2, 3, 0)); err == nil {
		t.Error("two cells have three principal axes")
	}
}
