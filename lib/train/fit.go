package train

import (
	"context"
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/internal/defaults"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/privacy"
)

// Config is how an objective is minimised. The zero value is RULER's training:
// 50 epochs of full-batch Adam at 1e-3.
type Config struct {
	Epochs    int          `json:"epochs,omitempty"`    // 0: 50
	Batch     int          `json:"batch,omitempty"`     // records per step, 0: all
	DropLast  bool         `json:"drop_last,omitempty"` // leave an epoch's last batch out where it is not full
	Order     Order        `json:"order,omitempty"`
	Optimizer nn.Optimizer `json:"optimizer"`          // nil: Adam
	Groups    []nn.Group   `json:"groups,omitempty"`   // tensors with rates of their own
	Schedule  *Schedule    `json:"schedule,omitempty"` // of the learning rate, nil: constant
	Clip      float64      `json:"clip,omitempty"`     // the longest gradient, see ClipNorm; 0: any
	EarlyStop EarlyStop    `json:"early_stop"`
	Seed      engine.Root  `json:"seed"` // of batch order and draws
}

// WithDefaults returns the configuration with zeros replaced by their meaning.
func (c Config) WithDefaults() Config {
	if c.Epochs == 0 {
		c.Epochs = 50
	}
	if c.Optimizer == nil {
		c.Optimizer = nn.Adam{}
	}
	c.Optimizer = defaults.Of(c.Optimizer, c.Optimizer.WithDefaults())
	return c
}

// EarlyStop ends training when the objective has not fallen by more than
// MinDelta below its best for Patience epochs; Patience 0 never stops early. With
// Best the fit returns the weights after the epoch with the lowest objective, the
// first of equal ones, rather than the last. It looks at the training records, at
// an epoch's mean over its steps with draws active and weights that rise as far as
// they have risen; see Validation for others.
type EarlyStop struct {
	Patience int     `json:"patience,omitempty"`
	MinDelta float64 `json:"min_delta,omitempty"`
	Best     bool    `json:"best,omitempty"`
}

// Epoch is the record of one epoch.
type Epoch struct {
	Epoch int     `json:"epoch"` // 1, 2, ...
	Steps int     `json:"steps"` // optimiser steps so far
	Loss  float64 `json:"loss"`  // mean over the epoch's steps of the objective, draws active
	// Players are the same for each player of a game, whose sum Loss is.
	Players []float64 `json:"players,omitempty"`
	Valid   *float64  `json:"valid,omitempty"` // the validation's objective after the epoch
	// Privacy is what the steps so far have said of any record; nil where the
	// training is not private.
	Privacy privacy.History `json:"privacy,omitempty"`
}

// Hooks let a caller watch, save and resume. All may be nil.
type Hooks struct {
	// Progress is called after every epoch.
	Progress func(Epoch)
	// Save stores a state from which Resume continues bit for bit. It is called
	// every SaveEvery epochs (0: never in between) and when ctx ends; the state is its to keep.
	Save      func(*State) error
	SaveEvery int
	// Resume is a state that Save stored, or nil.
	Resume *State
}

// State is everything that the rest of a fit depends on. Batch order, draws and
// noise are functions of the seed and the step, so they need no state; what private
// steps have spent is in the history.
type State struct {
	// Params are all that is trained: the model's weights and, where a method puts
	// players beside it, theirs behind them.
	Params     nn.Params
	Optimizers []*nn.OptimizerState // one per player
	Done       int                  // epochs finished
	History    []Epoch
	Best       *Best // of the epochs so far, where it is asked for
}

// Privacy is what the steps so far have said of any record, from which epsilon
// follows; nil where the training is not private, or has not begun.
func (s *State) Privacy() privacy.History {
	if len(s.History) == 0 {
		return nil
	}
	return s.History[len(s.History)-1].Privacy
}

// updates is the number of optimiser steps of all players.
func (s *State) steps() int {
	n := 0
	for _, o := range s.Optimizers {
		n += o.T
	}
	return n
}

// workingCopy is a copy to work on, so that an interrupted epoch leaves the last whole
// one. It lies in the memory of spare, a state that nobody needs any more, or in new.
func (s *State) workingCopy(spare *State) *State {
	if spare == nil {
		spare = &State{Optimizers: make([]*nn.OptimizerState, len(s.Optimizers))}
	}
	out := &State{Params: s.Params.CloneIn(spare.Params), Done: s.Done + 1, History: s.History[:len(s.History):len(s.History)], Best: s.Best}
	for k, o := range s.Optimizers {
		out.Optimizers = append(out.Optimizers, o.CloneIn(spare.Optimizers[k]))
	}
	return out
}

