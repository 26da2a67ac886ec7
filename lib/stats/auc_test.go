package stats

import (
	"math"
	"slices"
	"testing"
)

// slowAUC counts the pairs.
func slowAUC(pos, neg []float64) float64 {
	sum := 0.0
	for _, p := range pos {
		for _, n := range neg {
			switch {
			case p > n:
				sum++
			case p == n:
				sum += 0.5
			}
		}
	}
	return sum / float64(len(pos)*len(neg))
}

func auc(t *testing.T, pos, neg []float64) float64 {
	t.Helper()
	a, err := AUC(pos, neg)
	must(t, err)
	return a
}

// scikit-learn 1.9.1, metrics.roc_auc_score.
func TestAUCMatchesScikitLearn(t *testing.T) {
	checkClose(t, "AUC", auc(t, goldenPos, goldenNeg), 0.75625, 1e-15)
}

func TestAUCEqualsTheCountOverPairs(t *testing.T) {
	rng := newRNG(1)
	for range 200 {
		pos, neg := tied(rng, 1+rng.IntN(20), 8), tied(rng, 1+rng.IntN(20), 8)
		checkClose(t, "AUC", auc(t, pos, neg), slowAUC(pos, neg), 1e-15)
	}
}

func TestAUCOfSwappedSamplesIsOneMinusAUC(t *testing.T) {
	rng := newRNG(2)
	for range 50 {
		pos, neg := tied(rng, 17, 9), tied(rng, 23, 9)
		checkClose(t, "swapped", auc(t, neg, pos), 1-auc(t, pos, neg), 1e-15)
	}
}

func TestAUCDependsOnTheOrderOnly(t *testing.T) {
	rng := newRNG(3)
	pos, neg := tied(rng, 31, 12), tied(rng, 29, 12)
	want := auc(t, pos, neg)
	if got := auc(t, mapValues(pos, math.Exp), mapValues(neg, math.Exp)); got != want {
		t.Errorf("after exp %v, want %v", got, want)
	}
	slices.Reverse(pos)
	if got := auc(t, pos, neg); got != want {
		t.Errorf("after reversal %v, want %v", got, want)
	}
	if got := auc(t, append(pos, pos...), append(neg, neg...)); got != want {
		t.Errorf("after duplication %v, want %v", got, want)
	}
}

func TestAUCRanksInfinities(t *testing.T) {
	if a := auc(t, []float64{math.Inf(1), math.Inf(1)}, []float64{math.Inf(1), math.Inf(-1)}); a != 0.75 {
		t.Errorf("AUC %v, want 0.75", a)
	}
}

func TestAUCLeavesItsInputAlone(t *testing.T) {
	pos, neg := slices.Clone(goldenPos), slices.Clone(goldenNeg)
	auc(t, pos, neg)
	if !slices.Equal(pos, goldenPos) || !slices.Equal(neg, goldenNeg) {
		t.Error("AUC changed its input")
	}
}

func TestAUCBootstrapAgreesWithDeLong(t *testing.T) {
	rng := newRNG(4)
	pos, neg := normals(rng, 300, 0.7), normals(rng, 200, 0)
	b, err := AUCBootstrap(pos, neg, 0.95, 4000, rng)
	must(t, err)
	d, err := DeLong(pos, neg, 0.95)
	must(t, err)
	if b.Value != d.Value || b.N != 500 || *b.Null != 0.5 {
		t.Errorf("bootstrap %v, DeLong %v", b, d)
	}
	checkClose(t, "low", b.Low, d.Low, 0.006)
	checkClose(t, "high", b.High, d.High, 0.006)
}

func TestAdvantageIsTwiceAUCMinusOne(t *testing.T) {
	a, err := Advantage(goldenPos, goldenNeg)
	must(t, err)
	checkClose(t, "signed", a.Signed, 0.5125, 1e-15)
	checkClose(t, "unsigned", a.Unsigned, 0.5125, 1e-15)
	r, err := Advantage(goldenNeg, goldenPos)
	must(t, err)
	checkClose(t, "swapped signed", r.Signed, -0.5125, 1e-15)
	checkClose(t, "swapped unsigned", r.Unsigned, 0.5125, 1e-15)
}

func TestBestAdvantageIsTheLargestGapOfTheROC(t *testing.T) {
	rng := newRNG(5)
	for range 50 {
		pos, neg := tied(rng, 12, 6), tied(rng, 15, 6)
		fpr, tpr, _, err := ROC(pos, neg)
		must(t, err)
		want := 0.0
		for i := range fpr {
			want = math.Max(want, tpr[i]-fpr[i])
		}
		a, err := Advantage(pos, neg)
		must(t, err)
		checkClose(t, "best", a.Best, want, 1e-15)
	}
}

