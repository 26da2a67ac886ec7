package privacy

import (
	"fmt"
	"math"
)

// Spent is a bound of epsilon by Renyi differential privacy.
type Spent struct {
	Epsilon float64 `json:"epsilon"`
	Order   float64 `json:"order"` // order that gives the bound; if it is the first or last one tried, others might give a better bound
}

// Orders are those of Opacus 1.4.0: 1.1 to 10.9 in steps of 0.1, then 12 to 63.
func Orders() []float64 {
	var out []float64
	for k := 1; k < 100; k++ {
		out = append(out, 1+float64(k)/10)
	}
	for a := 12; a < 64; a++ {
		out = append(out, float64(a))
	}
	return out
}

// RDP bounds epsilon at delta by Renyi differential privacy. At every order a the divergences of
// the steps add up to R(a), and
//
//	epsilon = min over a of  R(a) - (ln delta + ln a)/(a - 1) + ln((a - 1)/a)
//
// (Mironov 2017; Canonne, Kamath and Steinke 2020, proposition 12), at least 0, as Opacus 1.4.0
// computes it, over Orders. No steps spend nothing.
func (h History) RDP(delta float64) (Spent, error) {
	if err := h.check(delta); err != nil {
		return Spent{}, err
	}
	if h.Steps() == 0 {
		return Spent{}, nil
	}
	best := Spent{Epsilon: math.Inf(1)}
	for _, a := range Orders() {
		divergence := 0.0
		for _, s := range h {
			divergence += float64(float64(s.Times) * s.renyi(a))
		}
		epsilon := divergence - (math.Log(delta)+math.Log(a))/(a-1) + math.Log((a-1)/a)
		if epsilon < best.Epsilon {
			best = Spent{epsilon, a}
		}
	}
	if math.IsInf(best.Epsilon, 1) {
		return Spent{}, fmt.Errorf("privacy: no order bounds epsilon: the noise is too small")
	}
	best.Epsilon = max(0, best.Epsilon)
	return best, nil
}

// renyi is the divergence of one step at order a > 1 (Mironov, Talwar and Zhang
// 2019): ln E / (a - 1) for the moment
//
//	E = E_{x ~ N(0, s^2)} [ ((1 - q) + q exp((2x - 1)/(2 s^2)))^a ]
func (s Step) renyi(a float64) float64 {
	switch {
	case s.Rate == 1:
		return a / (2 * s.Noise * s.Noise)
	case a == math.Trunc(a):
		return s.wholeMoment(int(a)) / (a - 1)
	}
	return s.fractionalMoment(a) / (a - 1)
}

// wholeMoment is ln E for an integer order, by the binomial theorem.
func (s Step) wholeMoment(a int) float64 {
	sum := math.Inf(-1)
	for k := range a + 1 {
		sum = logAdd(sum, logBinomial(a, k)+float64(float64(k)*math.Log(s.Rate))+float64(float64(a-k)*math.Log1p(-s.Rate))+
			float64(k*k-k)/(2*s.Noise*s.Noise))
	}
	return sum
}

// fractionalMoment is ln E for an order that is not an integer. The integral is split at z,
// where the two parts of the mixture are equal, and each side is expanded into a binomial series
// whose terms change sign.
func (s Step) fractionalMoment(a float64) float64 {
	q, sd := s.Rate, s.Noise
	z := float64(sd*sd*math.Log(1/q-1)) + 0.5
	total := signed{}
	coefficient := 1.0 // of (a over k)
	for k := 0.0; k < maxSeriesTerms; k++ {
		j := a - k
		size := math.Log(math.Abs(coefficient))
		below := size + float64(k*math.Log(q)) + float64(j*math.Log1p(-q)) + (float64(k*k)-k)/(2*sd*sd) + math.Log(0.5) + logErfc((k-z)/(math.Sqrt2*sd))
		above := size + float64(j*math.Log(q)) + float64(k*math.Log1p(-q)) + (float64(j*j)-j)/(2*sd*sd) + math.Log(0.5) + logErfc((z-j)/(math.Sqrt2*sd))
		if math.IsNaN(below + above) { // the noise is too small for float64
			break
		}
		total.add(below, coefficient > 0)
		total.add(above, coefficient > 0)
		if k > a && max(below, above) < seriesEnd {
			return total.log()
		}
		coefficient *= (a - k) / (k + 1)
	}
	return math.Inf(1) // no bound from this order
}

// seriesEnd is the logarithm of the term that ends the series, as in Opacus. A series longer
// than maxSeriesTerms gives no bound.
const (
	seriesEnd      = -30
	maxSeriesTerms = 1e6
)

// signed is a sum of positive and negative terms, stored as logarithms.
type signed struct {
	plus, minus float64
	some        bool
}

func (s *signed) add(log float64, positive bool) {
	if !s.some {
		*s = signed{math.Inf(-1), math.Inf(-1), true}
	}
	if positive {
		s.plus = logAdd(s.plus, log)
	} else {
		s.minus = logAdd(s.minus, log)
	}
}

// log is the logarithm of the sum, which must be positive.
func (s *signed) log() float64 { return s.plus + math.Log1p(-math.Exp(s.minus-s.plus)) }

func logAdd(a, b float64) float64 {
	high, low := max(a, b), min(a, b)
	if math.IsInf(low, -1) {
		return high
	}
	return high + math.Log1p(math.Exp(low-high))
}

func logBinomial(n, k int) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return a - b - c
}

// logErfc is ln erfc(x). Where erfc underflows, it uses the asymptotic series
//
//	erfc(x) = exp(-x^2)/(x sqrt pi) (1 - 1/(2x^2) + 3/(4x^4) - 15/(8x^6) + ...)
func logErfc(x float64) float64 {
	if x < 20 {
		return math.Log(math.Erfc(x))
	}
	u := 1 / (2 * x * x)
	return float64(-x*x) - math.Log(x) - math.Log(math.Pi)/2 + math.Log1p(-u*(1-float64(3*u*(1-float64(5*u*(1-float64(7*u)))))))
}
