package features

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
)

func wave(n int, at float64) []float64 {
	out := make([]float64, n)
	for k := range out {
		out[k] = math.Sin(at + float64(1.7*float64(k)))
	}
	return out
}

func matrix(rows, cols int, at, plus float64) array.Matrix[float64] {
	m := array.Matrix[float64]{Rows: rows, Cols: cols, Data: wave(rows*cols, at)}
	for k := range m.Data {
		m.Data[k] += plus
	}
	return m
}

// three are records with four latent axes.
func three() Posterior {
	p := Posterior{Recon: wave(3, 0), KL: wave(3, 1), Mu: matrix(3, 4, 0.5, 0), LogVar: matrix(3, 4, 2.5, -1)}
	for i := range 3 {
		p.Recon[i], p.KL[i] = 350+10*p.Recon[i], 10+p.KL[i]
	}
	return p
}

func checkClose(t *testing.T, what string, got, want []float64, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d values, want %d", what, len(got), len(want))
	}
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= tolerance) {
			t.Errorf("%s: element %d is %v, want %v", what, i, got[i], want[i])
		}
	}
}

// NumPy 2.4.6: the second of the three records.
var second = []float64{359.9166481045247, 10.42737988023383, 370.34402798475855, 0.8504366206285644, 0.4121184852417566,
	-0.9566350162701879, -0.1656041754483094, -0.8755455764929383, -1.9999902065507036, -0.8667679585800578,
	-0.034342223450722575, 1.3548650814248147, 2.349256683537935}

func TestFeaturesAreNumPysInThePapersOrder(t *testing.T) {
	for want, f := range map[int]func(Posterior) (array.Matrix[float64], error){13: Full, 11: WithoutNorms, 3: Losses} {
		m, err := f(three())
		if err != nil {
			t.Fatal(err)
		}
		checkClose(t, "features", m.Row(1), second[:want], 1e-12)
	}
	names := Names(4)
	if len(names) != 13 || names[3] != "mu_1" || names[7] != "logvar_1" || names[12] != "norm_logvar" || len(Names(32)) != 69 {
		t.Errorf("names %v, %d for 32 axes", names, len(Names(32)))
	}
	p := three()
	p.Mu, p.LogVar = p.LogVar, p.Mu
	if m, _ := Full(p); m.Row(1)[3] == second[3] || m.Row(1)[11] == second[11] {
		t.Error("means and log-variances may be exchanged")
	}
}

func TestSinglePrecisionPosteriorsAreTakenAsTheyAre(t *testing.T) {
	p := three()
	p.Mu = array.Convert[float32](p.Mu.(array.Matrix[float64]))
	m, err := Full(p)
	if err != nil {
		t.Fatal(err)
	}
	checkClose(t, "features", m.Row(1), second, 1e-7)
}

// scikit-learn 1.9.1, NearestNeighbors(n_neighbors=5): the mean of the distances.
func TestTheSeventiethFeatureIsScikitLearns(t *testing.T) {
	m, err := WithDistance(array.New[float64](3, 1), Neighbours{Codes: matrix(3, 4, 0.5, 0), Reference: matrix(10, 4, 3.3, 0)})
	if err != nil {
		t.Fatal(err)
	}
	checkClose(t, "distances", []float64{m.Row(0)[1], m.Row(1)[1], m.Row(2)[1]}, []float64{0.9194852954432029, 0.9817477011062549, 1.199510378412754}, 1e-12)
}

func TestMeanDistancesEqualSortingAllDistances(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		n := Neighbours{Codes: random(rng, 7, 3), Reference: random(rng, 20, 3), K: 1 + rng.IntN(19)}
		if rng.IntN(2) == 0 {
			n.Exclude = func(i int) int { return 2*i - 3 } // the first two meet all
		}
		got, err := n.MeanDistances()
		if err != nil {
			t.Fatal(err)
		}
		want := make([]float64, 7)
		for i := range want {
			var all []float64
			for j := range 20 {
				if n.Exclude == nil || n.Exclude(i) != j {
					a, b := n.Codes.Read(nil, i), n.Reference.Read(nil, j)
					all = append(all, math.Hypot(math.Hypot(a[0]-b[0], a[1]-b[1]), a[2]-b[2]))
				}
			}
			slices.Sort(all)
			for _, d := range all[:n.K] {
				want[i] += d / float64(n.K)
			}
		}
		checkClose(t, "distances", got, want, 1e-12)
	}
}

func random(rng *rand.Rand, rows, cols int) array.Matrix[float64] {
	m := array.New[float64](rows, cols)
	for k := range m.Data {
		m.Data[k] = math.Round(4 * rng.NormFloat64()) // ties
	}
	return m
}

func TestFeaturesOfNonsenseAreRefused(t *testing.T) {
	for words, corrupt := range map[string]func(p *Posterior){
		"no reconstruction":         func(p *Posterior) { p.Recon = nil },
		"2 divergences for 3":       func(p *Posterior) { p.KL = p.KL[:2] },
		"no posterior means":        func(p *Posterior) { p.LogVar = nil },
		"a posterior of 3 x 5":      func(p *Posterior) { p.LogVar = matrix(3, 5, 0, 0) },
		"a posterior of 2 x 4":      func(p *Posterior) { p.LogVar = matrix(2, 4, 0, 0) },
		"losses: row 1, column 0":   func(p *Posterior) { p.Recon[1] = math.NaN() },
		"divergences: row 2":        func(p *Posterior) { p.KL[2] = math.Inf(1) },
		"means: row 0, column 2 is": func(p *Posterior) { p.Mu.(array.Matrix[float64]).Data[2] = math.NaN() },
	} {
		p := three()
		corrupt(&p)
		if _, err := Full(p); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("error %v, want one with %q", err, words)
		}
	}
	good := func() Neighbours { return Neighbours{Codes: matrix(3, 4, 0, 0), Reference: matrix(6, 4, 1, 0)} }
	for words, corrupt := range map[string]func(n *Neighbours){
		"no codes":                func(n *Neighbours) { n.Codes = nil },
		"the 7 nearest of 6":      func(n *Neighbours) { n.K = 7 },
		"the -1 nearest":          func(n *Neighbours) { n.K = -1 },
		"the 6 nearest of 5":      func(n *Neighbours) { n.K, n.Exclude = 6, func(int) int { return 0 } },
		"4 axes, the reference 3": func(n *Neighbours) { n.Reference = matrix(6, 3, 1, 0) },
		"reference codes: row 1":  func(n *Neighbours) { n.Reference.(array.Matrix[float64]).Data[5] = math.NaN() },
		"3 codes for 2 rows":      func(*Neighbours) {},
	} {
		n := good()
		corrupt(&n)
		if _, err := WithDistance(array.New[float64](2, 1), n); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("error %v, want one with %q", err, words)
		}
	}
}