func TestAdvantageIntervalIsTheAUCIntervalRescaled(t *testing.T) {
	a, err := AdvantageInterval(goldenPos, goldenNeg, 0.9, 500, newRNG(6))
	must(t, err)
	b, err := AUCBootstrap(goldenPos, goldenNeg, 0.9, 500, newRNG(6))
	must(t, err)
	checkClose(t, "value", a.Value, 2*b.Value-1, 1e-14)
	checkClose(t, "low", a.Low, 2*b.Low-1, 1e-14)
	checkClose(t, "high", a.High, 2*b.High-1, 1e-14)
	if *a.Null != 0 || a.N != 18 || a.Over != "records" {
		t.Errorf("estimate %+v", a)
	}
}

func TestPlantedSignalIsFoundAndNoiseIsNot(t *testing.T) {
	rng := newRNG(7)
	signal, err := AdvantageInterval(normals(rng, 200, 1), normals(rng, 200, 0), 0.95, 1000, rng)
	must(t, err)
	if !signal.ExcludesNull() {
		t.Errorf("a shift of one standard deviation was missed: %v", signal)
	}
	noise, err := AdvantageInterval(normals(rng, 200, 0), normals(rng, 200, 0), 0.95, 1000, rng)
	must(t, err)
	if noise.ExcludesNull() {
		t.Errorf("noise looks like a signal: %v", noise)
	}
}

func TestUnsignedEstimateFoldsTheInterval(t *testing.T) {
	for _, c := range []struct{ value, low, high, wantLow, wantHigh float64 }{
		{0.3, 0.1, 0.5, 0.1, 0.5},
		{-0.3, -0.5, -0.1, 0.1, 0.5},
		{-0.1, -0.4, 0.2, 0, 0.4},
		{0.1, -0.2, 0.4, 0, 0.4},
	} {
		u := Estimate{Value: c.value, Low: c.low, High: c.high}.Unsigned()
		if u.Value != math.Abs(c.value) || u.Low != c.wantLow || u.High != c.wantHigh {
			t.Errorf("%+v became %v [%v, %v]", c, u.Value, u.Low, u.High)
		}
	}
}

func TestEstimateWithoutAnIntervalSaysSo(t *testing.T) {
	if s := MeanInterval([]float64{0.5}, 0.95, "seeds").String(); s != "0.5000 (no interval, n = 1)" {
		t.Error(s)
	}
	u := Estimate{Value: -0.3, Low: -0.4, High: -0.2}.WithNull(-0.1, LowerIsBetter).Unsigned()
	if *u.Null != 0.1 || u.Better != LowerIsBetter {
		t.Errorf("%+v", u)
	}
}

func TestEstimateKnowsWhetherItExcludesItsNull(t *testing.T) {
	e := Estimate{Value: 0.6, Low: 0.55, High: 0.65, Level: 0.95, Over: "seeds", N: 10}
	if e.ExcludesNull() {
		t.Error("an estimate without a null excluded it")
	}
	if !e.WithNull(0.5, NearNull).ExcludesNull() || e.WithNull(0.55, NearNull).ExcludesNull() {
		t.Error("ExcludesNull is wrong at 0.5 or 0.55")
	}
	e.Low = math.NaN()
	if e.WithNull(0.5, NearNull).ExcludesNull() || e.HasInterval() {
		t.Error("an estimate without an interval excluded its null")
	}
}

func TestAUCResampledCountsTheRecordsThatWereDrawn(t *testing.T) {
	rng := newRNG(41)
	pos, neg := tied(rng, 7, 4), tied(rng, 9, 4)
	var drawn [][]int
	got, err := AUCResampled(pos, neg, 60, func() []int {
		idx := make([]int, 1+rng.IntN(12))
		for i := range idx {
			idx[i] = rng.IntN(16)
		}
		drawn = append(drawn, idx)
		return idx
	})
	must(t, err)
	missing := 0
	for r, idx := range drawn {
		var p, n []float64
		for _, i := range idx {
			if i < 7 {
				p = append(p, pos[i])
			} else {
				n = append(n, neg[i-7])
			}
		}
		want, err := AUC(p, n)
		if err != nil {
			missing++
			if !math.IsNaN(got[r]) {
				t.Errorf("resample %v lacks a side and has AUC %v", idx, got[r])
			}
			continue
		}
		checkClose(t, "resampled AUC", got[r], want, 1e-15)
	}
	if missing == 0 || missing == len(drawn) {
		t.Errorf("%d of %d resamples lack a side", missing, len(drawn))
	}
	one := func() []int { return []int{0} }
	_, err = AUCResampled(nil, neg, 3, one)
	refuses(t, err, "AUCResampled", "pos is empty")
	_, err = AUCResampled(pos, neg, 0, one)
	refuses(t, err, "reps is 0")
	_, err = AUCResampled(pos, neg, 3, nil)
	refuses(t, err, "draw is nil: true")
}
