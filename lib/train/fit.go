// Fit, which minimises one objective: its configuration, hooks, state and early stop.

package train

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"

	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/privacy"
	"github.com/lethe-ml/lethe/lib/progress"
)

// Config says how an objective is minimised. The zero value is RULER's training: 50 epochs
// of full-batch Adam at 1e-3.
type Config struct {
	Epochs    int          `json:"epochs,omitempty"`    // 0: 50
	Batch     int          `json:"batch,omitempty"`     // records per step, 0: all
	DropLast  bool         `json:"drop_last,omitempty"` // drop an epoch's last batch if it is not full
	Order     Order        `json:"order,omitempty"`
	Optimizer nn.Optimizer `json:"optimizer"`          // nil: Adam
	Groups    []nn.Group   `json:"groups,omitempty"`   // parameter groups with their own rates
	Schedule  *Schedule    `json:"schedule,omitempty"` // of the learning rate, nil: constant
	Clip      float64      `json:"clip,omitempty"`     // maximal norm of the gradient, see ClipNorm; 0: no limit
	EarlyStop EarlyStop    `json:"early_stop"`
	Seed      engine.Root  `json:"seed"` // of batch order and random inputs
}

// WithDefaults returns the configuration with zeros replaced by the defaults.
func (c Config) WithDefaults() Config {
	if c.Epochs == 0 {
		c.Epochs = 50
	}
	if c.Optimizer == nil {
		c.Optimizer = nn.Adam{}
	}
	c.Optimizer = inForce(c.Optimizer)
	return c
}

// inForce returns an optimiser with its defaults. If WithDefaults returns another type, the method is
// that of an embedded optimiser: o overrides something of it and has none of its own, and the
// result would drop the override.
func inForce(o nn.Optimizer) nn.Optimizer {
	if filled := o.WithDefaults(); reflect.TypeOf(filled) == reflect.TypeOf(o) {
		return filled
	}
	return o
}

// EarlyStop ends training if the objective has not fallen by more than MinDelta below
// its best for Patience epochs. Patience 0 never stops early. With Best the fit returns
// the weights after the epoch with the lowest objective (the first of equal ones), not the
// last; an epoch takes the place of the best one only if it is lower by more than MinDelta. The
// objective is that of the training records: the mean over an epoch's steps, in training mode. For
// other records see Validation.
type EarlyStop struct {
	Patience int     `json:"patience,omitempty"`
	MinDelta float64 `json:"min_delta,omitempty"`
	Best     bool    `json:"best,omitempty"`
}

// Epoch is the record of one epoch.
type Epoch struct {
	Epoch int     `json:"epoch"` // 1, 2, ...
	Steps int     `json:"steps"` // optimiser steps so far
	Loss  float64 `json:"loss"`  // mean of the objective over the epoch's steps, in training mode
	// Players holds the loss of each player of a game. Their sum is Loss.
	Players []float64 `json:"players,omitempty"`
	Valid   *float64  `json:"valid,omitempty"` // the validation's objective after the epoch
	// Privacy is the privacy loss accumulated so far; nil if the training is not
	// private.
	Privacy privacy.History `json:"privacy,omitempty"`
}

// Hooks let a caller follow, save and resume a fit. All may be nil.
type Hooks struct {
	// Progress is called after every epoch.
	Progress func(Epoch)
	// Save stores a state from which Resume continues with the same bits. It is called
	// every SaveEvery epochs (0: never in between) and when ctx ends. It may keep the state.
	Save      func(*State) error
	SaveEvery int
	// SaveLast stores the last finished epoch when the device fails or its memory is full; nil:
	// nothing is stored then.
	SaveLast func(*State) error
	// Resume is a state that Save stored, or nil.
	Resume *State
}

// State is everything that the rest of a fit depends on. Batch order, random inputs and
// noise are functions of the seed and the step, so they need no state. The privacy loss is
// in the history.
type State struct {
	// Params are all trained weights: the model's, followed by those of a method's other
	// players.
	Params     nn.Params
	Optimizers []*nn.OptimizerState // one per player
	Done       int                  // number of finished epochs
	History    []Epoch
	Best       *Best // the best epoch so far, if Validation or EarlyStop.Best asks for it

	device *deviceState // the weights and slots on the engine's device; nil: they are not there
	model  int          // number of this model among those there
	stale  bool         // whether Params and the slots are older than those on the device; see fetch
}

// Privacy returns the privacy loss so far, from which epsilon follows; nil if the training
// is not private or has not begun.
func (s *State) Privacy() privacy.History {
	if len(s.History) == 0 {
		return nil
	}
	return s.History[len(s.History)-1].Privacy
}

// steps returns the number of optimiser steps of all players.
func (s *State) steps() int {
	n := 0
	for _, o := range s.Optimizers {
		n += o.T
	}
	return n
}

// workingCopy returns a copy for the next epoch, so that an interrupted epoch does not
// change s. It uses the memory of spare, a state that is no longer needed, or new memory if
// that is nil.
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

// Fit minimises the objective, starting at the weights p. It does not change p. It
// returns the new weights and one record per epoch.
//
// If a loss, gradient or weight becomes NaN or infinite, the error is [Diverged].
//
// When ctx ends, Fit stops within one step, calls Hooks.Save, and returns the context's
// error with the number of saved epochs.
func Fit(ctx context.Context, r *model.Runner, p nn.Params, o Objective, c Config, h Hooks) (nn.Params, []Epoch, error) {
	if err := checkRunner(r); err != nil {
		return nil, nil, err
	}
	if err := o.check(r.Arch); err != nil {
		return nil, nil, err
	}
	return fit(ctx, r, p, fixedPlan(o), c, h)
}

