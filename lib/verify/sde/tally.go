package sde

import "github.com/lethe-ml/lethe/lib/stats"

// Tally counts verdicts on subsets.
type Tally struct {
	In   int `json:"in"`
	Out  int `json:"out"`
	Ties int `json:"ties"`
}

// Tally counts the verdicts.
func (j *SubsetVerdicts) Tally() Tally {
	var t Tally
	for _, v := range j.Verdicts {
		switch v {
		case In:
			t.In++
		case Out:
			t.Out++
		default:
			t.Ties++
		}
	}
	return t
}

// Plus adds the counts of another tally.
func (t Tally) Plus(u Tally) Tally { return Tally{t.In + u.In, t.Out + u.Out, t.Ties + u.Ties} }

// N is the number of subsets.
func (t Tally) N() int { return t.In + t.Out + t.Ties }

// RateOut is the share that algorithm 2 calls out: subsets closer to the out-of-training reference,
// and ties. Like the other shares it is NaN if there are no subsets.
func (t Tally) RateOut() float64 { return ratio(t.Out+t.Ties, t.N()) }

// RateDecided is the share of out among the subsets without a tie, NaN if all are ties.
func (t Tally) RateDecided() float64 { return ratio(t.Out, t.In+t.Out) }

// RateTies is the share of ties.
func (t Tally) RateTies() float64 { return ratio(t.Ties, t.N()) }

// decided returns the counts without ties.
func (t Tally) decided() Tally { return Tally{In: t.In, Out: t.Out} }

// Confusion holds the verdicts on subsets whose truth is known: Inside was in training, Outside was
// not.
type Confusion struct {
	Inside  Tally `json:"inside"`
	Outside Tally `json:"outside"`
}

// Plus adds the counts of another confusion.
func (c Confusion) Plus(d Confusion) Confusion {
	return Confusion{c.Inside.Plus(d.Inside), c.Outside.Plus(d.Outside)}
}

// F1 is that of the class "in" by algorithm 2, for which a tie is out:
//
//	F1 = 2 TP/(2 TP + FP + FN),  TP = Inside.In, FP = Outside.In, FN the other inside.
//
// It is 0 if nothing is judged in.
func (c Confusion) F1() float64 {
	return ratio(2*c.Inside.In, c.Inside.In+c.Outside.In+c.Inside.N())
}

// F1Decided is F1 on the subsets without a tie; NaN if no positive is left.
func (c Confusion) F1Decided() float64 { return c.decided().F1() }

// Accuracy is the mean of the shares of right verdicts on both kinds by algorithm 2, for which a
// tie is out. Its null is 0.5, whatever the mix of verdicts.
func (c Confusion) Accuracy() float64 {
	return (ratio(c.Inside.In, c.Inside.N()) + c.Outside.RateOut()) / 2
}

// AccuracyDecided is Accuracy on the subsets without a tie; NaN if all of a kind are ties.
func (c Confusion) AccuracyDecided() float64 { return c.decided().Accuracy() }

// RateTies is the share of ties.
func (c Confusion) RateTies() float64 { return c.Inside.Plus(c.Outside).RateTies() }

func (c Confusion) decided() Confusion {
	return Confusion{c.Inside.decided(), c.Outside.decided()}
}

// ratio is a share; 0/0 is NaN.
func ratio(part, whole int) float64 { return float64(part) / float64(whole) }

// wilson is Wilson's interval of a share of n subsets.
func wilson(share float64, n int, level float64) stats.Estimate {
	e := stats.Wilson(share, n, level)
	e.Over = stats.OverSubsets
	return e
}
