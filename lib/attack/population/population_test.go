package population

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/attack"
)

// waves are records whose scores depend on what is seen of them, without a generator.
func waves() Records {
	r := Records{Features: array.New[float64](40, 2)}
	for i := range 40 {
		x, at := r.Features.Row(i), float64(i)
		x[0], x[1] = math.Sin(1.3*at+0.2), math.Cos(0.7*at*at)
		r.Scores = append(r.Scores, x[0]-0.5*x[1]+(0.4+0.3*float64(i%3))*math.Sin(5.1*at))
	}
	return r
}

// scipy 1.17.1, optimize.minimize(method="BFGS", gtol=1e-10) of the objective of the
// comment, ridge 1: its value is -8.766683365048204, and the scores of two records these.
func TestQuantileRegressionIsScipysMinimum(t *testing.T) {
	known := waves()
	asked := Records{Scores: []float64{0.5, -2}, Features: array.Matrix[float64]{Rows: 2, Cols: 2, Data: []float64{0.3, -0.8, -1, 1}}}
	got, err := QuantileRegression{}.Scores(Evidence{Known: known, Asked: asked})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{-0.4245194268367424, -0.6386752457555096} {
		if math.Abs(got[i]-want) > 2e-6 {
			t.Errorf("record %d: %v, want %v", i, got[i], want)
		}
	}
	l, err := fitDistribution(known, 1)
	if err != nil {
		t.Fatal(err)
	}
	f, residuals := make([][]float64, 40), make([]float64, 40)
	for i := range f {
		f[i] = l.features(known.Features.Row(i))
		residuals[i] = known.Scores[i] - dot(l.mean, f[i])
	}
	if v := objective(f, residuals, l, 1); math.Abs(v - -8.766683365048204) > 1e-9 {
		t.Errorf("the objective is %v", v)
	}
}

// Units of a feature and of a score do not matter; a constant feature does nothing.
func TestQuantileRegressionDoesNotKnowUnits(t *testing.T) {
	known := waves()
	first, err := QuantileRegression{Ridge: 1e-9}.Scores(Evidence{Known: known, Asked: known})
	if err != nil {
		t.Fatal(err)
	}
	moved := Records{Features: array.New[float64](40, 3)}
	for i, s := range known.Scores {
		x := known.Features.Row(i)
		copy(moved.Features.Row(i), []float64{100*x[0] - 7, x[1] / 50, 3})
		moved.Scores = append(moved.Scores, 10*s+5)
	}
	second, err := QuantileRegression{Ridge: 1e-9}.Scores(Evidence{Known: moved, Asked: moved})
	if err != nil {
		t.Fatal(err)
	}
	for i := range first {
		if math.Abs(first[i]-second[i]) > 1e-5 {
			t.Errorf("record %d: %v and %v", i, first[i], second[i])
		}
	}
}

// Members are as easy as other records, but for what was remembered: who knows what is
// easy finds them where the threshold attack does not.
func TestARecordThatIsEasyForEverybodyIsNotSuspected(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	draw := func(n int, memory float64) (r Records) {
		r.Features = array.New[float64](n, 1)
		for i := range n {
			r.Features.Data[i] = rng.NormFloat64()
			r.Scores = append(r.Scores, 5*r.Features.Data[i]+memory+0.3*rng.NormFloat64())
		}
		return r
	}
	known, members, others := draw(200, 0), draw(100, 0.6), draw(100, 0)
	scores, member := attack.Samples{Members: members.Scores, Nonmembers: others.Scores}.Joined()
	e := Evidence{Known: known, Asked: Records{
		Scores: scores, Features: array.Matrix[float64]{Rows: 200, Cols: 1, Data: slices.Concat(members.Features.Data, others.Features.Data)},
	}}
	plain, err := attack.Run(Percentile{}, e, member)
	if err != nil {
		t.Fatal(err)
	}
	by, err := attack.Run(QuantileRegression{}, e, member)
	if err != nil {
		t.Fatal(err)
	}
	var hand attack.Samples
	for _, side := range []struct {
		of Records
		to *[]float64
	}{{members, &hand.Members}, {others, &hand.Nonmembers}} {
		l, err := fitDistribution(e.Known, 1)
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range side.of.Scores {
			m, v := l.meanLogSD(side.of.Features.Row(i))
			*side.to = append(*side.to, (s-m)/math.Exp(v))
		}
	}
	if want, err := attack.Score(hand, 0.95); err != nil || math.Abs(want.AUC.Value-by.AUC.Value) > 1e-12 {
		t.Errorf("by hand %+v, %v; by Run %+v", want.AUC, err, by.AUC)
	}
	if plain.AUC.Value > 0.65 || by.AUC.Low < 0.8 {
		t.Errorf("population %+v, quantile regression %+v", plain.AUC, by.AUC)
	}
}

func TestThePopulationIsCounted(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	for range 50 {
		known, asked := Records{}, Records{}
		for range 1 + rng.IntN(20) {
			known.Scores = append(known.Scores, float64(rng.IntN(6)))
		}
		for range 1 + rng.IntN(9) {
			asked.Scores = append(asked.Scores, float64(rng.IntN(8)-1))
		}
		got, err := Percentile{}.Scores(Evidence{Known: known, Asked: asked})
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range asked.Scores {
			want := 0.0
			for _, z := range known.Scores {
				switch {
				case z < s:
					want++
				case z == s:
					want += 0.5
				}
			}
			if want /= float64(len(known.Scores)); math.Abs(got[i]-want) > 1e-15 {
				t.Errorf("%v among %v: %v, want %v", s, known.Scores, got[i], want)
			}
		}
	}
}

func TestFeaturesThatDoNotFitAreRefused(t *testing.T) {
	for words, corrupt := range map[string]func(known, asked *Records){
		"features of 39 known": func(k, _ *Records) { k.Features = k.Features.Gather(make([]int, 39)) },
		"different numbers":    func(_, a *Records) { a.Features = a.Features.FirstColumns(1) },
		"row 2, column 1":      func(_, a *Records) { a.Features.Row(2)[1] = math.NaN() },
		"features of 0 asked":  func(_, a *Records) { a.Features = array.Matrix[float64]{} },
		"all the same": func(k, _ *Records) {
			for i := range k.Scores {
				k.Scores[i] = 1
			}
		},
	} {
		known, asked := waves(), waves()
		corrupt(&known, &asked)
		words = strings.ReplaceAll(words, " asked", " records under attack")
		if _, err := (QuantileRegression{}).Scores(Evidence{Known: known, Asked: asked}); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%q: %v", words, err)
		}
	}
	if _, err := (QuantileRegression{Ridge: -1}).Scores(Evidence{Known: waves(), Asked: waves()}); err == nil || !strings.Contains(err.Error(), "ridge") {
		t.Errorf("a negative ridge: %v", err)
	}
}
