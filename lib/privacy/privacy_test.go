package privacy

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

func checkClose(t *testing.T, what string, got, want, relative float64) {
	t.Helper()
	if !(math.Abs(got-want) <= relative*math.Abs(want)) {
		t.Errorf("%s is %.15g, want %.15g", what, got, want)
	}
}

// The recorded values of the program of "Fishing for Privacy" with Opacus 1.4.0: 27,094
// cells in batches of 256, delta 1e-5.
func TestTheNineRecordedValuesComeOut(t *testing.T) {
	for _, c := range []struct {
		target                 float64
		sigma, achieved, first string
		order                  float64
	}{
		{1, "2.8840", "1.0035", "0.14", 18},
		{10, "0.7102", "10.0305", "2.96", 2.9},
		{50, "0.4374", "50.1965", "11.46", 1.5},
	} {
		sigma, err := Noise(c.target, 1e-5, 256./27094, 50*105)
		if err != nil {
			t.Fatal(err)
		}
		run := Step{Rate: 1. / 106, Noise: sigma, Times: 50 * 106}
		all, err := History{run}.RDP(1e-5)
		if err != nil {
			t.Fatal(err)
		}
		run.Times = 106
		one, err := History{run}.RDP(1e-5)
		if err != nil {
			t.Fatal(err)
		}
		got := []string{fmt.Sprintf("%.4f", sigma), fmt.Sprintf("%.4f", all.Epsilon), fmt.Sprintf("%.2f", one.Epsilon)}
		if got[0] != c.sigma || got[1] != c.achieved || got[2] != c.first || all.Order != c.order {
			t.Errorf("epsilon %v: noise, achieved, after an epoch %v at order %v; recorded are %s, %s, %s at %v",
				c.target, got, all.Order, c.sigma, c.achieved, c.first, c.order)
		}
	}
}

// Opacus 1.4.0, compute_rdp for one step at orders 1.1, 1.5, 2.9, 4, 10.9, 12, 18, 63;
// those of the first three rows up to 10.9 by mpmath 1.3.0's quadrature as well, to nine
// digits.
func TestDivergencesAreOpacuss(t *testing.T) {
	orders := []float64{1.1, 1.5, 2.9, 4, 10.9, 12, 18, 63}
	for _, c := range []struct {
		rate, noise float64
		want        []float64
	}{
		{0.01, 1, []float64{9.241470982855839e-05, 0.00012725374351154145, 0.0002551158176401628, 0.00036315404891075525,
			0.3876114113003885, 0.9780117180253621, 4.123941790010013, 26.820552875528232}},
		{0.2, 1.5, []float64{0.011258392869090788, 0.015879133227391436, 0.035065284617812144, 0.054861485983214546,
			0.712721372821585, 0.9469270885579891, 2.298125310133267, 12.36460341156328}},
		{1. / 106, 0.4374, []float64{0.002794706557408962, 0.005490698206040808, 0.6494885716473742, 4.2358619036218315,
			23.351996746981992, 26.273885616647632, 42.10415153814847, 159.90803117271105}},
		{1, 4, []float64{0.034375, 0.046875, 0.090625, 0.125, 0.340625, 0.375, 0.5625, 1.96875}},
		{1. / 106, 2.884, []float64{6.246569118969714e-06, 8.522278652329313e-06, 1.6505115769554755e-05, 2.2796925151046646e-05,
			6.26632014662871e-05, 6.908339532207804e-05, 0.00010442366151786434, 0.0003885635483596005}},
	} {
		for i, a := range orders {
			checkClose(t, fmt.Sprintf("divergence at rate %v, noise %v, order %v", c.rate, c.noise, a),
				Step{Rate: c.rate, Noise: c.noise, Times: 1}.renyi(a), c.want[i], 1e-8)
		}
	}
}

