package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

func clusterMean1(t *testing.T, x []float64, cluster []int) ClusterMeanResult {
	t.Helper()
	r, err := ClusterMean(x, cluster, 0.95, "authors")
	must(t, err)
	return r
}

// blocksOf returns clusters of the given size.
func blocksOf(n, size int) []int {
	c := make([]int, n)
	for i := range c {
		c[i] = i / size
	}
	return c
}

func TestClustersOfOneSizeAreTheirMeans(t *testing.T) {
	x := normals(newRNG(81), 60, 0.3)
	means := make([]float64, 12)
	for i, v := range x {
		means[i/5] += v / 5
	}
	want, got := MeanInterval(means, 0.95, "authors"), clusterMean1(t, x, blocksOf(60, 5))
	nearAll(t, "interval", []float64{got.Mean.Value, got.Mean.Low, got.Mean.High, got.Freedom}, []float64{want.Value, want.Low, want.High, 11}, 1e-12)
	if got.Mean.N != 12 || got.Values != 60 || got.Mean.Over != "authors" {
		t.Errorf("%+v", got)
	}
}

func TestWithoutClustersItIsStudents(t *testing.T) {
	x := normals(newRNG(82), 40, 1)
	want := MeanInterval(x, 0.95, "authors")
	for _, cluster := range [][]int{nil, blocksOf(40, 1)} {
		got := clusterMean1(t, x, cluster)
		nearAll(t, "interval", []float64{got.Mean.Low, got.Mean.High, got.DesignEffect, got.Freedom}, []float64{want.Low, want.High, 1, 39}, 1e-12)
	}
}

// The jackknife by its definition: leave out a cluster, take the mean of the rest.
func TestClusterErrorIsTheJackknife(t *testing.T) {
	x, cluster := normals(newRNG(83), 30, 0), []int{}
	for c, size := range []int{1, 2, 9, 3, 8, 7} {
		for range size {
			cluster = append(cluster, 10-c)
		}
	}
	rest := make([]float64, 6)
	for c := range rest {
		sum, n := 0.0, 0.0
		for i, v := range x {
			if cluster[i] != 10-c {
				sum, n = sum+v, n+1
			}
		}
		rest[c] = sum / n
	}
	full, squares := clusterMean1(t, x, cluster), 0.0
	for _, m := range rest {
		squares += (m - full.Mean.Value) * (m - full.Mean.Value)
	}
	checkClose(t, "error", full.Error, math.Sqrt(5.0/6*squares), 1e-12)
	square, fourth := 1.0+4+81+9+64+49, 1.0+16+6561+81+4096+2401
	checkClose(t, "freedom", full.Freedom, square*square/fourth-1, 1e-12)
}

// Duplicating every value within its cluster adds no information: the error stays and the design
// effect doubles, up to n-1 against n.
func TestCopiesInAClusterAddNothing(t *testing.T) {
	x := normals(newRNG(84), 60, 0)
	c := blocksOf(60, 4)
	one, two := clusterMean1(t, x, c), clusterMean1(t, append(append([]float64{}, x...), x...), append(append([]int{}, c...), c...))
	nearAll(t, "mean and error", []float64{two.Mean.Value, two.Error, two.Mean.Low}, []float64{one.Mean.Value, one.Error, one.Mean.Low}, 1e-12)
	checkClose(t, "design effect", two.DesignEffect/one.DesignEffect, 119.0/59, 1e-9)
	if alone := clusterMean1(t, append(append([]float64{}, x...), x...), nil); !(alone.Error < 0.9*two.Error) {
		t.Errorf("without clusters the error of copies is %v, with them %v", alone.Error, two.Error)
	}
}

func TestClusterMeanIgnoresOrderAndNames(t *testing.T) {
	rng := newRNG(85)
	x, c := normals(rng, 50, 0), blocksOf(50, 7)
	want := clusterMean1(t, x, c)
	y, d := make([]float64, 50), make([]int, 50)
	for to, from := range rng.Perm(50) {
		y[to], d[to] = x[from], 1000-3*c[from]
	}
	got := clusterMean1(t, y, d)
	nearAll(t, "reordered", []float64{got.Mean.Value, got.Error, got.DesignEffect, got.Freedom}, []float64{want.Mean.Value, want.Error, want.DesignEffect, want.Freedom}, 1e-12)
}

// With a shared effect of variance 1 beside noise of variance 1, twenty values a cluster, the design
// effect is 1 + 19/2, the interval covers the mean, and one without clusters does not.
func TestTheClusteredIntervalCovers(t *testing.T) {
	rng, covered, naive, design := newRNG(86), 0, 0, 0.0
	const runs = 600
	for range runs {
		x, c := sharedEffects(rng, 15, 20)
		r := clusterMean1(t, x, c)
		design += r.DesignEffect / runs
		if r.Mean.Low <= 0 && r.Mean.High >= 0 {
			covered++
		}
		if e := MeanInterval(x, 0.95, "records"); e.Low <= 0 && e.High >= 0 {
			naive++
		}
	}
	if covered < 0.92*runs || covered > 0.98*runs || naive > runs*2/3 {
		t.Errorf("of %d intervals %d cover with clusters, %d without", runs, covered, naive)
	}
	if design < 9 || design > 12 {
		t.Errorf("the mean design effect is %v, want about 10.5", design)
	}
}

func sharedEffects(rng *rand.Rand, clusters, size int) ([]float64, []int) {
	var x []float64
	for range clusters {
		shared := rng.NormFloat64()
		for range size {
			x = append(x, shared+rng.NormFloat64())
		}
	}
	return x, blocksOf(len(x), size)
}

func TestClusterMeanNamesBadInput(t *testing.T) {
	good := []float64{1, 2, 3}
	for want, err := range map[string]error{
		"stats.ClusterMean: x is empty":                             first(ClusterMean(nil, nil, 0.95, "a")),
		"stats.ClusterMean: x[1] is NaN":                            first(ClusterMean([]float64{1, math.NaN()}, nil, 0.95, "a")),
		"stats.ClusterMean: x has 3 values, cluster has 2":          first(ClusterMean(good, []int{1, 2}, 0.95, "a")),
		"stats.ClusterMean: all 3 values are in one cluster":        first(ClusterMean(good, []int{4, 4, 4}, 0.95, "a")),
		"stats.ClusterMean: level is 1":                             first(ClusterMean(good, nil, 1, "a")),
		"stats.SignFlip: diff is empty":                             first(SignFlip(nil, nil, 0, nil)),
		"stats.SignFlip: diff[0] is +Inf":                           first(SignFlip([]float64{math.Inf(1)}, nil, 0, nil)),
		"stats.SignFlip: diff has 3 values, cluster has 1":          first(SignFlip(good, []int{1}, 0, nil)),
		"stats.SignFlip: draws is -1":                               first(SignFlip(good, nil, -1, nil)),
		"stats.SignFlip: rng is nil, and 21 clusters have too many": first(SignFlip(make([]float64, 21), nil, 0, nil)),
	} {
		refuses(t, err, want)
	}
	if r := clusterMean1(t, []float64{2, 2, 2}, nil); !math.IsNaN(r.DesignEffect) || r.Error != 0 {
		t.Errorf("equal values: %+v", r)
	}
}
