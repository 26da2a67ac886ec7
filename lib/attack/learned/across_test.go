package learned_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/attack/learned"
	"github.com/lethe-ml/lethe/lib/attack/shadow"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/stats"
)

// pairs draws features of 20 records in 12 models: records differ, models differ, and
// the second feature of a record that a model had is higher by memory.
func pairs(seed uint64, memory float64) learned.ShadowModels {
	rng := rand.New(rand.NewPCG(seed, 21))
	f := learned.ShadowModels{Pairs: true}
	own := array.Normal(rng, 20, 3, 1)
	for m := range 12 {
		in, x := make([]bool, 20), array.Normal(rng, 20, 3, 1)
		for k, i := range rng.Perm(20) {
			in[i] = k < 10
		}
		if m%2 == 1 {
			for i := range in {
				in[i] = !f.In[m-1][i]
			}
		}
		for i := range in {
			for j := range x.Row(i) {
				x.Row(i)[j] += 3*own.Row(i)[j] + float64(m)
			}
			if in[i] {
				x.Row(i)[1] += memory
			}
		}
		f.In, f.Features = append(f.In, in), append(f.Features, x)
	}
	return f
}

func judged(t *testing.T, f learned.ShadowModels) stats.Estimate {
	t.Helper()
	scores, err := learned.AcrossModels(context.Background(), nil, learned.Logistic{}, f, 3, 1)
	if err != nil {
		t.Fatal(err)
	}
	all := array.Matrix[float64]{Rows: 12, Cols: 20, Data: slices.Concat(scores...)}
	s, err := shadow.Models{Scores: all, In: f.In, Pairs: true}.ReportScores("across models", true, func(m int) ([]float64, error) { return scores[m], nil })
	if err != nil {
		t.Fatal(err)
	}
	return s.AUC
}

func TestAcrossModelsFindsAMemoryAndNothingElse(t *testing.T) {
	if e := judged(t, pairs(1, 3)); e.Low < 0.6 {
		t.Errorf("AUC %v with a memory", e)
	}
	const trials = 600
	held := 0
	for k := range trials {
		if e := judged(t, pairs(uint64(100+k), 0)); e.Low <= 0.5 && 0.5 <= e.High {
			held++
		}
	}
	if c, slack := float64(held)/trials, 3*math.Sqrt(0.05*0.95/trials); c < 0.95-slack {
		t.Errorf("%.3f of the intervals hold 0.5", c)
	} else {
		t.Logf("%.3f of the intervals hold 0.5", c)
	}
}

// spy remembers what it was trained on.
type spy struct {
	learned.Logistic
	known *[]learned.Records
}

func (s spy) Fit(ctx context.Context, e *engine.Engine, known learned.Records, seed engine.Root) (learned.Scorer, error) {
	*s.known = append(*s.known, known)
	return s.Logistic.Fit(ctx, e, known, seed)
}

// The attacker of a model has seen neither it nor the other one of its pair.
func TestAcrossModelsNoAttackerJudgesWhatItWasTrainedOn(t *testing.T) {
	f := pairs(2, 1)
	for m, x := range f.Features {
		for i := range x.Rows {
			x.Row(i)[0], x.Row(i)[2] = float64(m), 0 // marks the model, if it were not standardised away
		}
	}
	var known []learned.Records
	if _, err := learned.AcrossModels(context.Background(), nil, spy{known: &known}, f, 3, 1); err != nil {
		t.Fatal(err)
	}
	if len(known) != 3 {
		t.Fatalf("%d attackers", len(known))
	}
	for k, r := range known {
		if r.Members.Rows != 80 || r.Nonmembers.Rows != 80 {
			t.Errorf("attacker %d learned on %d members and %d others, want 4 pairs of models", k, r.Members.Rows, r.Nonmembers.Rows)
		}
		for m := range f.Features {
			column := func(x array.Matrix[float64], row int) float64 { return x.Row(row)[1] }
			alone := pairs(2, 1).Features[m]
			mean, sd := 0.0, 0.0
			for i := range alone.Rows {
				mean += column(alone, i) / 20
			}
			for i := range alone.Rows {
				sd += (column(alone, i) - mean) * (column(alone, i) - mean) / 20
			}
			first := (column(alone, 0) - mean) / math.Sqrt(sd)
			seen := slices.ContainsFunc(slices.Concat(r.Members.Data, r.Nonmembers.Data), func(v float64) bool { return math.Abs(v-first) < 1e-12 })
			if seen == (m/2%3 == k) {
				t.Errorf("attacker %d, which judges fold %d, has seen model %d: %t", k, k, m, seen)
			}
		}
	}
}