// checkRunner returns an error for no runner.
func checkRunner(r *model.Runner) error {
	if r == nil {
		return errors.New("train: the runner is nil; model.NewRunner makes one of a network")
	}
	return nil
}

func fit(ctx context.Context, r *model.Runner, p nn.Params, plan Plan, c Config, h Hooks) (nn.Params, []Epoch, error) {
	l, err := newLoop(r, p, plan, c.WithDefaults())
	if err != nil {
		return nil, nil, err
	}
	defer l.close()
	taken, err := reserveMemory(p)
	if err != nil {
		return nil, nil, fmt.Errorf("train %s: %w", r.Arch.Name(), err)
	}
	defer taken()
	s, err := l.start(p, h.Resume)
	if err != nil {
		return nil, nil, fmt.Errorf("train %s: %w", r.Arch.Name(), err)
	}
	ctx, task := progress.Start(ctx, "training", l.Epochs)
	defer task.Done()
	task.Skip(s.Done)
	defer func() { s.release() }()
	var spare *State // the state before the last; used by this loop only
	own, kept := h.Resume == nil, h.Save != nil || h.SaveLast != nil
	for s.Done < l.Epochs && !l.EarlyStop.reached(s.History) && !plan.Validation.reached(s) {
		if own && !kept {
			spare = s // nobody asks for s if the epoch ends early: it is trained in place
		}
		next, err := l.epoch(ctx, s, spare)
		if err != nil {
			return nil, nil, interrupted(AsDiverged(err, s.Done+1), ctx, s, h)
		}
		taken() // the first epoch has taken its memory
		if spare = nil; own && s.device == nil {
			spare = s
		}
		s.release()
		s, own = next, true
		task.Add(1)
		if h.Progress != nil {
			h.Progress(s.History[len(s.History)-1])
		}
		if h.Save != nil && h.SaveEvery > 0 && s.Done%h.SaveEvery == 0 {
			own = false // Save may keep it
			if err := save(s, h); err != nil {
				return nil, nil, fmt.Errorf("train: saving after epoch %d: %w", s.Done, err)
			}
		}
	}
	if v := plan.Validation; v != nil && !v.KeepLast || l.EarlyStop.Best {
		return s.Best.Params, s.History, nil
	}
	if err := s.fetch(); err != nil {
		return nil, nil, err
	}
	return s.Params, s.History, nil
}

// save passes a state to Hooks.Save, which may keep it: without the device's tensors, which are
// freed.
func save(s *State, h Hooks) error {
	if err := s.fetch(); err != nil {
		return err
	}
	kept := *s
	kept.device = nil
	return h.Save(&kept)
}

func (c Config) check() error {
	if c.Epochs < 0 || c.Batch < 0 {
		return fmt.Errorf("train: %d epochs of batches of %d", c.Epochs, c.Batch)
	}
	if c.DropLast && c.Batch == 0 {
		return fmt.Errorf("train: drop_last needs mini-batches")
	}
	if c.DropLast && c.Order == Fixed {
		return fmt.Errorf("train: drop_last with fixed batches would never train on the records of the last batch")
	}
	if c.Order < Shuffled || c.Order > ShuffledSingle {
		return fmt.Errorf("train: unknown order %d", c.Order)
	}
	if e := c.EarlyStop; e.Patience < 0 || !(e.MinDelta >= 0) || math.IsInf(e.MinDelta, 1) {
		return fmt.Errorf("train: an early stop with patience %d and min delta %v", e.Patience, e.MinDelta)
	}
	if err := checkSize("clip", c.Clip); err != nil {
		return fmt.Errorf("train: %w", err)
	}
	if err := c.Optimizer.Check(); err != nil {
		return fmt.Errorf("train: %w", err)
	}
	return c.Schedule.check()
}

// updateStatistics moves running statistics towards those of the batches and replaces
// other state. Every batch of a step counts once, in order, like a forward pass of its own.
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

// interrupted saves the last finished epoch of a fit that ends with err, if its context has ended or
// its device has failed.
func interrupted(err error, ctx context.Context, s *State, h Hooks) error {
	if ctx.Err() == nil {
		h.Save = h.SaveLast
	}
	if h.Save == nil || ctx.Err() == nil && !engine.HasFailed(err) {
		return err
	}
	if saveErr := save(s, h); saveErr != nil {
		return fmt.Errorf("train: stopped (%w) and could not save: %v", err, saveErr)
	}
	return fmt.Errorf("train: stopped; %d epochs are saved: %w", s.Done, err)
}

// fitBytes is the memory of a training for each weight, beside that of an execution: two copies of the weight, its
// gradient, the sum of gradients in float64, and two moments of an optimiser.
const fitBytes = 4 + 4 + 4 + 8 + 8

// reserveMemory returns an error if the memory of a training of these weights is not there.
func reserveMemory(p nn.Params) (taken func(), err error) {
	n := 0
	for _, t := range p {
		n += len(t.Data)
	}
	return engine.Reserve(fitBytes * int64(n))
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
