package train

import (
	"context"
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
)

// Validation judges the model after every epoch by an objective on records of
// its own, in inference. The fit returns the weights of the epoch with the lowest
// value, the first of equal ones.
type Validation struct {
	Objective Objective
	// Patience ends the fit when the value has not fallen by more than MinDelta
	// below its best for so many epochs; 0 never does.
	Patience int
	MinDelta float64
	KeepLast bool // return the last weights instead
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
	}
	if err := v.Objective.check(a); err != nil {
		return fmt.Errorf("validation: %w", err)
	}
	return nil
}

// look judges the state after an epoch.
func (v *Validation) look(ctx context.Context, r *model.Runner, s *State, e *Epoch) error {
	if v == nil {
		return nil
	}
	value, err := Evaluate(ctx, r, s.Params, v.Objective)
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

// keepBest keeps the state if its value is the lowest so far, by more than delta.
func (s *State) keepBest(value, delta float64) {
	if s.Best == nil || value < s.Best.Value-delta {
		s.Best = &Best{Params: s.Params.Clone(), Epoch: s.Done, Value: value}
	}
}

func (v *Validation) reached(s *State) bool {
	return v != nil && v.Patience > 0 && s.Best != nil && s.Done-s.Best.Epoch >= v.Patience
}

// Evaluate returns the objective's value at the weights p in inference: no draws,
// normalisation by running statistics. Augmentation is that of epoch 0.
func Evaluate(ctx context.Context, r *model.Runner, p nn.Params, o Objective) (float64, error) {
	if err := o.check(r.Arch); err != nil {
		return math.NaN(), err
	}
	if err := r.CheckWeights(p); err != nil {
		return math.NaN(), fmt.Errorf("train %s: %w", r.Arch.Name(), err)
	}
	g, err := newGradientsIn(r, false)
	if err != nil {
		return math.NaN(), err
	}
	defer g.close()
	g.stop, g.valueOnly = ctx.Err, true
	got, _, err := g.step(p, o, inOrder(o, 0), nil)
	return got.loss, err
}
