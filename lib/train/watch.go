package train

import (
	"errors"
	"fmt"
	"slices"

	"github.com/lethe-ml/lethe/lib/nn"
)

// Watch looks at every step before it is taken. Where it says that the step is the last,
// the epoch ends behind it, and with it what an epoch ends with: its validation, its place
// in the history, its state to resume from. It must be a function of what it is shown, so
// that a stopped fit goes on with the same bits.
type Watch func(StepInfo) (last bool, err error)

// StepInfo is a step that is about to be taken.
type StepInfo struct {
	// Epoch is 0, 1, ...; Step is how many steps all players have taken before, in all
	// epochs.
	Epoch, Step int
	// Player is whose step it is.
	Player int

	loop   *loop
	update update
	state  *State
}

// Params are the weights before the step, which writes to their memory.
func (k StepInfo) Params() nn.Params { return k.state.Params }

// Rows are the records of a term of the step's objective that enter the step; nil: all.
func (k StepInfo) Rows(term int) []int {
	for _, b := range k.update.batches {
		if b.term == term {
			return b.rows
		}
	}
	return nil
}

// Mean is the mean of a loss, times its weight, over the records of a term that enter the
// step: at the weights before it, with the step's own draws.
func (k StepInfo) Mean(term int, of Target) (float64, error) {
	if term < 0 || term >= len(k.update.objective) {
		return 0, fmt.Errorf("train: the step has no term %d", term)
	}
	o := slices.Clone(k.update.objective)
	o[term].Targets = []Target{of}
	if err := of.check(k.loop.g.runner.Arch, o[term]); err != nil {
		return 0, fmt.Errorf("train: what is watched: %w", err)
	}
	g := k.loop.watchGradients
	g.epoch = k.Epoch
	defer g.dropInputs()
	got, _, err := g.step(k.state.Params, o, []batch{{term, k.Rows(term)}}, k.loop.drawKey(k.update, k.state))
	return got.loss, err
}

// watch shows the plan a step, and remembers what it says of it.
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

// checkWatch refuses what a watch cannot look at: steps that are taken together.
func (p Plan) checkWatch() error {
	if p.Watch != nil && p.Game != nil && p.Game.Rule != Alternating {
		return errors.New("train: steps are watched one by one, and those of the game are taken together")
	}
	return nil
}
