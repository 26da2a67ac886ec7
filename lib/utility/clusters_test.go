package utility

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/stats"
)

// wavy are 120 records with 3 features, in four overlapping groups where apart.
func wavy(apart bool) (array.Matrix[float64], []int) {
	x, y := array.New[float64](120, 3), make([]int, 120)
	centres := [][]float64{{0, 0, 0}, {1.2, 0, 0}, {0, 1.2, 0.4}, {1, 1, 1.5}}
	for i := range y {
		if y[i] = i * 7 / 5 % 4; i%11 == 0 {
			y[i] = 2
		}
		for j := range 3 {
			k := float64(3*i + j)
			x.Row(i)[j] = math.Sin(0.3 + 1.7*k*(1+k/1000))
			if apart {
				x.Row(i)[j] += centres[y[i]][j]
			}
		}
	}
	return x, y
}

func generator(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 5)) }

// scikit-learn 1.9.1: KMeans(4, n_init=50) reaches this inertia from five seeds,
// KMeans(8, n_init=10) of records without groups 13.4952 or 13.5298.
func TestKMeansFindsWhatScikitLearnFinds(t *testing.T) {
	x, y := wavy(true)
	for seed := range uint64(3) {
		labels, inertia, err := KMeans{K: 4, Restarts: 300}.Partition(x, generator(seed))
		if err != nil || math.Abs(inertia-108.66624573603181) > 1e-8 {
			t.Fatalf("seed %d: inertia %.12f, %v", seed, inertia, err)
		}
		if r, err := stats.AdjustedRandIndex(y, labels); err != nil || math.Abs(r-0.25761610356866743) > 1e-12 {
			t.Errorf("seed %d: adjusted Rand index %v, %v", seed, r, err)
		}
	}
	plain, _ := wavy(false)
	if _, inertia, err := (KMeans{K: 8}).Partition(plain, generator(1)); err != nil || inertia > 13.7 || inertia < 13.3 {
		t.Errorf("without groups: %v, %v", inertia, err)
	}
}

// The inertia is that of the labels, and no record is nearer to
// another group's mean than to its own.
func TestAPartitionIsAtRest(t *testing.T) {
	x, _ := wavy(false)
	labels, inertia, err := KMeans{K: 5}.Partition(x, generator(2))
	if err != nil {
		t.Fatal(err)
	}
	centres, total := means(x, labels, make([]float64, x.Rows), 5), 0.0
	for i, l := range labels {
		own := squaredDistance(x.Row(i), centres.Row(l))
		for c := range 5 {
			if squaredDistance(x.Row(i), centres.Row(c)) < own-1e-12 {
				t.Errorf("record %d of group %d is nearer to %d", i, l, c)
			}
		}
		total += own
	}
	if math.Abs(total-inertia) > 1e-9 {
		t.Errorf("inertia %v, want %v", inertia, total)
	}
}

// Three places, four groups: one of them is empty after the first step, whatever is
// drawn, and there is no error to be made.
func TestAnEmptyGroupBeginsAnew(t *testing.T) {
	x := array.Matrix[float64]{Rows: 5, Cols: 1, Data: []float64{0, 0, 1, 1, 9}}
	for seed := range uint64(20) {
		labels, inertia, err := KMeans{K: 4, Restarts: 1}.Partition(x, generator(seed))
		if err != nil || inertia != 0 || labels[0] != labels[1] || labels[2] != labels[3] {
			t.Fatalf("%v, %v, %v", labels, inertia, err)
		}
	}
	far := means(x, []int{0, 0, 0, 0, 0}, []float64{1, 1, 2, 2, 7}, 2)
	if far.Row(1)[0] != 9 || far.Row(0)[0] != 11.0/5 {
		t.Errorf("centres %v", far.Data)
	}
}

// scikit-learn 1.9.1: silhouette_score, and the mean of cross_val_score of
// OneVsRestClassifier(LogisticRegression(C=1)) over StratifiedKFold(5), with the fold
// of every record.
func TestSilhouetteAndProbeAreScikitLearns(t *testing.T) {
	x, y := wavy(true)
	if s, err := Silhouette(x, y); err != nil || math.Abs(s-0.14329261102444724) > 1e-12 {
		t.Errorf("silhouette %v, %v", s, err)
	}
	folds := "0000000000000000000001001011111111111111121111122212212222222222222232" +
		"23223333333333333333333333444444444444444444444444"
	for i, f := range stratified(y, 5) {
		if f != int(folds[i]-'0') {
			t.Fatalf("record %d is in fold %d, want %c", i, f, folds[i])
		}
	}
	e, err := Probe{}.Accuracy(context.Background(), x, y)
	if err != nil || e.Value != 0.75 || *e.Null != 37.0/120 || !(e.Low < 0.75 && e.High > 0.75) {
		t.Errorf("probe %+v, %v", e, err)
	}
}

