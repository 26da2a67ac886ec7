package train

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
)

// Validation judges the model after every epoch by an objective on records of
// its own, in inference, or by what Judge says of it. The fit returns the weights
// of the epoch with the lowest value, the first of equal ones.
type Validation struct {
	Objective Objective
	// Score stands in the place of the objective: a number for the weights after the
	// epoch (1, 2, ...). It must be a function of these alone, so that a stopped fit
	// goes on with the same bits. A later epoch writes to p's memory: who keeps it clones it.
	Score func(ctx context.Context, p nn.Params, epoch int) (float64, error)
	// Patience ends the fit when the value has not fallen by more than MinDelta
	// below its best for so many epochs; 0 never does.
	Patience int
	MinDelta float64
	// Rising ends the fit when the last so many values rise strictly; 0 never does.
	Rising int
	// StopBelow ends the fit at the first value that is no higher, or at so many of them as
	// Times says, whatever lies between; nil never does.
	StopBelow *float64
	StopAfter int  // 0: 1
	KeepLast  bool // return the last weights instead
}

// Best is the best state of a fit so far.
type Best struct {
	Params nn.Params
	Epoch  int     // after which it was
	Value  float64 // of the objective that judges
}

func (v *Validation) check(a model.Architecture) error {
	switch {
	case v == nil:
		return nil
	case v.Patience < 0 || !(v.MinDelta >= 0) || math.IsInf(v.MinDelta, 1):
		return fmt.Errorf("train: validation with patience %d and least difference %v", v.Patience, v.MinDelta)
	case v.Rising < 0 || v.Rising == 1:
		return fmt.Errorf("train: validation that ends at %d rising values", v.Rising)
	case v.StopBelow != nil && math.IsNaN(*v.StopBelow):
		return errors.New("train: validation that ends at NaN")
	case v.StopAfter < 0 || v.StopAfter > 0 && v.StopBelow == nil:
		return fmt.Errorf("train: validation that ends at %d values that are low enough", v.StopAfter)
	case v.Score != nil && v.Objective != nil:
		return errors.New("train: validation by an objective and by a judge")
	case v.Score != nil:
		return nil
	}
	if err := v.Objective.check(a); err != nil {
		return fmt.Errorf("validation: %w", err)
	}
	return nil
}

// evaluate judges the state after an epoch.
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

// keepBest keeps the state if its value is the lowest so far, by more than delta.
func (s *State) keepBest(value, delta float64) {
	if s.Best == nil || value < s.Best.Value-delta {
		s.Best = &Best{Params: s.Params.Clone(), Epoch: s.Done, Value: value}
	}
}

func (v *Validation) reached(s *State) bool {
	if v == nil {
		return false
	}
	return v.Patience > 0 && s.Best != nil && s.Done-s.Best.Epoch >= v.Patience || v.HasRisen(s.History) || v.IsBelow(s.History)
}

// IsBelow reports whether a history ends with the last of as many values as Enough waits for;
// of nil it never does.
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

// HasRisen reports whether the values at the end of a history are what Rising waits for.
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

// Evaluate returns the objective's value at the weights p in inference: no draws,
// normalisation by running statistics. Augmentation is that of epoch 0. A value that is
// not finite is returned as it is; a Validation takes it for a divergence.
func Evaluate(ctx context.Context, r *model.Runner, p nn.Params, o Objective) (float64, error) {
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
