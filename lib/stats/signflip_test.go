package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func signFlip(t *testing.T, diff []float64, cluster []int) SignFlipResult {
	t.Helper()
	r, err := SignFlip(diff, cluster, 0, newRNG(90))
	must(t, err)
	return r
}

// SciPy 1.17.1: stats.permutation_test((s,), numpy.sum, permutation_type="samples",
// n_resamples=numpy.inf), which tries all signs of cluster sums s; two-sided it doubles the smaller
// tail, the same for a statistic that is symmetric about 0.
func TestSignFlipMatchesSciPy(t *testing.T) {
	for _, c := range []struct {
		sums []float64
		p    float64
	}{
		{[]float64{1.5, -0.3, 2.1, 0.7, -1.1, 3.3, 0.2, -0.6, 2.8, 1.9}, 0.05859375},
		{[]float64{1, 1, 1, 1, 1}, 0.0625},
		{[]float64{3, -1, 2, 2, -2, 4, 1}, 0.21875},
		{[]float64{-0.5, -2, 0.25, -1}, 0.25},
	} {
		r := signFlip(t, c.sums, nil)
		checkClose(t, "P", r.P, c.p, 0)
		checkClose(t, "least", r.Smallest, math.Ldexp(1, 1-len(c.sums)), 0)
		if !r.Exact || r.Draws != 0 {
			t.Errorf("%+v", r)
		}
	}
}

// P by its definition, one sign pattern after another, of unequal clusters and of integers, which
// tie.
func TestSignFlipEqualsEnumeration(t *testing.T) {
	rng := newRNG(91)
	for n := 1; n <= 24; n++ {
		diff, cluster := make([]float64, n), make([]int, n)
		for i := range diff {
			diff[i], cluster[i] = float64(rng.IntN(7)-3), rng.IntN(9)
			if n%2 == 0 {
				diff[i] = rng.NormFloat64()
			}
		}
		sums := map[int]float64{}
		for i, d := range diff {
			sums[cluster[i]] += d
		}
		values, total := []float64{}, 0.0
		for _, s := range sums {
			values, total = append(values, s), total+s
		}
		count := 0
		for bits := range 1 << len(values) {
			sum := 0.0
			for k, s := range values {
				sum += s * float64(1-2*(bits>>k&1))
			}
			if math.Abs(sum) >= math.Abs(total)-1e-9 {
				count++
			}
		}
		checkClose(t, "P", signFlip(t, diff, cluster).P, float64(count)/float64(int(1)<<len(values)), 0)
	}
}

func TestSignFlipOfExchangedRolesIsTheSame(t *testing.T) {
	x := normals(newRNG(92), 30, 0.4)
	y := mapValues(x, func(v float64) float64 { return -v })
	for _, c := range [][]int{blocksOf(30, 3), blocksOf(30, 1)} {
		a, b := signFlip(t, x, c), signFlip(t, y, c)
		checkClose(t, "mean", b.Mean, -a.Mean, 0)
		if a.Exact && a.P != b.P || math.Abs(a.P-b.P) > 0.03 {
			t.Errorf("P is %v, with exchanged roles %v", a.P, b.P)
		}
	}
}

func TestSignFlipHidesNothingPlantedAndFindsNoCopies(t *testing.T) {
	rng := newRNG(93)
	x, c := sharedEffects(rng, 15, 20)
	planted := mapValues(x, func(v float64) float64 { return v + 2 })
	if r := signFlip(t, planted, c); r.P > 0.001 || r.Mean < 1 {
		t.Errorf("planted: %+v", r)
	}
	once, twice := signFlip(t, x, c), signFlip(t, append(append([]float64{}, x...), x...), append(append([]int{}, c...), c...))
	checkClose(t, "P of copies", twice.P, once.P, 0)
}

// Under the null P is uniform, exact and drawn, with effects that clusters share. Signs of single
// values would reject far too often.
func TestSignFlipIsCalibrated(t *testing.T) {
	for _, clusters := range []int{12, 30} {
		rng := newRNG(uint64(94 + clusters))
		var p []float64
		rejected := 0
		for range 400 {
			x, c := sharedEffects(rng, clusters, 6)
			r, err := SignFlip(x, c, 499, rng)
			must(t, err)
			p = append(p, r.P)
			single, err := SignFlip(x, nil, 199, rng)
			must(t, err)
			if single.P <= 0.05 {
				rejected++
			}
		}
		if _, uniform, err := KSUniform(p); err != nil || uniform < 0.001 {
			t.Errorf("%d clusters: P is not uniform: %v, %v", clusters, uniform, err)
		}
		if rejected < 60 {
			t.Errorf("%d clusters: signs of single values reject %d of 400 times, the clusters do not matter here", clusters, rejected)
		}
	}
}

func TestDrawnSignsNearExactOnes(t *testing.T) {
	x := normals(newRNG(96), 18, 0.3)
	exact := signFlip(t, x, nil)
	near := drawnSigns(x, 20000, newRNG(97))
	if math.Abs(near-exact.P) > 0.015 {
		t.Errorf("drawn %v, exact %v", near, exact.P)
	}
}

// The observed signs count as a draw: P is never 0.
func TestDrawnSignsReachNoZero(t *testing.T) {
	r, err := SignFlip(sequence(30, func(i float64) float64 { return i + 5 }), nil, 99, newRNG(98))
	must(t, err)
	if r.P != 0.01 || r.Smallest != 0.01 || r.Draws != 99 || r.Exact {
		t.Errorf("%+v", r)
	}
}

// sharedEffects are values of mean 0 of which a shared effect is half of the variance.
func sharedEffects(rng *rand.Rand, clusters, size int) ([]float64, Clusters) {
	return drawClusters(rng, slices.Repeat([]int{size}, clusters), 0.5, 0)
}

// blocksOf returns clusters of the given size.
func blocksOf(n, size int) Clusters {
	c := make(Clusters, n)
	for i := range c {
		c[i] = i / size
	}
	return c
}

func TestSignFlipNamesBadInput(t *testing.T) {
	good := []float64{1, 2, 3}
	for want, err := range map[string]error{
		"stats.SignFlip: diff is empty":                             first(SignFlip(nil, nil, 0, nil)),
		"stats.SignFlip: diff[0] is +Inf":                           first(SignFlip([]float64{math.Inf(1)}, nil, 0, nil)),
		"stats.SignFlip: diff has 3 values, cluster has 1":          first(SignFlip(good, []int{1}, 0, nil)),
		"stats.SignFlip: draws is -1":                               first(SignFlip(good, nil, -1, nil)),
		"stats.SignFlip: rng is nil, and 21 clusters have too many": first(SignFlip(make([]float64, 21), nil, 0, nil)),
	} {
		refuses(t, err, want)
	}
}