// What is planted is found, what is not there is not: types that are far apart give
// 1, shuffled types the null.
func TestUtilityOfPlantedAndOfShuffledTypes(t *testing.T) {
	x, y := wavy(true)
	apart := x.Gather(firstInts(x.Rows))
	for i := range apart.Rows {
		if y[i] < 3 {
			apart.Row(i)[y[i]] += 40
		}
	}
	shuffled := slices.Clone(y)
	generator(9).Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	for _, c := range []struct {
		types       []int
		x           array.Matrix[float64]
		ari, probe  [2]float64
		silhouettes [2]float64
	}{
		{y, apart, [2]float64{1, 1}, [2]float64{1, 1}, [2]float64{0.9, 1}},
		{shuffled, x, [2]float64{-0.1, 0.1}, [2]float64{0.1, 0.45}, [2]float64{-1, 0.02}},
	} {
		ari, err := ClusterAgreement(c.x, c.types, generator(3))
		checkWithin(t, "agreement", ari, c.ari, err)
		s, err := Silhouette(c.x, c.types)
		checkWithin(t, "silhouette", s, c.silhouettes, err)
		e, err := Probe{}.Accuracy(context.Background(), c.x, c.types)
		if err != nil {
			t.Fatal(err)
		}
		checkWithin(t, "probe", e.Value, c.probe, nil)
	}
}

func checkWithin(t *testing.T, what string, v float64, limits [2]float64, err error) {
	t.Helper()
	if err != nil || v < limits[0] || v > limits[1] {
		t.Errorf("%s: %v, want between %v; %v", what, v, limits, err)
	}
}

func firstInts(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// None of them depends on how far apart all records are, but for the probe, whose
// penalty does: means that have shrunk to nothing count as lost.
func TestShrunkenMeans(t *testing.T) {
	x, y := wavy(true)
	small := x.Gather(firstInts(x.Rows))
	for k := range small.Data {
		small.Data[k] *= 1e-6
	}
	a, _ := ClusterAgreement(x, y, generator(4))
	b, err := ClusterAgreement(small, y, generator(4))
	if err != nil || a != b {
		t.Errorf("agreement %v and %v, %v", a, b, err)
	}
	s, _ := Silhouette(x, y)
	if r, err := Silhouette(small, y); err != nil || math.Abs(r-s) > 1e-9 {
		t.Errorf("silhouette %v and %v, %v", s, r, err)
	}
	e, err := Probe{}.Accuracy(context.Background(), small, y)
	if err != nil || e.Value > MajorityShare(y)+0.01 {
		t.Errorf("probe %+v, %v", e, err)
	}
}

// A type without a cell in a training part has no rule there.
func TestATypeOfOneCell(t *testing.T) {
	x, y := wavy(true)
	y[5] = 8
	if _, err := (Probe{}).Accuracy(context.Background(), x, y); err != nil {
		t.Error(err)
	}
	if _, err := Silhouette(x, y); err != nil {
		t.Error(err)
	}
}

func TestClusteringRefusesNonsense(t *testing.T) {
	x, y := wavy(true)
	bad := x.Gather(firstInts(x.Rows))
	bad.Data[4] = math.NaN()
	stopped, cancel := context.WithCancel(context.Background())
	cancel()
	for want, err := range map[string]error{
		"119 types of 120 cells":             second(ClusterAgreement(x, y[1:], generator(1))),
		"3 cells have 1 different types":     second(Silhouette(x.Gather([]int{0, 1, 2}), []int{4, 4, 4})),
		"latent means: row 1, column 1":      second(Probe{}.Accuracy(context.Background(), bad, y)),
		"121 folds of 120 cells":             second(Probe{Folds: 121}.Accuracy(context.Background(), x, y)),
		"1 folds":                            second(Probe{Folds: 1}.Accuracy(context.Background(), x, y)),
		"the ridge -1":                       second(Probe{Ridge: -1}.Accuracy(context.Background(), x, y)),
		"canceled":                           second(Probe{}.Accuracy(stopped, x, y)),
		"121 groups of 120":                  partition(KMeans{K: 121}, x, generator(1)),
		"0 groups":                           partition(KMeans{}, x, generator(1)),
		"generator false":                    partition(KMeans{K: 2}, x, nil),
		"records: row 1, column 1 is NaN":    partition(KMeans{K: 2}, bad, generator(1)),
		"120 records, -1 starts of -2 steps": partition(KMeans{K: 2, Restarts: -1, Steps: -2}, x, generator(1)),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

func partition(m KMeans, x array.Matrix[float64], rng *rand.Rand) error {
	_, _, err := m.Partition(x, rng)
	return err
}
