package stats

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

func meanOver(x []float64) func(idx []int) (float64, error) {
	return func(idx []int) (float64, error) {
		sum := 0.0
		for _, i := range idx {
			sum += x[i]
		}
		return sum / float64(len(idx)), nil
	}
}

// Of a mean it is ClusterInterval for clusters of one size, and Student's interval without clusters.
func TestTheJackknifeOfAMeanIsStudents(t *testing.T) {
	x := []float64{1, 4, 2, 8, 5, 7, 1, 1, 9, 3, 0, 2}
	of := Clusters{5, 5, 2, 2, 2, 5, 9, 9, 9, 1, 1, 1}
	for name, c := range map[string]struct {
		of   Clusters
		want Estimate
	}{
		"clusters": {of, ClusterInterval(x, of, 0.9, "authors")},
		"none":     {nil, MeanInterval(x, 0.9, "authors")},
	} {
		got, err := JackknifeInterval(len(x), c.of, 0.9, "authors", meanOver(x))
		if err != nil {
			t.Fatal(err)
		}
		if got.N != c.want.N || got.Over != "authors" || math.Abs(got.Value-c.want.Value)+math.Abs(got.Low-c.want.Low)+math.Abs(got.High-c.want.High) > 1e-12 {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestTheJackknifeRefusesWhatHasNoInterval(t *testing.T) {
	x := []float64{1, 2, 4, 3}
	broken := func([]int) (float64, error) { return 0, ErrConstant }
	infinite := func([]int) (float64, error) { return math.Inf(1), nil }
	for name, err := range map[string]error{
		"one cluster":        errorOf(JackknifeInterval(4, Clusters{1, 1, 1, 1}, 0.95, "", meanOver(x))),
		"another number":     errorOf(JackknifeInterval(4, Clusters{1, 2}, 0.95, "", meanOver(x))),
		"a level of 1":       errorOf(JackknifeInterval(4, nil, 1, "", meanOver(x))),
		"no statistic":       errorOf(JackknifeInterval(4, nil, 0.95, "", nil)),
		"nothing":            errorOf(JackknifeInterval(0, nil, 0.95, "", meanOver(x))),
		"a statistic's own":  errorOf(JackknifeInterval(4, nil, 0.95, "", broken)),
		"an infinite result": errorOf(JackknifeInterval(4, nil, 0.95, "", infinite)),
	} {
		if err == nil {
			t.Errorf("%s is accepted", name)
		}
		if name == "a statistic's own" && !errors.Is(err, ErrConstant) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func errorOf(_ Estimate, err error) error { return err }

// 95 % intervals of tau of normal values with a correlation: its expectation is 2/pi asin(rho).
func TestTheJackknifeOfKendallCovers(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 9))
	const n, sets, rho = 60, 400, 0.7
	want, covered := 2/math.Pi*math.Asin(rho), 0
	for range sets {
		x, y := make([]float64, n), make([]float64, n)
		for i := range x {
			x[i] = rng.NormFloat64()
			y[i] = rho*x[i] + math.Sqrt(1-rho*rho)*rng.NormFloat64()
		}
		e, err := JackknifeInterval(n, nil, 0.95, "", func(idx []int) (float64, error) {
			a, b := make([]float64, len(idx)), make([]float64, len(idx))
			for k, i := range idx {
				a[k], b[k] = x[i], y[i]
			}
			return Kendall(a, b)
		})
		if err != nil {
			t.Fatal(err)
		}
		if e.Low <= want && want <= e.High {
			covered++
		}
	}
	if share := float64(covered) / sets; share < 0.91 || share > 0.98 {
		t.Errorf("%v of intervals have it", share)
	}
}
