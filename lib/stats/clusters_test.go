package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// drawClusters draws values with an intra-class correlation; numbers of clusters begin at first.
func drawClusters(rng *rand.Rand, sizes []int, icc float64, first int) (x []float64, of Clusters) {
	for c, m := range sizes {
		shared := math.Sqrt(icc) * rng.NormFloat64()
		for range m {
			x, of = append(x, shared+float64(math.Sqrt(1-icc)*rng.NormFloat64())), append(of, first+c)
		}
	}
	return x, of
}

// drawSizes draws sizes of clusters, of one size or log-normal with a mean of about 11.
func drawSizes(rng *rand.Rand, clusters int, uneven bool) []int {
	out := make([]int, clusters)
	for i := range out {
		if out[i] = 10; uneven {
			out[i] = 1 + int(8*math.Exp(0.8*rng.NormFloat64()))
		}
	}
	return out
}

// sameInterval compares two estimates.
func sameInterval(t *testing.T, what string, got, want Estimate) {
	t.Helper()
	checkClose(t, what+": value", got.Value, want.Value, 1e-12)
	checkClose(t, what+": low", got.Low, want.Low, 1e-12)
	checkClose(t, what+": high", got.High, want.High, 1e-12)
}

// own returns n clusters of one value, from first on, in a shuffled order.
func own(rng *rand.Rand, n, first int) Clusters {
	out := Clusters(rng.Perm(n))
	for i := range out {
		out[i] += first
	}
	return out
}

func positives(x []float64) []bool {
	out := make([]bool, len(x))
	for i, v := range x {
		out[i] = v > 0
	}
	return out
}

// With every record its own cluster every number is that of independent records.
func TestClustersOfOneRecordChangeNothing(t *testing.T) {
	rng := newRNG(51)
	x, y := normals(rng, 30, 0.4), normals(rng, 45, 0)
	a, b := own(rng, 30, 0), own(rng, 45, 30)
	auc, err := ClusterAUC(x, y, a, b, 0.95, "authors")
	must(t, err)
	sameInterval(t, "AUC", auc, delong(t, x, y))
	sameInterval(t, "mean", ClusterInterval(x, a, 0.95, "authors"), MeanInterval(x, 0.95, "records"))
	losses := mapValues(x, math.Exp)
	sameInterval(t, "positive mean", ClusterPositive(losses, a, 0.95, "authors"), PositiveMean(losses, 0.95, "records"))
	hits := positives(x)
	share, err := ClusterShare([][]bool{hits}, []Clusters{a}, 0.95, "authors")
	must(t, err)
	sameInterval(t, "share", share, Share(hits, "records", func(v bool) bool { return v }))
	tpr, err := ClusterTPRInterval(x, y, a, b, 0.05, 0.95, "authors")
	must(t, err)
	plain, err := TPRInterval(x, y, 0.05, 0.95)
	must(t, err)
	sameInterval(t, "TPR", tpr, plain)
	stat := func(idx []int) float64 { return x[idx[0]] + x[idx[29]] }
	nearAll(t, "bootstrap", ClusterBootstrap(30, a, 50, newRNG(1), stat), Bootstrap(30, 50, newRNG(1), stat), 0)
	for _, e := range []Estimate{auc, share, tpr} {
		if e.Clustered != nil || e.Over != "records" {
			t.Errorf("%+v has clusters", e)
		}
	}
	floor := ChanceFloor(30, 45)
	if floor.Clustered(auc.Clustered, Floor{}, 1) != floor {
		t.Error("the floor of independent records changes")
	}
}

