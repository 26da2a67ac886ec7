package privacy

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/cmplx"
	"sort"

	"gonum.org/v1/gonum/dsp/fourier"
)

// Bounds hold the true epsilon: Low <= epsilon <= High.
type Bounds struct {
	Low      float64 `json:"low"`
	Estimate float64 `json:"estimate"`
	High     float64 `json:"high"`
}

// PRV is how finely the privacy loss is computed. The zero value is exact to 0.05.
type PRV struct {
	EpsilonError float64 `json:"epsilon_error,omitempty"` // half of the width of the bounds, 0: 0.05
	DeltaError   float64 `json:"delta_error,omitempty"`   // what delta itself is out by at most, 0: a thousandth of delta
}

// mostPoints bounds the grid: 2^25 numbers are 256 MiB, and twice that in all.
const mostPoints = 1 << 25

// PRV bounds epsilon at delta by the law of the privacy loss (Gopi, Lee and Wutschitz
// 2021), where RDP gives an upper bound alone, often a fifth too high. The privacy
// loss of one step,
//
//	Y = ln dP/dQ (x), x ~ P,  P and Q: the step with and without a record
//
// is put on a grid of width w, with the mean that it has, and the losses of all steps
// are added by fast Fourier transform:
//
//	delta(epsilon) = E[ (1 - exp(epsilon - Y))+ ],  w = EpsilonError / sqrt(n/2 ln(12/DeltaError))
//
// of both directions, a record added and one removed, the worse one counts. No steps
// spend nothing. It refuses a grid of more than 2^25 points: ask for less precision.
func (h History) PRV(delta float64, p PRV) (Bounds, error) {
	if err := h.check(delta); err != nil {
		return Bounds{}, err
	}
	p.EpsilonError, p.DeltaError = cmp.Or(p.EpsilonError, 0.05), cmp.Or(p.DeltaError, delta/1000)
	if !(p.EpsilonError > 0 && p.DeltaError > 0 && p.DeltaError < delta) {
		return Bounds{}, fmt.Errorf("privacy: an error of %v in epsilon and %v in delta = %v", p.EpsilonError, p.DeltaError, delta)
	}
	if h.Steps() == 0 {
		return Bounds{}, nil
	}
	g, err := h.grid(p)
	if err != nil {
		return Bounds{}, err
	}
	var worst Bounds
	for _, removed := range []bool{true, false} {
		c := g.compose(h, removed)
		worst = Bounds{
			Low:      max(worst.Low, c.epsilon(delta+p.DeltaError)-p.EpsilonError),
			Estimate: max(worst.Estimate, c.epsilon(delta)),
			High:     max(worst.High, c.epsilon(delta-p.DeltaError)+p.EpsilonError),
		}
	}
	if math.IsInf(worst.High, 1) {
		return Bounds{}, errors.New("privacy: the privacy loss leaves the grid")
	}
	return worst, nil
}

// grid holds points at (k - n/2) width for k = 0 ... n-1.
type grid struct {
	n     int
	width float64
}

func (g grid) at(k int) float64 { return float64(float64(k-g.n/2) * g.width) }

// grid reaches so far that neither one step's loss nor the sum goes beyond it, by what
// RDP says of both, but for a share of DeltaError.
func (h History) grid(p PRV) (grid, error) {
	n := float64(h.Steps())
	width := p.EpsilonError / math.Sqrt(n/2*math.Log(12/p.DeltaError))
	all, err := h.RDP(p.DeltaError / 4)
	if err != nil {
		return grid{}, err
	}
	reach := max(p.EpsilonError+all.Epsilon, math.Log(4/p.DeltaError))
	for _, s := range h {
		s.Times = 1
		one, err := History{s}.RDP(p.DeltaError / 8 / n)
		if err != nil {
			return grid{}, err
		}
		reach = max(reach, one.Epsilon)
	}
	reach += 3
	g := grid{n: 2, width: width}
	for float64(g.n)*width < 2*reach {
		if g.n *= 2; g.n > mostPoints {
			return grid{}, fmt.Errorf("privacy: privacy losses up to %.3g in steps of %.3g are more than 2^25 points; "+
				"a larger EpsilonError needs fewer", reach, width)
		}
	}
	return g, nil
}

// loss is the law of a sum of privacy losses, on the grid moved by shift.
type loss struct {
	grid
	shift float64
	p     []float64
}

// compose adds up the losses of all steps.
func (g grid) compose(h History, removed bool) loss {
	fft := fourier.NewFFT(g.n)
	total := make([]complex128, g.n/2+1)
	for k := range total {
		total[k] = 1
	}
	out := loss{grid: g}
	for _, s := range h {
		if s.Times == 0 {
			continue
		}
		p, shift := g.discretise(s, removed)
		out.shift += float64(float64(s.Times) * shift)
		// The transform takes the first point for 0, which stands in the middle.
		for k, c := range fft.Coefficients(nil, append(p[g.n/2:], p[:g.n/2]...)) {
			total[k] = product(total[k], cmplx.Pow(c, complex(float64(s.Times), 0)))
		}
	}
	p := fft.Sequence(nil, total)
	for k := range p {
		p[k] = max(0, p[k]/float64(g.n))
	}
	out.p = append(p[g.n/2:], p[:g.n/2]...)
	return out
}

