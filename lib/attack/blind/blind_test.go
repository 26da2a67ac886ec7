package blind

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/stats"
)

const members, nonmembers = 40, 60

// vectors draws records in groups; the members' first column is shifted, and all columns of a group
// are moved together.
func vectors(seed uint64, groupSize int, shift float64) (Records, array.Matrix[float64]) {
	rng := rand.New(rand.NewPCG(seed, 11))
	n := members + nonmembers
	x, r := array.New[float64](n, 6), Records{Unit: "authors"}
	moved := make([]float64, 6)
	for i := range n {
		for j := range moved {
			if i%groupSize == 0 && groupSize > 1 {
				moved[j] = rng.NormFloat64()
			}
			x.Row(i)[j] = moved[j] + rng.NormFloat64()
		}
		r.Member = append(r.Member, i < members)
		if i < members {
			x.Row(i)[0] += shift
		}
		if groupSize > 1 {
			r.Clusters = append(r.Clusters, i/groupSize)
		}
	}
	r.Kernel = Vectors(x)
	return r, x
}

func attacked(t *testing.T, r Records, seed uint64) *Result {
	t.Helper()
	out, err := Attack(r, rand.New(rand.NewPCG(seed, 12)))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Where the sets do not differ, one interval of twenty leaves out 0.5, for records and for groups
// of them; intervals that take scores as fixed would leave it out three times as often.
func TestOneIntervalOfTwentyIsWrongWhereNothingDiffers(t *testing.T) {
	const trials = 200
	for _, groupSize := range []int{1, 4} {
		outside, beyond, fixed, sum := 0, 0, 0, 0.0
		for k := range trials {
			r, _ := vectors(uint64(100+k), groupSize, 0)
			out := attacked(t, r, uint64(k))
			sum += out.AUC.Value / trials
			if out.AUC.Low > 0.5 || out.AUC.High < 0.5 {
				outside++
			}
			if math.Abs(out.AUC.Value-0.5) > out.Floor.P95 {
				beyond++
			}
			pos, neg := split(out.Scores, r.Member)
			alone, err := stats.ClusterAUC(pos, neg, clusterOf(r, true), clusterOf(r, false), level, r.Unit)
			if err != nil {
				t.Fatal(err)
			}
			if alone.Low > 0.5 || alone.High < 0.5 {
				fixed++
			}
		}
		// 200 trials at 5 % have a standard error of 1.5 %.
		if outside > trials/10 || beyond > trials/10 || beyond < 2 {
			t.Errorf("groups of %d: %d of %d intervals leave out 0.5, %d values are beyond the floor", groupSize, outside, trials, beyond)
		}
		if fixed < outside {
			t.Errorf("groups of %d: %d intervals with fixed scores leave out 0.5, %d of the result's", groupSize, fixed, outside)
		}
		if math.Abs(sum-0.5) > 0.02 {
			t.Errorf("groups of %d: %.3f on average where nothing differs", groupSize, sum)
		}
		t.Logf("groups of %d: %d outside, %d beyond the floor, %d with fixed scores, mean %.3f", groupSize, outside, beyond, fixed, sum)
	}
}

// A difference is found in means, in spreads, in classes, in words and in labels that do not fit, and scores are higher for the
// first set.
func TestADifferenceIsFound(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	means, _ := vectors(1, 1, 2)
	wide, x := vectors(2, 1, 0)
	_, plain := vectors(4, 1, 0)
	classes, labels, texts := make([]int, members+nonmembers), make([]int, members+nonmembers), make([][]int, members+nonmembers)
	for i := range x.Rows {
		if i < members {
			x.Row(i)[3] *= 4
		}
		classes[i], labels[i] = rng.IntN(3), i%2
		if plain.Row(i)[5] += 2 * float64(1-2*labels[i]); i < members {
			labels[i] = 1 - labels[i]
		}
		for range 20 + rng.IntN(20) {
			texts[i] = append(texts[i], rng.IntN(300))
		}
		if i < members {
			classes[i] = rng.IntN(2)
			texts[i][rng.IntN(20)] = 301 // a word that only the first set has
		}
	}
	wide.Kernel = Vectors(x)
	of := func(k Kernel) Records { return Records{Kernel: k, Member: means.Member} }
	for name, r := range map[string]Records{"means": means, "spreads": wide, "classes": of(Classes(classes)), "words": of(Texts(texts)),
		"wrong labels": of(WithClasses(Vectors(plain), labels))} {
		out := attacked(t, r, 3)
		if out.AUC.Low <= 0.5 || math.Abs(out.AUC.Value-0.5) <= out.Floor.P95 {
			t.Errorf("%s: %+v, chance reaches %v", name, out.AUC, out.Floor)
		}
		for i := range r.Member { // the same difference, the other way round
			r.Member[i] = !r.Member[i]
		}
		back := attacked(t, r, 3)
		pos, neg := split(back.Scores, r.Member)
		if auc, _ := stats.AUC(neg, pos); auc >= 0.5 {
			t.Errorf("%s: the second set has the larger scores, %v", name, auc)
		}
		for i := range r.Member {
			r.Member[i] = !r.Member[i]
		}
	}
}

// Groups that are alike do not pass for a difference of sets: folds keep them together.
func TestFoldsKeepGroupsTogether(t *testing.T) {
	r, _ := vectors(4, 4, 0)
	fold, err := deal(clustersOf(r), len(r.Member), rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	sizes := make([]int, folds)
	for i, f := range fold {
		if f != fold[i-i%4] {
			t.Fatalf("record %d is in fold %d, its group in %d", i, f, fold[i-i%4])
		}
		sizes[f]++
	}
	for _, n := range sizes {
		if n != len(r.Member)/folds {
			t.Errorf("folds of %v records", sizes)
		}
	}
	shuffled := shuffle(clustersOf(r), r.Member, fold, rand.New(rand.NewPCG(2, 2)))
	for i := range shuffled {
		if shuffled[i] != shuffled[i-i%4] {
			t.Error("shuffled membership parts a group")
		}
	}
}

// The scores are those of the normal equations, solved again without the kernel.
func TestScoresAreRidgeRegressions(t *testing.T) {
	r, _ := vectors(6, 1, 1)
	out := attacked(t, r, 7)
	fold, err := deal(clustersOf(r), len(r.Member), rand.New(rand.NewPCG(7, 12)))
	if err != nil {
		t.Fatal(err)
	}
	// Gradient descent on sum (y - K a)^2 weighted by K^-1, that is (K + I) a = y.
	for f := range 2 {
		var in, other []int
		for i, of := range fold {
			if of == f {
				in = append(in, i)
			} else {
				other = append(other, i)
			}
		}
		y, mean := make([]float64, len(other)), 0.0
		for a, i := range other {
			y[a] = float64(count(r.Member[i]))
			mean += y[a] / float64(len(y))
		}
		weights := make([]float64, len(other))
		for range 4000 {
			next := make([]float64, len(other))
			for a, i := range other {
				sum := weights[a]
				for b, j := range other {
					sum += r.Kernel.x.Row(i)[j] * weights[b]
				}
				next[a] = weights[a] + 0.02*(y[a]-mean-sum)
			}
			weights = next
		}
		scores, center := make([]float64, len(in)), 0.0
		for b, j := range in {
			for a, i := range other {
				scores[b] += r.Kernel.x.Row(i)[j] * weights[a]
			}
			center += scores[b] / float64(len(in))
		}
		for b, j := range in {
			if math.Abs(out.Scores[j]-scores[b]+center) > 1e-6 {
				t.Fatalf("record %d: %v, by descent %v", j, out.Scores[j], scores[b]-center)
			}
		}
	}
}

func TestNonsenseIsRefused(t *testing.T) {
	r, _ := vectors(8, 1, 0)
	few := r
	few.Clusters = make(stats.Clusters, len(r.Member))
	for i := range few.Clusters {
		few.Clusters[i] = i / 20
	}
	other := r
	other.Member = other.Member[1:]
	for name, bad := range map[string]Records{"four groups": few, "another number of records": other} {
		if _, err := Attack(bad, rand.New(rand.NewPCG(1, 1))); err == nil {
			t.Errorf("%s are accepted", name)
		}
	}
	same := array.New[float64](len(r.Member), 3)
	r.Kernel = Vectors(same)
	if out, err := Attack(r, rand.New(rand.NewPCG(1, 1))); err == nil {
		t.Errorf("inputs that are all the same: %+v", out.AUC)
	}
}

// The unit and the offset of a column do not matter, as long as its numbers still differ.
func TestADifferenceIsFoundInAnyUnit(t *testing.T) {
	r, x := vectors(9, 1, 2)
	want := attacked(t, r, 3).AUC
	for name, as := range map[string]func(v float64) float64{
		"x + 1e13":   func(v float64) float64 { return v + 1e13 },
		"x + 1e15":   func(v float64) float64 { return v + 1e15 },
		"x * 1e-200": func(v float64) float64 { return v * 1e-200 },
		"x * 1e99":   func(v float64) float64 { return v * 1e99 },
		"e^x":        math.Exp,
	} {
		y := array.New[float64](x.Rows, x.Cols)
		for i, v := range x.Data {
			y.Data[i] = as(v)
		}
		r.Kernel = Vectors(y)
		if got := attacked(t, r, 3).AUC; got.Low <= 0.5 || math.Abs(got.Value-want.Value) > 0.02 {
			t.Errorf("%s: AUC %.3f (%.3f to %.3f), of x %.3f", name, got.Value, got.Low, got.High, want.Value)
		}
	}
}

// Columns that are constant, also where their mean is rounded, and squares that are, say nothing.
func TestConstantColumnsSayNothing(t *testing.T) {
	x := array.New[float64](30, 2)
	for i := range x.Rows {
		x.Row(i)[0], x.Row(i)[1] = 0.1, 1e13+0.3
	}
	if !Vectors(x).Empty() {
		t.Error("constant columns say something")
	}
	for i := range x.Rows {
		x.Row(i)[0] = 0.3 + 0.1*float64(i%2) // both squares are 1
	}
	k, lone := Vectors(x), array.New[float64](x.Rows, 1)
	for i := range x.Rows {
		lone.Row(i)[0] = float64(i%2) - 0.5
	}
	for i, v := range products(lone).x.Data {
		if math.Abs(k.x.Data[i]-v) > 1e-9 {
			t.Fatalf("element %d is %v, of the column alone %v", i, k.x.Data[i], v)
		}
	}
}

// One record with a code for missing values in every column hides no difference.
func TestAnOutlierHidesNothing(t *testing.T) {
	r, x := vectors(9, 1, 2)
	want := attacked(t, r, 3).AUC
	for j := range x.Cols {
		x.Row(members + 1)[j] = -999999
	}
	r.Kernel = Vectors(x)
	if got := attacked(t, r, 3).AUC; got.Low <= 0.5 || math.Abs(got.Value-want.Value) > 0.03 {
		t.Errorf("AUC %.3f (%.3f to %.3f), without the outlier %.3f", got.Value, got.Low, got.High, want.Value)
	}
}
