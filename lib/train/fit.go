package train

import (
	"context"
	"fmt"

	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
)

// Config is how an objective is minimised. The zero value is RULER's training:
// 50 epochs of full-batch Adam at 1e-3.
type Config struct {
	Epochs    int         `json:"epochs,omitempty"` // 0: 50
	Batch     int         `json:"batch,omitempty"`  // records per step, 0: all
	Order     Order       `json:"order,omitempty"`
	Optimizer nn.Adam     `json:"optimizer"`
	SGD       *nn.SGD     `json:"sgd,omitempty"`      // takes Adam's place unless nil
	Schedule  *Schedule   `json:"schedule,omitempty"` // of the learning rate, nil: constant
	EarlyStop EarlyStop   `json:"early_stop"`
	Seed      engine.Root `json:"seed"` // of batch order and dropout
}

// WithDefaults returns the configuration with zeros replaced by their meaning.
func (c Config) WithDefaults() Config {
	if c.Epochs == 0 {
		c.Epochs = 50
	}
	c.Optimizer = c.Optimizer.WithDefaults()
	return c
}

// EarlyStop ends training when the objective has not fallen by more than
// MinDelta below its best for Patience epochs; Patience 0 never stops early.
type EarlyStop struct {
	Patience int     `json:"patience,omitempty"`
	MinDelta float64 `json:"min_delta,omitempty"`
}

// Epoch is the record of one epoch.
type Epoch struct {
	Epoch int     `json:"epoch"` // 1, 2, ...
	Steps int     `json:"steps"` // optimiser steps so far
	Loss  float64 `json:"loss"`  // mean over the epoch's steps of the objective, dropout active
}

// Hooks let a caller watch, save and resume. All may be nil.
type Hooks struct {
	// Progress is called after every epoch.
	Progress func(Epoch)
	// Save stores a state from which Resume continues bit for bit. It is called
	// every SaveEvery epochs (0: never in between) and when ctx ends.
	Save      func(*State) error
	SaveEvery int
	// Resume is a state that Save stored, or nil.
	Resume *State
}

// State is everything that the rest of a fit depends on. Batch order and
// dropout are functions of the seed and the step, so they need no state.
type State struct {
	Params  nn.Params
	Adam    *nn.AdamState
	Done    int // epochs finished
	History []Epoch
}

// Fit minimises the objective from the weights p, which it leaves alone, and
// returns the new weights and one record per epoch.
//
// When ctx ends, Fit stops within one step, calls Hooks.Save, and returns the
// context's error with the number of epochs that were saved.
func Fit(ctx context.Context, r *model.Runner, p nn.Params, o Objective, c Config, h Hooks) (nn.Params, []Epoch, error) {
	if err := o.check(r.Arch.Inputs(), r.Arch.Classes()); err != nil {
		return nil, nil, err
	}
	return fit(ctx, r, p, always(o), c, h)
}

func fit(ctx context.Context, r *model.Runner, p nn.Params, plan Plan, c Config, h Hooks) (nn.Params, []Epoch, error) {
	c = c.WithDefaults()
	if err := c.check(); err != nil {
		return nil, nil, err
	}
	s, err := start(r, p, c, h)
	if err != nil {
		return nil, nil, err
	}
	g, err := newGradients(r)
	if err != nil {
		return nil, nil, err
	}
	defer g.close()
	for s.Done < c.Epochs && !c.EarlyStop.reached(s.History) {
		next, err := epoch(ctx, g, s, plan, c)
		if err != nil {
			return nil, nil, interrupted(err, ctx, s, h)
		}
		s = next
		if h.Progress != nil {
			h.Progress(s.History[len(s.History)-1])
		}
		if h.Save != nil && h.SaveEvery > 0 && s.Done%h.SaveEvery == 0 {
			if err := h.Save(s); err != nil {
				return nil, nil, fmt.Errorf("train: saving after epoch %d: %w", s.Done, err)
			}
		}
	}
	return s.Params, s.History, nil
}

