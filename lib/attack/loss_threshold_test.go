package attack

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// hash01 is a fixed sequence in [0, 1) that any language reproduces exactly.
func hash01(k, seed int) float64 {
	x := uint32(k+seed*1000003) * 0x9E3779B1
	x ^= x >> 15
	x *= 0x85EBCA77
	x ^= x >> 13
	return float64(x) / (1 << 32)
}

func losses(n, seed int, scale, shift float64) []float64 {
	out := make([]float64, n)
	for k := range out {
		h := hash01(k, seed)
		out[k] = float64(float64(h*h)*scale) + shift
	}
	return out
}

func coarse(x []float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = math.RoundToEven(v*8) / 8
	}
	return out
}

func checkClose(t *testing.T, name string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s = %.17g, want %.17g", name, got, want)
	}
}

// Golden numbers from a 20-line script of the same protocol on NumPy 2.4.6.
func TestThresholdAndAccuracyEqualNumPy(t *testing.T) {
	cases := []struct {
		retain, forget, test int
		tied                 bool
		tau, accuracy        float64
		evaluated            int
	}{
		{120, 30, 81, false, 0.5608143817583504, 0.55, 30},
		{120, 30, 81, true, 0.5625, 0.55, 30},
		{2000, 60, 1000, false, 0.4437073100478243, 0.5166666666666667, 60}, // 1,000 losses: 512 quantiles
		{2000, 60, 1000, true, 0.4375, 0.5166666666666667, 60},
		{50, 40, 200, false, 0.6046091308506248, 0.6875, 40}, // fewer retained than half the test set
		{50, 40, 200, true, 0.9375, 0.575, 40},
	}
	for _, c := range cases {
		r, f, o := losses(c.retain, 1, 1, 0), losses(c.forget, 2, 1.1, 0), losses(c.test, 3, 1.3, 0.01)
		if c.tied {
			r, f, o = coarse(r), coarse(f), coarse(o)
		}
		got, err := LossThreshold{}.Run(Losses{Retained: r, Forgotten: f, HeldOut: o})
		if err != nil {
			t.Fatal(err)
		}
		checkClose(t, "threshold", got.Threshold, c.tau, 1e-14)
		checkClose(t, "accuracy", got.BalancedAccuracy.Value, c.accuracy, 1e-15)
		if got.Evaluated != c.evaluated || got.BalancedAccuracy.N != 2*c.evaluated {
			t.Errorf("%d evaluated of n = %d, want %d", got.Evaluated, got.BalancedAccuracy.N, c.evaluated)
		}
	}
}

// slowThreshold tries every candidate on every record.
func slowThreshold(members, nonmembers []float64, limit int) (tau, best float64) {
	best = -1
	for _, c := range candidates(slices.Concat(members, nonmembers), limit) {
		if acc := balancedAccuracy(Samples{members, nonmembers}, c); acc > best {
			tau, best = c, acc
		}
	}
	return tau, best
}

func TestThresholdSearchEqualsBruteForce(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		draw := func() []float64 {
			x := make([]float64, 1+rng.IntN(40))
			for i := range x {
				x[i] = float64(rng.IntN(1+rng.IntN(30))) / 7
			}
			return x
		}
		m, n, limit := draw(), draw(), 2+rng.IntN(12)
		tau, acc := bestThreshold(Samples{m, n}, limit)
		wantTau, wantAcc := slowThreshold(m, n, limit)
		if tau != wantTau || acc != wantAcc {
			t.Fatalf("seed %d: threshold %v with %v, brute force %v with %v", seed, tau, acc, wantTau, wantAcc)
		}
	}
}

func exponential(rng *rand.Rand, n int, scale float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = scale * rng.ExpFloat64()
	}
	return x
}

func TestWithoutASignalTheAccuracyIsOneHalfWithinItsFloor(t *testing.T) {
	const trials, m = 400, 50
	sum, beyond, size := 0.0, 0, 0.0
	for seed := range trials {
		rng := rand.New(rand.NewPCG(uint64(seed), 2))
		r, err := LossThreshold{}.Run(Losses{Retained: exponential(rng, 300, 1), Forgotten: exponential(rng, m, 1), HeldOut: exponential(rng, 200, 1)})
		if err != nil {
			t.Fatal(err)
		}
		d := r.BalancedAccuracy.Value - 0.5
		sum += d
		size += math.Abs(d)
		if math.Abs(d) > r.Chance.P95 {
			beyond++
		}
		checkClose(t, "chance floor", r.Chance.Mean, 0.0398, 1e-4) // C(100, 50)/2^101
	}
	checkClose(t, "mean deviation", sum/trials, 0, 4*0.05/math.Sqrt(trials))
	if share := float64(beyond) / trials; share > 0.08 {
		t.Errorf("%v of the deviations are beyond the 95th percentile of the floor", share)
	}
	// The floor holds for a threshold that calls half of the records members;
	// any other threshold deviates less.
	if mean := size / trials; mean > 0.0398*1.1 {
		t.Errorf("mean absolute deviation %v is above its floor", mean)
	}
}

