package learned

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/stats"
)

func normals(rng *rand.Rand, n, d int, shift float64) array.Matrix[float64] {
	m := array.New[float64](n, d)
	for i := range n {
		for j := range d {
			m.Row(i)[j] = rng.NormFloat64()
		}
		m.Row(i)[0] += shift
	}
	return m
}

// drawn are as many records as the paper has, members apart in one feature.
func drawn(seed uint64, shift float64) Records {
	rng := rand.New(rand.NewPCG(seed, 5))
	return Records{normals(rng, 30, 8, shift), normals(rng, 194, 8, 0)}
}

func exchanged(r Records) Records { return Records{r.Nonmembers, r.Members} }

func run(t *testing.T, e *engine.Engine, p Protocol, q Target) *Report {
	t.Helper()
	r, err := p.Run(context.Background(), e, q, 1)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// calibrated runs a protocol on non-members against non-members and holds the
// coverage of its interval, and how often the floor is passed, against their nominal
// values within three standard errors. It returns how many of DeLong's intervals, as
// they are for independent scores, hold 0.5.
func calibrated(t *testing.T, p Protocol, trials int) (delong int) {
	t.Helper()
	e := open(t)
	held, beyond := 0, 0
	var areas []float64
	for k := range trials {
		r := run(t, e, p, Target{Model: drawn(uint64(k), 0)})
		areas = append(areas, r.AUC.Value)
		if r.AUC.Low <= 0.5 && 0.5 <= r.AUC.High {
			held++
		}
		if r.Advantage.Value > r.Advantage.ChanceP95 {
			beyond++
		}
		s := samples(r.Scores, true)
		d, err := stats.DeLong(s.Members, s.Nonmembers, 0.95)
		if err != nil {
			t.Fatal(err)
		}
		if d.Low <= 0.5 && 0.5 <= d.High {
			delong++
		}
	}
	error3 := 3 * math.Sqrt(0.95*0.05/float64(trials))
	if c := float64(held) / float64(trials); math.Abs(c-0.95) > error3 {
		t.Errorf("%.3f of the 95 %% intervals hold 0.5", c)
	}
	if b := float64(beyond) / float64(trials); math.Abs(b-0.05) > error3 {
		t.Errorf("%.3f of the advantages are beyond the floor's 95th percentile", b)
	}
	if m := stats.MeanInterval(areas, 0.999, "trials"); m.Low > 0.5 || m.High < 0.5 {
		t.Errorf("the AUC is %v on average", m)
	}
	return delong
}

// Folds teach each other: DeLong's own interval, which takes scores for
// independent, is too narrow for scores that are cross-fitted. With twice the
// variance it holds 0.5 with probability P(|Z| < 1.96/sqrt 2) = 0.834.
func TestCrossFittedScoresAreCalibratedWithoutASignalAndDeLongAloneIsNot(t *testing.T) {
	const trials = 400
	c := float64(calibrated(t, CrossFitted(nil), trials)) / trials
	if math.Abs(c-0.834) > 3*math.Sqrt(0.834*0.166/trials) {
		t.Errorf("DeLong's intervals hold 0.5 in %.3f of the cases, expected 0.834", c)
	}
}

func TestTheMLPIsCalibratedToo(t *testing.T) {
	p := CrossFitted(MLP{Hidden: []int{8}, Epochs: 4})
	p.Folds = 3
	calibrated(t, p, 60)
}

func TestEveryProtocolFindsAPlantedSignal(t *testing.T) {
	e := open(t)
	model, original := drawn(1, 4), drawn(2, 4)
	for _, p := range Protocols() {
		t.Run(p.Name, func(t *testing.T) {
			if a, ok := p.Attacker.(MLP); ok {
				a.Hidden = []int{24} // as many steps as the protocol's, in less time
				p.Attacker = a
			}
			r := run(t, e, p, Target{Model: model, Original: &original, Groups: inTurn(model, 3)})
			if !(r.AUC.Low > 0.6) || len(r.Scores) != r.NMembers+r.NNonmembers {
				t.Errorf("AUC %+v, %d cells of %d + %d", r.AUC, len(r.Scores), r.NMembers, r.NNonmembers)
			}
			if !p.Transferred {
				return
			}
			// The original says which side members are on; in a model where the sides
			// are exchanged the attack points the wrong way.
			wrong := Records{model.Nonmembers.Gather(indices(30)), model.Nonmembers}
			wrong.Members.Data = slices.Clone(wrong.Members.Data)
			for i := range 30 {
				wrong.Members.Row(i)[0] -= 4
			}
			if r := run(t, e, p, Target{Model: wrong, Original: &original}); !(r.AUC.High < 0.4) {
				t.Errorf("members that moved the other way: AUC %+v", r.AUC)
			}
		})
	}
}

func TestProtocolsSayWhatTheyWereTrainedOn(t *testing.T) {
	e := open(t)
	q := Target{Model: drawn(1, 1)}
	q.Original = &q.Model
	for _, c := range []struct {
		protocol               Protocol
		cells, trained, hidden int
	}{
		{PA(), 224, 179, 45}, {PB(), 224, 179, 45}, {PC(), 224, 224, 0}, {PD(), 68, 0, 68}, {PE(), 224, 24 + 155, 45},
		{PF(), 224, 224, 0}, {CrossFitted(nil), 224, 0, 224},
	} {
		c.protocol.Attacker = Logistic{Ridge: 10}
		r := run(t, e, c.protocol, q)
		trained := 0
		for i, cell := range r.Scores {
			if cell.Trained {
				trained++
			}
			if i > 0 && cell.Member && !r.Scores[i-1].Member {
				t.Errorf("%s: members do not come first", r.Protocol)
			}
		}
		held := 0
		if r.HeldOut != nil {
			held = r.HeldOut.NMembers + r.HeldOut.NNonmembers
		}
		if len(r.Scores) != c.cells || trained != c.trained || held != c.hidden {
			t.Errorf("%s: %d cells, %d trained on, %d held out; want %d, %d, %d", r.Protocol, len(r.Scores), trained, held, c.cells, c.trained, c.hidden)
		}
	}
}

// An attacker that scores what it was trained on finds members where there are none.
func TestScoringWhatWasTrainedOnFindsMembersAmongNonmembers(t *testing.T) {
	e := open(t)
	coded := PC()
	coded.Attacker = Logistic{}
	r := run(t, e, coded, Target{Model: drawn(3, 0)})
	if !(r.AUC.Low > 0.5) || r.HeldOut != nil {
		t.Errorf("AUC %+v, held out %+v", r.AUC, r.HeldOut)
	}
	if r := run(t, e, CrossFitted(nil), Target{Model: drawn(3, 0)}); r.AUC.Low > 0.5 {
		t.Errorf("cross-fitted: AUC %+v", r.AUC)
	}
}

func TestCrossFittingDoesNotLookAtTheScaleOfAFeature(t *testing.T) {
	e := open(t)
	plain := drawn(4, 1)
	scaled := Records{plain.Members.Gather(indices(30)), plain.Nonmembers.Gather(indices(194))}
	for _, m := range []array.Matrix[float64]{scaled.Members, scaled.Nonmembers} {
		for i := range m.Rows {
			m.Row(i)[1] = 1000*m.Row(i)[1] + 350
			m.Row(i)[2] = math.Ldexp(m.Row(i)[2], 900) // whose squares are no numbers
			m.Row(i)[3] = math.Ldexp(m.Row(i)[3], -900)
			m.Row(i)[7] = 12 // tells nothing
		}
	}
	for _, m := range []array.Matrix[float64]{plain.Members, plain.Nonmembers} {
		for i := range m.Rows {
			m.Row(i)[7] = 0
		}
	}
	a, b := run(t, e, CrossFitted(nil), Target{Model: plain}), run(t, e, CrossFitted(nil), Target{Model: scaled})
	if !reflect.DeepEqual(a.Scores, b.Scores) {
		t.Error("the scale of a feature changes the ranks")
	}
}

func TestARunLeavesItsFeaturesAloneAndIsRepeatable(t *testing.T) {
	e := open(t)
	model, original := drawn(1, 1), drawn(2, 1)
	before := append(slices.Clone(model.stacked().Data), original.stacked().Data...)
	small := PA()
	small.Attacker = MLP{Hidden: []int{8}, Epochs: 3}
	for _, p := range []Protocol{small, CrossFitted(small.Attacker)} {
		a := run(t, e, p, Target{Model: model, Original: &original})
		b := run(t, e, p, Target{Model: model, Original: &original})
		if !reflect.DeepEqual(a, b) {
			t.Errorf("%s: another answer the second time", p.Name)
		}
	}
	if !slices.Equal(before, append(slices.Clone(model.stacked().Data), original.stacked().Data...)) {
		t.Error("features were written to")
	}
}

func TestProtocolsRefuseWhatTheyCannotUse(t *testing.T) {
	e := open(t)
	good := drawn(1, 1)
	corrupted := drawn(1, 1)
	corrupted.Nonmembers.Data[9] = math.NaN()
	fewer := Records{good.Members.Gather(indices(29)), good.Nonmembers}
	narrow := Records{good.Members, normals(rand.New(rand.NewPCG(1, 1)), 5, 7, 0)}
	two := Records{good.Members.Gather(indices(2)), good.Nonmembers}
	for words, c := range map[string]struct {
		p Protocol
		q Target
	}{
		"0 members":                        {CrossFitted(nil), Target{Model: Records{Nonmembers: good.Nonmembers}}},
		"0 non-members":                    {PC(), Target{Model: Records{Members: good.Members}}},
		"row 1, column 1 is NaN":           {PC(), Target{Model: corrupted}},
		"members have 8 features":          {CrossFitted(nil), Target{Model: narrow}},
		"P-A: learned: the protocol needs": {PA(), Target{Model: good}},
		"29 members and 194 non-members w": {PB(), Target{Model: good, Original: &fewer}},
		"2 members and 194 non-members in": {CrossFitted(nil), Target{Model: two}},
		"groups, which are not given":      {WithinGroups(), Target{Model: good}},
		"groups of 29 members and 194 non": {WithinGroups(), Target{Model: good, Groups: inTurn(fewer, 2)}},
	} {
		if _, err := c.p.Run(context.Background(), e, c.q, 1); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("error %v, want one with %q", err, words)
		}
	}
	for _, a := range []Attacker{MLP{Epochs: -1}, MLP{Hidden: []int{0}}, MLP{Batch: -7}, MLP{Dropout: 1}, Logistic{Ridge: -1}} {
		if _, err := a.Fit(context.Background(), e, good, 1); err == nil {
			t.Errorf("%+v was accepted", a)
		}
	}
	stopped, stop := context.WithCancel(context.Background())
	stop()
	for _, a := range Attackers() {
		if _, err := a.Fit(stopped, e, good, 1); err == nil {
			t.Errorf("%s goes on after its context has ended", a.Name())
		}
	}
}

