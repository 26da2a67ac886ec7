package privacy

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/defaults"
)

// draws is what engine.Root gives: a generator per record, at its beginning.
func draws(seed uint64) func(int) *rand.Rand {
	return func(record int) *rand.Rand { return rand.New(rand.NewPCG(seed, uint64(record))) }
}

func firstInts(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// bright are records whose columns are 1 + row + column/1000, so that none is a fill.
func bright(rows, cols int) array.Matrix[float32] {
	m := array.New[float32](rows, cols)
	for k := range m.Data {
		m.Data[k] = float32(1+k/cols) + float32(k%cols)/1000
	}
	return m
}

func masked(t *testing.T, m Masking, x array.Matrix[float32], records []int, seed uint64) (array.Matrix[float32], Masks) {
	t.Helper()
	out, masks, err := m.Mask(x, records, draws(seed))
	if err != nil {
		t.Fatal(err)
	}
	return out, masks
}

func count(m Masks, record int) (n int) {
	for j := range m.Features {
		if m.Clear(record, j) {
			n++
		}
	}
	return n
}

func TestAMaskedRecordIsTheRecordWhereItIsClearAndTheFillElsewhere(t *testing.T) {
	for _, m := range []Masking{
		{}, {Replacement: true}, {Fill: 0.5, Rate: 0.3}, {Weighting: Exponential}, {Channels: 3, Fill: -1},
		{Channels: 3, Replacement: true, Weighting: Exponential},
	} {
		x := bright(5, 30)
		before := slices.Clone(x.Data)
		out, masks := masked(t, m, x, firstInts(5), 1)
		n := 30 / max(1, m.Channels)
		if masks.Records != 5 || masks.Features != n {
			t.Fatalf("%+v: masks of %d records, %d features", m, masks.Records, masks.Features)
		}
		for i := range x.Rows {
			for c, v := range x.Row(i) {
				want := m.Fill
				if masks.Clear(i, c%n) {
					want = v
				}
				if out.Row(i)[c] != want {
					t.Errorf("%+v: row %d, column %d is %v, want %v", m, i, c, out.Row(i)[c], want)
				}
			}
			if k, _ := m.NumDraws(n); !m.Replacement && count(masks, i) != k || count(masks, i) > k {
				t.Errorf("%+v: %d features in clear after %d draws", m, count(masks, i), k)
			}
		}
		if !slices.Equal(x.Data, before) {
			t.Errorf("%+v: masking writes to the records", m)
		}
	}
	if out, _ := masked(t, Masking{Rate: 1}, bright(2, 7), firstInts(2), 1); !slices.Equal(out.Data, bright(2, 7).Data) {
		t.Error("at the rate 1 something is masked")
	}
}

func TestTheMaskDependsOnTheRecordAlone(t *testing.T) {
	for _, m := range []Masking{{}, {Replacement: true}, {Weighting: Exponential}} {
		x := bright(6, 40)
		all, _ := masked(t, m, x, firstInts(6), 1)
		some, _ := masked(t, m, x.Gather([]int{4, 1}), []int{4, 1}, 1)
		if !slices.Equal(some.Row(0), all.Row(4)) || !slices.Equal(some.Row(1), all.Row(1)) {
			t.Errorf("%+v: a record's mask depends on its company", m)
		}
		wrong, _ := masked(t, m, x.Gather([]int{4, 1}), []int{1, 4}, 1)
		other, _ := masked(t, m, x, firstInts(6), 2)
		if slices.Equal(wrong.Row(0), all.Row(4)) || slices.Equal(other.Row(4), all.Row(4)) {
			t.Errorf("%+v: neither number nor seed matters", m)
		}
	}
}

func TestTheNumberOfDrawsIsRoundedDown(t *testing.T) {
	for _, c := range []struct {
		rate    float64
		n, want int
	}{{0, 784, 470}, {0.601, 784, 471}, {0.601, 1024, 615}, {0.601, 14, 8}, {0, 14, 8}, {0.57, 100, 57}, {0.29, 100, 29}, {1, 9, 9}, {0.2, 784, 156}} {
		if got, err := (Masking{Rate: c.rate}).NumDraws(c.n); err != nil || got != c.want {
			t.Errorf("%v of %d are %d, want %d: %v", c.rate, c.n, got, c.want, err)
		}
	}
}

// Table IV, as printed. Every epsilon and the deltas with replacement come of n = 100;
// the deltas 0.5 and 0.8 do not: they are those of other rates.
func TestTableIVIsOfAHundredFeatures(t *testing.T) {
	for _, c := range []struct {
		rate                 float64
		replacement          bool
		epsilon, delta       string // as printed
		epsilon784, delta784 string
	}{
		{0.2, true, "0.199", "0.182", "0.199", "0.181"},
		{0.4, true, "0.398", "0.331", "0.399", "0.329"},
		{0.6, true, "0.597", "0.453", "0.599", "0.451"},
		{0.2, false, "0.221", "0.200", "0.222", "0.199"},
		{0.4, false, "0.504", "0.400", "0.509", "0.399"}, // printed: 0.5
		{0.6, false, "0.902", "0.600", "0.913", "0.599"}, // printed: 0.8
	} {
		m := Masking{Rate: c.rate, Replacement: c.replacement}
		for n, want := range map[int][2]string{100: {c.epsilon, c.delta}, 784: {c.epsilon784, c.delta784}} {
			got, err := m.Claim(n)
			if err != nil {
				t.Fatal(err)
			}
			if e, d := fmt.Sprintf("%.3f", got.Epsilon), fmt.Sprintf("%.3f", got.Delta); e != want[0] || d != want[1] {
				t.Errorf("%+v, n = %d: (%s, %s), want %v", m, n, e, d, want)
			}
		}
	}
	for printed, c := range map[float64]struct{ rate, of float64 }{0.5: {0.4, 0.5}, 0.8: {0.6, 0.8}} {
		beside, _ := Masking{Rate: c.rate}.Claim(100)
		where, _ := Masking{Rate: c.of}.Claim(100)
		if beside.Delta == printed || where.Delta != printed {
			t.Errorf("the printed delta %v: %v at its own rate, %v at the rate %v", printed, beside.Delta, where.Delta, c.of)
		}
	}
	with, _ := Masking{Replacement: true}.Claim(100)
	if got := fmt.Sprintf("%.4f", with.Delta); got != "0.4528" { // 0.453 in the table, 0.452 in the text
		t.Errorf("delta with replacement is %s", got)
	}
}

// By formula and by simulation: what is in clear, and whether a trigger of four pixels
// is. The claimed delta is the coverage.
func TestSurvivalProbability(t *testing.T) {
	const n, rows = 784, 4000
	trigger := []int{24*28 + 24, 24*28 + 25, 25*28 + 24, 25*28 + 25}
	for _, c := range []struct {
		m                 Masking
		coverage, survive string
	}{{Masking{}, "0.60", "0.13"}, {Masking{Replacement: true}, "0.45", "0.04"}} {
		_, masks := masked(t, c.m, bright(rows, n), firstInts(rows), 3)
		clear, all := 0, 0
		for i := range rows {
			clear += count(masks, i)
			if !slices.ContainsFunc(trigger, func(j int) bool { return !masks.Clear(i, j) }) {
				all++
			}
		}
		coverage, err := c.m.Coverage(n)
		survives, err2 := c.m.SurvivalProbability(n, 4)
		claim, err3 := c.m.Claim(n)
		if err != nil || err2 != nil || err3 != nil {
			t.Fatal(err, err2, err3)
		}
		if fmt.Sprintf("%.2f", coverage) != c.coverage || fmt.Sprintf("%.2f", survives) != c.survive || coverage != claim.Delta {
			t.Errorf("%+v: coverage %v, survival %v, claimed delta %v", c.m, coverage, survives, claim.Delta)
		}
		if got := float64(clear) / n / rows; math.Abs(got-coverage) > 0.001 {
			t.Errorf("%+v: %v are in clear, expected %v", c.m, got, coverage)
		}
		if got := float64(all) / rows; math.Abs(got-survives) > 4*math.Sqrt(survives*(1-survives)/rows) {
			t.Errorf("%+v: of %v the trigger is whole, expected %v", c.m, got, survives)
		}
	}
	for _, m := range []Masking{{}, {Replacement: true}} {
		one, _ := m.SurvivalProbability(n, 1)
		coverage, _ := m.Coverage(n)
		none, _ := m.SurvivalProbability(n, 0)
		if math.Abs(one-coverage) > 1e-12 || none != 1 {
			t.Errorf("%+v: one feature survives with %v, coverage %v; none with %v", m, one, coverage, none)
		}
	}
}

// sequences lists all ways to draw k features with their probabilities: a second computation of
// subsetProbabilities.
func sequences(weights []float64, k int, replacement bool) map[int]float64 {
	out := map[int]float64{}
	var walk func(set int, left int, p float64)
	walk = func(set, left int, p float64) {
		if left == 0 {
			out[set] += p
			return
		}
		total := 0.0
		for j, w := range weights {
			if replacement || set&(1<<j) == 0 {
				total += w
			}
		}
		for j, w := range weights {
			if replacement || set&(1<<j) == 0 {
				walk(set|1<<j, left-1, p*w/total)
			}
		}
	}
	walk(0, k, 1)
	return out
}

// weights are proportional to the chances of a row's features.
func weights(m Masking, row []float32) []float64 {
	out := m.logWeights(row)
	for j, v := range out {
		out[j] = math.Exp(v)
	}
	return out
}

// The distribution of masks in three ways: by subsets, by all sequences of draws, and by
// sampling.
func TestMasksHaveTheirDistribution(t *testing.T) {
	x := []float32{0, 1, 0.3, 2}
	const rows, k = 40000, 2
	many := array.New[float32](rows, 4)
	for i := range rows {
		copy(many.Row(i), x)
	}
	for _, m := range []Masking{{}, {Replacement: true}, {Weighting: Exponential}, {Weighting: Exponential, Replacement: true}} {
		m.Rate = 0.5
		m = defaults.Fill(m)
		law, twin := m.subsetProbabilities(m.logWeights(x), k), sequences(weights(m, x), k, m.Replacement)
		_, masks := masked(t, m, many, firstInts(rows), 9)
		seen := make([]float64, len(law))
		for i := range rows {
			set := 0
			for j := range 4 {
				if masks.Clear(i, j) {
					set |= 1 << j
				}
			}
			seen[set] += 1. / rows
		}
		for set, p := range law {
			if math.Abs(p-twin[set]) > 1e-14 {
				t.Errorf("%+v: set %04b has probability %v, by all sequences %v", m, set, p, twin[set])
			}
			if math.Abs(seen[set]-p) > 5*math.Sqrt(p*(1-p)/rows) {
				t.Errorf("%+v: set %04b came with %v, expected %v", m, set, seen[set], p)
			}
		}
	}
	m := defaults.Fill(Masking{Weighting: Exponential})
	w := weights(m, []float32{1, 0})
	checkClose(t, "a white pixel against a black one", w[0]/w[1], math.Exp(0.5), 1e-12)
	m.Channels = 2 // features 0 and 1 in two channels, means 0.5 and 0.25
	w = weights(m, []float32{1, 0, 0, 0.5})
	checkClose(t, "positions of two channels", w[0]/w[1], math.Exp(0.125), 1e-12)
}

// Where one feature is drawn before all others, the second draw is still among what is
// left: of weights e^0, e^-5000 and e^-5000 either of the others with one half.
func TestFeaturesThatAreHardlyEverDrawnFirstAreDrawnNext(t *testing.T) {
	m := Masking{Weighting: Exponential}
	for set, want := range []float64{0b011: 0.5, 0b101: 0.5, 0b111: 0} {
		checkClose(t, "the probability", m.subsetProbabilities([]float64{0, -5000, -5000}, 2)[set], want, 1e-12)
	}
	delta, err := m.SmallestDelta([]float32{10000, 0, 0}, []float32{10000, 0, 1}, 2, 0)
	if checkClose(t, "delta", delta, 1/(1+math.Exp(-0.5)), 1e-12); err != nil {
		t.Error(err)
	}
}

// neighbours are a record of n features and its neighbours: one feature less (the
// paper's), and another value of one (the usual).
func neighbours(n int) (x []float32, of map[string][]float32) {
	x = make([]float32, n)
	other := make([]float32, n)
	other[n-1] = 1
	return x, map[string][]float32{"one feature less": x[:n-1], "another value": other}
}

// For uniform draws both claims hold, for either relation, with nothing to spare in delta; and
// epsilon plays no part: the same delta is needed at 0, at the claimed epsilon and at infinity.
func TestTheClaimsHoldAndTheirEpsilonIsIdle(t *testing.T) {
	pairs := 0
	for n := 2; n <= 6; n++ {
		x, of := neighbours(n)
		for k := 1; k <= n; k++ {
			for _, m := range []Masking{{}, {Replacement: true}} {
				claim, err := ClaimWithoutReplacement(n, k)
				if m.Replacement {
					claim, err = ClaimWithReplacement(n, k)
				}
				if err != nil {
					t.Fatal(err)
				}
				for relation, y := range of {
					if !m.Replacement && k > len(y) {
						continue // there is nothing to draw
					}
					for _, epsilon := range []float64{0, claim.Epsilon / 2, claim.Epsilon, 50, math.Inf(1)} {
						got, err := m.SmallestDelta(x, y, k, epsilon)
						back, err2 := m.SmallestDelta(y, x, k, epsilon)
						if err != nil || err2 != nil {
							t.Fatal(err, err2)
						}
						if math.Abs(got-claim.Delta) > 1e-12 || got != back {
							t.Errorf("%+v, %s, n = %d, k = %d: delta %v at epsilon %v, claimed is %v", m, relation, n, k, got, epsilon, claim)
						}
						pairs++
					}
				}
			}
		}
	}
	if pairs < 300 {
		t.Errorf("only %d cases were looked at", pairs)
	}
}

// If features are drawn with weights from their own values, both claims fail: a neighbour that
// is bright in the feature has it drawn more often.
func TestWeightedDrawsBreakTheClaims(t *testing.T) {
	for n := 3; n <= 6; n++ {
		x, of := neighbours(n)
		y := of["another value"]
		for k := 1; k < n; k++ {
			for _, m := range []Masking{{Weighting: Exponential}, {Weighting: Exponential, Replacement: true}} {
				claim, _ := ClaimWithoutReplacement(n, k)
				if m.Replacement {
					claim, _ = ClaimWithReplacement(n, k)
				}
				got, err := m.SmallestDelta(x, y, k, claim.Epsilon)
				if err != nil {
					t.Fatal(err)
				}
				r := defaults.Fill(m)
				shown := 0.0 // the chance that the bright feature is drawn
				for set, p := range sequences(weights(r, y), k, m.Replacement) {
					if set>>(n-1)&1 == 1 {
						shown += p
					}
				}
				if got < claim.Delta+0.01 || math.Abs(got-shown) > 1e-12 {
					t.Errorf("%+v, n = %d, k = %d: delta %v, claimed %v; the bright feature is shown with %v", m, n, k, got, claim.Delta, shown)
				}
				if _, err := m.Claim(n); err == nil || !strings.Contains(err.Error(), "nothing is claimed") {
					t.Errorf("a claim for weighted draws: %v", err)
				}
			}
		}
	}
	// n = 6, k = 3; weighted by all permutations in Python as well.
	x, of := neighbours(6)
	for _, c := range []struct {
		m    Masking
		want string
	}{
		{Masking{}, "0.5000"}, {Masking{Replacement: true}, "0.4213"},
		{Masking{Weighting: Exponential}, "0.6563"}, {Masking{Weighting: Exponential, Replacement: true}, "0.5747"},
	} {
		claim, _ := ClaimWithoutReplacement(6, 3)
		if c.m.Replacement {
			claim, _ = ClaimWithReplacement(6, 3)
		}
		got, _ := c.m.SmallestDelta(x, of["another value"], 3, claim.Epsilon)
		if fmt.Sprintf("%.4f", got) != c.want {
			t.Errorf("%+v: delta %.4f, want %s", c.m, got, c.want)
		}
	}
}

func TestRecordsThatDifferInEverythingAreDistinguished(t *testing.T) {
	x, y := []float32{0, 0, 0, 0}, []float32{1, 1, 1, 1}
	for _, m := range []Masking{{}, {Replacement: true}} {
		if got, err := m.SmallestDelta(x, y, 1, 10); err != nil || math.Abs(got-1) > 1e-12 {
			t.Errorf("delta %v: %v", got, err)
		}
		if got, err := m.SmallestDelta(x, x, 3, 0); err != nil || got > 1e-12 {
			t.Errorf("of a record and itself delta is %v: %v", got, err)
		}
	}
}

func TestInvalidMaskingIsRefused(t *testing.T) {
	x := bright(2, 6)
	nan := bright(2, 6)
	nan.Data[7] = float32(math.NaN())
	for words, c := range map[string]struct {
		m       Masking
		x       array.Matrix[float32]
		records []int
	}{
		"the rate of masking, 1.5":          {Masking{Rate: 1.5}, x, firstInts(2)},
		"the rate of masking, -1":           {Masking{Rate: -1}, x, firstInts(2)},
		"draws none of 6 features":          {Masking{Rate: 0.1}, x, firstInts(2)},
		"masking of -3 channels":            {Masking{Channels: -3}, x, firstInts(2)},
		"6 columns are not a multiple of 4": {Masking{Channels: 4}, x, firstInts(2)},
		"has no weighting \"linear\"":       {Masking{Weighting: "linear"}, x, firstInts(2)},
		"the fill value is NaN":             {Masking{Fill: float32(math.NaN())}, x, firstInts(2)},
		"masking: row 1, column 1":          {Masking{}, nan, firstInts(2)},
		"the numbers of 3 records":          {Masking{}, x, firstInts(3)},
		"11 values do not fill":             {Masking{}, array.Matrix[float32]{Rows: 2, Cols: 6, Data: x.Data[:11]}, firstInts(2)},
	} {
		if _, _, err := c.m.Mask(c.x, c.records, draws(1)); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("error %v, want one with %q", err, words)
		}
	}
	for words, f := range map[string]func() error{
		"0 draws from 4":              func() error { _, err := ClaimWithReplacement(4, 0); return err },
		"5 draws without replacement": func() error { _, err := ClaimWithoutReplacement(4, 5); return err },
		"9 given features of 8":       func() error { _, err := Masking{}.SurvivalProbability(8, 9); return err },
		"draws 3 of the 2 features of y": func() error {
			_, err := Masking{}.SmallestDelta(make([]float32, 3), make([]float32, 2), 3, 1)
			return err
		},
		"of the 17 features of x": func() error {
			_, err := Masking{}.SmallestDelta(make([]float32, 17), make([]float32, 2), 1, 1)
			return err
		},
		"epsilon is NaN": func() error {
			_, err := Masking{}.SmallestDelta(make([]float32, 2), make([]float32, 2), 1, math.NaN())
			return err
		},
		"y[1] is NaN": func() error {
			_, err := Masking{}.SmallestDelta(make([]float32, 2), []float32{0, float32(math.NaN())}, 1, 1)
			return err
		},
		"1000000000 draws from 16 features take too long": func() error {
			_, err := Masking{Replacement: true}.SmallestDelta(make([]float32, 16), make([]float32, 16), 1e9, 1)
			return err
		},
		"exact masking needs one channel": func() error {
			_, err := Masking{Channels: 3}.SmallestDelta(make([]float32, 3), make([]float32, 3), 1, 1)
			return err
		},
	} {
		if err := f(); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("error %v, want one with %q", err, words)
		}
	}
}

// Of features whose weights are all below the least float64 beside the greatest one
// the heavier is drawn more often, by the law of a record where they stand alone.
func TestDrawsBelowTheLeastFloat64KeepTheirLaw(t *testing.T) {
	m := Masking{Weighting: Exponential, Channels: 1}
	count := func(row []float32) (of [3]float64) {
		rng := rand.New(rand.NewPCG(8, 1))
		const n = 20_000
		for range n {
			drawn := m.draw(m.logWeights(row), len(row)-2, rng)
			for _, j := range drawn[len(row)-3:] { // the last of them: one of the three
				of[j-len(row)+3] += 1. / n
			}
		}
		return of
	}
	far, alone := count([]float32{4000, 0, 1, 2}), count([]float32{0, 1, 2})
	sum := 1 + math.Exp(0.5) + math.E
	for j, w := range []float64{1, math.Exp(0.5), math.E} {
		if math.Abs(far[j]-w/sum) > 0.015 || math.Abs(alone[j]-w/sum) > 0.015 {
			t.Errorf("feature %d is drawn first with %v, and %v alone, want %v", j, far[j], alone[j], w/sum)
		}
	}
}
