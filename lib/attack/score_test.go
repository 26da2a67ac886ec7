package attack

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestScoreHasExactlyTheDocumentedJSON(t *testing.T) {
	r, err := Score(Samples{Members: []float64{1, 2, 3, 4}, Nonmembers: []float64{0, 1, 2, 2.5, 3.5}}, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{
		"auc":        {"high", "low", "value"},
		"advantage":  {"chance_mean", "chance_p95", "high", "low", "signed", "value"},
		"tpr_at_fpr": {"0.001", "0.01", "0.05", "0.1"},
	}
	for field, keys := range want {
		if k := sortedKeys(got[field]); !slices.Equal(k, keys) {
			t.Errorf("%s has %v, want %v", field, k, keys)
		}
	}
	all := []string{"advantage", "auc", "n_members", "n_nonmembers", "tpr_at_fpr"}
	if k := sortedKeys(got); !slices.Equal(k, all) {
		t.Errorf("fields %v, want %v", k, all)
	}
	if got["n_members"] != 4.0 || got["n_nonmembers"] != 5.0 {
		t.Errorf("counts %v and %v", got["n_members"], got["n_nonmembers"])
	}
}

func sortedKeys(v any) []string {
	m, _ := v.(map[string]any)
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// Pairs won by hand: 1 beats 0 and ties 1; 2 beats 0, 1 and ties 2; 3 beats 0,
// 1, 2, 2.5; 4 beats all five. That is 13 of 20 with 1.5 + 2.5 + 4 + 5.
func TestScoreOfASmallCaseWorkedByHand(t *testing.T) {
	r, err := Score(Samples{Members: []float64{1, 2, 3, 4}, Nonmembers: []float64{0, 1, 2, 2.5, 3.5}}, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	checkClose(t, "AUC", r.AUC.Value, 13.0/20, 1e-15)
	checkClose(t, "signed advantage", r.Advantage.Signed, 0.3, 1e-15)
	checkClose(t, "TPR at FPR 0.1", r.TPRAtFPR["0.1"], 0.25, 0) // only 4 is above every non-member
}

func TestSwappingTheSidesMirrorsTheScore(t *testing.T) {
	m, n := losses(60, 1, 1, 0.2), losses(45, 2, 1, 0)
	a, errA := Score(Samples{Members: m, Nonmembers: n}, 0.9)
	b, errB := Score(Samples{Members: n, Nonmembers: m}, 0.9)
	if errA != nil || errB != nil {
		t.Fatal(errA, errB)
	}
	checkClose(t, "AUC", b.AUC.Value, 1-a.AUC.Value, 1e-15)
	checkClose(t, "low", b.AUC.Low, 1-a.AUC.High, 1e-12)
	checkClose(t, "signed", b.Advantage.Signed, -a.Advantage.Signed, 1e-15)
	checkClose(t, "unsigned", b.Advantage.Value, a.Advantage.Value, 1e-15)
	checkClose(t, "floor", b.Advantage.ChanceP95, a.Advantage.ChanceP95, 1e-15)
}

func TestAdvantageWithoutASignalStaysBelowItsFloor(t *testing.T) {
	const trials = 300
	beyond, sum, floor := 0, 0.0, 0.0
	for seed := range trials {
		rng := rand.New(rand.NewPCG(uint64(seed), 9))
		r, err := Score(Samples{Members: exponential(rng, 40, 1), Nonmembers: exponential(rng, 60, 1)}, 0.95)
		if err != nil {
			t.Fatal(err)
		}
		if r.Advantage.Value > r.Advantage.ChanceP95 {
			beyond++
		}
		sum += r.Advantage.Value
		floor = r.Advantage.ChanceMean
	}
	if share := float64(beyond) / trials; share < 0.01 || share > 0.1 {
		t.Errorf("%v of the advantages are beyond the floor's 95th percentile", share)
	}
	checkClose(t, "mean advantage", sum/trials, floor, 0.02)
}

func TestScoreRefusesWhatItCannotRank(t *testing.T) {
	ok := []float64{1, 2}
	cases := []struct {
		m, n  []float64
		level float64
		want  string
	}{
		{nil, ok, 0.95, "no members"},
		{ok, nil, 0.95, "no non-members"},
		{[]float64{1, math.NaN()}, ok, 0.95, "members[1] is NaN"},
		{ok, []float64{math.Inf(1)}, 0.95, "nonmembers[0] is +Inf"},
		{ok, ok, 1, "level"},
	}
	for _, c := range cases {
		if _, err := Score(Samples{Members: c.m, Nonmembers: c.n}, c.level); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
	}
}

// "Fishing for Privacy" reads advantages of 0.046 and 0.072 of 30 members against 194
// non-members as signs of forgetting: chance alone gives 0.091 on average, and 0.222 is
// passed in 5 of 100 cases.
func TestTheFloorOfThirtyAgainstAHundredAndNinetyFour(t *testing.T) {
	r, err := Score(Samples{Members: losses(30, 1, 1, 0), Nonmembers: losses(194, 2, 1, 0)}, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	checkClose(t, "mean", r.Advantage.ChanceMean, 0.0906, 5e-5)
	checkClose(t, "95 of 100", r.Advantage.ChanceP95, 0.2225, 5e-5)
}
