package privacy

import (
	"cmp"
	"errors"
	"fmt"
	"math"
)

// Bounds contain the true epsilon: Low <= epsilon <= High.
type Bounds struct {
	Low      float64 `json:"low"`
	Estimate float64 `json:"estimate"`
	High     float64 `json:"high"`
}

// PRV is the precision of the privacy loss accountant. The zero value gives epsilon to within
// 0.05.
type PRV struct {
	EpsilonError float64 `json:"epsilon_error,omitempty"` // half the width of the bounds, 0: 0.05
	DeltaError   float64 `json:"delta_error,omitempty"`   // largest error of delta, 0: a thousandth of delta
}

// PRV bounds epsilon at delta by the distribution of the privacy loss (Gopi, Lee and Wutschitz
// 2021). RDP gives only an upper bound, often a fifth too high. The privacy loss of one step,
//
//	Y = ln dP/dQ (x), x ~ P,  P and Q: the step with and without a record
//
// is put on a grid of width w that keeps its mean, and the losses of all steps are convolved by
// fast Fourier transform:
//
//	delta(epsilon) = E[ (1 - exp(epsilon - Y))+ ],  w <= EpsilonError / sqrt(n/2 ln(12/DeltaError))
//
// The worse of the two directions, a record added and a record removed, counts. No steps spend
// nothing.
//
// The transform is applied to the distribution times exp(lambda y) (its Esscher transform), with
// lambda such that most of the mass lies near epsilon. The errors of the transform are relative
// to the largest probabilities; without lambda those lie far from epsilon, and the errors exceed
// a small delta. The errors are bounded as they occur and widen Low and High.
//
// It is an error if the grid would need more than 2^24 points, or if delta is too small for
// float64. The error states the bound by RDP.
func (h History) PRV(delta float64, p PRV) (Bounds, error) {
	if err := h.check(delta); err != nil {
		return Bounds{}, err
	}
	p.EpsilonError, p.DeltaError = cmp.Or(p.EpsilonError, 0.05), cmp.Or(p.DeltaError, delta/1000)
	if !(p.EpsilonError > 0 && p.DeltaError > 0 && p.DeltaError < delta) || math.IsInf(p.EpsilonError, 1) {
		return Bounds{}, fmt.Errorf("privacy: an error of %v in epsilon and %v in delta = %v", p.EpsilonError, p.DeltaError, delta)
	}
	if h.Steps() == 0 {
		return Bounds{}, nil
	}
	var worst Bounds
	for _, removed := range []bool{true, false} {
		b, err := h.direction(removed, delta, p)
		if err != nil {
			return Bounds{}, h.noBoundsError(err, delta)
		}
		worst = Bounds{max(worst.Low, b.Low), max(worst.Estimate, b.Estimate), max(worst.High, b.High)}
	}
	return worst, nil
}

// noBoundsError is the error of PRV, with the bound by RDP.
func (h History) noBoundsError(why error, delta float64) error {
	spent, err := h.RDP(delta)
	if err != nil {
		return fmt.Errorf("privacy: no bounds by the privacy loss: %w", errors.Join(why, err))
	}
	return fmt.Errorf("privacy: no bounds by the privacy loss: %w; RDP bounds epsilon by %.4g at delta %v", why, spent.Epsilon, delta)
}

// direction bounds epsilon for a record removed, or for one added.
func (h History) direction(removed bool, delta float64, p PRV) (Bounds, error) {
	width := p.EpsilonError / math.Sqrt(float64(h.Steps())/2*math.Log(12/p.DeltaError))
	s, err := h.lossSum(removed, width, p.DeltaError)
	if err != nil {
		return Bounds{}, err
	}
	lambda := s.lambda(delta)
	if t := s.window(lambda); t.points < minPoints { // a finer grid at no cost
		finer := max(t.length, s.maxRange()/16) / minPoints
		if s, err = h.lossSum(removed, min(width, finer), p.DeltaError); err != nil {
			return Bounds{}, err
		}
		lambda = s.lambda(delta)
	}
	lost := s.shiftError
	for range fallbacks {
		t := s.window(lambda)
		if t.points > maxPoints {
			return Bounds{}, tooMany(t.length, s.width)
		}
		var b Bounds
		if b, lost = s.compose(t).bounds(delta, p.DeltaError); lost+s.shiftError < p.EpsilonError {
			moved := p.EpsilonError + s.shiftError
			return Bounds{max(0, b.Low-moved), b.Estimate, b.High + moved}, nil
		}
		lambda /= 4
	}
	return Bounds{}, fmt.Errorf("the rounding of float64 moves epsilon by %.2g", lost)
}

// fallbacks is how often a smaller lambda is tried. Where the largest value of a loss is likely,
// as for a record added, epsilon can lie below the window of the first lambda.
const fallbacks = 10

// bounds are the bounds of epsilon without the grid's own error, and lost is by how much
// rounding widens them; NaN if epsilon is outside the window.
func (c composed) bounds(delta, deltaError float64) (b Bounds, lost float64) {
	b = Bounds{c.epsilon(delta+deltaError, -1), c.epsilon(delta, 0), c.epsilon(delta-deltaError, 1)}
	lost = max(c.epsilon(delta+deltaError, 0)-b.Low, b.High-c.epsilon(delta-deltaError, 0))
	return b, lost + 0*b.Estimate
}

func tooMany(length, width float64) error {
	return fmt.Errorf("privacy losses over a length of %.3g in steps of %.3g are more than 2^24 points; a larger EpsilonError needs fewer", length, width)
}
