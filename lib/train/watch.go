// A caller's function before every step, which sees the step's records and may end the epoch.

package train

import (
	"errors"
	"fmt"
	"slices"

	"github.com/lethe-ml/lethe/lib/nn"
)

// Watch is called before every step. If it returns last, the epoch ends after this step,
// with its validation, its entry in the history and its state. It must be a function of its
// argument, so that a resumed fit has the same bits.
type Watch func(StepInfo) (last bool, err error)

// StepInfo describes the next step to a Watch.
type StepInfo struct {
	// Epoch is 0, 1, ... Step is the number of updates of all players so far, in all
	// epochs.
	Epoch, Step int
	// Player is the number of the player that updates next.
	Player int

	loop   *loop
	update update
	state  *State
}

// Params returns the weights before the step. The step overwrites them.
func (k StepInfo) Params() nn.Params { return k.state.Params }

// Rows returns the records of a term that enter the step; nil: all.
func (k StepInfo) Rows(term int) []int {
	for _, b := range k.update.batches {
		if b.term == term {
			return b.rows
		}
	}
	return nil
}

// Mean returns the weighted mean of a loss over the records of a term that enter the step,
// at the weights before the step and with the step's random inputs.
func (k StepInfo) Mean(term int, of Target) (float64, error) {
	if term < 0 || term >= len(k.update.objective) {
		return 0, fmt.Errorf("train: the step has no term %d", term)
	}
	o := slices.Clone(k.update.objective)
	o[term].Targets = []Target{of}
	if err := of.check(k.loop.g.runner.Arch, o[term]); err != nil {
		return 0, fmt.Errorf("train: the watched loss: %w", err)
	}
	g := k.loop.watchGradients
	g.epoch = k.Epoch
	defer g.dropInputs()
	got, _, err := g.step(k.state.Params, o, []batch{{term, k.Rows(term)}}, k.loop.drawKey(k.update, k.state))
	return got.loss, err
}

// watch calls the plan's Watch before a step and keeps its answer.
func (l *loop) watch(t update, s *State) error {
	if l.plan.Watch == nil {
		return nil
	}
	last, err := l.plan.Watch(StepInfo{Epoch: s.Done - 1, Step: s.steps(), Player: t.player, loop: l, update: t, state: s})
	if err != nil {
		return fmt.Errorf("train %s: epoch %d: %w", l.g.runner.Arch.Name(), s.Done, err)
	}
	l.endEpoch = l.endEpoch || last
	return nil
}

// checkWatch returns an error if the game's players do not update one after another.
func (p Plan) checkWatch() error {
	if p.Watch != nil && p.Game != nil && p.Game.Rule != Alternating {
		return errors.New("train: a Watch needs a game with the rule Alternating")
	}
	return nil
}
