package ruler

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Stretched intervals of M2 hold what few forget records are drawn from about as often as they say; plain ones of
// six records do not.
func TestWideIntervalsOfM2Cover(t *testing.T) {
	const trials = 400
	for _, k := range []struct {
		n      int
		skewed bool
		least  float64
	}{{6, false, 0.92}, {10, false, 0.92}, {22, false, 0.92}, {100, false, 0.92}, {6, true, 0.83}, {22, true, 0.89}} {
		wide, plain, truth := 0, 0, 0.0
		if k.skewed {
			truth = 1 - math.Ln2
		}
		for i := range trials {
			rng := rand.New(rand.NewPCG(uint64(i), uint64(k.n)))
			f, r := gaussian(rng, 1, k.n).Data, gaussian(rng, 1, 200).Data
			for _, x := range [][]float64{f, r} {
				for j := range x {
					if k.skewed {
						x[j] = rng.ExpFloat64()
					}
					x[j] /= 10 // M2 is between -2 and 2
				}
			}
			opt := Options{Reps: 200, BootstrapSeed: uint64(i)}
			holds := func() int {
				if e := m2(Evidence{}, nil, f, r, Median, opt); e.Low <= truth/10 && truth/10 <= e.High {
					return 1
				}
				return 0
			}
			plain += holds()
			opt.Wide = true
			wide += holds()
		}
		if c := float64(wide) / trials; c < k.least || c > 0.985 {
			t.Errorf("%+v: wide intervals hold it in %.3f", k, c)
		}
		if c := float64(plain) / trials; k.n == 6 && c > 0.91 {
			t.Errorf("%+v: plain intervals hold it in %.3f, so that nothing is shown", k, c)
		}
	}
}

// Six similarities by hand: Student's quantile of 5 degrees of freedom over the normal one, and sqrt(6/5).
func TestWideIntervalsOfM2AreStretched(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	f, r := []float64{0.1, 0.2, 0.4, 0.3, 0.15, 0.5}, gaussian(rng, 1, 50).Data
	plain, wide := m2(Evidence{}, nil, f, r, Median, Options{}), m2(Evidence{}, nil, f, r, Median, Options{Wide: true})
	by := 2.570582 / 1.959964 * math.Sqrt(1.2)
	checkClose(t, "lower half", wide.Value-wide.Low, by*(plain.Value-plain.Low), 1e-6)
	checkClose(t, "upper half", wide.High-wide.Value, by*(plain.High-plain.Value), 1e-6)
	if wide.Value != plain.Value || wide.Over != plain.Over || wide.N != 6 || *wide.Null != 0 {
		t.Errorf("%+v, %+v", wide, plain)
	}
}

// M4 of samples of one distribution has the standard deviation of the Mann-Whitney statistic.
func TestM4VariesWithItsGalleryToo(t *testing.T) {
	const trials = 4000
	for _, size := range [][2]int{{50, 50}, {20, 100}, {100, 20}} {
		squares := 0.0
		for k := range trials {
			rng := rand.New(rand.NewPCG(uint64(k), 23))
			n := &nearest{forget: make([]float64, size[0]), gallery: make([]float64, size[1])}
			for _, x := range [][]float64{n.forget, n.gallery} {
				for i := range x {
					x[i] = rng.Float64()
				}
			}
			m := n.m4(Evidence{}, Options{PointOnly: true}).Value - 0.5
			squares += m * m / trials
		}
		want := M4ChanceSD(size[0], size[1])
		checkClose(t, "variance of M4", squares, want*want, 0.1*want*want)
	}
	checkClose(t, "a gallery without end", M4ChanceSD(30, 1e9), M4NullSD(30), 1e-7)
}

// Forget and retained records of one distribution: intervals that take the gallery as given miss a half too often.
func TestWideIntervalsOfM4CountTheGallery(t *testing.T) {
	const trials = 300
	wide, plain := 0, 0
	for k := range trials {
		rng := rand.New(rand.NewPCG(uint64(k), 24))
		e := Evidence{Unlearned: gaussian(rng, 100, 8), Forget: intRange(0, 50), Retain: intRange(50, 100)}
		for _, opt := range []Options{{}, {Wide: true}} {
			m, _, err := M4(e, opt)
			if err != nil {
				t.Fatal(err)
			}
			if held := m.Low <= 0.5 && 0.5 <= m.High; held && opt.Wide {
				wide++
			} else if held {
				plain++
			}
		}
	}
	if w, p := float64(wide)/trials, float64(plain)/trials; w < 0.84 || p > 0.8 {
		t.Errorf("wide intervals hold a half in %.3f, plain ones in %.3f", w, p)
	}
}
