// Package information estimates how much two things say of each other: the mutual
// information I(X; Y), in nats, of records of which both are known,
//
//	I(X; Y) = E[log p(x, y) / (p(x) p(y))]
//
// It is 0 where X and Y are independent, and no other number is: an estimate of 0 is
// what an attacker wants least and who shares representations most. Bounds from
// below are made by critics, networks that tell pairs from strangers (MINE, InfoNCE);
// what they do not find may still be there. KSG counts neighbours, which is exact in
// the limit of many records and poor in many dimensions. GaussianBound is from above.
//
// None of them is to be believed far above 1 nat. Of 3,000 pairs whose columns have the
// correlation 0.5 one by one, MINE and KSG say, for two seeds each: with 5 columns 0.71
// and 0.66, 0.57 and 0.57 (the truth is 0.72), with 20 columns 2.15 and 1.86, 0.65 and
// 0.66 (2.88), with 49 columns 2.01 and 2.17, 0.60 and 0.52 (7.05).
//
// Pairs have to be pairs. Two sets that are put side by side in any order, such as the
// representations of erased and of auxiliary records in BlindU, have a mutual
// information of 0 whatever they hold. Put together by label they share the label and
// no more, which is 0 again where all have the same, as in its backdoor task. What a
// critic finds there is what it has learned by heart of a finite batch; on held-out
// pairs it is gone.
package information

import (
	"context"
	"errors"
	"fmt"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/stats"
)

// Pairs are records of which two things are known: row i of X belongs to row i of Y.
// Rows in another order on one side are another, unpaired, set.
type Pairs struct{ X, Y array.Matrix[float64] }

// Reading is an estimate of a mutual information in nats. Its null is 0 and lower is
// better, for whoever wants to reveal little; it may be negative, where a bound from
// below has found nothing.
type Reading struct {
	stats.Estimate
	// Training is the same number on the pairs that a critic was trained on. What it
	// says more than the value the critic has learned by heart. Nil without a critic.
	Training *float64
	// Epochs is how many the critic was trained for until its best.
	Epochs int
}

// Estimator estimates the mutual information of pairs.
type Estimator interface {
	// Name is a short name, such as "ksg".
	Name() string
	// About says in a few words what it is.
	About() string
	// Estimate refuses pairs from which nothing can be estimated, by side and row.
	// What is drawn comes from the seed; an estimator without a network needs no
	// engine.
	Estimate(ctx context.Context, e *engine.Engine, p Pairs, seed engine.Root) (*Reading, error)
}

// All lists every estimator at its default.
func All() []Estimator { return []Estimator{MINE{}, CodedMINE{}, InfoNCE{}, KSG{}} }

// check refuses pairs that are none, and fewer than least.
func (p Pairs) check(of Estimator, least int) error {
	err := errors.Join(p.X.Check("x"), p.Y.Check("y"))
	switch {
	case err != nil:
	case p.X.Rows != p.Y.Rows:
		err = fmt.Errorf("x has %d rows, y %d: they are no pairs", p.X.Rows, p.Y.Rows)
	case p.X.Cols == 0 || p.Y.Cols == 0:
		err = fmt.Errorf("x has %d columns, y %d", p.X.Cols, p.Y.Cols)
	case p.X.Rows < least:
		err = fmt.Errorf("%d pairs, at least %d are needed", p.X.Rows, least)
	}
	if err != nil {
		return fmt.Errorf("information: %s: %w", of.Name(), err)
	}
	return nil
}

func (p Pairs) gather(rows []int) Pairs { return Pairs{p.X.Gather(rows), p.Y.Gather(rows)} }

// newReading is an estimate with what goes with every mutual information.
func newReading(e stats.Estimate) *Reading {
	return &Reading{Estimate: e.WithNull(0, stats.LowerIsBetter)}
}