// The variance itself, without the way around it for clusters of one record.
func TestTheClusterVarianceOfSingleRecordsIsDeLongs(t *testing.T) {
	rng := newRNG(52)
	x, y := tied(rng, 30, 9), tied(rng, 45, 9)
	above, below := placements(x, y)
	auc, err := AUC(x, y)
	must(t, err)
	s := sumByCluster([]part{{residuals: subtractMean(above, auc), of: own(rng, 30, 0)}, {residuals: subtractMean(below, auc)}})
	v, freedom := clusterVariance(s, []float64{1, 1})
	checkClose(t, "variance", v, delongVariance(blocks(x, y), auc, 30, 45), 1e-12)
	if s.all != 75 || freedom < 29 || freedom > 73 {
		t.Errorf("%d clusters, %v degrees of freedom", s.all, freedom)
	}
	_, mean, freedom := clusterMean(x, own(rng, 30, 0), meanOf(x))
	checkClose(t, "variance of a mean", mean, sdOf(x)*sdOf(x)/30, 1e-12)
	checkClose(t, "degrees of freedom", freedom, 29, 1e-12)
}

// twice copies every value, as a cluster, in another order.
func twice(rng *rand.Rand, x []float64, first int) (out []float64, of Clusters) {
	for _, i := range append(rng.Perm(len(x)), rng.Perm(len(x))...) {
		out, of = append(out, x[i]), append(of, first+i)
	}
	return out, of
}

// halfByOdds is what an AUC's interval takes for a quantile times its standard error: the distance of
// the logarithms of the odds, times AUC (1 - AUC).
func halfByOdds(e Estimate) float64 {
	odds := func(v float64) float64 { return math.Log(v / (1 - v)) }
	return (odds(e.Value) - odds(e.Low)) * e.Value * (1 - e.Value)
}

// Copies of every record, as its cluster, are worth no more than the originals.
func TestCopiesOfEveryRecordChangeNothing(t *testing.T) {
	rng := newRNG(53)
	x, y := normals(rng, 30, 0.4), normals(rng, 45, 0)
	xx, a := twice(rng, x, 0)
	yy, b := twice(rng, y, 30)
	sameInterval(t, "mean", ClusterInterval(xx, a, 0.95, "authors"), MeanInterval(x, 0.95, "records"))
	sameInterval(t, "positive mean", ClusterPositive(mapValues(xx, math.Exp), a, 0.95, "authors"), PositiveMean(mapValues(x, math.Exp), 0.95, "records"))
	tpr, err := ClusterTPRInterval(xx, yy, a, b, 0.05, 0.95, "authors")
	must(t, err)
	plain, err := TPRInterval(x, y, 0.05, 0.95)
	must(t, err)
	sameInterval(t, "TPR", tpr, plain)
	difference, err := ClusterDifference(xx, yy, a, b, 0.95, "authors")
	must(t, err)
	alone, err := ClusterDifference(x, y, nil, nil, 0.95, "records")
	must(t, err)
	sameInterval(t, "difference", difference, alone)

	// The standard error is DeLong's, the quantile Student's in place of the normal one.
	auc, err := ClusterAUC(xx, yy, a, b, 0.95, "authors")
	must(t, err)
	e := delong(t, x, y)
	wider := studentQuantile(0.975, auc.Clustered.Freedom) / normalQuantile(0.975)
	checkClose(t, "AUC", auc.Value, e.Value, 1e-12)
	checkClose(t, "half of the AUC's interval", halfByOdds(auc), wider*(e.Value-e.Low), 1e-12)
	if auc.N != 75 || auc.Clustered.Records != 150 || auc.Clustered.Smallest != 30 || auc.Over != "authors" || auc.Clustered.Freedom < 29 {
		t.Errorf("%+v, %+v", auc, auc.Clustered)
	}
	// A share of G originals has G trials again, and Student's quantile.
	share, err := ClusterShare([][]bool{positives(xx)}, []Clusters{a}, 0.95, "authors")
	must(t, err)
	low, high := wilson(share.Value, 30, studentQuantile(0.975, 29))
	sameInterval(t, "share", share, Estimate{Value: share.Value, Low: low, High: high})

	draw := func(x []float64) func(idx []int) float64 {
		return func(idx []int) float64 { return sumOf(valuesAtTest(x, idx)) / float64(len(idx)) }
	}
	both := append(slices.Clone(x), x...)
	of := make(Clusters, 60)
	for i := range of {
		of[i] = i % 30
	}
	nearAll(t, "bootstrap", ClusterBootstrap(60, of, 50, newRNG(1), draw(both)), Bootstrap(30, 50, newRNG(1), draw(x)), 1e-12)
}