// ours are trainings: epsilon by Opacus 1.4.0 (get_privacy_spent with Orders), by
// dp-accounting 0.6.0 (PLDAccountant, intervals of 1e-4) and by prv_accountant 0.2.0
// (eps_error 0.05, delta_error delta/1000: lower bound, estimate, upper bound).
var ours = []struct {
	step            Step
	delta           float64
	rdp, order, pld float64
	prv             Bounds
}{
	{Step{1. / 106, 2.884, 5300}, 1e-5, 1.0034960337973244, 18, 0.9165074257515747, Bounds{0.8665257803780118, 0.9165876890559429, 0.9666496426116256}},
	{Step{1. / 106, 0.7102, 5300}, 1e-5, 10.02879294499355, 2.9, 9.06504687805006, Bounds{9.014526557453348, 9.06504306758316, 9.115560054074647}},
	{Step{1. / 106, 0.4374, 5300}, 1e-5, 50.217008917072306, 1.5, 45.56065528185949, Bounds{45.507781254559646, 45.55992677217965, 45.6120743697882}},
	{Step{0.01, 1, 1000}, 1e-5, 2.1013652716430564, 7.8, 1.8282436455855091, Bounds{1.7781818152314124, 1.828313884791049, 1.8784459369106201}},
	{Step{1, 4, 10}, 1e-6, 4.010376255051982, 7.2, 3.74721804706548, Bounds{3.6971050189491557, 3.7472732726452698, 3.7974414980368403}},
	{Step{0.2, 1.5, 50}, 1e-7, 7.22001678860838, 4.5, 6.663956012419621, Bounds{6.613697003132766, 6.6639832458730455, 6.714269421703273}},
}

func TestEpsilonIsOpacuss(t *testing.T) {
	for _, c := range ours {
		got, err := History{c.step}.RDP(c.delta)
		if err != nil {
			t.Fatal(err)
		}
		checkClose(t, fmt.Sprintf("epsilon of %+v", c.step), got.Epsilon, c.rdp, 1e-8)
		checkClose(t, "order", got.Order, c.order, 1e-12)
	}
}

func TestThePrivacyLossIsThatOfOtherAccountants(t *testing.T) {
	for _, c := range ours {
		got, err := History{c.step}.PRV(c.delta, PRV{})
		if err != nil {
			t.Fatal(err)
		}
		what := fmt.Sprintf("epsilon of %+v", c.step)
		if !(got.Low <= c.pld && c.pld <= got.High) || math.Abs(got.Estimate-c.pld) > 2e-3+1e-3*c.pld {
			t.Errorf("%s: %+v, dp-accounting has %v", what, got, c.pld)
		}
		checkClose(t, what+", estimate", got.Estimate, c.prv.Estimate, 1e-3)
		checkClose(t, what+", low", got.Low, c.prv.Low, 2e-3)
		checkClose(t, what+", high", got.High, c.prv.High, 2e-3)
		if got.High > c.rdp {
			t.Errorf("%s: %v by the privacy loss, more than %v by RDP", what, got.High, c.rdp)
		}
	}
}

// Without sampling the loss is normal: n steps of noise s are one of noise s/sqrt(n),
// whose delta is known (Balle and Wang 2018, theorem 8).
func TestPlainGaussianStepsHaveTheirExactEpsilon(t *testing.T) {
	h := History{{Rate: 1, Noise: 5, Times: 9}, {Rate: 1, Noise: 10, Times: 8}}
	mu := math.Sqrt(9./25 + 8./100)
	delta := func(e float64) float64 { return normal(mu/2-e/mu) - math.Exp(e)*normal(-mu/2-e/mu) }
	got, err := h.PRV(1e-6, PRV{EpsilonError: 0.01})
	if err != nil {
		t.Fatal(err)
	}
	checkClose(t, "delta at the estimate", delta(got.Estimate), 1e-6, 5e-3)
	if !(delta(got.Low) > 1e-6 && delta(got.High) < 1e-6) {
		t.Errorf("%+v does not hold the exact epsilon", got)
	}
}

