package sde

import (
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
)

// hash01 is a fixed sequence in [0, 1) that any language reproduces exactly:
// 32-bit integer hashing of k + 1000003 seed.
func hash01(k, seed int) float64 {
	x := uint32(k+seed*1000003) * 0x9E3779B1
	x ^= x >> 15
	x *= 0x85EBCA77
	x ^= x >> 13
	return float64(x) / (1 << 32)
}

func hashed(n, p, seed int, scale float64) *Matrix {
	m := array.New[float64](n, p)
	for i := range m.Data {
		m.Data[i] = scale * (hash01(i, seed) - 0.5)
	}
	return &m
}

// All golden numbers of this file were computed from the definitions with NumPy
// 2.4.6 and SciPy 1.17.1.

func TestHSICEqualsNumPy(t *testing.T) {
	x, y := hashed(24, 5, 1, 3), hashed(24, 3, 2, 2)
	for _, c := range []struct {
		name string
		f    func(x, y *Matrix, b Bandwidth) (float64, error)
		b    Bandwidth
		want float64
	}{
		{"biased", HSIC, SqrtDim(), 0.003080821894035158},
		{"unbiased", HSICUnbiased, SqrtDim(), -0.0022063382426925466},
		{"biased, median", HSIC, MedianDistance(), 0.004686577693416418},
	} {
		got, err := c.f(x, y, c.b)
		if err != nil {
			t.Fatal(err)
		}
		checkClose(t, c.name, got, c.want, 1e-13)
	}
	sigma, err := MedianDistance().Resolve(x)
	if err != nil {
		t.Fatal(err)
	}
	checkClose(t, "median distance", sigma, 2.4022451101819726, 1e-14)
}

// The standard deviation comes from the formula of Kazi-Aoual et al. (1995) for
// the permutation variance, which is written and derived differently from ours.
func TestSplitHalfEqualsNumPy(t *testing.T) {
	m := hashed(40, 10, 3, 8)
	for _, c := range []struct {
		b                  Bandwidth
		identity, mean, sd float64
		spread             [2]float64
	}{
		{SqrtDim(), 0.05045145425843897, 0.0504800866228219, 0.00010922148134850574, [2]float64{0.9815977029487618, 0.9771025777183192}},
		{Fixed(LogitSigma), 5.854284548273822e-07, 5.714278115937872e-07, 7.573457109146075e-08, [2]float64{0.0034758668513399766, 0.0031235743153097016}},
	} {
		d, err := SplitHalf(m, Options{Bandwidth: c.b}, Options{}.stream(1))
		if err != nil {
			t.Fatal(err)
		}
		// NumPy loses digits of K at sigma = 128; ours are kept.
		checkClose(t, "identity", d.Identity/c.identity, 1, 1e-11)
		checkClose(t, "exact mean", d.ExactMean/c.mean, 1, 1e-11)
		checkClose(t, "exact sd", d.ExactSD/c.sd, 1, 1e-10)
		checkClose(t, "first spread", d.Spread[0]/c.spread[0], 1, 1e-11)
		checkClose(t, "second spread", d.Spread[1]/c.spread[1], 1, 1e-11)
	}
}

func sequence(n, seed int, scale, shift float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = hash01(i, seed)*scale + shift
	}
	return out
}

func TestDivergencesEqualSciPy(t *testing.T) {
	target, p, q := sequence(60, 11, 0.8, 0.1), sequence(60, 12, 1, 0), sequence(60, 13, 0.6, 0.5)
	for name, c := range map[string]struct {
		opt     Options
		in, out float64
		tol     float64
	}{
		"10 bins":           {Options{Bins: 10}, 0.07961189380383028, 0.2595607962858336, 1e-14},
		"32 bins":           {Options{Bins: 32}, 0.18988992982152528, 0.30889959778198545, 1e-14},
		"50 bins":           {Options{}, 0.2615519443437935, 0.3674645589603032, 1e-14},
		"100 bins":          {Options{Bins: 100}, 0.3704045507517633, 0.4522236268265219, 1e-14},
		"pairs":             {Options{Divergence: PairBins}, 0.2889605341110867, 0.3501154455965182, 1e-14},
		"Freedman-Diaconis": {Options{Divergence: FreedmanDiaconis}, 0.034781340295496434, 0.27488389807123553, 1e-14},
		"raw":               {Options{Divergence: RawValues}, 0.08887739189012596, 0.040264467617887136, 1e-14},
		"kde":               {Options{Divergence: KernelDensity}, 0.013128955578787654, 0.205702181561417, 1e-9},
		"normal":            {Options{Divergence: NormalDistributions}, 0.0071406013767238655, 0.24127840951989965, 1e-9},
	} {
		d, err := Compare(target, Draws{In: p, Out: q}, c.opt)
		if err != nil {
			t.Fatal(err)
		}
		checkClose(t, name+", in", d.In, c.in, c.tol)
		checkClose(t, name+", out", d.Out, c.out, c.tol)
	}
}

func TestGateEqualsSciPy(t *testing.T) {
	p, q := sequence(60, 12, 1, 0), sequence(60, 13, 0.6, 0.5)
	up, err1 := NewGate(Draws{In: q, Out: p}, 0.01)
	down, err2 := NewGate(Draws{In: p, Out: q}, 0.01)
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	checkClose(t, "U", up.U, 3062, 0)
	checkClose(t, "p", up.P/1.781980573099312e-11, 1, 1e-9)
	checkClose(t, "p the other way", down.P, 0.9999999999828021, 1e-12)
	if !up.Valid || down.Valid {
		t.Errorf("%+v, %+v", up, down)
	}
}

func TestCompetitorsEqualSciPy(t *testing.T) {
	target, in, out := hashed(12, 4, 21, 2), hashed(12, 4, 22, 2.2), hashed(12, 4, 23, 1.5)
	pool, err := NewPool("target", target)
	if err != nil {
		t.Fatal(err)
	}
	all := make([]int, 12)
	for i := range all {
		all[i] = i
	}
	for _, c := range []struct {
		m       Method
		in, out float64
	}{
		{MMD{}, 0.05373665172628006, 0.07651258848172549},
		{CoordinateWasserstein{}, 0.3058139620203293, 0.293132463930912},
		{FlatWasserstein{}, 0.13366779789697225, 0.19845276295867129},
		{SpreadOnly{}, 0.1492215317134517, 0.09579500834900626},
	} {
		p, err := c.m.Prepare(pool, References{In: in, Out: out}, Options{Bandwidth: Fixed(2)})
		if err != nil {
			t.Fatal(err)
		}
		d := p.Compare(all, nil)
		checkClose(t, c.m.Name()+", in", d.In, c.in, 1e-14)
		checkClose(t, c.m.Name()+", out", d.Out, c.out, 1e-14)
	}
	spread, err := Spread(target, Fixed(2))
	if err != nil {
		t.Fatal(err)
	}
	checkClose(t, "spread", spread, 0.2310598758080536, 1e-14)
}

// scipy.stats.wasserstein_distance.
func TestWassersteinOfUnequalSizesEqualsSciPy(t *testing.T) {
	a, b := sequence(60, 11, 0.8, 0.1), sequence(60, 13, 0.6, 0.5)
	checkClose(t, "37 and 60", wasserstein(sorted(a[:37]), sorted(b)), 0.29581730446589455, 1e-14)
	checkClose(t, "60 and 60", wasserstein(sorted(a), sorted(sequence(60, 12, 1, 0))), 0.056406597973934075, 1e-14)
}