func TestExchangedRolesNegateALogisticScore(t *testing.T) {
	r := drawn(5, 1)
	probe := normals(rand.New(rand.NewPCG(8, 8)), 4, 8, 0)
	var got [2][]float64
	for k, known := range []Records{r, exchanged(r)} {
		score, err := Logistic{}.Fit(context.Background(), nil, known, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got[k], err = score(probe); err != nil {
			t.Fatal(err)
		}
	}
	for i := range got[1] {
		got[1][i] = -got[1][i]
	}
	checkClose(t, "score", got[1], got[0], 1e-9)
}

// spy is an attacker that keeps what it is given, and scores by the first feature.
type spy struct {
	known  *Records
	judged *array.Matrix[float64]
}

func (spy) Name() string  { return "spy" }
func (spy) About() string { return "keeps what it is given" }

func (s spy) Fit(_ context.Context, _ *engine.Engine, known Records, _ engine.Root) (Scorer, error) {
	*s.known = known
	return func(x array.Matrix[float64]) ([]float64, error) {
		*s.judged = x
		out := make([]float64, x.Rows)
		for i := range out {
			out[i] = x.Row(i)[0]
		}
		return out, nil
	}, nil
}

func TestATransferredAttackerLearnsOnTheOriginalAndScoresTheModel(t *testing.T) {
	e := open(t)
	model, original := drawn(1, 0), drawn(2, 0)
	for _, m := range []array.Matrix[float64]{original.Members, original.Nonmembers} {
		for i := range m.Rows {
			m.Row(i)[3] = -100 // marks the original
		}
	}
	for _, fresh := range []bool{false, true} {
		s := spy{new(Records), new(array.Matrix[float64])}
		p := PA()
		p.Attacker, p.Transferred = s, !fresh
		r := run(t, e, p, Target{Model: model, Original: &original})
		if got := s.known.Members.Row(0)[3] == -100; got == fresh {
			t.Errorf("fresh %t: learned on the original: %t", fresh, got)
		}
		if !slices.Equal(s.judged.Data, model.stacked().Data) {
			t.Errorf("fresh %t: scored something else than the model", fresh)
		}
		for _, c := range r.Scores {
			m := model.Nonmembers
			if c.Member {
				m = model.Members
			}
			if c.Score != m.Row(c.Record)[0] {
				t.Errorf("%+v has another record's score", c)
			}
		}
	}
}

func TestFeaturesAreStandardisedByWhatIsKnown(t *testing.T) {
	e := open(t)
	s := spy{new(Records), new(array.Matrix[float64])}
	p := PE()
	p.Attacker, p.Standardised, p.HeldOut = s, true, true
	run(t, e, p, Target{Model: drawn(1, 2)})
	for j, v := range newScale(s.known.stacked()).mean {
		if math.Abs(v) > 1e-12 || math.Abs(newScale(s.known.stacked()).sd[j]-1) > 1e-12 {
			t.Errorf("known feature %d has mean %v", j, v)
		}
	}
	if mean := newScale(*s.judged).mean[0]; math.Abs(mean) < 1e-6 {
		t.Errorf("what is judged has mean %v", mean)
	}
}

// A borrowed attacker learns on what it was taught and meets what it judges for the
// first time.
func TestABorrowedAttackerLearnsOnWhatItWasTaught(t *testing.T) {
	s := spy{new(Records), new(array.Matrix[float64])}
	p := PB()
	p.Attacker = s
	taught, judged := drawn(1, 0), drawn(2, 0)
	judged.Nonmembers = judged.Nonmembers.Gather(indices(20)) // fewer than it is taught by
	for _, m := range []array.Matrix[float64]{taught.Members, taught.Nonmembers} {
		for i := range m.Rows {
			m.Row(i)[3] = -100
		}
	}
	if _, err := p.FitAndScore(context.Background(), open(t), taught, judged, 7); err != nil {
		t.Fatal(err)
	}
	for _, m := range []array.Matrix[float64]{s.known.Members, s.known.Nonmembers} {
		for i := range m.Rows {
			if m.Row(i)[3] != -100 {
				t.Errorf("it learned on record %v", m.Row(i))
			}
		}
	}
	if n := s.known.Members.Rows + s.known.Nonmembers.Rows; n != int(p.Share*float64(taught.size())) {
		t.Errorf("it learned on %d of %d records", n, taught.size())
	}
	if !slices.Equal(s.judged.Data, judged.stacked().Data) {
		t.Error("it judges something else")
	}
}

func TestEverythingCrossFittedIsHeldOut(t *testing.T) {
	r := run(t, open(t), CrossFitted(nil), Target{Model: drawn(1, 0.5)})
	if r.HeldOut == nil || !reflect.DeepEqual(*r.HeldOut, r.ScoreReport) {
		t.Errorf("held out %+v, all %+v", r.HeldOut, r.ScoreReport)
	}
}

// The attackers of the program's notebooks, as they are written there.
func TestAttackersOfTheProtocols(t *testing.T) {
	wide, narrow := []int{256, 256}, []int{64, 32}
	for _, c := range []struct {
		of   Protocol
		want MLP
	}{
		{PA(), MLP{wide, false, 0.3, 50, 128, 1e-3, 0}}, {PB(), MLP{wide, false, 0.3, 50, 128, 1e-3, 0}},
		{PC(), MLP{wide, false, 0.3, 100, 32, 1e-3, 0}}, {PD(), MLP{narrow, true, 0.3, 100, 32, 1e-3, 1e-4}},
		{PE(), MLP{wide, false, 0.3, 50, 128, 1e-3, 0}}, {PF(), MLP{wide, false, 0.3, 200, WholeBatch, 1e-3, 0}},
	} {
		got, ok := c.of.Attacker.(MLP)
		if got = defaults.Fill(got); !ok || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", c.of.Name, got, c.want)
		}
	}
}