// product is x y with every product of parts rounded, wherever it is computed.
func product(x, y complex128) complex128 {
	a, b, c, d := real(x), imag(x), real(y), imag(y)
	return complex(float64(a*c)-float64(b*d), float64(a*d)+float64(b*c))
}

// discretise returns the probabilities of the points, of what is within half a width
// of each, and by how much the points have to move for the mean to be that of the law.
func (g grid) discretise(s Step, removed bool) (p []float64, shift float64) {
	p = make([]float64, g.n)
	edge := func(k int) float64 { return g.at(k) - g.width/2 }
	last, mass, mean := s.lossBelow(edge(0), removed), 0.0, 0.0
	for k := range p {
		next := s.lossBelow(edge(k+1), removed)
		p[k] = next - last
		mass += p[k]
		mean += float64(p[k] * g.at(k))
		last = next
	}
	for k := range p {
		p[k] /= mass
	}
	return p, s.lossMean(removed) - mean/mass
}

// lossMean is E[Y] of one step, by the trapezoidal rule, which for functions like this
// one loses nothing: they are smooth on the scale of the noise and end in normal tails.
func (s Step) lossMean(removed bool) float64 {
	const tail, perNoise = 14, 64
	width, sum := s.Noise/perNoise, 0.0
	density := func(x float64) float64 { return math.Exp(-x*x/2) / math.Sqrt(2*math.Pi) / s.Noise }
	for x := -tail * s.Noise; x < 1+float64(tail*s.Noise); x += width {
		// ln((1-q) + q exp(t)) = t + ln(q + (1-q) exp(-t)), whichever is small
		t := (2*x - 1) / (2 * s.Noise * s.Noise)
		y := math.Log1p(s.Rate * math.Expm1(t))
		if t > 0 || s.Rate == 1 {
			y = t + math.Log1p((1-s.Rate)*math.Expm1(-t))
		}
		if removed {
			sum += float64(y * (float64((1-s.Rate)*density(x/s.Noise)) + float64(s.Rate*density((x-1)/s.Noise))))
		} else {
			sum -= float64(y * density(x/s.Noise))
		}
	}
	return sum * width
}

// lossBelow is Pr[Y <= y] of one step.
//
// With a record removed, P is the mixture (1-q) N(0, s^2) + q N(1, s^2) and Q is
// N(0, s^2); Y = ln((1-q) + q exp((2x-1)/(2 s^2))) rises with x. With one added, the
// roles are exchanged and Y is the negative of that.
func (s Step) lossBelow(y float64, removed bool) float64 {
	if !removed {
		x := s.point(-y)
		return 1 - normal(x/s.Noise)
	}
	x := s.point(y)
	return float64((1-s.Rate)*normal(x/s.Noise)) + float64(s.Rate*normal((x-1)/s.Noise))
}

// point is the x at which the loss of a record removed is y; minus infinity below the
// least loss there is, ln(1-q).
func (s Step) point(y float64) float64 {
	// ln(exp(y) - (1-q)) = y + ln(1 - (1-q) exp(-y))
	inner := -math.Expm1(math.Log1p(-s.Rate) - y)
	if !(inner > 0) {
		return math.Inf(-1)
	}
	return float64(s.Noise*s.Noise*(y+math.Log(inner)-math.Log(s.Rate))) + 0.5
}

func normal(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }

// epsilon is the least epsilon, at least 0, with delta(epsilon) <= delta. Above a
// point, delta(epsilon) is the probability beyond it less exp(epsilon) times the sum
// of p exp(-y) there.
func (l loss) epsilon(delta float64) float64 {
	n := len(l.p)
	beyond, weighted := make([]float64, n+1), make([]float64, n+1) // of points k, k+1, ...
	for k := n - 1; k >= 0; k-- {
		beyond[k] = beyond[k+1] + l.p[k]
		weighted[k] = weighted[k+1] + float64(l.p[k]*math.Exp(-l.y(k)))
	}
	at := func(epsilon float64, k int) float64 { return beyond[k] - float64(math.Exp(epsilon)*weighted[k]) }
	zero := sort.Search(n, func(k int) bool { return l.y(k) > 0 })
	if at(0, zero) <= delta {
		return 0
	}
	// The first point at which delta is small enough; epsilon lies before it.
	k := zero + sort.Search(n-zero, func(i int) bool { return at(l.y(zero+i), zero+i) <= delta })
	if k == n || weighted[k] == 0 {
		return math.Inf(1)
	}
	return math.Log((beyond[k] - delta) / weighted[k])
}

func (l loss) y(k int) float64 { return l.at(k) + l.shift }