func TestStepsOfSeveralKindsAddUp(t *testing.T) {
	a, b := Step{0.02, 1.1, 300}, Step{0.05, 2, 200}
	h := History{}.Add(a).Add(b)
	if got := h.Add(b); len(got) != 2 || got[1].Times != 400 || h[1].Times != 200 {
		t.Errorf("adding equal steps gives %v, and left %v", got, h)
	}
	one, err := h.RDP(1e-5)
	if err != nil {
		t.Fatal(err)
	}
	other, err := History{b, a, {0.02, 1.1, 0}}.RDP(1e-5)
	if err != nil || math.Abs(one.Epsilon-other.Epsilon) > 1e-12 {
		t.Errorf("in another order %v, was %v: %v", other, one, err)
	}
	least, _ := History{a}.RDP(1e-5)
	split, err := History{{a.Rate, a.Noise, 100}, {a.Rate, a.Noise, 200}}.RDP(1e-5)
	if err != nil || math.Abs(split.Epsilon-least.Epsilon) > 1e-12 || !(one.Epsilon > least.Epsilon) {
		t.Errorf("in two parts %v, in one %v, with more steps %v", split, least, one)
	}
	p, err := h.PRV(1e-5, PRV{})
	q, err2 := History{b, a}.PRV(1e-5, PRV{})
	if err != nil || err2 != nil || math.Abs(p.Estimate-q.Estimate) > 1e-6 || p.High > one.Epsilon {
		t.Errorf("privacy loss %+v, in another order %+v, RDP %v: %v %v", p, q, one, err, err2)
	}
}

func TestMoreStepsLessNoiseAndASmallerDeltaCostMore(t *testing.T) {
	base := Step{Rate: 0.01, Noise: 1, Times: 500}
	cost := func(s Step, delta float64) (rdp, prv float64) {
		t.Helper()
		a, err := History{s}.RDP(delta)
		if err != nil {
			t.Fatal(err)
		}
		b, err := History{s}.PRV(delta, PRV{EpsilonError: 0.1, DeltaError: 1e-9})
		if err != nil {
			t.Fatal(err)
		}
		return a.Epsilon, b.Estimate
	}
	rdp, prv := cost(base, 1e-5)
	for what, c := range map[string]struct {
		s     Step
		delta float64
	}{
		"more steps":          {Step{0.01, 1, 900}, 1e-5},
		"less noise":          {Step{0.01, 0.8, 500}, 1e-5},
		"a smaller delta":     {base, 1e-6},
		"a larger batch rate": {Step{0.02, 1, 500}, 1e-5},
	} {
		if a, b := cost(c.s, c.delta); a <= rdp || b <= prv {
			t.Errorf("%s: %v and %v, were %v and %v", what, a, b, rdp, prv)
		}
	}
	low, err := Noise(2, 1e-5, 0.01, 500)
	if err != nil {
		t.Fatal(err)
	}
	high, err := Noise(1, 1e-5, 0.01, 500)
	if err != nil || high <= low {
		t.Errorf("noise %v for epsilon 2 and %v for 1: %v", low, high, err)
	}
	spent, _ := History{{0.01, low, 500}}.RDP(1e-5)
	checkClose(t, "epsilon at the noise found", spent.Epsilon, 2, 1e-9)
}

func TestNoStepsSpendNothing(t *testing.T) {
	for _, h := range []History{nil, {{Rate: 0.1, Noise: 1}}} {
		a, err := h.RDP(1e-5)
		b, err2 := h.PRV(1e-5, PRV{})
		if a != (Spent{}) || b != (Bounds{}) || err != nil || err2 != nil {
			t.Errorf("%v: %v, %v, %v, %v", h, a, b, err, err2)
		}
	}
}

