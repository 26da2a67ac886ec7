// Tests of learn.go.

package information

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/train"
)

// ratio is log p(x, y)/(p(x) p(y)) of standard normal numbers: the best critic.
func ratio(rho, x, y float64) float64 {
	return truth(rho) - (rho*rho*(x*x+y*y)-2*rho*x*y)/(2*(1-rho*rho))
}

// rightScores returns the best critic's scores of pairs with this many negatives.
func rightScores(n, negatives int, rho float64, seed engine.Root) (array.Matrix[float32], [][]int) {
	p := gaussians(n, 1, rho, seed)
	with := drawNegatives(seed.Stream("information test strangers"), n, negatives)
	out := array.New[float32](n, 1+negatives)
	for i := range n {
		out.Row(i)[0] = float32(ratio(rho, p.X.Data[i], p.Y.Data[i]))
		for k, of := range with {
			out.Row(i)[1+k] = float32(ratio(rho, p.X.Data[i], p.Y.Data[of[i]]))
		}
	}
	return out, with
}

// sevenNegatives is InfoNCE's value for correlation 0.9 with the best critic and seven
// negatives, measured below.
const sevenNegatives = 0.685

// The best critic reaches the mutual information with Donsker and Varadhan's bound and
// stays below it with InfoNCE's, which is at most log(K + 1).
func TestTheBestCriticReachesTheBound(t *testing.T) {
	scores, with := rightScores(20000, 10, 0.9, 1)
	dv := donskerVaradhan(scores, with)
	if dv.Low > truth(0.9) || dv.High < truth(0.9) || dv.High-dv.Low > 0.05 {
		t.Errorf("%v, the truth is %v", dv, truth(0.9))
	}
	var own, strange float64
	for i := range scores.Rows {
		row := scores.Row(i)
		own += float64(row[0]) / 20000
		for _, v := range row[1:] {
			strange += math.Exp(float64(v)) / 200000
		}
	}
	if want := own - math.Log(strange); math.Abs(dv.Value-want) > 1e-9 {
		t.Errorf("the bound is %v, by definition %v", dv.Value, want)
	}
	scores, with = rightScores(20000, 7, 0.9, 2)
	if nce := infoNCEBound(scores, with); nce.High > truth(0.9) || math.Abs(nce.Value-sevenNegatives) > 0.02 {
		t.Errorf("with seven negatives %v", nce)
	}
	certain := array.Matrix[float32]{Rows: 2, Cols: 4, Data: []float32{100, 0, 0, 0, 100, 0, 0, 0}}
	if got := infoNCEBound(certain, nil).Value; math.Abs(got-math.Log(4)) > 1e-12 {
		t.Errorf("a critic that is certain says %v nats with three negatives", got)
	}
}

// For a given critic the intervals cover its value on many records.
func TestABoundsIntervalCovers(t *testing.T) {
	const trials = 300
	for name, c := range map[string]struct {
		negatives int
		bound
	}{"DV": {10, bound{estimate: donskerVaradhan}}, "NCE": {7, bound{estimate: infoNCEBound}}} {
		all, with := rightScores(50000, c.negatives, 0.7, 1)
		want, held := c.estimate(all, with).Value, 0.0
		for seed := range engine.Root(trials) {
			r := c.estimate(rightScores(200, c.negatives, 0.7, 100+seed))
			if r.Low <= want && want <= r.High {
				held += 1. / trials
			}
		}
		t.Logf("%s: %.3f of the intervals hold %.3f", name, held, want)
		if held < 0.9 {
			t.Errorf("%s: %.3f of the intervals hold %v", name, held, want)
		}
	}
}

// Every record is a negative equally often, never its own, and never twice for the same
// record.
func TestNegativesArePermuted(t *testing.T) {
	for _, c := range [][2]int{{2, 1}, {9, 8}, {50, 10}} {
		with := drawNegatives(engine.Root(1).Stream("information test"), c[0], c[1])
		for i := range c[0] {
			seen := map[int]bool{i: true}
			for _, of := range with {
				if seen[of[i]] {
					t.Errorf("%v: %d meets %d again", c, i, of[i])
				}
				seen[of[i]] = true
			}
		}
		for _, of := range with {
			sorted := slices.Sorted(slices.Values(of))
			for i, v := range sorted {
				if i != v {
					t.Fatalf("%v: %v is no permutation", c, of)
				}
			}
		}
	}
}