func valuesAtTest(x []float64, idx []int) []float64 {
	out := make([]float64, len(idx))
	for k, i := range idx {
		out[k] = x[i]
	}
	return out
}

// A perfect AUC of copies has the exact bound of the originals.
func TestCopiesThatDoNotOverlapHaveTheExactBound(t *testing.T) {
	rng := newRNG(54)
	x, y := sequence(8, func(i float64) float64 { return 100 + i }), sequence(12, func(i float64) float64 { return i })
	xx, a := twice(rng, x, 0)
	yy, b := twice(rng, y, 8)
	e, err := ClusterAUC(xx, yy, a, b, 0.95, "authors")
	must(t, err)
	sameInterval(t, "AUC 1", e, delong(t, x, y))
	e, err = ClusterAUC(yy, xx, b, a, 0.95, "authors")
	must(t, err)
	sameInterval(t, "AUC 0", e, delong(t, y, x))
	// Eight clusters on both sides make four pairs that use each once.
	e, err = ClusterAUC(xx, sequence(8, func(i float64) float64 { return i }), a, Clusters{0, 1, 2, 3, 4, 5, 6, 7}, 0.95, "authors")
	must(t, err)
	checkClose(t, "shared clusters", e.Low, math.Pow(0.025, 0.25), 1e-12)
}

// obuchowski is the variance as the paper writes it, from loops over pairs.
func obuchowski(pos, neg []float64, posOf, negOf Clusters) float64 {
	m, n := float64(len(pos)), float64(len(neg))
	psi := func(a, b float64) float64 {
		switch {
		case a > b:
			return 1
		case a == b:
			return 0.5
		}
		return 0
	}
	auc := 0.0
	for _, a := range pos {
		for _, b := range neg {
			auc += psi(a, b) / m / n
		}
	}
	ten, one, all := map[int]float64{}, map[int]float64{}, map[int]bool{}
	for i, a := range pos {
		v := 0.0
		for _, b := range neg {
			v += psi(a, b) / n
		}
		ten[posOf[i]] += v - auc
		all[posOf[i]] = true
	}
	for j, b := range neg {
		v := 0.0
		for _, a := range pos {
			v += psi(a, b) / m
		}
		one[negOf[j]] += v - auc
		all[negOf[j]] = true
	}
	s10, s01, s11 := 0.0, 0.0, 0.0
	for _, v := range ten {
		s10 += v * v
	}
	for _, v := range one {
		s01 += v * v
	}
	for c, v := range ten {
		s11 += v * one[c]
	}
	i10, i01, i := float64(len(ten)), float64(len(one)), float64(len(all))
	return i10/(i10-1)*s10/m/m + i01/(i01-1)*s01/n/n + 2*i/(i-1)*s11/m/n
}

// For clusters of one size, apart or shared by both sides, the variance is Obuchowski's.
func TestTheVarianceIsObuchowskis(t *testing.T) {
	rng := newRNG(55)
	for _, first := range []int{100, 0} { // apart, shared
		x, a := drawClusters(rng, slices.Repeat([]int{4}, 12), 0.5, 0)
		y, b := drawClusters(rng, slices.Repeat([]int{3}, 12), 0.5, first)
		if first == 0 {
			for j := range y {
				y[j] += x[4*(j/3)]
			}
		}
		x[5] = y[7] // a tie
		e, err := ClusterAUC(x, y, a, b, 0.95, "authors")
		must(t, err)
		h := studentQuantile(0.975, e.Clustered.Freedom) * math.Sqrt(obuchowski(x, y, a, b))
		checkClose(t, "half of the interval", halfByOdds(e), h, 1e-12)
		checkClose(t, "design effect", e.Clustered.DesignEffect, obuchowski(x, y, a, b)/delongVariance(blocks(x, y), e.Value, 48, 36), 1e-12)
	}
}

