package representation

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/attack/learned"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/stats"
)

func sine(n int, at float64) array.Matrix[float64] {
	m := array.New[float64](n, 3)
	for k := range m.Data {
		m.Data[k] = math.Sin(at + 1.7*float64(k))
	}
	return m
}

// waved is a pair of three numbers per record whose second falls by an unlearning.
func waved(n int, at, fall float64) Pair {
	p := Pair{sine(n, at), sine(n, at+0.5)}
	for i := range n {
		p.After.Row(i)[1] -= fall * math.Abs(math.Sin(at+9+1.7*float64(i)))
	}
	return p
}

// scikit-learn 1.9.1: StandardScaler, LogisticRegression and roc_auc_score.
func TestTheAttackOnPairsIsScikitLearns(t *testing.T) {
	shadows := []ShadowPair{{Erased: waved(14, 0, 0.8), Unseen: waved(17, 20, 0)}}
	target := Target{Erased: waved(9, 40, 0.2), Unseen: waved(11, 60, 0)}
	for c, want := range map[Construction]float64{
		Both: 1, Concatenated: 0.7676767676767677, SortedConcatenated: 0.7171717171717171,
		Difference: 0.7373737373737375, SortedDifference: 0.707070707070707, Distance: 0.6363636363636364,
	} {
		r, err := Membership{Construction: c}.Run(background, nil, shadows, target, 1)
		if err != nil {
			t.Fatal(err)
		}
		before := 0.43434343434343436
		if c == SortedConcatenated || c == SortedDifference {
			before = 0.5454545454545454
		}
		if math.Abs(r.AUC.Value-want) > 1e-12 || math.Abs(r.Before.AUC.Value-before) > 1e-12 {
			t.Errorf("%q: AUC %v and %v before alone, want %v and %v", c, r.AUC, r.Before.AUC, want, before)
		}
	}
	// Two pairs of shadow models teach as one that has the records of both.
	split := func(p Pair, from, to int) Pair {
		var at []int
		for i := from; i < to; i++ {
			at = append(at, i)
		}
		return Pair{p.Before.Gather(at), p.After.Gather(at)}
	}
	s := shadows[0]
	two := []ShadowPair{{split(s.Erased, 0, 5), split(s.Unseen, 0, 9)}, {split(s.Erased, 5, 14), split(s.Unseen, 9, 17)}}
	r, err := Membership{Construction: Distance}.Run(background, nil, two, target, 1)
	if err != nil || math.Abs(r.AUC.Value-0.6363636363636364) > 1e-12 {
		t.Errorf("of two pairs %+v: %v", r, err)
	}
}

// pairOf are records of which a model says noise, moved by memory before and by
// memory - fall after.
func pairOf(rng *rand.Rand, n int, memory, fall float64) Pair {
	p := Pair{array.New[float64](n, 4), array.New[float64](n, 4)}
	for i := range n {
		for j := range 4 {
			base := rng.NormFloat64()
			p.Before.Row(i)[j], p.After.Row(i)[j] = base, base+0.3*rng.NormFloat64()
		}
		p.Before.Row(i)[2] += memory
		p.After.Row(i)[2] += memory - fall
	}
	return p
}

func evidence(seed uint64, memory, fall float64) ([]ShadowPair, Target) {
	rng := rand.New(rand.NewPCG(seed, 77))
	one := func() ShadowPair { return ShadowPair{pairOf(rng, 60, memory, fall), pairOf(rng, 60, 0, 0)} }
	return []ShadowPair{one(), one()}, Target{pairOf(rng, 50, memory, fall), pairOf(rng, 70, 0, 0)}
}

