package stats

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestSilhouetteIsScikitLearns(t *testing.T) {
	x := [][2]float64{{0, 0}, {1, 0}, {0, 2}, {5, 5}, {6, 5}, {5, 7}, {9, 1}, {3, 3}}
	between := func(i, j int) float64 { return math.Hypot(x[i][0]-x[j][0], x[i][1]-x[j][1]) }
	mean, each, err := Silhouette([]int{0, 0, 0, 7, 7, 7, -2, 0}, between)
	if err != nil {
		t.Fatal(err)
	}
	// scikit-learn 1.9.1, silhouette_score and silhouette_samples.
	want := []float64{0.6915878527561762, 0.6823237201459641, 0.6227301751482648, 0.7289185743536255, 0.676393202250021, 0.6996525810261763, 0, -0.009477821665867674}
	if math.Abs(mean-0.5115160355017949) > 1e-14 {
		t.Errorf("mean %v", mean)
	}
	for i, s := range each {
		if math.Abs(s-want[i]) > 1e-14 {
			t.Errorf("record %d: %v, scikit-learn has %v", i, s, want[i])
		}
	}
}

func TestSilhouetteOfLabelsWithoutMeaningIsNotPositive(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	x, labels := normals(rng, 400, 0), make([]int, 400)
	for i := range labels {
		labels[i] = rng.IntN(3)
	}
	if mean, _, err := Silhouette(labels, func(i, j int) float64 { return math.Abs(x[i] - x[j]) }); err != nil || mean > 0.01 {
		t.Errorf("mean %v, %v", mean, err)
	}
	if mean, _, err := Silhouette([]int{1, 2, 1}, func(int, int) float64 { return 0 }); err != nil || mean != 0 {
		t.Errorf("records that are all at one place: %v, %v", mean, err)
	}
}

func TestSilhouetteRefusesInvalidInput(t *testing.T) {
	one := func(int, int) float64 { return 1 }
	for want, f := range map[string]func() (float64, []float64, error){
		"3 records have 1 different labels": func() (float64, []float64, error) { return Silhouette([]int{4, 4, 4}, one) },
		"0 records have 0 different labels": func() (float64, []float64, error) { return Silhouette(nil, one) },
		"records 0 and 1 is NaN": func() (float64, []float64, error) {
			return Silhouette([]int{0, 1}, func(int, int) float64 { return math.NaN() })
		},
		"records 0 and 1 is -1": func() (float64, []float64, error) {
			return Silhouette([]int{0, 1}, func(int, int) float64 { return -1 })
		},
	} {
		if _, _, err := f(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}
