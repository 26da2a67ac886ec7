// A language model's method at the rate after which forgotten texts are as probable as unseen ones were.

package unlearn

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/lethe-ml/lethe/lib/model/text"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/progress"
	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/train"
)

// TextTuned is a method for language models at that of a few learning rates, found by the same rule for
// every method, with a small
//
//	| L(Df) - L_0(held-out) |
//
// where L is the mean over texts of the mean over their tokens of -log p under the result, and L_0
// that under the original: forgotten texts are to be as improbable as unseen ones were before. (As
// unseen ones are to the result would also be met by a model that is destroyed.) It tries Rates, and then
// the middle, in logarithms, between the two rates where L(Df) first passes L_0(held-out), again and
// again. A rate that destroys the model is past it. Of the rates that are as near as the nearest, but for a
// standard error of L_0 over the unseen texts, it takes the smallest, which changes the model least: the
// one-standard-error rule of Breiman et al. 1984, Section 3.4.3. Methods tuned so forget as much, as far as
// this criterion goes, and differ in what is left of everything else.
//
// A user can compute this criterion: it needs no retrained model. It does need texts of the kind of
// the forgotten ones that no model was trained on, which other methods do not get. The rule is ours:
// published tables choose rates by hand, or by the retrained model.
//
// The cost is one run per rate, and the best once more to record its epochs. A search that is stopped
// starts over; the last run resumes.
type TextTuned[M Rated[M]] struct {
	Of       M         `json:"of,omitzero"`
	Rates    []float64 `json:"rates,omitempty"`                // ascending; nil: 1e-5, 1e-4, 1e-3 and 1e-2
	Halvings int       `json:"halvings,omitempty" default:"3"` // of the step that passes L_0: 3 leave an eighth of it, a factor of 1.3 between tens
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
		m.Rates = []float64{1e-5, 1e-4, 1e-3, 1e-2}
	}
}

// Unlearn implements Method.
func (m TextTuned[M]) Unlearn(ctx context.Context, r Request) (*Outcome, error) {
	ctx, task := progress.Start(ctx, "", len(m.Rates)+m.Halvings+1)
	defer task.Done()
	unseen, err := r.textLosses(r.Original, r.HeldOut)
	if err != nil {
		return nil, err
	}
	if len(unseen) < 2 {
		return nil, fmt.Errorf("a rate is chosen by unseen texts: %d held-out text, two or more are needed", len(unseen))
	}
	target, err := stats.Mean(unseen)
	if err != nil {
		return nil, err
	}
	sd, err := stats.SD(unseen)
	if err != nil {
		return nil, err
	}
	apart := map[float64]float64{} // by rate
	beyond := func(rate float64) (float64, error) {
		forget, err := m.try(ctx, r, rate)
		apart[rate] = math.Abs(forget - target)
		task.Add(1)
		return forget - target, err
	}
	if err := m.search(beyond); err != nil {
		return nil, err
	}
	within := slices.Min(slices.Collect(maps.Values(apart))) + sd/math.Sqrt(float64(len(unseen)))
	if math.IsInf(within, 0) {
		return nil, errors.New("the model is destroyed at every rate")
	}
	maps.DeleteFunc(apart, func(_, a float64) bool { return a > within })
	rate := slices.Min(slices.Collect(maps.Keys(apart)))
	out, err := m.Of.AtRate(rate).Unlearn(ctx, r)
	if out != nil {
		out.Note = fmt.Sprintf("rate %g", rate)
	}
	return out, err
}

// search asks how far L(Df) is beyond L_0 after rates: all of the list, and those between the two at which it is passed first.
func (m TextTuned[M]) search(beyond func(rate float64) (float64, error)) error {
	past := -1
	for i, rate := range m.Rates {
		d, err := beyond(rate)
		if err != nil {
			return err
		}
		if past < 0 && d > 0 {
			past = i
		}
	}
	if past < 1 {
		return nil // no rate of the list stands on either side
	}
	low, high := m.Rates[past-1], m.Rates[past]
	for range m.Halvings {
		middle, err := strconv.ParseFloat(fmt.Sprintf("%.3g", math.Sqrt(low*high)), 64) // the rate that will be printed
		if err != nil {
			return err
		}
		d, err := beyond(middle)
		if err != nil {
			return err
		}
		if d > 0 {
			high = middle
		} else {
			low = middle
		}
	}
	return nil
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
	losses, err := r.textLosses(out.Params, r.Forget)
	if err != nil {
		return 0, err
	}
	if slices.ContainsFunc(losses, func(l float64) bool { return math.IsNaN(l) || math.IsInf(l, 0) }) {
		return math.Inf(1), nil
	}
	return stats.Mean(losses)
}

// textLosses are the means over tokens whose mean over texts is L.
func (r Request) textLosses(p nn.Params, d Data) ([]float64, error) {
	tokens, err := text.Measure(r.Runner, p, d.X)
	if err != nil {
		return nil, err
	}
	return tokens.MeanLoss(), nil
}