func (c Config) check() error {
	if c.Epochs < 0 || c.Batch < 0 {
		return fmt.Errorf("train: %d epochs of batches of %d", c.Epochs, c.Batch)
	}
	if c.SGD != nil {
		if err := c.SGD.Check(); err != nil {
			return fmt.Errorf("train: %w", err)
		}
	}
	return c.Schedule.check()
}

func start(r *model.Runner, p nn.Params, c Config, h Hooks) (*State, error) {
	if err := r.CheckWeights(p); err != nil {
		return nil, fmt.Errorf("train %s: %w", r.Arch.Name(), err)
	}
	if h.Resume != nil {
		if err := h.Resume.check(p); err != nil {
			return nil, fmt.Errorf("train %s: the saved state: %w", r.Arch.Name(), err)
		}
		if (c.SGD == nil) != (h.Resume.Adam.V != nil) {
			return nil, fmt.Errorf("train %s: the saved state is of another optimiser", r.Arch.Name())
		}
		return h.Resume, nil
	}
	p = p.Clone()
	if c.SGD != nil {
		return &State{Params: p, Adam: nn.NewSGDState(p)}, nil
	}
	return &State{Params: p, Adam: nn.NewAdamState(p)}, nil
}

// epoch works on a copy, so that an interrupted epoch leaves the last whole one.
func epoch(ctx context.Context, g *gradients, s *State, plan Plan, c Config) (*State, error) {
	next := &State{
		Params:  s.Params.Clone(),
		Adam:    s.Adam.Clone(),
		Done:    s.Done + 1,
		History: s.History[:len(s.History):len(s.History)],
	}
	sweeps, err := plan.sweeps(c, s.Done)
	if err != nil {
		return nil, err
	}
	g.epoch = s.Done
	var total float64
	for _, w := range sweeps {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if w.first && plan.changes {
			g.forget()
		}
		loss, err := plan.step(g, w, next, c)
		if err != nil {
			return nil, err
		}
		total += loss
	}
	next.History = append(next.History, Epoch{Epoch: next.Done, Steps: next.Adam.T, Loss: total / float64(len(sweeps))})
	return next, nil
}

// step moves the state by one step in the epoch that ends with s.Done done, and
// returns the objective.
func (p Plan) step(g *gradients, w sweep, s *State, c Config) (float64, error) {
	t := uint64(s.Adam.T)
	key := func(term, layer int) uint64 {
		return c.Seed.Counter(engine.StreamDropout, t, uint64(term), uint64(layer))
	}
	got, states, err := g.step(s.Params, w.objective, w.batches, key)
	if err != nil {
		return 0, err
	}
	for _, state := range states {
		moveState(s.Params, state)
	}
	loss := got.loss + p.L1.add(s.Params, got.grads, s.Done-1, c.Epochs)
	p.Mask.hold(got.grads)
	before := p.Mask.save(s.Params, s.Adam)
	if err := c.optimise(s.Params, got.grads, s.Adam, s.Done-1); err != nil {
		return 0, fmt.Errorf("train %s: epoch %d: %w", g.runner.Arch.Name(), s.Done, err)
	}
	p.Mask.restore(before, s.Params, s.Adam)
	return loss, nil
}

// optimise takes one step in the epoch given, 0 for the first.
func (c Config) optimise(p nn.Params, grads [][]float64, s *nn.AdamState, epoch int) error {
	factor := c.Schedule.factor(epoch, c.Epochs)
	if c.SGD != nil {
		sgd := *c.SGD
		sgd.LR *= factor
		return sgd.Step(p, grads, s)
	}
	adam := c.Optimizer
	adam.LR *= factor
	return adam.Step(p, grads, s)
}

// moveState moves running statistics towards those of a batch. Every batch of a
// step counts once, in order, as if each were a forward pass of its own.
func moveState(p nn.Params, state [][]float32) {
	for i, batch := range state {
		if batch != nil {
			nn.MoveRunning(p[i].Data, batch)
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
