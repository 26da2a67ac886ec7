// A language model's method at the rate after which forgotten texts are as probable as unseen ones were.

package unlearn

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/lib/model/text"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/progress"
	"github.com/lethe-ml/lethe/lib/train"
)

// TextTuned is a method for language models at that of a few learning rates, the same for every
// method, with the smallest
//
//	| L(Df) - L_0(held-out) |
//
// where L is the mean over texts of the mean over their tokens of -log p under the result, and L_0
// that under the original: forgotten texts are to be as improbable as unseen ones were before. (As
// unseen ones are to the result would also be met by a model that is destroyed.) Of equal rates it
// takes the smallest. Methods tuned so forget as much, as far as this criterion goes, and differ in
// what is left of everything else.
//
// A user can compute this criterion: it needs no retrained model. It does need texts of the kind of
// the forgotten ones that no model was trained on, which other methods do not get. The rule is ours:
// published tables choose rates by hand, or by the retrained model.
//
// The cost is one run per rate, and the best once more to record its epochs. A search that is stopped
// starts over; the last run resumes.
type TextTuned[M Rated[M]] struct {
	Of    M         `json:"of,omitzero"`
	Rates []float64 `json:"rates,omitempty"` // ascending; nil: 2e-4, 5e-4, 1e-3, 2e-3 and 5e-3, for small models
}

// Info implements Method.
func (m TextTuned[M]) Info() Info {
	of := m.Of.Info()
	of.Sees.Original, of.Sees.Forget, of.Sees.HeldOut = true, true, true
	return Info{
		Name: of.Name + "-tuned", Sees: of.Sees, Version: of.Version, NextToken: true,
		Does: "is " + of.Name + " at the rate after which forgotten texts are as probable as unseen ones were to the original",
		From: of.From + ", tuned",
	}
}

// SetDefaults implements defaults.Setter.
func (m *TextTuned[M]) SetDefaults() {
	if len(m.Rates) == 0 {
		m.Rates = []float64{2e-4, 5e-4, 1e-3, 2e-3, 5e-3}
	}
}

// Unlearn implements Method.
func (m TextTuned[M]) Unlearn(ctx context.Context, r Request) (*Outcome, error) {
	ctx, task := progress.Start(ctx, "", len(m.Rates)+1)
	defer task.Done()
	unseen, err := r.meanTextLoss(r.Original, r.HeldOut)
	if err != nil {
		return nil, err
	}
	best, nearest := -1, math.Inf(1)
	for i, rate := range m.Rates {
		forget, err := m.try(ctx, r, rate)
		if err != nil {
			return nil, err
		}
		if apart := math.Abs(forget - unseen); apart < nearest {
			best, nearest = i, apart
		}
		task.Add(1)
	}
	if best < 0 {
		return nil, errors.New("the model is destroyed at every rate")
	}
	out, err := m.Of.AtRate(m.Rates[best]).Unlearn(ctx, r)
	if out != nil {
		out.Note = fmt.Sprintf("rate %g", m.Rates[best])
	}
	return out, err
}

// try runs the method at a rate, without hooks, and returns the loss of forgotten texts; for a rate
// that destroys the model it is infinite.
func (m TextTuned[M]) try(ctx context.Context, r Request, rate float64) (float64, error) {
	r.Hooks = train.Hooks{}
	out, err := m.Of.AtRate(rate).Unlearn(ctx, r)
	if ctx.Err() != nil {
		return 0, err
	}
	if d := (*train.Diverged)(nil); errors.As(err, &d) || err == nil && out.Params.Check() != nil {
		return math.Inf(1), nil
	}
	if err != nil {
		return 0, err
	}
	return r.meanTextLoss(out.Params, r.Forget)
}

// meanTextLoss is L.
func (r Request) meanTextLoss(p nn.Params, d Data) (float64, error) {
	tokens, err := text.Measure(r.Runner, p, d.X)
	if err != nil {
		return 0, err
	}
	var total float64
	for _, l := range tokens.MeanLoss() {
		total += l
	}
	return total / float64(d.X.Rows), nil
}