func TestSidesThatShareClustersHaveTheirCovariance(t *testing.T) {
	rng := newRNG(56)
	x, a := drawClusters(rng, slices.Repeat([]int{5}, 20), 0.9, 0)
	y := make([]float64, len(x))
	for i := range y {
		y[i] = x[i] + float64(0.1*rng.NormFloat64())
	}
	apart := make(Clusters, len(a))
	for i, c := range a {
		apart[i] = c + 100
	}
	together, err := ClusterAUC(x, y, a, a, 0.95, "authors")
	must(t, err)
	separate, err := ClusterAUC(x, y, a, apart, 0.95, "authors")
	must(t, err)
	if together.N != 20 || separate.N != 40 || 3*(together.High-together.Low) > separate.High-separate.Low {
		t.Errorf("shared %+v, apart %+v", together, separate)
	}
}

// The jackknife that leaves out a cluster at a time.
func TestTheVarianceOfAMeanIsTheJackknifes(t *testing.T) {
	rng := newRNG(57)
	x, of := drawClusters(rng, []int{1, 2, 3, 10, 25}, 0.5, 0)
	g := 5.0
	squares := 0.0
	for leave := range 5 {
		var rest []float64
		for i, v := range x {
			if of[i] != leave {
				rest = append(rest, v)
			}
		}
		squares += (meanOf(rest) - meanOf(x)) * (meanOf(rest) - meanOf(x))
	}
	_, v, freedom := clusterMean(x, of, meanOf(x))
	checkClose(t, "variance", v, (g-1)/g*squares, 1e-12)
	checkClose(t, "degrees of freedom", freedom, 41.0*41/739-1, 1e-12)
	checkClose(t, "effective clusters", of.Effective(41), 41.0*41/739, 1e-12)
}

// Nominal 95 % intervals of values in few clusters, of one size and of sizes that differ much.
func TestClusterIntervalsCover(t *testing.T) {
	reps := 1000
	if testing.Short() {
		reps = 300
	}
	noise := 3 * math.Sqrt(0.05*0.95/float64(reps))
	for _, uneven := range []bool{false, true} {
		for _, clusters := range []int{6, 12, 50} {
			for _, icc := range []float64{0, 0.3, 0.8} {
				rng, held := newRNG(uint64(60+clusters)), map[string]int{}
				naive := 0
				for range reps {
					x, a := drawClusters(rng, drawSizes(rng, clusters, uneven), icc, 0)
					y, b := drawClusters(rng, drawSizes(rng, clusters, uneven), icc, 100)
					count := func(what string, e Estimate, truth float64) {
						if e.Low <= truth && truth <= e.High {
							held[what]++
						}
					}
					auc, err := ClusterAUC(x, y, a, b, 0.95, "authors")
					must(t, err)
					count("AUC", auc, 0.5)
					count("mean", ClusterInterval(x, a, 0.95, "authors"), 0)
					difference, err := ClusterDifference(x, y, a, b, 0.95, "authors")
					must(t, err)
					count("difference", difference, 0)
					share, err := ClusterShare([][]bool{positives(x)}, []Clusters{a}, 0.95, "authors")
					must(t, err)
					count("share", share, 0.5)
					if e := delong(t, x, y); e.Low <= 0.5 && 0.5 <= e.High {
						naive++
					}
				}
				name := fmt.Sprintf("%d clusters, uneven %t, correlation %g", clusters, uneven, icc)
				for what, n := range held {
					highest := 0.97
					if what == "share" {
						highest = 1 // at most n trials, and Student's quantile: too wide for independent records
					}
					if c := float64(n) / float64(reps); c < 0.90-noise || c > highest+noise {
						t.Errorf("%s: %s covers %.3f", name, what, c)
					}
				}
				if c := float64(naive) / float64(reps); icc > 0 && c > 0.8 {
					t.Errorf("%s: independent records cover %.3f, so that nothing is shown", name, c)
				}
			}
		}
	}
}