func TestAPlantedSignalIsFoundOnItsSide(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	retain, test := exponential(rng, 500, 0.2), exponential(rng, 400, 1)
	kept, err := LossThreshold{}.Run(Losses{Retained: retain, Forgotten: exponential(rng, 150, 0.2), HeldOut: test})
	if err != nil {
		t.Fatal(err)
	}
	if kept.BalancedAccuracy.Low <= 0.5 || kept.AUC.Low <= 0.5 {
		t.Errorf("remembered records: accuracy %v, AUC %v", kept.BalancedAccuracy, kept.AUC)
	}
	scrubbed, err := LossThreshold{}.Run(Losses{Retained: retain, Forgotten: exponential(rng, 150, 9), HeldOut: test})
	if err != nil {
		t.Fatal(err)
	}
	if scrubbed.BalancedAccuracy.High >= 0.5 || scrubbed.Advantage.Signed >= 0 {
		t.Errorf("over-unlearned records: accuracy %v, advantage %+v", scrubbed.BalancedAccuracy, scrubbed.Advantage)
	}
}

func TestScoresOfEveryExampleAddUpToTheAggregate(t *testing.T) {
	forget, test := losses(90, 2, 1.1, 0), losses(121, 3, 1.3, 0.01)
	r, err := LossThreshold{}.Run(Losses{Retained: losses(300, 1, 1, 0), Forgotten: forget, HeldOut: test})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Scores.Members) != 90 || len(r.Scores.Nonmembers) != 60 || r.Evaluated != 60 {
		t.Fatalf("%d members, %d non-members, %d evaluated", len(r.Scores.Members), len(r.Scores.Nonmembers), r.Evaluated)
	}
	right, counted := 0, 0
	for _, e := range slices.Concat(r.Scores.Members, r.Scores.Nonmembers) {
		loss := test
		if e.Member {
			loss = forget
		}
		if e.Score != -loss[e.Record] {
			t.Errorf("record %d has score %v for loss %v", e.Record, e.Score, loss[e.Record])
		}
		if e.Evaluated {
			counted++
			if e.Called == e.Member {
				right++
			}
		}
	}
	if counted != 120 {
		t.Errorf("%d examples evaluated, want 120", counted)
	}
	checkClose(t, "accuracy from the examples", float64(right)/120, r.BalancedAccuracy.Value, 1e-15)
}

func TestEqualLossesGiveAFiniteThresholdAndAccuracyOneHalf(t *testing.T) {
	same := make([]float64, 20)
	r, err := LossThreshold{}.Run(Losses{Retained: same, Forgotten: same, HeldOut: same})
	if err != nil {
		t.Fatal(err)
	}
	checkClose(t, "accuracy", r.BalancedAccuracy.Value, 0.5, 0)
	checkClose(t, "threshold", r.Threshold, -math.MaxFloat64, 0)
}

func TestTheAttackRefusesWhatItCannotAnswer(t *testing.T) {
	ok := []float64{1, 2, 3, 4}
	cases := []struct {
		name                 string
		a                    LossThreshold
		retain, forget, test []float64
		want                 string
	}{
		{"no retain", LossThreshold{}, nil, ok, ok, "no losses of retained records"},
		{"no forget", LossThreshold{}, ok, nil, ok, "no losses of forgotten records"},
		{"short test", LossThreshold{}, ok, ok, ok[:3], "3 losses of held-out records"},
		{"NaN", LossThreshold{}, ok, []float64{1, math.NaN()}, ok, "Forgotten[1] is NaN"},
		{"infinity", LossThreshold{}, ok, ok, []float64{1, 2, 3, math.Inf(1)}, "HeldOut[3] is +Inf"},
		{"one candidate", LossThreshold{Candidates: 1}, ok, ok, ok, "1 candidate thresholds"},
		{"level", LossThreshold{Level: 2}, ok, ok, ok, "level 2"},
		{"level NaN", LossThreshold{Level: math.NaN()}, ok, ok, ok, "level NaN"},
	}
	for _, c := range cases {
		if _, err := c.a.Run(Losses{Retained: c.retain, Forgotten: c.forget, HeldOut: c.test}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.name, err, c.want)
		}
	}
}

func TestRunLeavesTheLossesAlone(t *testing.T) {
	r, f, o := losses(50, 1, 1, 0), losses(40, 2, 1, 0), losses(60, 3, 1, 0)
	if _, err := (LossThreshold{}).Run(Losses{Retained: r, Forgotten: f, HeldOut: o}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(r, losses(50, 1, 1, 0)) || !slices.Equal(f, losses(40, 2, 1, 0)) || !slices.Equal(o, losses(60, 3, 1, 0)) {
		t.Error("the losses changed")
	}
}

func BenchmarkLossThreshold(b *testing.B) {
	r, f, o := losses(40000, 1, 1, 0), losses(4000, 2, 1, 0), losses(10000, 3, 1, 0)
	for b.Loop() {
		if _, err := (LossThreshold{}).Run(Losses{Retained: r, Forgotten: f, HeldOut: o}); err != nil {
			b.Fatal(err)
		}
	}
}

// The seed says of which held-out records the threshold is learned; 0 is the paper's 42.
func TestTheSeedDrawsTheRecordsThatTheThresholdIsLearnedOn(t *testing.T) {
	l := Losses{Retained: losses(50, 1, 1, 0), Forgotten: losses(20, 2, 1, 0), HeldOut: losses(40, 3, 1, 0)}
	judged := func(seed uint32) (rows []int) {
		r, err := LossThreshold{Seed: seed}.Run(l)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range r.Scores.Nonmembers {
			rows = append(rows, e.Record)
		}
		slices.Sort(rows)
		return rows
	}
	if first := judged(0); !slices.Equal(first, judged(42)) || slices.Equal(first, judged(7)) || len(first) != 20 {
		t.Errorf("%v are judged, with another seed %v", first, judged(7))
	}
}
