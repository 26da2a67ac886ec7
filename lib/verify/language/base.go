package language

import (
	"fmt"
	"math"
)

// BaseReport says what tokens tell of the base of their logarithms.
type BaseReport struct {
	// LowestBase is a bound: the base is at least this, by what holds for every distribution. 0: no
	// array bounds it.
	LowestBase float64
	// Suspected is 2 or 10 where the arrays look like logarithms of that base, otherwise 0.
	Suspected int
	// Certain: natural logarithms are ruled out, up to the rounding of 16-bit numbers.
	Certain bool
	Why     string // in one sentence
}

const (
	// roundingMargin is by how much a bound must exceed 1 before natural logarithms are ruled out:
	// far more than means and deviations in 16-bit numbers are off.
	roundingMargin = 1.1
	// tooSure is the log-probability above which z bounds nothing: rounding decides there.
	tooSure = -0.05
	// gapTokens is how many wrong tokens below the gap of base 2 it takes to miss those inside.
	gapTokens = 30
)

// Base looks for logarithms of another base. With l the log-probability to base b, two facts hold
// for every token and bound b from below:
//
//	a token that is not the most probable has p <= 1/2:  ln b >= ln 2/(-l)
//	z = (l - mu)/sigma does not depend on b, and p <= 1/(1 + z^2) (Cantelli):  ln b >= ln(1 + z^2)/(-l)
//
// A bound above e rules natural logarithms out; base 10 is then suspected, and above 10 the arrays
// contradict each other. Nothing bounds b from
// above without the whole distribution, so base 2 cannot be proven. It is suspected if no
// token that is not the most probable has l in (-1, -ln 2), as must be with base 2, though at
// least 30 have l in (-2 ln 2, -1]. Few wrong tokens, or a model that is hardly ever unsure, leave
// both undecided; without Correct and without Mean and Deviation nothing can be decided, because
// log-probabilities of any base are plausible ones of another. Probabilities in place of logarithms
// are above 0, which Check refuses. Tokens must pass Check.
func (t *Tokens) Base() (BaseReport, error) {
	if err := t.Check(); err != nil {
		return BaseReport{}, err
	}
	bound, evidence, byMoments := t.lowestLogBase()
	r := BaseReport{Why: "not known: it takes the marks of correct tokens, or means and deviations"}
	if bound > 0 {
		r.LowestBase = math.Exp(bound)
		r.Why = fmt.Sprintf("%s: the base is at least %.3g", evidence, r.LowestBase)
	}
	inside, below := t.wrongNearHalf()
	switch {
	case bound > roundingMargin*math.Ln10:
		r.Certain = true
		r.Why = evidence + ", which no distribution has: the arrays contradict each other"
	case bound > roundingMargin:
		r.Suspected, r.Certain = 10, true
		r.Why += fmt.Sprintf(", which rules out natural logarithms; base 10 has %.3g here", math.Log(10)/bound)
		if byMoments {
			r.Why += "; or the log-probabilities are of another base than their means and deviations"
		}
	case inside == 0 && below >= gapTokens:
		r.Suspected = 2
		r.Why = fmt.Sprintf("%d wrong tokens have a log-probability between -1.386 and -1, and none one between -1 and -0.693: so it is with base 2", below)
	}
	return r, nil
}

// lowestLogBase returns the largest lower bound on ln b, the token that it is from, and whether mean and
// deviation gave it.
func (t *Tokens) lowestLogBase() (bound float64, evidence string, byMoments bool) {
	for i, l := range t.LogProb {
		d, k := t.place(i)
		if t.Correct != nil && !t.Correct[i] && math.Ln2/-l > bound {
			byMoments = false
			bound, evidence = math.Ln2/-l, fmt.Sprintf("document %d, token %d is not the most probable and has %.3g", d, k, l)
		}
		if t.Mean == nil || !(l < tooSure) || !(t.Deviation[i] > 0) {
			continue
		}
		z := (l - t.Mean[i]) / t.Deviation[i]
		if v := math.Log1p(z*z) / -l; v > bound {
			byMoments = true
			bound, evidence = v, fmt.Sprintf("document %d, token %d is %.3g deviations from its mean and has %.3g", d, k, z, l)
		}
	}
	return bound, evidence, byMoments
}

// wrongNearHalf counts the tokens that are not the most probable in the gap of base 2 and below it.
func (t *Tokens) wrongNearHalf() (inside, below int) {
	for i, correct := range t.Correct {
		l := t.LogProb[i]
		switch {
		case correct:
		case l > -1 && l < -math.Ln2:
			inside++
		case l > -2*math.Ln2 && l <= -1:
			below++
		}
	}
	return inside, below
}