// The rate is kept at a nominal level whatever the clusters; without them it is not.
func TestClusterTPRIntervalsCover(t *testing.T) {
	rng, held, naive := newRNG(58), 0, 0
	const reps, fpr = 300, 0.05
	want := 0.5 * math.Erfc((normalQuantile(1-fpr)-1)/math.Sqrt2)
	for range reps {
		x, a := drawClusters(rng, drawSizes(rng, 40, true), 0.8, 0)
		y, b := drawClusters(rng, drawSizes(rng, 80, true), 0.8, 100)
		for i := range x {
			x[i]++
		}
		e, err := ClusterTPRInterval(x, y, a, b, fpr, 0.95, "authors")
		must(t, err)
		if e.Low <= want && want <= e.High {
			held++
		}
		plain, err := TPRInterval(x, y, fpr, 0.95)
		must(t, err)
		if plain.Low <= want && want <= plain.High {
			naive++
		}
	}
	if held < 275 || naive > 255 {
		t.Errorf("%d of %d intervals hold %v, %d that take records as independent", held, reps, want, naive)
	}
}

// The floor of clustered scores holds 95 of 100 distances of the null.
func TestTheClusterFloorHoldsTheNull(t *testing.T) {
	rng, within, naive := newRNG(59), 0, 0
	const reps = 500
	for range reps {
		x, a := drawClusters(rng, drawSizes(rng, 15, false), 0.5, 0)
		y, b := drawClusters(rng, drawSizes(rng, 20, false), 0.5, 100)
		e, err := ClusterAUC(x, y, a, b, 0.95, "authors")
		must(t, err)
		floor, d := ChanceFloor(150, 200), math.Abs(2*e.Value-1)
		if d <= floor.Clustered(e.Clustered, ChanceFloor(15, 20), 1).P95 {
			within++
		}
		if d <= floor.P95 {
			naive++
		}
	}
	if within < 460 || within > 490 || naive > 350 {
		t.Errorf("%d of %d are within the floor, %d within that of independent records", within, reps, naive)
	}
}

// Without a design effect, as at an AUC of 1, a cluster counts as one record.
func TestTheFloorWithoutADesignEffectIsThatOfTheClusters(t *testing.T) {
	worst := ChanceFloor(5, 6)
	if got := ChanceFloor(50, 60).Clustered(&Clustered{Records: 110}, worst, 1); got != worst {
		t.Errorf("%+v", got)
	}
	if got := ChanceFloor(50, 60).Clustered(&Clustered{DesignEffect: 1e6, Freedom: 3}, worst, 1); got != (Floor{1, 1}) {
		t.Errorf("a floor beyond the largest distance: %+v", got)
	}
}

// One cluster shows nothing of how clusters differ.
func TestASingleClusterHasNoInterval(t *testing.T) {
	x, y := []float64{1, 2, 3}, []float64{0, 1.5, 4}
	same, apart := Clusters{7, 7, 7}, Clusters{1, 2, 2}
	auc, err := ClusterAUC(x, y, same, apart, 0.95, "authors")
	must(t, err)
	share, err := ClusterShare([][]bool{{true, false, true}}, []Clusters{same}, 0.95, "authors")
	must(t, err)
	difference, err := ClusterDifference(x, y, same, apart, 0.95, "authors")
	must(t, err)
	for _, e := range []Estimate{auc, share, difference, ClusterInterval(x, same, 0.95, "authors"), ClusterPositive(x, same, 0.95, "authors")} {
		if math.IsNaN(e.Value) || e.HasInterval() || e.Clustered.Smallest != 1 {
			t.Errorf("%+v, %+v", e, e.Clustered)
		}
	}
}

