package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestBoundedMeansOfZerosAndOnesAreWilsons(t *testing.T) {
	x := []float64{1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0}
	got, want := ClusterBounded(x, nil, 0.95, "authors"), Wilson(0.25, 12, 0.95)
	// Student's quantile of 11 degrees of freedom in place of the normal one.
	want.Low, want.High = wilson(0.25, 12, studentQuantile(0.975, 11))
	if math.Abs(got.Low-want.Low) > 1e-12 || math.Abs(got.High-want.High) > 1e-12 || got.Value != 0.25 {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestBoundedMeansWithoutSpreadAreThoseOfAsManyTrials(t *testing.T) {
	x, of := make([]float64, 12), Clusters{0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3}
	for _, v := range []float64{0, 1, 0.5} {
		for i := range x {
			x[i] = v
		}
		for n, e := range map[int]Estimate{12: ClusterBounded(x, nil, 0.95, "authors"), 4: ClusterBounded(x, of, 0.95, "authors")} {
			if want := Wilson(v, n, 0.95); e.Low != want.Low || e.High != want.High {
				t.Errorf("all %v: [%v, %v], want that of %d trials, [%v, %v]", v, e.Low, e.High, n, want.Low, want.High)
			}
		}
	}
}

func TestBoundedMeansRefuseOtherValues(t *testing.T) {
	for _, x := range [][]float64{{0.5, 1.1, 0.2}, {-0.1, 0.2, 0.3}, {math.NaN(), 0, 1}, nil} {
		if e := ClusterBounded(x, nil, 0.95, ""); e.HasInterval() || e.Value == e.Value {
			t.Errorf("%v has %v", x, e)
		}
	}
	if e := ClusterBounded([]float64{0.1, 0.3}, Clusters{5, 5}, 0.95, "authors"); e.HasInterval() || e.Value != 0.2 {
		t.Errorf("a single cluster has %v", e)
	}
}

// TestBoundedMeansCoverWhereStudentsDoNot draws shares near 0 that groups share.
func TestBoundedMeansCoverWhereStudentsDoNot(t *testing.T) {
	const draws, groups, size = 1500, 12, 10
	rng := rand.New(rand.NewPCG(1, 2))
	draw := func() float64 { return math.Exp(-2.6 + 0.8*rng.NormFloat64()) }
	truth, many := 0.0, 400000
	for range many {
		truth += min(1, draw()) / float64(many)
	}
	bounded, students := 0, 0
	for range draws {
		var x []float64
		var of Clusters
		for g := range groups {
			shared := draw()
			for range size {
				x, of = append(x, min(1, shared)), append(of, g)
			}
		}
		for e, held := range map[Estimate]*int{ClusterBounded(x, of, 0.95, "g"): &bounded, ClusterInterval(x, of, 0.95, "g"): &students} {
			if e.Low <= truth && truth <= e.High {
				*held++
			}
		}
	}
	if b, s := float64(bounded)/draws, float64(students)/draws; b < 0.89 || b <= s {
		t.Errorf("%.3f of the intervals hold the mean, %.3f of Student's", b, s)
	}
}