// Fit minimises the objective from the weights p, which it leaves alone, and
// returns the new weights and one record per epoch.
//
// A loss, gradient or weight that is NaN or infinite ends it with [Diverged].
//
// When ctx ends, Fit stops within one step, calls Hooks.Save, and returns the
// context's error with the number of epochs that were saved.
func Fit(ctx context.Context, r *model.Runner, p nn.Params, o Objective, c Config, h Hooks) (nn.Params, []Epoch, error) {
	if err := o.check(r.Arch); err != nil {
		return nil, nil, err
	}
	return fit(ctx, r, p, fixedPlan(o), c, h)
}

func fit(ctx context.Context, r *model.Runner, p nn.Params, plan Plan, c Config, h Hooks) (nn.Params, []Epoch, error) {
	l, err := newLoop(r, p, plan, c.WithDefaults())
	if err != nil {
		return nil, nil, err
	}
	defer l.close()
	s, err := l.start(p, h.Resume)
	if err != nil {
		return nil, nil, fmt.Errorf("train %s: %w", r.Arch.Name(), err)
	}
	var spare *State // the state before the last: nobody knows it but this loop
	own := h.Resume == nil
	for s.Done < l.Epochs && !l.EarlyStop.reached(s.History) && !plan.Validation.reached(s) {
		next, err := l.epoch(ctx, s, spare)
		if err != nil {
			return nil, nil, interrupted(AsDiverged(err, s.Done+1), ctx, s, h)
		}
		if spare = nil; own {
			spare = s
		}
		s, own = next, true
		if h.Progress != nil {
			h.Progress(s.History[len(s.History)-1])
		}
		if h.Save != nil && h.SaveEvery > 0 && s.Done%h.SaveEvery == 0 {
			own = false // whoever saved it may keep it
			if err := h.Save(s); err != nil {
				return nil, nil, fmt.Errorf("train: saving after epoch %d: %w", s.Done, err)
			}
		}
	}
	if v := plan.Validation; v != nil && !v.KeepLast || l.EarlyStop.Best {
		return s.Best.Params, s.History, nil
	}
	return s.Params, s.History, nil
}

func (c Config) check() error {
	if c.Epochs < 0 || c.Batch < 0 {
		return fmt.Errorf("train: %d epochs of batches of %d", c.Epochs, c.Batch)
	}
	if c.DropLast && c.Batch == 0 {
		return fmt.Errorf("train: an epoch's last batch is to be left out where there are no batches")
	}
	if c.DropLast && c.Order == Fixed {
		return fmt.Errorf("train: with the last of fixed batches left out, its records would never be met")
	}
	if c.Order < Shuffled || c.Order > ShuffledSingle {
		return fmt.Errorf("train: order %d is none", c.Order)
	}
	if !(c.Clip >= 0) || math.IsInf(c.Clip, 1) {
		return fmt.Errorf("train: gradients are to be no longer than %v", c.Clip)
	}
	if err := c.Optimizer.Check(); err != nil {
		return fmt.Errorf("train: %w", err)
	}
	return c.Schedule.check()
}

// updateStatistics moves running statistics towards those of a batch, and replaces other
// state. Every batch of a step counts once, in order, as if each were a forward
// pass of its own.
func updateStatistics(p nn.Params, state [][]float32) {
	for i, batch := range state {
		switch {
		case batch == nil:
		case p[i].Latest:
			copy(p[i].Data, batch)
		default:
			nn.UpdateRunning(p[i].Data, batch)
		}
	}
}

func interrupted(err error, ctx context.Context, s *State, h Hooks) error {
	if ctx.Err() == nil || h.Save == nil {
		return err
	}
	if saveErr := h.Save(s); saveErr != nil {
		return fmt.Errorf("train: stopped (%w) and could not save: %v", err, saveErr)
	}
	return fmt.Errorf("train: stopped; %d epochs are saved: %w", s.Done, err)
}

func (e EarlyStop) reached(history []Epoch) bool {
	if e.Patience == 0 || len(history) == 0 {
		return false
	}
	best, at := history[0].Loss, 0
	for i, h := range history {
		if h.Loss < best-e.MinDelta {
			best, at = h.Loss, i
		}
	}
	return len(history)-1-at >= e.Patience
}
