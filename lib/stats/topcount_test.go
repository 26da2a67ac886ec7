package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// SciPy 1.17.1, hypergeom.cdf(spared, n_pos+n_neg, n_neg, above+spared).
func TestCountTopIsTheHypergeometricTail(t *testing.T) {
	for _, c := range []struct {
		above, spared, pos, neg int
		p                       float64
	}{
		{12, 0, 150, 450, 4.238301154026497e-08}, {3, 2, 20, 40, 0.2011355097269767}, {30, 22, 150, 450, 1.337918263938819e-07},
		{0, 5, 10, 30, 1}, {10, 0, 10, 30, 1.1797175484382116e-09},
	} {
		pos, neg := make([]float64, c.pos), make([]float64, c.neg)
		for i := range pos {
			pos[i] = -1
			if i < c.above {
				pos[i] = 1
			}
		}
		for i := range c.spared {
			neg[i] = 2
		}
		got, err := CountTop(pos, neg, c.spared)
		if err != nil || got.Above != c.above || math.Abs(got.P/c.p-1) > 1e-9 {
			t.Errorf("%+v: %+v, %v", c, got, err)
		}
		if want := float64(c.spared+1) * float64(c.pos) / float64(c.neg+1); got.Expected != want || got.Spared != c.spared {
			t.Errorf("%+v: %+v expected", c, got)
		}
	}
}

// Every order of five positives and seven negatives: P is the share with as many above, and Expected the mean.
func TestCountTopAgainstEveryOrder(t *testing.T) {
	const pos, neg = 5, 7
	for spared := range neg {
		var counts []int
		at := map[int]TopCount{}
		for set := range 1 << (pos + neg) {
			var p, n []float64
			for i := range pos + neg {
				if set>>i&1 == 1 {
					p = append(p, float64(i))
				} else {
					n = append(n, float64(i))
				}
			}
			if len(p) != pos {
				continue
			}
			got, err := CountTop(p, n, spared)
			if err != nil {
				t.Fatal(err)
			}
			counts, at[got.Above] = append(counts, got.Above), got
		}
		sum := 0.0
		for above, got := range at {
			share := 0.0
			for _, c := range counts {
				if c >= above {
					share++
				}
			}
			if share /= float64(len(counts)); math.Abs(got.P-share) > 1e-12 {
				t.Errorf("%d above with %d spared: P is %v, a share of %v", above, spared, got.P, share)
			}
		}
		for _, c := range counts {
			sum += float64(c)
		}
		if mean := sum / float64(len(counts)); math.Abs(mean-at[0].Expected) > 1e-12 {
			t.Errorf("%d spared: expected %v, the mean is %v", spared, at[0].Expected, mean)
		}
	}
}

// Equal scores make P larger, never smaller; positives and negatives exchanged give another count.
func TestCountTopWithTiesAndRoles(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const samples = 2000
	small := 0
	for range samples {
		pos, neg := make([]float64, 30), make([]float64, 60)
		for _, x := range [][]float64{pos, neg} {
			for i := range x {
				x[i] = float64(rng.IntN(12))
			}
		}
		got, err := CountTop(pos, neg, 3)
		if err != nil {
			t.Fatal(err)
		}
		if got.P <= 0.05 {
			small++
		}
	}
	if share := float64(small) / samples; share > 0.065 {
		t.Errorf("of %d samples of one distribution %.3f have P at most 0.05", samples, share)
	}
	high, low := []float64{5, 6, 7}, []float64{1, 2, 3, 4}
	a, _ := CountTop(high, low, 0)
	b, _ := CountTop(low, high, 0)
	if a.Above != 3 || b.Above != 0 || b.P != 1 {
		t.Errorf("%+v and exchanged %+v", a, b)
	}
}

func TestCountTopRefusesWhatCannotBeCounted(t *testing.T) {
	two := []float64{1, 2}
	for _, c := range []struct {
		pos, neg []float64
		spared   int
	}{{nil, two, 0}, {two, nil, 0}, {two, []float64{math.NaN()}, 0}, {two, two, 2}, {two, two, -1}} {
		if _, err := CountTop(c.pos, c.neg, c.spared); err == nil {
			t.Errorf("%v against %v, %d spared, was accepted", c.pos, c.neg, c.spared)
		}
	}
}

// The least count is the first of CountTop's whose probability is small enough.
func TestLeastTopIsTheFirstCountOfASmallChance(t *testing.T) {
	for _, c := range []struct{ pos, neg, spared int }{{20, 60, 0}, {20, 60, 3}, {150, 450, 4}, {3, 2, 1}} {
		for _, limit := range []float64{0.05, 1e-3, 1e-5} {
			want := c.pos + 1
			for above := c.pos; above >= 0; above-- {
				pos, neg := make([]float64, c.pos), make([]float64, c.neg)
				for i := range neg {
					neg[i] = float64(1 + i)
				}
				for i := range above {
					pos[i] = 1e6
				}
				top, err := CountTop(pos, neg, c.spared)
				if err != nil || top.Above != above {
					t.Fatalf("%+v, %v", top, err)
				}
				if top.P <= limit {
					want = above
				}
			}
			if got, err := LeastTop(c.pos, c.neg, c.spared, limit); err != nil || got != want {
				t.Errorf("%+v at %v: %d, want %d; %v", c, limit, got, want, err)
			}
		}
	}
	for _, n := range [][3]int{{0, 5, 0}, {5, 5, 5}, {5, 5, -1}} {
		if _, err := LeastTop(n[0], n[1], n[2], 0.05); err == nil {
			t.Errorf("%v was accepted", n)
		}
	}
}