// Pairs are split into three disjoint sets of 7, 1 and 2 tenths. The objective uses the
// training set alone, with its own records as negatives, different ones in every epoch.
func TestACriticIsTrainedOnTrainingPairsAlone(t *testing.T) {
	p := Pairs{array.New[float64](100, 1), array.New[float64](100, 2)}
	for i := range 100 {
		p.X.Data[i], p.Y.Row(i)[0], p.Y.Row(i)[1] = float64(i), float64(i), float64(-i)
	}
	s := newCriticData(p, bound{loss: loss.InfoNCE{}, negatives: 3, evalNegatives: 3}, 5)
	var back []float64
	for k, want := range []int{70, 10, 20} {
		if s.sets[k].X.Rows != want || s.sets[k].Y.Rows != want {
			t.Errorf("set %d has %d pairs", k, s.sets[k].X.Rows)
		}
		back = append(back, s.sets[k].X.Data...)
		for i := range want { // pairs stay together: all three are the same number before the scale
			if x, y := s.sets[k].X.Row(i)[0], s.sets[k].Y.Row(i); math.Abs(x-y[0]) > 1e-12 || math.Abs(x+y[1]) > 1e-12 {
				t.Fatalf("set %d tears pair %d apart: %v, %v", k, i, x, y)
			}
		}
	}
	slices.Sort(back)
	if len(slices.Compact(back)) != 100 {
		t.Error("a pair is in two sets")
	}
	if mean, sd := moments(slices.Clone(s.sets[trainSet].X.Data)); math.Abs(mean) > 1e-12 || math.Abs(sd-1) > 1e-12 {
		t.Errorf("teaching pairs have the mean %v and the deviation %v", mean, sd)
	}
	o := s.objective()[0]
	known := map[float32]bool{}
	for i := range o.X.Rows {
		known[o.X.Row(i)[1]] = true
	}
	met, again := map[float32]bool{}, 0
	for epoch := range 3 {
		for i := range o.X.Rows {
			dst := make([]float32, o.X.Cols)
			if err := o.Augment.Augment(dst, o.X.Row(i), epoch, i); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(dst[:3], o.X.Row(i)[:3]) || o.X.Cols != 3+3*2 {
				t.Fatalf("record %d became %v of %v", i, dst, o.X.Row(i))
			}
			for k := range 3 {
				v := dst[3+2*k]
				if !known[v] || v == dst[1] || dst[4+2*k] != -v {
					t.Errorf("epoch %d, record %d: negative %v of %v", epoch, i, dst[3+2*k:5+2*k], dst[:3])
				}
				if met[v] {
					again++
				}
				met[v] = true
			}
		}
	}
	if len(met) != 70 {
		t.Errorf("%d of 70 have been negatives", len(met))
	}
}

// Overfitting is in Training and not in the value: many columns, few pairs, no information.
func TestOverfittingIsNotInTheValue(t *testing.T) {
	p := gaussians(100, 20, 0, 1)
	r := estimate(t, MINE{Learning{Hidden: []int{64}, LR: 5e-3, Epochs: 60, Patience: 60}}, open(t), p, 1)
	if r.Value > 0.1 || r.Training == nil || *r.Training < r.Value+0.1 {
		t.Errorf("%v, on the teaching pairs %v", r.Estimate, r.Training)
	}
	t.Logf("%v, on the teaching pairs %.3f after %d epochs", r.Estimate, *r.Training, r.Epochs)
}

func TestDefaultsAreThoseDocumented(t *testing.T) {
	want := Learning{Hidden: []int{64, 64}, Epochs: 200, Patience: 20, Batch: 256, LR: 0.001}
	if got := defaults.Fill(Learning{}); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	if got := defaults.Fill(CodedMINE{}); got.Steps != 300 || got.Batch != 20 || got.LR != 0.0002 {
		t.Errorf("%+v", got)
	}
	if c := defaults.Fill(Normalised{Critic: Critic{X: 1, Y: 1}}); c.Rate != 0.01 {
		t.Errorf("%+v", c)
	}
}

func TestTheBestEpochIsTheFirstOfTheLowest(t *testing.T) {
	history := []train.Epoch{{Epoch: 1, Valid: pointerTo(2)}, {Epoch: 2, Valid: pointerTo(-1)}, {Epoch: 3, Valid: pointerTo(-1)}, {Epoch: 4, Valid: pointerTo(0)}}
	if got := bestEpoch(history); got != 2 {
		t.Errorf("epoch %d", got)
	}
}

func pointerTo(v float64) *float64 { return &v }

