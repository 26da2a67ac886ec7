package sde

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Two divergences that are one number by hand and differ in the last bits, because
// their terms were added in another order, are a tie; a difference that somebody
// drew is none. The rule does not depend on the unit of the distances.
func TestDistancesThatDifferByRoundingAreATie(t *testing.T) {
	last := math.Nextafter(math.Ln2, 0)
	for _, unit := range []float64{1, 1e-8, 1e8} {
		for d, want := range map[Distances]Verdict{
			{math.Ln2, last}: Undecided, {last, math.Ln2}: Undecided, {0, 0}: Undecided, {1, 1 + 9e-10}: Undecided, {1 + 9e-10, 1}: Undecided,
			{1, 1 + 2e-9}: In, {1 + 2e-9, 1}: Out, {0, 1e-300}: In, {1e-300, 0}: Out, {math.Ln2, 0.6}: Out,
		} {
			d.In, d.Out = d.In*unit, d.Out*unit
			if got := d.Verdict(); got != want {
				t.Errorf("%v: %s, want %s", d, got, want)
			}
		}
	}
}

// A target that overlaps with neither reference is ln 2 from both, whichever order
// the bins come in: algorithm 2 says out, and there is nothing to decide.
func TestASaturatedDivergenceIsATie(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	draw := func(centre float64) []float64 {
		x := make([]float64, 200)
		for i := range x {
			x[i] = centre + rng.NormFloat64()
		}
		return x
	}
	for k := range 50 {
		d, err := Compare(draw(0), Draws{In: draw(60 + float64(k)), Out: draw(-80)}, Options{})
		if err != nil || d.Verdict() != Undecided {
			t.Errorf("%.17g and %.17g (%v): %s", d.In, d.Out, err, d.Verdict())
		}
	}
}

func TestTheThreeRatesOfATally(t *testing.T) {
	tally := judged(2, 5, 3).Tally()
	if tally != (Tally{In: 2, Out: 5, Ties: 3}) || tally.N() != 10 {
		t.Fatalf("%+v", tally)
	}
	checkClose(t, "by the rule", tally.RateOut(), 0.8, 1e-15)
	checkClose(t, "decided", tally.RateDecided(), 5.0/7, 1e-15)
	checkClose(t, "ties", tally.RateTies(), 0.3, 1e-15)
	if all := (Tally{Ties: 4}); all.RateOut() != 1 || !math.IsNaN(all.RateDecided()) || all.RateTies() != 1 {
		t.Errorf("all ties: %v, %v, %v", all.RateOut(), all.RateDecided(), all.RateTies())
	}
	if !math.IsNaN((Tally{}).RateOut()) {
		t.Error("nobody judged has a rate")
	}
	if got := tally.Plus(Tally{1, 10, 100}); got != (Tally{3, 15, 103}) {
		t.Errorf("%+v", got)
	}
}

// Brute force: every verdict is a label, ties are "out" or are left out, and the
// confusion is counted record by record.
func TestAConfusionIsThatOfItsVerdicts(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		inside, outside := judged(rng.IntN(6), rng.IntN(6), rng.IntN(6)+1), judged(rng.IntN(6), rng.IntN(6), rng.IntN(6)+1)
		c := Confusion{inside.Tally(), outside.Tally()}
		count := func(decided bool) (tp, fp, fn, tn float64) {
			for k, v := range slices.Concat(inside.Verdicts, outside.Verdicts) {
				if decided && v == Undecided {
					continue
				}
				switch wasIn := k < len(inside.Verdicts); {
				case wasIn && v == In:
					tp++
				case wasIn:
					fn++
				case v == In:
					fp++
				default:
					tn++
				}
			}
			return tp, fp, fn, tn
		}
		for _, one := range []struct {
			decided      bool
			f1, accuracy float64
		}{{false, c.F1(), c.Accuracy()}, {true, c.F1Decided(), c.AccuracyDecided()}} {
			tp, fp, fn, tn := count(one.decided)
			same(t, "F1", one.f1, 2*tp/(2*tp+fp+fn))
			same(t, "accuracy", one.accuracy, (tp/(tp+fn)+tn/(tn+fp))/2)
		}
	}
}

// same compares numbers of which both may be undefined.
func same(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.IsNaN(got) != math.IsNaN(want) || math.Abs(got-want) > 1e-15 {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func TestTheOutOfTrainingRateCountsTiesAsOut(t *testing.T) {
	pool, err := NewPool("target", random(1, 60, 5, 1e-3))
	if err != nil {
		t.Fatal(err)
	}
	subsets, err := DrawSubsets(60, 20, 20, rand.New(rand.NewPCG(7, 8)))
	if err != nil {
		t.Fatal(err)
	}
	// Both references lie far away from the target: a tie for every subset.
	refs := References{In: random(2, 20, 5, 1), Out: random(3, 20, 5, 1)}
	got, err := OTR(SDE{}, Targets{pool, subsets}, refs, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got.OTR.Value != 1 || got.Ties != 1 || got.Decided != nil || got.Verdicts.Disjoint != 3 {
		t.Errorf("%v, ties %v, decided %v, %d disjoint", got.OTR, got.Ties, got.Decided, got.Verdicts.Disjoint)
	}
	refs.In = random(2, 20, 5, 1e-3)
	got, err = OTR(SDE{}, Targets{pool, subsets}, refs, Options{})
	if err != nil || got.OTR.Value != 0 || got.Decided == nil || got.Decided.Value != 0 || got.Ties != 0 {
		t.Errorf("%+v (%v)", got, err)
	}
}
