// A method at the best of several learning rates.

package unlearn

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/lib/progress"
	"github.com/lethe-ml/lethe/lib/train"
)

// Rated is a method whose learning rate can be set.
type Rated[M any] interface {
	Method
	// AtRate returns the method with another learning rate.
	AtRate(lr float64) M
}

// Tuned is a method at the best of a few learning rates: those that the published programs
// search, 0.001 to 0.1, including the method's own, the same five for every method. Each is
// run in full. Of the rates after which the accuracy on held-out records is at most Slack,
// a hundredth, below the original's, it takes the one with the smallest
//
//	| accuracy on Df - accuracy on held-out records |
//
// with the classes of held-out records weighted as in the forget set. If no rate keeps the
// accuracy, it takes the one that loses least. Of equal ones it takes the smallest rate.
//
// A user can compute this criterion: it needs no retrained model, attack, embedding or
// lens. It does use labels of held-out records, which other methods do not get: a tuned row
// is labelled so and stands next to the one with the published rate.
//
// The cost is one run per rate, and the best once more to record its epochs. A search that
// is stopped starts over; the last run resumes.
type Tuned[M Rated[M]] struct {
	Of    M         `json:"of,omitzero"`
	Rates []float64 `json:"rates,omitempty"`                // nil: 0.001, 0.003, 0.013, 0.03 and 0.1
	Slack *float64  `json:"slack,omitempty" default:"0.01"` // new(0.0): none
}

// Info implements Method.
func (m Tuned[M]) Info() Info {
	of := m.Of.Info()
	of.Sees.Original, of.Sees.Forget, of.Sees.HeldOut = true, true, true
	return Info{
		Name: of.Name + "-tuned", Sees: of.Sees, Version: of.Version,
		Does: "is " + of.Name + " at the best of five rates by accuracy on forgotten and held-out records",
		From: of.From + ", tuned",
	}
}

// SetDefaults implements defaults.Setter.
func (m *Tuned[M]) SetDefaults() {
	if len(m.Rates) == 0 {
		m.Rates = []float64{0.001, 0.003, 0.013, 0.03, 0.1}
	}
}

// Unlearn implements Method.
func (m Tuned[M]) Unlearn(ctx context.Context, r Request) (*Outcome, error) {
	before, err := r.measureAccuracies(r.Original)
	if err != nil {
		return nil, err
	}
	tried := make([]accuracySet, len(m.Rates))
	ctx, task := progress.Start(ctx, "", len(m.Rates)+1)
	defer task.Done()
	for i, rate := range m.Rates {
		if tried[i], err = m.try(ctx, r, rate); err != nil {
			return nil, err
		}
		task.Add(1)
	}
	best, err := chooseRate(tried, before.heldOut-*m.Slack)
	if err != nil {
		return nil, err
	}
	out, err := m.Of.AtRate(m.Rates[best]).Unlearn(ctx, r)
	if out != nil {
		out.Note = fmt.Sprintf("rate %g", m.Rates[best])
	}
	return out, err
}

// try runs the method at a rate, without hooks, and measures its accuracies. A rate that
// destroys the model has accuracy 0.
func (m Tuned[M]) try(ctx context.Context, r Request, rate float64) (accuracySet, error) {
	r.Hooks = train.Hooks{}
	out, err := m.Of.AtRate(rate).Unlearn(ctx, r)
	if ctx.Err() != nil {
		return accuracySet{}, err
	}
	if err != nil || out.Params.Check() != nil {
		return accuracySet{forget: math.NaN(), heldOut: math.NaN(), expected: math.NaN()}, nil
	}
	return r.measureAccuracies(out.Params)
}

// chooseRate returns the index of the rate whose forget accuracy is nearest to the expected
// accuracy, among those with held-out accuracy of at least floor; if there is none, that
// with the highest held-out accuracy.
func chooseRate(tried []accuracySet, floor float64) (int, error) {
	best, most := -1, -1
	for i, t := range tried {
		if math.IsNaN(t.heldOut) {
			continue
		}
		if most < 0 || t.heldOut > tried[most].heldOut {
			most = i
		}
		if t.heldOut >= floor && (best < 0 || math.Abs(t.forget-t.expected) < math.Abs(tried[best].forget-tried[best].expected)) {
			best = i
		}
	}
	if best < 0 {
		best = most
	}
	if best < 0 {
		return 0, errors.New("the model is destroyed at every rate")
	}
	return best, nil
}
