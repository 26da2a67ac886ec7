package learned

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
)

// rounded are numbers of single precision, which scikit-learn's trees work on.
func rounded(data []float64, f func(k float64) float64) {
	for k := range data {
		data[k] = float64(float32(f(float64(k))))
	}
}

// waves are 24 members and 36 others with four features, and five records to score.
func waves() (known Records, probe array.Matrix[float64]) {
	x := array.New[float64](60, 4)
	rounded(x.Data, func(k float64) float64 { return math.Sin(0.3 + float64(1.7*k)) })
	for i := range 24 {
		x.Row(i)[1] = float64(float32(x.Row(i)[1] + 0.25))
		x.Row(i)[2] = float64(float32(1.5 * x.Row(i)[2]))
	}
	probe = array.New[float64](5, 4)
	rounded(probe.Data, func(k float64) float64 { return math.Cos(0.1 + float64(0.9*k)) })
	return Records{array.Matrix[float64]{Rows: 24, Cols: 4, Data: x.Data[:96]}, array.Matrix[float64]{Rows: 36, Cols: 4, Data: x.Data[96:]}}, probe
}

// column is a feature alone.
func column(m array.Matrix[float64], j int) array.Matrix[float64] {
	out := array.New[float64](m.Rows, 1)
	for i := range m.Rows {
		out.Data[i] = m.Row(i)[j]
	}
	return out
}

// scikit-learn 1.9.1, GradientBoostingClassifier's decision_function, where six seeds of
// its ties gave the same.
func TestBoostedTreesAreScikitLearns(t *testing.T) {
	known, probe := waves()
	one := Records{column(known.Members, 1), column(known.Nonmembers, 1)}
	for name, c := range map[string]struct {
		b     BoostedTrees
		known Records
		probe array.Matrix[float64]
		want  []float64
	}{
		"as it comes, one feature": {BoostedTrees{}, one, column(probe, 1),
			[]float64{0.6893349249576146, -1.670463190123295, 1.5004002062728825, -2.4949292945591655, -3.7517972784052147}},
		"stumps": {BoostedTrees{Trees: 7, Depth: 1, Rate: 0.5}, known, probe,
			[]float64{-1.2653144887157672, -0.6284692197867793, -1.2653144887157672, -1.2653144887157672, -1.2653144887157672}},
		"large leaves": {BoostedTrees{Trees: 30, Depth: 2, Leaf: 10, Rate: 0.3}, known, probe,
			[]float64{-3.8279273601505173, -0.6637708833993838, -2.23790097259292, 2.8809419600593134, -2.968963447533395}},
	} {
		score, err := c.b.Fit(context.Background(), nil, c.known, 0)
		if err != nil {
			t.Fatal(err)
		}
		got, err := score(c.probe)
		if err != nil {
			t.Fatal(err)
		}
		checkClose(t, name, got, c.want, 1e-10)
	}
}

// What two features say together, and neither alone, trees find and a line does not.
func TestTreesFindWhatALineCannot(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	r := Records{array.New[float64](80, 2), array.New[float64](80, 2)}
	for side, m := range []array.Matrix[float64]{r.Members, r.Nonmembers} {
		for i := range m.Rows {
			a, b := rng.NormFloat64(), rng.NormFloat64()
			if (a*b > 0) != (side == 0) { // members have both signs alike
				b = -b
			}
			m.Row(i)[0], m.Row(i)[1] = a, b
		}
	}
	auc := func(a Attacker) float64 {
		out, err := CrossFitted(a).Run(context.Background(), nil, Target{Model: r}, 1)
		if err != nil {
			t.Fatal(err)
		}
		return out.AUC.Value
	}
	if line, trees := auc(Logistic{}), auc(BoostedTrees{}); line > 0.65 || trees < 0.9 {
		t.Errorf("AUC %.3f of a line, %.3f of trees", line, trees)
	}
}

// A feature may be stretched without changing a score, as long as its order stays.
func TestTreesLookAtTheOrderOfAFeatureAlone(t *testing.T) {
	known, _ := waves()
	probe := known.stacked()
	of := func(change func(float64) float64) []float64 {
		bend := func(m array.Matrix[float64]) array.Matrix[float64] {
			out := array.New[float64](m.Rows, m.Cols)
			copy(out.Data, m.Data)
			for i := range m.Rows {
				out.Row(i)[1] = change(out.Row(i)[1])
			}
			return out
		}
		score, err := BoostedTrees{Trees: 20}.Fit(context.Background(), nil, Records{bend(known.Members), bend(known.Nonmembers)}, 0)
		if err != nil {
			t.Fatal(err)
		}
		got, err := score(bend(probe))
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	checkClose(t, "scores", of(math.Exp), of(func(v float64) float64 { return v }), 0)
}

func TestTreesThatCannotGrow(t *testing.T) {
	same := Records{array.New[float64](3, 2), array.New[float64](9, 2)}
	score, err := BoostedTrees{}.Fit(context.Background(), nil, same, 0)
	if err != nil {
		t.Fatal(err)
	}
	got, err := score(array.New[float64](1, 2))
	if err != nil || math.Abs(got[0]+math.Log(3)) > 1e-12 {
		t.Errorf("records that are all alike have the score %v, want their odds: %v", got, err)
	}
	end := func(v float64) array.Matrix[float64] {
		return array.Matrix[float64]{Rows: 1, Cols: 1, Data: []float64{v}}
	}
	huge := Records{end(math.MaxFloat64), end(-math.MaxFloat64)}
	score, err = BoostedTrees{}.Fit(context.Background(), nil, huge, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := score(huge.stacked()); err != nil || !(got[0] > 1 && got[1] < -1) {
		t.Errorf("the two ends of the numbers have the scores %v (%v)", got, err)
	}
	for _, b := range []BoostedTrees{{Trees: -1}, {Depth: -1}, {Leaf: -1}, {Rate: math.NaN()}} {
		if _, err := b.Fit(context.Background(), nil, same, 0); err == nil {
			t.Errorf("%+v is taken", b)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := (BoostedTrees{}).Fit(ctx, nil, same, 0); err == nil {
		t.Error("it goes on after it was interrupted")
	}
}

// BenchmarkBoostedTrees fits the zero value on 20,000 records with the 70 features of
// "Fishing for Privacy".
func BenchmarkBoostedTrees(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	r := Records{array.New[float64](10_000, 70), array.New[float64](10_000, 70)}
	for _, m := range []array.Matrix[float64]{r.Members, r.Nonmembers} {
		for k := range m.Data {
			m.Data[k] = rng.NormFloat64()
		}
	}
	for b.Loop() {
		if _, err := (BoostedTrees{}).Fit(b.Context(), nil, r, 0); err != nil {
			b.Fatal(err)
		}
	}
}