func TestAcrossModelsRefuses(t *testing.T) {
	for words, corrupt := range map[string]func(f *learned.ShadowModels, folds *int){
		"12 models in 7 folds":         func(_ *learned.ShadowModels, folds *int) { *folds = 7 },
		"12 models in 1 folds":         func(_ *learned.ShadowModels, folds *int) { *folds = 1 },
		"training sets of 11":          func(f *learned.ShadowModels, _ *int) { f.In = f.In[1:] },
		"membership of 19":             func(f *learned.ShadowModels, _ *int) { f.In[3] = f.In[3][1:] },
		"features in model 4: row 0, ": func(f *learned.ShadowModels, _ *int) { f.Features[4].Data[2] = math.NaN() },
	} {
		f, folds := pairs(3, 0), 3
		corrupt(&f, &folds)
		if _, err := learned.AcrossModels(context.Background(), nil, learned.Logistic{}, f, folds, 1); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%v, want %q", err, words)
		}
	}
}

// An attacker that sees all features as they are judges alike, whether all models share one
// view or each has its own; what it sees of a model's axes turned in one of them is of that
// model alone.
func TestAcrossModelsAsEachSeesThem(t *testing.T) {
	f := pairs(5, 2)
	f.Features[7].Data[3] += 0.5
	plain, err := learned.AcrossModels(context.Background(), nil, learned.Logistic{}, f, 6, 1)
	if err != nil {
		t.Fatal(err)
	}
	own := f
	own.FeaturesFor = func(k int) ([]array.Matrix[float64], error) {
		if k != 4 {
			return f.Features, nil
		}
		var out []array.Matrix[float64]
		for _, x := range f.Features {
			out = append(out, array.Matrix[float64]{Rows: x.Rows, Cols: x.Cols, Data: make([]float64, len(x.Data))}) // sees nothing
		}
		return out, nil
	}
	seen, err := learned.AcrossModels(context.Background(), nil, learned.Logistic{}, own, 6, 1)
	if err != nil {
		t.Fatal(err)
	}
	for m := range plain {
		switch blind := len(slices.Compact(slices.Clone(seen[m]))) == 1; {
		case m != 4 && !slices.Equal(plain[m], seen[m]):
			t.Errorf("model %d is judged otherwise", m)
		case blind != (m == 4):
			t.Errorf("model %d: an attacker that sees nothing tells records apart", m)
		}
	}
	for words, at := range map[string]func(k int) ([]array.Matrix[float64], error){
		"of model 3: no axes":                  func(k int) ([]array.Matrix[float64], error) { return f.Features, errorAt(k, 3) },
		"model 1: features of 19 x 3":          func(int) ([]array.Matrix[float64], error) { return shorter(f.Features), nil },
		"training sets of 12":                  func(int) ([]array.Matrix[float64], error) { return f.Features[1:], nil },
		"features in model 0: row 0, column 0": func(int) ([]array.Matrix[float64], error) { return broken(f.Features), nil },
	} {
		own.FeaturesFor = at
		if _, err := learned.AcrossModels(context.Background(), nil, learned.Logistic{}, own, 6, 1); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%v, want %q", err, words)
		}
	}
}

func errorAt(k, at int) error {
	if k == at {
		return errors.New("no axes")
	}
	return nil
}

func shorter(x []array.Matrix[float64]) []array.Matrix[float64] {
	out := slices.Clone(x)
	out[1] = out[1].FirstColumns(3)
	out[1].Rows, out[1].Data = 19, out[1].Data[:57]
	return out
}

func broken(x []array.Matrix[float64]) []array.Matrix[float64] {
	out := slices.Clone(x)
	out[0].Data = slices.Clone(out[0].Data)
	out[0].Data[0] = math.NaN()
	return out
}
