package language

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestCheckListsAllThatIsWrong(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(-1)
	bad := &Tokens{
		Offset:    []int{0, 3, 3, 7},
		LogProb:   []float64{-1, nan, nan, nan, 0.5, 0.7, inf},
		Mean:      []float64{-1, -1, -1, -1, -1, -1, 0.25},
		Deviation: []float64{0, 1, -2, 1, 1, nan},
		Correct:   make([]bool, 8),
	}
	want := []string{
		"6 deviations for 7 log-probabilities",
		"8 marks of correct tokens for 7 log-probabilities",
		"document 0, tokens 1 to 2: the log-probability is NaN",
		"document 2, token 0: the log-probability is NaN",
		"document 2, tokens 1 to 2: the log-probability is above 0 (the first is 0.5)",
		"document 2, token 3: the log-probability is infinite (-Inf)",
		"document 2, token 3: the mean is above 0 (0.25)",
		"document 0, token 2: the deviation is below 0 (-2)",
		"document 2, token 2: the deviation is NaN",
	}
	if got := strings.Split(bad.Check().Error(), "\n"); !slices.Equal(got, want) {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
}

// A token that is certain is the most probable one: another mark is of a masked place, or of another token.
func TestACertainTokenIsTheMostProbable(t *testing.T) {
	k := &Tokens{Offset: []int{0, 2, 6}, LogProb: []float64{-1, 0, -2, 0, math.Copysign(0, -1), -1}, Correct: []bool{false, true, true, false, false, false}}
	want := "document 1, tokens 1 to 2: the log-probability is that of certainty, and the token is marked as not the most probable: is its place masked? (the first is 0)"
	if err := k.Check(); err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
	refuses(t, failure(k.Base()), "is its place masked?")
	k.Correct[3], k.Correct[4] = true, true
	if err := k.Check(); err != nil {
		t.Error(err)
	}
	k.Correct = nil
	if err := k.Check(); err != nil {
		t.Errorf("without marks: %v", err)
	}
}

func TestOffsetsThatDoNotFitAreListed(t *testing.T) {
	for want, o := range map[string][]int{
		"there are no offsets":         nil,
		"offset 0 is 1, want 0\ntoken": {1, 3},
		"document 1: its end 1 is before its begin 2\ntoken 1: the log-probability is above 0": {0, 2, 1, 3},
		"the last offset is 2, and there are 3 tokens":                                         {0, 2},
		"the last offset is 5, and there are 3 tokens":                                         {0, 2, 5},
		"offset 0 is -2, want 0":                                                               {-2, 3},
	} {
		refuses(t, (&Tokens{Offset: o, LogProb: []float64{-1, 2, -1}}).Check(), want)
	}
	refuses(t, (&Tokens{Offset: []int{0, 1}, LogProb: []float64{-1}, Mean: []float64{-1}}).Check(), "mean and deviation belong together")
	none := (*Tokens)(nil)
	for _, err := range []error{none.Check(), failure(none.Base()), failure(none.WithoutLast()), failure(none.Select(nil))} {
		refuses(t, err, "the tokens are missing")
	}
	if err := (&Tokens{Offset: []int{0}, LogProb: []float64{}}).Check(); err != nil {
		t.Errorf("no documents: %v", err)
	}
}

func TestPlaceFindsTheDocument(t *testing.T) {
	k := &Tokens{Offset: []int{0, 0, 2, 2, 2, 5, 5}}
	for token, want := range [][2]int{{1, 0}, {1, 1}, {4, 0}, {4, 1}, {4, 2}} {
		if d, p := k.place(token); d != want[0] || p != want[1] {
			t.Errorf("token %d is in document %d at %d, want %v", token, d, p, want)
		}
	}
}

func TestWithoutLastDropsOneTokenOfEachDocument(t *testing.T) {
	k := &Tokens{Offset: []int{0, 2, 2, 3}, LogProb: []float64{-1, -2, -3}, Mean: []float64{-4, -5, -6}, Deviation: []float64{7, 8, 9}, Correct: []bool{true, false, true}}
	got := must(k.WithoutLast())(t)
	if !slices.Equal(got.Offset, []int{0, 1, 1, 1}) || !slices.Equal(got.LogProb, []float64{-1}) || !slices.Equal(got.Mean, []float64{-4}) ||
		!slices.Equal(got.Deviation, []float64{7}) || !slices.Equal(got.Correct, []bool{true}) {
		t.Errorf("%+v", got)
	}
	none := must(got.Select([]int{1, 2}))(t)
	if none.Mean == nil || none.Correct == nil || none.Documents() != 2 {
		t.Errorf("%+v: arrays that are known are lost", none)
	}
	refuses(t, failure(k.Select([]int{3})), "there is no document 3: there are 3")
}

// scaled are the same tokens with logarithms to another base.
func scaled(t *Tokens, base float64) *Tokens {
	out := &Tokens{Offset: t.Offset, Correct: t.Correct}
	for i := range t.LogProb {
		out.LogProb = append(out.LogProb, t.LogProb[i]/math.Log(base))
		out.Mean, out.Deviation = append(out.Mean, t.Mean[i]/math.Log(base)), append(out.Deviation, t.Deviation[i]/math.Log(base))
	}
	return out
}

func TestAnotherBaseIsNoticedWhereArraysAllowIt(t *testing.T) {
	natural := drawn(newRNG(5), 40, 30, 0).Target
	peaked := sharp(newRNG(6), 600)
	for _, c := range []struct {
		name      string
		tokens    *Tokens
		suspected int
		certain   bool
	}{
		{"natural", natural, 0, false},
		{"natural, sharp", peaked, 0, false},
		{"base 2", scaled(peaked, 2), 2, false},
		{"base 2, too few tokens near one half", scaled(natural, 2), 0, false},
		{"base 10", scaled(natural, 10), 10, true},
		{"base 10, from marks alone", &Tokens{Offset: natural.Offset, LogProb: scaled(natural, 10).LogProb, Correct: natural.Correct}, 10, true},
		{"base 10, from moments alone", &Tokens{Offset: peaked.Offset, LogProb: scaled(peaked, 10).LogProb, Mean: scaled(peaked, 10).Mean, Deviation: scaled(peaked, 10).Deviation}, 10, true},
		{"base 2, from moments alone", &Tokens{Offset: natural.Offset, LogProb: scaled(natural, 2).LogProb, Mean: scaled(natural, 2).Mean, Deviation: scaled(natural, 2).Deviation}, 0, false},
		{"base 10, nothing else", &Tokens{Offset: natural.Offset, LogProb: scaled(natural, 10).LogProb}, 0, false},
		{"a wrong token that is certain", &Tokens{Offset: []int{0, 1}, LogProb: []float64{-0.01}, Correct: []bool{false}}, 0, true},
	} {
		r := must(c.tokens.Base())(t)
		if r.Suspected != c.suspected || r.Certain != c.certain || r.Why == "" {
			t.Errorf("%s: %+v", c.name, r)
		}
	}
	mixed := &Tokens{Offset: peaked.Offset, LogProb: scaled(peaked, 2).LogProb, Mean: peaked.Mean, Deviation: peaked.Deviation}
	if r := must(mixed.Base())(t); !r.Certain || !strings.Contains(r.Why, "of another base than their means") {
		t.Errorf("log-probabilities of base 2 beside natural means: %+v", r)
	}
	// No bound is above the true base.
	for _, base := range []float64{2, math.E, 10} {
		for _, tokens := range []*Tokens{natural, peaked} {
			if r := must(scaled(tokens, base).Base())(t); r.LowestBase > base*(1+1e-9) || r.LowestBase < 1 {
				t.Errorf("base %v: %+v", base, r)
			}
		}
	}
	refuses(t, failure((&Tokens{Offset: []int{0, 1}, LogProb: []float64{1}}).Base()), "above 0")
}

// sharp are tokens of distributions that have most of their mass on two values.
func sharp(rng *rand.Rand, n int) *Tokens {
	t := &Tokens{Offset: []int{0, n}}
	for range n {
		z := make([]float64, 8)
		z[0], z[1] = 9+rng.NormFloat64(), 9+rng.NormFloat64()
		t.add(normalised(z, 0, 0), drawToken(rng, z))
	}
	return t
}
