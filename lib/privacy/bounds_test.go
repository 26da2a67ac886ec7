package privacy

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

func prv(t *testing.T, h History, delta float64, p PRV) Bounds {
	t.Helper()
	b, err := h.PRV(delta, p)
	if err != nil {
		t.Fatalf("%v at %v: %v", h, delta, err)
	}
	return b
}

// holds fails unless the bounds hold epsilon, are as wide as promised, and none is above
// the bound of RDP.
func holds(t *testing.T, h History, delta, epsilon float64) Bounds {
	t.Helper()
	b, rdp := prv(t, h, delta, PRV{}), first(h.RDP(delta)).Epsilon
	if !(b.Low <= epsilon && epsilon <= b.High) || b.High-b.Low > 0.16 || math.Abs(b.Estimate-epsilon) > 2e-3+1e-5*epsilon {
		t.Errorf("%+v at %v: %+v, epsilon is %v", h, delta, b, epsilon)
	}
	if epsilon > rdp+1e-6 || b.Low > rdp {
		t.Errorf("%+v at %v: %+v, epsilon is %v, RDP says %v", h, delta, b, epsilon, rdp)
	}
	return b
}

func first[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// gaussianEpsilon is the exact epsilon of plain steps: n of noise s are one of noise
// s/sqrt(n), whose delta is known (Balle and Wang 2018, theorem 8).
func gaussianEpsilon(h History, delta float64) float64 {
	square := 0.0
	for _, s := range h {
		square += float64(s.Times) / s.Noise / s.Noise
	}
	mu := math.Sqrt(square)
	low, high := 0.0, mu*mu/2+60*mu
	for range 200 {
		e := (low + high) / 2
		// ln of exp(e) normal(-mu/2-e/mu), which overflows as a product
		second := e + math.Log(0.5) + logErfc((mu/2+e/mu)/math.Sqrt2)
		if normal(mu/2-e/mu)-math.Exp(second) > delta {
			low = e
		} else {
			high = e
		}
	}
	return high
}

func TestTheExactEpsilonOfPlainStepsIsInTheBounds(t *testing.T) {
	// mpmath 1.4.1, 60 digits
	checkClose(t, "epsilon of 1,000 steps", gaussianEpsilon(History{{1, 0.8, 1000}}, 1e-5), 948.8851293416677, 1e-9)
	checkClose(t, "epsilon of one step", gaussianEpsilon(History{{1, 1, 1}}, 1e-15), 8.165579695504254, 1e-9)
	for _, delta := range []float64{0.5, 1e-5, 1e-11, 1e-15, 1e-30} {
		for _, h := range []History{
			{{1, 0.3, 1}}, {{1, 1, 1}}, {{1, 50, 1}}, {{1, 0.5, 30}}, {{1, 4, 10}}, {{1, 20, 100}}, {{1, 5, 1000}}, {{1, 5, 9}, {1, 10, 8}},
		} {
			holds(t, h, delta, gaussianEpsilon(h, delta))
		}
	}
	if testing.Short() {
		return
	}
	for _, h := range []History{{{1, 0.8, 1000}}, {{1, 50, 100000}}} {
		holds(t, h, 1e-5, gaussianEpsilon(h, 1e-5))
		holds(t, h, 1e-15, gaussianEpsilon(h, 1e-15))
	}
}

// What made the bounds wrong: the errors of the transform were larger than delta.
func TestTheBoundsHoldAtASmallDelta(t *testing.T) {
	h := History{{0.00033, 4, 10000}}
	b := prv(t, h, 1e-11, PRV{})
	if rdp := first(h.RDP(1e-11)).Epsilon; !(b.Low <= 0.0480 && 0.0479 <= b.High && b.High < rdp) {
		t.Errorf("%+v, dp-accounting 0.6.0 says at most 0.0480, RDP at most %v", b, rdp)
	}
	fine := prv(t, h, 1e-11, PRV{EpsilonError: 0.001})
	if !(fine.Low <= 0.0480 && 0.0479 <= fine.High && fine.High-fine.Low < 0.003) {
		t.Errorf("finer: %+v", fine)
	}
}

// Where a record is added the loss is at most -ln(1-q), which is likely: what lies below
// shows under a smaller lambda. mpmath 1.4.1, by the definition of delta.
func TestALossWithALikelyLargestValue(t *testing.T) {
	holds(t, History{{0.01, 0.3, 1}}, 1e-3, 4.3994640011552075)
	holds(t, History{{0.001, 0.5, 1}}, 1e-5, 0.3375997968374231)
}

// DeltaError is given away at both ends.
func TestDeltaErrorWidensTheBounds(t *testing.T) {
	h, e := History{{0.01, 1, 1000}}, 0.01
	b := prv(t, h, 1e-5, PRV{EpsilonError: e, DeltaError: 5e-6})
	high, low := prv(t, h, 5e-6, PRV{EpsilonError: e}).Estimate+e, prv(t, h, 1.5e-5, PRV{EpsilonError: e}).Estimate-e
	checkClose(t, "high", b.High, high, 1e-4)
	checkClose(t, "low", b.Low, low, 1e-4)
}

// Bounds of two ways to compute agree, and whatever costs more has not the smaller
// epsilon: at random settings, from hardly any to large losses.
func TestAccountantsAgreeAndAreMonotone(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	tries := 20
	if testing.Short() {
		tries = 3
	}
	for range tries {
		between := func(low, high float64) float64 { return math.Exp(math.Log(low) + rng.Float64()*math.Log(high/low)) }
		s := Step{Rate: between(1e-5, 1), Noise: between(0.4, 50), Times: int(between(1, 3000))}
		delta := between(1e-15, 1e-3)
		b, rdp := prv(t, History{s}, delta, PRV{}), first(History{s}.RDP(delta)).Epsilon
		if !(0 <= b.Low && b.Low <= b.Estimate && b.Estimate <= b.High) || b.Low > rdp {
			t.Errorf("%+v at %v: %+v, RDP %v", s, delta, b, rdp)
		}
		wide := prv(t, History{s}, delta, PRV{EpsilonError: 0.3})
		if wide.Low > b.High || b.Low > wide.High || math.Abs(wide.Estimate-b.Estimate) > 0.02 {
			t.Errorf("%+v at %v: %+v, on a coarse grid %+v", s, delta, b, wide)
		}
		for what, c := range map[string]struct {
			h     History
			delta float64
		}{
			"a smaller delta": {History{s}, delta / 30},
			"more steps":      {History{{s.Rate, s.Noise, 2 * s.Times}}, delta},
			"less noise":      {History{{s.Rate, s.Noise * 0.8, s.Times}}, delta},
			"a larger rate":   {History{{min(1, 1.5*s.Rate), s.Noise, s.Times}}, delta},
			"other steps":     {History{s, {0.01, 1, 30}}, delta},
		} {
			more, moreRDP := prv(t, c.h, c.delta, PRV{}), first(c.h.RDP(c.delta)).Epsilon
			if more.High < b.Low || more.Estimate < b.Estimate-2e-3 || moreRDP < rdp-1e-9 {
				t.Errorf("%s: %+v at %v is %+v, RDP %v; before %+v, %v", what, c.h, c.delta, more, moreRDP, b, rdp)
			}
		}
	}
}

func TestWhereThePrivacyLossSaysNothingRDPIsNamed(t *testing.T) {
	for words, c := range map[string]struct {
		s     Step
		delta float64
	}{
		"more than 2^24 points; a larger EpsilonError needs fewer; RDP bounds epsilon by 5.5e+06": {Step{0.5, 1e-3, 10}, 1e-5},
		"steps of 4.89e-07 are more than 2^24 points":                                             {Step{0.001, 1, 1e9}, 1e-5},
		"delta is too small for float64; RDP":                                                     {Step{0.5, 1, 10}, 1e-300},
		"no order bounds epsilon":                                                                 {Step{0.5, 1e-200, 10}, 1e-5},
	} {
		if b, err := (History{c.s}).PRV(c.delta, PRV{}); err == nil || !strings.Contains(err.Error(), words) || b != (Bounds{}) {
			t.Errorf("%+v, error %v, want one with %q", b, err, words)
		}
	}
	for _, delta := range []float64{1e-100, 0.999, 1 - 0x1p-53} { // far out, and it does
		b := prv(t, History{{0.5, 1, 10}}, delta, PRV{})
		if rdp := first(History{{0.5, 1, 10}}.RDP(delta)).Epsilon; b.Low > rdp || (delta > 0.9) != (b.Estimate == 0) {
			t.Errorf("at %v: %+v, RDP %v", delta, b, rdp)
		}
	}
	huge := History{{0.1, 1, math.MaxInt}, {0.2, 1, math.MaxInt}, {0.1, 1, 2}} // whose number wraps round to 0
	if _, err := huge.RDP(1e-5); err == nil || !strings.Contains(err.Error(), "entry 0: more than 2^53 steps") {
		t.Errorf("too many steps: %v", err)
	}
}

// The bounds for errors of rounding are bounds: with one for the transform that is a
// million times larger the same bounds become wider, and at last the call refuses.
func TestRoundingIsPartOfTheBounds(t *testing.T) {
	h := History{{0.01, 1, 1000}}
	s := first(h.lossSum(true, 1e-3, 1e-15))
	c := s.compose(s.window(s.lambda(1e-12)))
	plain, above, below := c.epsilon(1e-12, 0), c.epsilon(1e-12, 1), c.epsilon(1e-12, -1)
	if !(below <= plain && plain <= above) || above-below > 1e-6 {
		t.Errorf("between %v and %v, estimate %v", below, above, plain)
	}
	c.absolute *= 1e8
	if wide := c.epsilon(1e-12, 1); !(wide > above+1e-4) {
		t.Errorf("with larger errors %v, was %v", wide, above)
	}
	c.absolute = math.Inf(1)
	if lost := c.epsilon(1e-12, 1); !math.IsNaN(lost) {
		t.Errorf("with infinite errors %v", lost)
	}
	// The tilted distribution is a distribution.
	sum := 0.0
	for i := range c.tail[:len(c.tail)-1] {
		sum += c.tail[i] - float64(math.Exp(-(c.lambda+1)*c.width)*c.tail[i+1])
	}
	checkClose(t, "all tilted probabilities", sum, 1, 1e-9)
}

// Tails have all their digits on either side, where a difference near 1 has none.
func TestProbabilitiesOfTheTailsKeepTheirDigits(t *testing.T) {
	// mpmath 1.4.1: ncdf(b) - ncdf(a)
	for _, c := range []struct{ a, b, want float64 }{
		{9, 9.5, 1.118093890878478e-19}, {-9.5, -9, 1.118093890878478e-19}, {30, 31, 4.9067139271479176e-198}, {-0.5, 0.5, 0.3829249225480262},
	} {
		p, err := normalBetween(c.a, c.b)
		checkClose(t, fmt.Sprint("between ", c.a, " and ", c.b), p, c.want, 1e-12)
		if !(math.Abs(p-c.want) <= err && err < 1e-11*c.want) {
			t.Errorf("%v to %v: error %v", c.a, c.b, err)
		}
	}
}