func find(t *testing.T, m Membership, s []ShadowPair, v Target) *MembershipResult {
	t.Helper()
	r, err := m.Run(background, nil, s, v, 1)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestAnUnlearningThatShowsIsFound(t *testing.T) {
	s, v := evidence(1, 0.5, 1)
	before := fmt.Sprint(s, v)
	for _, c := range []Construction{Both, Concatenated, Difference, Distance} {
		r := find(t, Membership{Construction: c}, s, v)
		if r.AUC.Low < 0.8 || r.AUC.Value < r.Before.AUC.Value || r.NMembers != 50 || r.NNonmembers != 70 {
			t.Errorf("%q: AUC %v of %d and %d, before alone %v", c, r.AUC, r.NMembers, r.NNonmembers, r.Before.AUC)
		}
	}
	network := learned.MLP{Hidden: []int{8}, Plain: true, Epochs: 20, LR: 0.01}
	r, err := Membership{Attacker: network}.Run(background, open(t), s, v, 1)
	if err != nil || r.AUC.Low < 0.8 {
		t.Errorf("by a network: %+v: %v", r, err)
	}
	if fmt.Sprint(s, v) != before {
		t.Error("the attack writes to its evidence")
	}
}

// What is taught and what is judged, the erased and the unseen, before and after: each
// exchange moves the answer as it must.
func TestExchangedRolesOfAPairAreNoticed(t *testing.T) {
	s, v := evidence(2, 0, 1)
	m := Membership{Construction: Difference}
	right := find(t, m, s, v).AUC.Value
	var wrong []ShadowPair
	for _, one := range s {
		wrong = append(wrong, ShadowPair{Erased: one.Unseen, Unseen: one.Erased})
	}
	if got := find(t, m, wrong, v).AUC.Value; math.Abs(got-(1-right)) > 1e-9 {
		t.Errorf("taught the wrong way round: %v, was %v", got, right)
	}
	if got := find(t, m, s, Target{Erased: v.Unseen, Unseen: v.Erased}).AUC.Value; math.Abs(got-(1-right)) > 1e-9 {
		t.Errorf("judged the wrong way round: %v, was %v", got, right)
	}
	turn := func(p Pair) Pair { return Pair{Before: p.After, After: p.Before} }
	if got := find(t, m, s, Target{turn(v.Erased), turn(v.Unseen)}).AUC.High; got > 0.3 {
		t.Errorf("with before and after exchanged in the target: %v", got)
	}
	// A target in which the erased rise, as the shadows' never did: an attacker who had
	// learned on the target would find them.
	_, risen := evidence(3, 0, -1)
	if got := find(t, m, s, risen).AUC.High; right < 0.9 || got > 0.3 {
		t.Errorf("of a target unlike the shadows: at most %v, of one like them %v", got, right)
	}
}

// A model and itself: differences say nothing, exactly, and the pair what the model
// before says alone.
func TestIdenticalModelsGiveNothingAway(t *testing.T) {
	s, v := evidence(4, 1, 0)
	same := func(p *Pair) { p.After = p.Before }
	for k := range s {
		same(&s[k].Erased)
		same(&s[k].Unseen)
	}
	same(&v.Erased)
	same(&v.Unseen)
	for _, c := range Constructions() {
		r := find(t, Membership{Construction: c}, s, v)
		switch c {
		case Difference, SortedDifference, Distance:
			if r.AUC.Value != 0.5 {
				t.Errorf("%q: AUC %v", c, r.AUC)
			}
		case Both, Concatenated:
			if math.Abs(r.AUC.Value-r.Before.AUC.Value) > 0.02 || r.Before.AUC.Low < 0.6 {
				t.Errorf("%q: AUC %v, before alone %v", c, r.AUC, r.Before.AUC)
			}
		}
	}
}

// Where neither model has a memory and nothing fell, intervals hold 0.5 as often as
// they say.
func TestTheNullOfPairsIsCalibrated(t *testing.T) {
	const trials = 200
	for _, m := range []Membership{{}, {Construction: Difference}} {
		held, before := 0, 0
		var areas []float64
		for k := range uint64(trials) {
			s, v := evidence(1000+k, 0, 0)
			r := find(t, m, s, v)
			areas = append(areas, r.AUC.Value)
			if r.AUC.Low <= 0.5 && 0.5 <= r.AUC.High {
				held++
			}
			if r.Before.AUC.Low <= 0.5 && 0.5 <= r.Before.AUC.High {
				before++
			}
		}
		for _, h := range []int{held, before} {
			if c := float64(h) / trials; math.Abs(c-0.95) > 0.01+3*math.Sqrt(0.95*0.05/trials) {
				t.Errorf("%q: %.3f of the intervals hold 0.5", m.Construction, c)
			}
		}
		if e := stats.MeanInterval(areas, 0.999, "trials"); e.Low > 0.5 || e.High < 0.5 {
			t.Errorf("%q: the AUC is %v on average", m.Construction, e)
		}
	}
}

func TestNonsenseIsNoPair(t *testing.T) {
	for words, corrupt := range map[string]func(s *[]ShadowPair, v *Target){
		"there are no shadow models":                      func(s *[]ShadowPair, _ *Target) { *s = nil },
		"target, erased: 0 x 0 before":                    func(_ *[]ShadowPair, v *Target) { v.Erased = Pair{} },
		"target, unseen: 70 x 4 before and 50 x 4 after":  func(_ *[]ShadowPair, v *Target) { v.Unseen.After = v.Erased.After },
		"shadow 1, unseen: 60 x 3 before":                 func(s *[]ShadowPair, _ *Target) { (*s)[1].Unseen.Before = array.New[float64](60, 3) },
		"shadow 0, erased, after: row 2, column 1 is NaN": func(s *[]ShadowPair, _ *Target) { (*s)[0].Erased.After.Data[9] = math.NaN() },
		"target, unseen, before: row 0, column 3 is -Inf": func(_ *[]ShadowPair, v *Target) { v.Unseen.Before.Data[3] = math.Inf(-1) },
	} {
		s, v := evidence(1, 0, 1)
		corrupt(&s, &v)
		_, err := Membership{}.Run(background, nil, s, v, engine.Root(1))
		refused(t, err, words)
	}
	s, v := evidence(1, 0, 1)
	_, err := Membership{Construction: "before"}.Run(background, nil, s, v, 1)
	refused(t, err, `no construction "before"`)
}
