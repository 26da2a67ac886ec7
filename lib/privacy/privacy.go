// Package privacy is an accountant for differential privacy. It bounds what a training that adds
// Gaussian noise to clipped gradients of random batches reveals about any one record. It does
// not depend on a model: a training records its steps in a History, which is plain data and part
// of its checkpoint.
//
// Neighbouring data sets differ in one record that only one of them has (add or remove).
package privacy

import (
	"fmt"
	"math"
)

// Step is a number of steps of one kind. Each record enters a step's batch independently with
// probability Rate (Poisson sampling), its gradient is clipped to a norm C, and normal noise of
// standard deviation Noise times C is added to the sum.
type Step struct {
	Rate  float64 `json:"rate"`  // in (0, 1]
	Noise float64 `json:"noise"` // above 0
	Times int     `json:"times"`
}

// History is all steps of a training, in any order.
type History []Step

// Add returns the history with more steps.
func (h History) Add(s Step) History {
	if n := len(h); n > 0 && h[n-1].Rate == s.Rate && h[n-1].Noise == s.Noise {
		out := append(History(nil), h...)
		out[n-1].Times += s.Times
		return out
	}
	return append(h[:len(h):len(h)], s)
}

// maxSteps bounds the steps of a history; a float64 counts no further.
const maxSteps = 1 << 53

func (h History) check(delta float64) error {
	all := 0.0
	for i, s := range h {
		if err := s.check(); err != nil {
			return fmt.Errorf("privacy: entry %d: %w", i, err)
		}
		if all += float64(s.Times); all > maxSteps {
			return fmt.Errorf("privacy: entry %d: more than 2^53 steps in all", i)
		}
	}
	return checkDelta(delta)
}

func (s Step) check() error {
	switch {
	case !(s.Rate > 0 && s.Rate <= 1):
		return fmt.Errorf("the sampling rate %v is not inside (0, 1]", s.Rate)
	case !(s.Noise > 0) || math.IsInf(s.Noise, 1):
		return fmt.Errorf("the noise %v is not a positive number", s.Noise)
	case s.Times < 0:
		return fmt.Errorf("%d steps", s.Times)
	}
	return nil
}

func checkDelta(delta float64) error {
	if !(delta > 0 && delta < 1) {
		return fmt.Errorf("privacy: delta is %v, want 0 < delta < 1", delta)
	}
	return nil
}

// Steps is the total number of steps.
func (h History) Steps() int {
	n := 0
	for _, s := range h {
		n += s.Times
	}
	return n
}
