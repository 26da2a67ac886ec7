package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Where all models score the negatives alike, thresholds do not move: beside one model P is the sign test of the positives
// that one of both counts (SciPy 1.17.1, binom.sf(ups-1, ups+downs, 0.5)); of two others a positive that one of the three
// models counts is the first's with probability 1/3, and one that two count with 2/3.
func TestTopSwapsAtOneThresholdAreTheSignTest(t *testing.T) {
	neg := []float64{0, 0.1, 0.2, 0.3}
	set := func(from, to int) []float64 {
		out := make([]float64, 25)
		for i := from; i < to; i++ {
			out[i] = 1
		}
		return out
	}
	for _, c := range []struct {
		pos [][]float64
		p   float64
	}{
		{[][]float64{set(0, 10), set(3, 13)}, 0.65625}, {[][]float64{set(0, 20), set(10, 23)}, 0.046142578125},
		{[][]float64{set(10, 23), set(0, 20)}, 0.98876953125}, {[][]float64{set(0, 12), set(0, 0)}, 0.000244140625},
		{[][]float64{set(0, 12), set(0, 12)}, 1}, {[][]float64{set(0, 5), set(0, 0), set(0, 0)}, 1.0 / 243},
		{[][]float64{set(0, 3), set(0, 2), set(5, 6)}, 24.0 / 81},
	} {
		negs := slices.Repeat([][]float64{neg}, len(c.pos))
		checkSwapsAgainst(t, c.pos, negs, 0, c.p)
	}
}

// checkSwapsAgainst wants P within four standard deviations of the draws, and 1 of them for the models as seen. A P above
// the limit ends the draws, so that it is asked again with a limit that never does.
func checkSwapsAgainst(t *testing.T, pos, neg [][]float64, spared int, want float64) {
	t.Helper()
	draws := 20000.0
	got, err := TopSwaps(pos, neg, spared, 20/draws, rand.New(rand.NewPCG(3, 4)))
	if want > 2*20/draws {
		if err != nil || got <= 20/draws {
			t.Errorf("p is %v, %v, and above the limit", got, err)
		}
		draws = 2000
		got, err = TopSwaps(pos, neg, spared, math.Nextafter(1, 0), rand.New(rand.NewPCG(3, 4)))
	}
	if far := math.Abs(got - want); err != nil || far > 1/draws+4*math.Sqrt(want*(1-want)/draws) {
		t.Errorf("p is %v, want %v, %v", got, want, err)
	}
}

// All 2^9 ways to deal the scores of nine records to two models, with thresholds that move.
func TestTopSwapsAreThoseOfAllDeals(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for trial := range 12 {
		draw := func(n int) (out [][]float64) {
			for j := range 2 {
				x := make([]float64, n)
				for i := range x {
					x[i] = math.Round(3*rng.NormFloat64() + float64(1-j)) // some tie
				}
				out = append(out, x)
			}
			return out
		}
		pos, neg, spared := draw(5), draw(4), trial%3
		as := func(deal int) int { // counted by hand: ours less theirs
			count := func(model int) (n int) {
				of := func(x [][]float64, i, bit int) float64 { return x[(model+deal>>bit)%2][i] }
				for i := range pos[0] {
					above := 0
					for k := range neg[0] {
						if of(neg, k, 5+k) >= of(pos, i, i) {
							above++
						}
					}
					if above <= spared {
						n++
					}
				}
				return n
			}
			return count(0) - count(1)
		}
		ways := 0.0
		for deal := range 1 << 9 {
			if as(deal) >= as(0) {
				ways++
			}
		}
		checkSwapsAgainst(t, pos, neg, spared, ways/(1<<9))
	}
}

// A model on another increasing scale counts the same, and records below all possible thresholds do not count.
func TestTheLeadIsTheSameOnAnyScale(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	pos, neg := make([][]float64, 3), make([][]float64, 3)
	for j := range pos {
		for range 50 {
			pos[j], neg[j] = append(pos[j], 1+rng.NormFloat64()), append(neg[j], rng.NormFloat64())
		}
	}
	seen := lead(byRecord(pos), byRecord(neg), 2, 3)
	ours, theirs := contested(pos, neg, 2)
	if got := lead(ours, theirs, 2, 3); got != seen || len(theirs) == 50 {
		t.Errorf("by %d and %d records that matter the lead is %d", len(ours), len(theirs), got)
	}
	for _, x := range [][]float64{pos[0], neg[0]} {
		for i := range x {
			x[i] = math.Exp(x[i]) + 5
		}
	}
	if got := lead(byRecord(pos), byRecord(neg), 2, 3); got != seen || seen == 0 {
		t.Errorf("the lead is %d, and was %d", got, seen)
	}
}

// Infinite scores have an order too: of a likelihood of 0, say.
func TestTopSwapsTakeInfiniteScores(t *testing.T) {
	up, down := math.Inf(1), math.Inf(-1)
	pos := [][]float64{{up, up, up, up, 1}, {down, down, down, down, 1}}
	neg := [][]float64{{down, down, 2, down}, {down, down, 2, down}}
	checkSwapsAgainst(t, pos, neg, 0, 1.0/16)
	checkSwapsAgainst(t, pos, neg, 1, 1.0/16)
}

func TestTopSwapsRefusesWhatItCannotCompare(t *testing.T) {
	two := [][]float64{{1, 2}, {2, 1}}
	rng := rand.New(rand.NewPCG(1, 1))
	for name, err := range map[string]error{
		"one model":       swapsError(two[:1], two[:1], 0, 0.05, rng),
		"other models":    swapsError(two, two[:1], 0, 0.05, rng),
		"other records":   swapsError(two, [][]float64{{1}, {1, 2}}, 0, 0.05, rng),
		"no records":      swapsError([][]float64{{}, {}}, two, 0, 0.05, rng),
		"NaN":             swapsError([][]float64{{1}, {math.NaN()}}, two, 0, 0.05, rng),
		"all spared":      swapsError(two, two, 2, 0.05, rng),
		"less than none":  swapsError(two, two, -1, 0.05, rng),
		"a limit of 0":    swapsError(two, two, 0, 0, rng),
		"a limit of NaN":  swapsError(two, two, 0, math.NaN(), rng),
		"no random draws": swapsError(two, two, 0, 0.05, nil),
	} {
		if err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}

func swapsError(pos, neg [][]float64, spared int, limit float64, rng *rand.Rand) error {
	_, err := TopSwaps(pos, neg, spared, limit, rng)
	return err
}
