package sde

import (
	"errors"
	"math"

	"github.com/lethe-ml/lethe/lib/stats"
)

// ControlledResult is the result of the controlled protocol on one model.
type ControlledResult struct {
	// F1 of the class "in", accuracy, and the mean of the F1 of both classes.
	// Higher is better; 0.5 is guessing. A judge that says in every time has an F1 of 2/3 with an
	// accuracy of 0.5 and a macro-F1 of 1/3, so that an F1 above its null is no evidence by itself. Intervals are over
	// subsets: MOVER on Wilson's intervals of the two classes (see Controlled).
	F1       stats.Estimate `json:"f1"`
	Accuracy stats.Estimate `json:"accuracy"`
	MacroF1  stats.Estimate `json:"macro_f1"`
	// Inside and Outside are the verdicts on subsets that were, and were not, in training.
	Inside  *SubsetVerdicts `json:"inside"`
	Outside *SubsetVerdicts `json:"outside"`
}

// Controlled is the protocol on models whose training set is known (section 4.1, table 1): subsets
// of the training set and subsets of records that the model never saw are judged, and the verdicts
// compared with the truth. Target subsets and references should share no record.
//
// The paper does not say which class is positive or how many subsets it drew. Here "in" is
// positive; macro-F1 and accuracy, which do not depend on that, are reported too. A tie is out, as
// in algorithm 2; Confusion has the counts from which the values without ties come.
//
// With r the share of inside subsets judged in and f that of outside subsets, F1 = 2r/(1 + r + f)
// for equal numbers of subsets. Its interval combines the Wilson limits of r and f as
//
//	low = g - sqrt((g - g(r_low, f))^2 + (g - g(r, f_high))^2)
//
// and so on (MOVER, Zou and Donner 2008). Unlike a bootstrap it does not collapse when all verdicts
// are right. It treats subsets as independent: see SubsetVerdicts.Disjoint.
func Controlled(m Method, known KnownTargets, refs References, opt Options) (*ControlledResult, error) {
	if len(known.Inside.Subsets) != len(known.Outside.Subsets) {
		return nil, errors.New("sde: the protocol needs as many subsets from inside the training set as from outside")
	}
	inside, err := JudgeSubsets(m, known.Inside, refs, opt)
	if err != nil {
		return nil, err
	}
	outside, err := judgeFromStream(streamTarget+len(known.Inside.Subsets), m, known.Outside, refs, opt)
	if err != nil {
		return nil, err
	}
	c := &ControlledResult{Inside: inside, Outside: outside}
	c.summarise(opt.level())
	return c, nil
}

// summarise computes the rates from the verdicts.
func (c *ControlledResult) summarise(level float64) {
	r, f := c.Inside.shareIn(level), c.Outside.shareIn(level)
	// All three rise with r and fall with f.
	f1 := func(r, f float64) float64 { return 2 * r / (1 + r + f) }
	c.F1 = mover(f1, r, f)
	c.MacroF1 = mover(func(r, f float64) float64 { return (f1(r, f) + f1(1-f, 1-r)) / 2 }, r, f)
	c.Accuracy = mover(func(r, f float64) float64 { return (r + 1 - f) / 2 }, r, f)
}

// Confusion counts the verdicts.
func (c *ControlledResult) Confusion() Confusion {
	return Confusion{c.Inside.Tally(), c.Outside.Tally()}
}

// shareIn returns the share of the subsets judged in, with Wilson's interval.
func (j *SubsetVerdicts) shareIn(level float64) stats.Estimate {
	t := j.Tally()
	return wilson(float64(t.In)/float64(t.N()), t.N(), level)
}

// mover returns the MOVER estimate of g(r, f), where g rises in r and falls in f.
func mover(g func(r, f float64) float64, r, f stats.Estimate) stats.Estimate {
	v := g(r.Value, f.Value)
	e := stats.Estimate{Value: v, Level: r.Level, Over: r.Over, N: r.N + f.N}
	e.Low = max(0, v-math.Hypot(v-g(r.Low, f.Value), v-g(r.Value, f.High)))
	e.High = min(1, v+math.Hypot(v-g(r.High, f.Value), v-g(r.Value, f.Low)))
	return e.WithNull(0.5, stats.HigherIsBetter)
}
