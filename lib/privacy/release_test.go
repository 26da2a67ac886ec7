package privacy

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/stats"
)

// noiseOf is what a mechanism adds to the vector 0, of n coordinates.
func noiseOf(t *testing.T, m Mechanism, n int) []float64 {
	t.Helper()
	release, err := m.Prepare()
	if err != nil {
		t.Fatal(err)
	}
	v := make([]float64, n)
	release([][]float64{v}, draws(5))
	return v
}

// The quantiles of every coordinate under the stated distribution are uniform. Noise at location
// 1, the program's, is not.
func TestNoiseIsCentredAndHasItsLaw(t *testing.T) {
	std, err := Gaussian{Clip: 3}.Std()
	if err != nil {
		t.Fatal(err)
	}
	laplace := func(z float64) float64 { // of scale 2*3/2 = 3
		if z < 0 {
			return math.Exp(z/3) / 2
		}
		return 1 - math.Exp(-z/3)/2
	}
	for _, c := range []struct {
		m   Mechanism
		cdf func(float64) float64
	}{{Laplace{Clip: 3}, laplace}, {Gaussian{Clip: 3}, func(z float64) float64 { return normal(z / std) }}} {
		place := func(shift float64) float64 {
			var u []float64
			for _, v := range noiseOf(t, c.m, 20000) {
				u = append(u, c.cdf(v+shift))
			}
			_, p, err := stats.KSUniform(u)
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		if p := place(0); p < 1e-3 {
			t.Errorf("%s: the noise does not have its law, p = %v", c.m.Name(), p)
		}
		if p := place(1); p > 1e-6 {
			t.Errorf("%s: noise moved by 1 is not noticed, p = %v", c.m.Name(), p)
		}
	}
}

// Pure differential privacy on the worst pair, vectors of opposite sign at the bound:
// the logarithm of the densities' ratio reaches epsilon and never passes it.
func TestLaplaceSpendsItsEpsilon(t *testing.T) {
	for _, l := range []Laplace{{}, {Epsilon: 0.3, Clip: 7}, {Epsilon: 4, Releases: 3}} {
		r, b := defaults.Fill(l), l.Scale()
		worst := 0.0
		for z := -3 * r.Clip; z <= 3*r.Clip; z += r.Clip / 50 {
			worst = max(worst, math.Abs(z+r.Clip)/b-math.Abs(z-r.Clip)/b)
		}
		checkClose(t, "epsilon of all releases", worst*float64(r.Releases), r.Epsilon, 1e-9)
	}
}

// A Gaussian release has an exact delta (Balle and Wang 2018, theorem 8): RDP's noise
// keeps below the delta asked for, by less than a factor of 20.
func TestGaussianSpendsNoMoreThanItsEpsilon(t *testing.T) {
	for _, g := range []Gaussian{{}, {Epsilon: 0.5, Delta: 1e-6, Clip: 9}, {Epsilon: 3, Releases: 10}} {
		r := defaults.Fill(g)
		std, err := g.Std()
		if err != nil {
			t.Fatal(err)
		}
		mu := 2 * r.Clip * math.Sqrt(float64(r.Releases)) / std
		delta := normal(mu/2-r.Epsilon/mu) - math.Exp(r.Epsilon)*normal(-mu/2-r.Epsilon/mu)
		if delta > r.Delta || delta < r.Delta/20 {
			t.Errorf("%+v: the exact delta is %v", r, delta)
		}
		h, err := g.History()
		if err != nil {
			t.Fatal(err)
		}
		spent, err := h.RDP(r.Delta)
		if err != nil {
			t.Fatal(err)
		}
		checkClose(t, "epsilon by RDP", spent.Epsilon, r.Epsilon, 1e-6)
		if bounds, err := h.PRV(r.Delta, PRV{EpsilonError: 0.005}); err != nil || bounds.High > r.Epsilon {
			t.Errorf("%+v: %+v by the privacy loss: %v", r, bounds, err)
		}
	}
}

// Nearly without noise what is released is the vector, shortened by its own norm.
func TestLongVectorsAreShortenedAndShortOnesLeft(t *testing.T) {
	const quiet = 1e9
	for _, c := range []struct {
		m         Mechanism
		long      float64 // the norm of {3, -4, 12}
		short     []float64
		tolerance float64
	}{{Laplace{Epsilon: quiet}, 19, []float64{0.5, -0.2, 0.3}, 1e-6}, {Gaussian{Epsilon: quiet, Delta: 0.5}, 13, []float64{0.5, -0.2, 0.3}, 0.3}} {
		release, err := c.m.Prepare()
		if err != nil {
			t.Fatal(err)
		}
		long, short := [][]float64{{3, -4}, nil, {12}}, [][]float64{slices.Clone(c.short)}
		release(long, draws(1))
		release(short, draws(1))
		for i, want := range []float64{3 / c.long, -4 / c.long} {
			if math.Abs(long[0][i]-want) > c.tolerance {
				t.Errorf("%s: %v, want %v", c.m.Name(), long[0][i], want)
			}
		}
		for i, want := range c.short {
			if math.Abs(short[0][i]-want) > c.tolerance {
				t.Errorf("%s: a short vector becomes %v", c.m.Name(), short[0])
			}
		}
	}
}

func TestRowsAreReleasedByTheirNumbers(t *testing.T) {
	x := bright(3, 5)
	before := slices.Clone(x.Data)
	for _, m := range []Mechanism{Laplace{}, Gaussian{}} {
		all, err := Release(m, x, firstInts(3), draws(1))
		if err != nil {
			t.Fatal(err)
		}
		one, err := Release(m, x.Gather([]int{2}), []int{2}, draws(1))
		if err != nil || !slices.Equal(one.Row(0), all.Row(2)) {
			t.Errorf("%s: a record's noise depends on its company: %v", m.Name(), err)
		}
		other, err := Release(m, x.Gather([]int{2}), []int{1}, draws(1))
		if err != nil || slices.Equal(other.Row(0), all.Row(2)) {
			t.Errorf("%s: the number does not matter: %v", m.Name(), err)
		}
		if !slices.Equal(x.Data, before) {
			t.Errorf("%s writes to the rows", m.Name())
		}
	}
}

func TestInvalidReleasesAreRefused(t *testing.T) {
	x := bright(2, 3)
	nan := bright(2, 3)
	nan.Data[4] = float32(math.NaN())
	for words, c := range map[string]struct {
		m       Mechanism
		x       array.Matrix[float32]
		records []int
	}{
		"laplace: the epsilon is -1":             {Laplace{Epsilon: -1}, x, firstInts(2)},
		"laplace: the longest vector is NaN":     {Laplace{Clip: math.NaN()}, x, firstInts(2)},
		"gaussian: the longest vector is +Inf":   {Gaussian{Clip: math.Inf(1)}, x, firstInts(2)},
		"gaussian: -2 releases":                  {Gaussian{Releases: -2}, x, firstInts(2)},
		"delta is 2":                             {Gaussian{Delta: 2}, x, firstInts(2)},
		"laplace: row 1, column 1 is NaN":        {Laplace{}, nan, firstInts(2)},
		"gaussian: 2 rows with the numbers of 1": {Gaussian{}, x, firstInts(1)},
	} {
		if _, err := Release(c.m, c.x, c.records, func(int) *rand.Rand { return draws(1)(0) }); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("error %v, want one with %q", err, words)
		}
	}
}