// As coded, with noise as negatives, the value is I(X; Y) + KL(p(y) || N(0, 1)), here 0.223
// + 0.5, and for shuffled pairs, as in the program, the divergence alone. The critics are
// evaluated on many pairs; the program's single batch of 20 scatters around that. With
// LeakyReLU on the output critics differ much between seeds and stay below.
func TestAsCodedItIsInformationAndDivergence(t *testing.T) {
	e, seeds := open(t), engine.Root(3)
	m := CodedMINE{Hidden: []int{32, 32}, Steps: 300, Batch: 200, LR: 5e-3}
	many := func(p Pairs, seed engine.Root) float64 {
		for i := range p.Y.Data {
			p.Y.Data[i]++ // N(1, 1) is 1/2 nat from N(0, 1)
		}
		r, w, err := m.train(t.Context(), e, p, seed)
		if err != nil {
			t.Fatal(err)
		}
		got, err := codedValue(r, w, p, array.Normal(seed.Stream("information test noise"), p.Y.Rows, 1, 1))
		if err != nil {
			t.Fatal(err)
		}
		return got / float64(seeds)
	}
	var whole, torn float64
	for seed := range seeds {
		p := gaussians(10000, 1, 0.6, seed)
		whole += many(p.gather(seed.Stream("information test order").Perm(10000)), seed)
		torn += many(unpaired(p, seed), seed)
	}
	t.Logf("as coded %.3f, torn apart %.3f", whole, torn)
	if math.Abs(whole-truth(0.6)-0.5) > 0.12 || math.Abs(torn-0.5) > 0.12 || whole < torn+0.1 {
		t.Errorf("as coded %v, want %v; torn apart %v, want 0.5", whole, truth(0.6)+0.5, torn)
	}
}

// The program's value for a batch, by hand from the critic's scores.
func TestTheCodedValueIsTheProgramsFormula(t *testing.T) {
	critic := Critic{X: 1, Y: 1, Hidden: []int{4}, Coded: true}
	m := network{Normalised{critic, 0.01}, 1}
	r, err := model.NewRunner(open(t), m)
	if err != nil {
		t.Fatal(err)
	}
	w, p := model.InitialWeights(m, engine.Root(4).Stream("critic test")), gaussians(6, 1, 0.5, 1)
	w[len(w)-1].Data[0] = 0.4
	noise := array.Normal(engine.Root(2).Stream("information test noise"), 6, 1, 1)
	var mean, et float64
	for i := range 6 {
		mean += byHand(critic, w, p.X.Row(i), p.Y.Row(i)) / 6
		et += math.Exp(byHand(critic, w, p.X.Row(i), noise.Row(i))) / 6
	}
	want := mean - math.Log(et)*et/(0.99*math.Exp(float64(w[len(w)-1].Data[0]))+0.01*et)
	if got, err := codedValue(r, w, p, noise); err != nil || math.Abs(got-want) > 1e-5 {
		t.Errorf("%v, by hand %v: %v", got, want, err)
	}
}

// As coded the average starts at 1; with FromFirst at the value of the first negatives,
// which are then also those of the first step and leave it unchanged.
func TestTheAverageBeginsAtTheFirstNegatives(t *testing.T) {
	e, rng, seed := open(t), engine.Root(5).Stream("first strangers"), engine.Root(6)
	p := Pairs{X: array.Normal(rng, 12, 3, 2), Y: array.Normal(rng, 12, 2, 2)}
	m := CodedMINE{Hidden: []int{8, 8}, Steps: 2, Batch: 12, LR: 1e-30}
	mean := 0.0
	for i := range 12 {
		negative, at := make([]float64, 2), seed.Stream(engine.StreamNegatives, 0, 0, uint64(i))
		for j := range negative {
			negative[j] = at.NormFloat64()
		}
		critic := Critic{X: 3, Y: 2, Hidden: m.Hidden, Coded: true}
		mean += math.Exp(byHand(critic, criticWeights(critic, seed.Stream(engine.StreamInit)), p.X.Row(i), negative)) / 12
	}
	if math.Abs(mean-1) < 0.05 {
		t.Fatalf("the mean of the first negatives, %v, tells nothing", mean)
	}
	for first, want := range map[bool]float64{true: math.Log(mean), false: math.Log(1 + 1e-3*(mean-1))} {
		m.FromFirst = first
		_, w, err := m.train(t.Context(), e, p, seed)
		if got := float64(w[len(w)-1].Data[0]); err != nil || math.Abs(got-want) > 1e-5 {
			t.Errorf("from the first %t: log m = %v, want %v (%v)", first, got, want, err)
		}
	}
}