func TestClustersThatDoNotFitAreRefused(t *testing.T) {
	x, y, short := []float64{1, 2}, []float64{3, 4}, Clusters{1}
	_, err := ClusterAUC(x, y, short, nil, 0.95, "a")
	refuses(t, err, "stats.ClusterAUC: pos has 2 values", "the clusters of pos has 1")
	_, err = ClusterAUC(x, []float64{math.NaN()}, nil, nil, 0.95, "a")
	refuses(t, err, "neg[0] is NaN")
	_, err = ClusterTPRInterval(x, y, nil, short, 0.1, 0.95, "a")
	refuses(t, err, "stats.ClusterTPRInterval: neg has 2")
	_, err = ClusterTPRInterval(x, y, nil, nil, 2, 0.95, "a")
	refuses(t, err, "stats.ClusterTPRInterval: fpr is 2")
	_, err = ClusterDifference(x, nil, nil, nil, 0.95, "a")
	refuses(t, err, "stats.ClusterDifference: b is empty")
	_, err = ClusterShare([][]bool{{true}}, nil, 0.95, "a")
	refuses(t, err, "stats.ClusterShare: holds has 1 values, of has 0")
	_, err = ClusterShare(nil, nil, 0.95, "a")
	refuses(t, err, "stats.ClusterShare: there is no sample")
	_, err = ClusterShare([][]bool{{true, false}}, []Clusters{short}, 0.95, "a")
	refuses(t, err, "stats.ClusterShare: holds has 2 values")
	_, err = ClusterShare([][]bool{{}}, []Clusters{nil}, 0.95, "a")
	refuses(t, err, "holds is empty")
	if e := ClusterInterval(x, short, 0.95, "a"); !math.IsNaN(e.Value) {
		t.Errorf("%+v", e)
	}
	if e := ClusterPositive(x, short, 0.95, "a"); !math.IsNaN(e.Value) {
		t.Errorf("%+v", e)
	}
	if ClusterBootstrap(2, short, 3, newRNG(1), func([]int) float64 { return 0 }) != nil {
		t.Error("a bootstrap of clusters that do not fit")
	}
}

// The original model of an audit has a high AUC, near which an interval of the AUC itself is too
// short: 81 of 100 at 0.9, 6 against 20 clusters and a correlation of 0.8.
func TestClusterAUCCoversAwayFromOneHalf(t *testing.T) {
	rng := newRNG(515)
	const reps = 400
	for _, of := range []struct {
		members, others int
		shift           float64 // 0.7416: AUC 0.7, 1.8124: 0.9
		correlation     float64
	}{{6, 20, 0.7416, 0.8}, {6, 20, 1.8124, 0.3}, {6, 20, 1.8124, 0.8}, {20, 20, 1.8124, 0.3}, {20, 20, 1.8124, 0.8}} {
		truth, covered := 0.5*math.Erfc(-of.shift/2), 0
		for range reps {
			x, a := drawClusters(rng, drawSizes(rng, of.members, true), of.correlation, 0)
			for i := range x {
				x[i] += of.shift
			}
			y, b := drawClusters(rng, drawSizes(rng, of.others, true), of.correlation, of.members)
			e, err := ClusterAUC(x, y, a, b, 0.95, "authors")
			if err != nil {
				t.Fatal(err)
			}
			if e.Low <= truth && truth <= e.High {
				covered++
			}
		}
		if share := float64(covered) / reps; share < 0.90 || share > 0.995 {
			t.Errorf("%+v: an AUC of %.2f is held in %.3f", of, truth, share)
		}
	}
}