func TestBadInputIsRefused(t *testing.T) {
	ok := Step{Rate: 0.01, Noise: 1, Times: 10}
	for words, c := range map[string]struct {
		h     History
		delta float64
	}{
		"entry 1: the sampling rate 0":     {History{ok, {Noise: 1, Times: 1}}, 1e-5},
		"entry 0: the sampling rate 1.5":   {History{{1.5, 1, 1}}, 1e-5},
		"entry 0: the sampling rate NaN":   {History{{math.NaN(), 1, 1}}, 1e-5},
		"the noise 0 is not a positive":    {History{{0.1, 0, 1}}, 1e-5},
		"the noise +Inf is not a positive": {History{{0.1, math.Inf(1), 1}}, 1e-5},
		"-1 steps":                         {History{{0.1, 1, -1}}, 1e-5},
		"delta is 0":                       {History{ok}, 0},
		"delta is 1":                       {History{ok}, 1},
		"delta is NaN":                     {History{ok}, math.NaN()},
	} {
		_, err := c.h.RDP(c.delta)
		_, err2 := c.h.PRV(c.delta, PRV{})
		for _, e := range []error{err, err2} {
			if e == nil || !strings.Contains(e.Error(), words) {
				t.Errorf("error %v, want one with %q", e, words)
			}
		}
	}
	for words, p := range map[string]PRV{
		"an error of -1 in epsilon": {EpsilonError: -1}, "1e-05 in delta = 1e-05": {DeltaError: 1e-5},
		"more than 2^24 points": {EpsilonError: 1e-7},
	} {
		if _, err := (History{ok}).PRV(1e-5, p); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("error %v, want one with %q", err, words)
		}
	}
	for words, f := range map[string]func() (float64, error){
		"epsilon is -1":     func() (float64, error) { return Noise(-1, 1e-5, 0.1, 10) },
		"even with noise":   func() (float64, error) { return Noise(1e-6, 1e-5, 1, 1e6) },
		"the sampling rate": func() (float64, error) { return Noise(1, 1e-5, 2, 10) },
	} {
		if _, err := f(); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("error %v, want one with %q", err, words)
		}
	}
}

// By mpmath 1.3.0: of a mixture, and of plain steps in closed form, 1/(2 s^2) in either
// direction.
func TestTheMeanOfALossIsExact(t *testing.T) {
	for _, removed := range []bool{true, false} {
		for _, noise := range []float64{0.2, 1, 7} {
			checkClose(t, "mean without sampling", Step{Rate: 1, Noise: noise}.lossMean(removed), 1/(2*noise*noise), 1e-12)
		}
	}
	for _, c := range []struct {
		s              Step
		removed, added float64
	}{
		{Step{Rate: 0.001, Noise: 1}, 8.56846240970603e-7, 8.54577823061269e-7},
		{Step{Rate: 0.2, Noise: 0.5}, 0.167396965880284, 0.0857053770757491},
		{Step{Rate: 0.2, Noise: 0.01}, 999.4995975764618, 0.2231435513142098},
		{Step{Rate: 0.001, Noise: 0.03}, 0.5476483004433235, 0.001000500333583534},
		{Step{Rate: 0.01, Noise: 3}, 5.86883583736451e-6, 5.86177611654266e-6},
		{Step{Rate: 0.9, Noise: 0.8}, 0.638497188347077, 0.548599671618309},
	} {
		checkClose(t, "mean, removed", c.s.lossMean(true), c.removed, 1e-9)
		checkClose(t, "mean, added", c.s.lossMean(false), c.added, 1e-9)
	}
}

// Far out, erfc is 0 in float64; at the seam the series and the library agree.
func TestTheLogarithmOfErfcGoesOn(t *testing.T) {
	checkClose(t, "ln erfc(20)", logErfc(20), math.Log(math.Erfc(20)), 1e-12)
	checkClose(t, "ln erfc(26)", logErfc(26), math.Log(math.Erfc(26)), 1e-12)
	checkClose(t, "ln erfc(100)", logErfc(100), -10005.177585122664, 1e-12)
}

// One step's loss is here much narrower than a grid of the coarse width: what is lost
// in rounding, times the number of steps, is given back by moving the grid.
func TestACoarseGridKeepsTheMeanOfEveryStep(t *testing.T) {
	h := History{{Rate: 0.001, Noise: 1, Times: 20000}}
	fine, err := h.PRV(1e-5, PRV{EpsilonError: 0.1})
	if err != nil {
		t.Fatal(err)
	}
	coarse, err := h.PRV(1e-5, PRV{EpsilonError: 1})
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(coarse.Estimate-fine.Estimate) > 0.1 || !(coarse.Low <= fine.Low && fine.High <= coarse.High) {
		t.Errorf("coarse %+v, fine %+v", coarse, fine)
	}
}
