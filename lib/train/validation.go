// Validation after every epoch: the best weights, early stop, and the value of an objective.

package train

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
)

// Validation evaluates the model after every epoch, by an objective on other records in
// inference mode or by Score. The fit returns the weights of the epoch with the lowest
// value, the first of equal ones; with MinDelta an epoch takes the place of the best one only if it is lower by more.
type Validation struct {
	Objective Objective
	// Score replaces the objective: it returns a number for the weights p after the
	// epoch (1, 2, ...). It must be a pure function, so that a resumed fit has the same
	// bits. Later epochs overwrite p; clone it to keep it.
	Score func(ctx context.Context, p nn.Params, epoch int) (float64, error)
	// Patience ends the fit if the value has not fallen by more than MinDelta below its
	// best for this number of epochs; 0: never.
	Patience int
	MinDelta float64
	// Rising ends the fit if the last Rising values increase strictly; 0: never.
	Rising int
	// StopBelow ends the fit after StopAfter values that are not above it, in any epochs;
	// nil: never.
	StopBelow *float64
	StopAfter int  // number of values; 0: 1
	KeepLast  bool // return the last weights instead
}

// Best is the best state of a fit so far.
type Best struct {
	Params nn.Params
	Epoch  int     // the state is that after this epoch
	Value  float64 // of the validation, or of the training objective (EarlyStop.Best)
}

func (v *Validation) check(a model.Architecture) error {
	switch {
	case v == nil:
		return nil
	case v.Patience < 0 || !(v.MinDelta >= 0) || math.IsInf(v.MinDelta, 1):
		return fmt.Errorf("train: validation with patience %d and min delta %v", v.Patience, v.MinDelta)
	case v.Rising < 0 || v.Rising == 1:
		return fmt.Errorf("train: validation that ends after %d rising values", v.Rising)
	case v.StopBelow != nil && math.IsNaN(*v.StopBelow):
		return errors.New("train: validation that ends at NaN")
	case v.StopAfter < 0 || v.StopAfter > 0 && v.StopBelow == nil:
		return fmt.Errorf("train: validation that ends after %d values below a threshold", v.StopAfter)
	case v.Score != nil && v.Objective != nil:
		return errors.New("train: validation has both an objective and a score")
	case v.Score != nil:
		return nil
	}
	if err := v.Objective.check(a); err != nil {
		return fmt.Errorf("validation: %w", err)
	}
	return nil
}

// evaluate computes the validation's value after an epoch and keeps the best state.
func (v *Validation) evaluate(ctx context.Context, r *model.Runner, s *State, e *Epoch) error {
	if v == nil {
		return nil
	}
	value, err := v.value(ctx, r, s)
	if err != nil {
		return fmt.Errorf("validation: %w", err)
	}
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return nn.NotFinitef("", "train %s: the validation's value after epoch %d is %v", r.Arch.Name(), s.Done, value)
	}
	e.Valid = &value
	s.keepBest(value, v.MinDelta)
	return nil
}

func (v *Validation) value(ctx context.Context, r *model.Runner, s *State) (float64, error) {
	if v.Score != nil {
		return v.Score(ctx, s.Params, s.Done)
	}
	return Evaluate(ctx, r, s.Params, v.Objective)
}

// keepBest keeps the state if its value is lower than the best so far by more than delta.
func (s *State) keepBest(value, delta float64) {
	if s.isBest(value, delta) {
		s.Best = &Best{Params: s.Params.Clone(), Epoch: s.Done, Value: value}
	}
}

func (s *State) isBest(value, delta float64) bool { return s.Best == nil || value < s.Best.Value-delta }

func (v *Validation) reached(s *State) bool {
	if v == nil {
		return false
	}
	return v.Patience > 0 && s.Best != nil && s.Done-s.Best.Epoch >= v.Patience || v.HasRisen(s.History) || v.IsBelow(s.History)
}

// IsBelow reports whether StopBelow ends the fit at the end of a history. It is false for a
// nil Validation.
func (v *Validation) IsBelow(history []Epoch) bool {
	if v == nil || v.StopBelow == nil || len(history) == 0 || *history[len(history)-1].Valid > *v.StopBelow {
		return false
	}
	low := 0
	for _, e := range history {
		if *e.Valid <= *v.StopBelow {
			low++
		}
	}
	return low >= max(1, v.StopAfter)
}

// HasRisen reports whether Rising ends the fit at the end of a history.
func (v *Validation) HasRisen(history []Epoch) bool {
	if v.Rising == 0 || len(history) < v.Rising {
		return false
	}
	last := history[len(history)-v.Rising:]
	for i := 1; i < len(last); i++ {
		if !(*last[i].Valid > *last[i-1].Valid) {
			return false
		}
	}
	return true
}

// Evaluate returns the objective's value at the weights p in inference mode: no random
// inputs, normalisation by running statistics. Augmentation is that of epoch 0. A value
// that is not finite is no error here; in a Validation it is Diverged.
func Evaluate(ctx context.Context, r *model.Runner, p nn.Params, o Objective) (float64, error) {
	if err := checkRunner(r); err != nil {
		return math.NaN(), err
	}
	if err := o.check(r.Arch); err != nil {
		return math.NaN(), err
	}
	if err := r.CheckWeights(p); err != nil {
		return math.NaN(), fmt.Errorf("train %s: %w", r.Arch.Name(), err)
	}
	g := newGradientsIn(r, false)
	defer g.close()
	g.stop, g.valueOnly = ctx.Err, true
	got, _, err := g.step(p, o, sequentialBatches(o, 0), nil)
	return got.loss, err
}
