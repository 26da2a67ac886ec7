// The training loop: epochs of steps, and steps of one optimiser update per player.

package train

import (
	"context"
	"fmt"
	"slices"

	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/internal/panics"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/privacy"
	"github.com/lethe-ml/lethe/lib/progress"
)

// loop is the training loop. An epoch is a list of steps, a step a list of updates, an
// update one optimiser step of one player on batches of its objective. A fit without a game
// has one player and one update per step.
type loop struct {
	Config
	plan           Plan
	chain          Chain // all transforms
	g              *gradients
	players        []paramGroup
	device         *device    // if not nil, epochs run on the engine's device
	watchGradients *gradients // evaluates what a Watch asks for; nil without one
	endEpoch       bool       // whether the epoch ends after this step

	// Memory for players that update together.
	lookahead   *State
	updateGrads [][][]float64 // gradients by update
}

// paramGroup is the optimiser of a player and the learning rates of its weights.
type paramGroup struct {
	name      string
	optimizer nn.Optimizer
	rates     []float64 // per tensor; 0 for frozen tensors and those of other players
}

// update is one optimiser step of one player.
type update struct {
	player       int
	objective    Objective
	batches      []batch
	newObjective bool        // whether it is the first of its objective
	seed         engine.Root // of its random inputs
	rate         float64     // sampling rate of a record in private training
}

// trainStep is one step: the updates of all players.
type trainStep struct {
	updates []update
	rule    Rule
}

func newLoop(r *model.Runner, p nn.Params, plan Plan, c Config) (*loop, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	if err := r.CheckWeights(p); err != nil {
		return nil, fmt.Errorf("train %s: %w", r.Arch.Name(), err)
	}
	if plan.Validation != nil && c.EarlyStop.Best {
		return nil, fmt.Errorf("train %s: both EarlyStop.Best and a Validation choose the best epoch", r.Arch.Name())
	}
	if err := plan.Private.check(r.Arch, plan, c); err != nil {
		return nil, err
	}
	players, err := plan.paramGroups(p, c)
	if err != nil {
		return nil, fmt.Errorf("train %s: %w", r.Arch.Name(), err)
	}
	g := newGradients(r)
	_, single := c.Optimizer.(nn.Float32Optimizer)
	chain := plan.chain(c)
	g.clip, g.warmUp, g.single = plan.Private, true, single && plan.Game == nil && plan.Combiner == nil && chain.inFloat32() != nil
	for _, m := range players {
		if plan.Game != nil {
			g.rates = append(g.rates, m.rates)
		}
	}
	l := &loop{Config: c, plan: plan, chain: chain, g: g, players: players}
	l.device = newDevice(l, p)
	if plan.Watch != nil {
		l.watchGradients = newGradients(r)
		l.watchGradients.valueOnly = true
	}
	return l, nil
}

func (l *loop) close() {
	l.g.close()
	l.device.close()
	if l.watchGradients != nil {
		l.watchGradients.close()
	}
}

// start returns the first state of a fit: a new one, or the saved one.
func (l *loop) start(p nn.Params, saved *State) (*State, error) {
	if saved == nil {
		s := &State{Params: p.Clone()}
		for _, m := range l.players {
			s.Optimizers = append(s.Optimizers, nn.NewOptimizerState(m.optimizer, p))
		}
		return s, nil
	}
	saved = saved.reordered(p)
	if err := saved.check(p); err != nil {
		return nil, fmt.Errorf("the saved state: %w", err)
	}
	if len(saved.Optimizers) != len(l.players) {
		return nil, fmt.Errorf("the saved state: %d optimisers for %d players", len(saved.Optimizers), len(l.players))
	}
	for k, m := range l.players {
		if err := saved.Optimizers[k].Check(m.optimizer, p); err != nil {
			return nil, fmt.Errorf("the saved state is of another optimiser: %w", err)
		}
	}
	if err := l.plan.Private.checkAccounting(saved); err != nil {
		return nil, fmt.Errorf("the saved state: %w", err)
	}
	return saved, nil
}

// epoch runs one epoch and returns the state after it. s does not change.
func (l *loop) epoch(ctx context.Context, s, spare *State) (*State, error) {
	steps, err := l.plan.steps(l.Config, s.Done)
	if err != nil {
		return nil, err
	}
	l.g.epoch, l.endEpoch = s.Done, false
	var task *progress.Task
	if len(steps) > 1 {
		_, task = progress.Start(ctx, "", len(steps))
		defer task.Done()
	}
	if l.device != nil {
		next, losses, err := l.deviceEpoch(ctx, s, steps, task)
		if next != nil || err != nil {
			if err != nil {
				return nil, fmt.Errorf("train %s: %w", l.g.runner.Arch.Name(), err)
			}
			return l.record(ctx, next, losses, l.spent(s, steps))
		}
		// Something is not finite: the host's epoch says what and where.
		task.Set(0)
	}
	if err := s.fetch(); err != nil {
		return nil, err
	}
	next, losses, done, err := l.hostEpoch(ctx, s, spare, steps, task)
	if err != nil {
		return nil, err
	}
	return l.record(ctx, next, losses, l.spent(s, steps[:done]))
}

// spent returns the privacy loss after steps that follow a state.
func (l *loop) spent(s *State, steps []trainStep) privacy.History {
	out := s.Privacy()
	for _, r := range steps {
		out = l.plan.Private.recordStep(out, r.updates[0])
	}
	return out
}

// hostEpoch runs an epoch step by step on a copy of s, in the memory of spare if that is not nil.
// It returns every player's mean loss and the number of steps.
func (l *loop) hostEpoch(ctx context.Context, s, spare *State, steps []trainStep, task *progress.Task) (*State, []float64, int, error) {
	next, losses, done := s.workingCopy(spare), make([]float64, len(l.players)), 0
	for _, r := range steps {
		if err := ctx.Err(); err != nil {
			return nil, nil, 0, err
		}
		if r.updates[0].newObjective && l.plan.changes {
			l.g.dropInputs()
		}
		if err := l.runStep(r, next, losses); err != nil {
			return nil, nil, 0, err
		}
		task.Add(1)
		if done++; l.endEpoch {
			break
		}
	}
	for k := range losses {
		losses[k] /= float64(done)
	}
	return next, losses, done, nil
}

// record adds an epoch to the history of the state after it: players' mean losses, the privacy
// loss so far, and the validation's value.
func (l *loop) record(ctx context.Context, next *State, losses []float64, spent privacy.History) (_ *State, err error) {
	defer func() {
		if err != nil {
			next.release()
		}
	}()
	e := Epoch{Epoch: next.Done, Steps: next.steps(), Privacy: spent}
	for _, v := range losses {
		e.Loss += v
	}
	if len(l.players) > 1 {
		e.Players = losses
	}
	if err := next.checkFinite(e); err != nil {
		return nil, fmt.Errorf("train %s: %w", l.g.runner.Arch.Name(), err)
	}
	if l.plan.Validation != nil || l.EarlyStop.Best && next.isBest(e.Loss, l.EarlyStop.MinDelta) {
		if err := next.fetch(); err != nil {
			return nil, err
		}
	}
	if err := l.plan.Validation.evaluate(ctx, l.g.runner, next, &e); err != nil {
		return nil, err
	}
	if l.EarlyStop.Best {
		next.keepBest(e.Loss, l.EarlyStop.MinDelta)
	}
	next.History = append(next.History, e)
	return next, nil
}

// runStep runs a step and adds every player's mean loss to losses.
func (l *loop) runStep(r trainStep, s *State, losses []float64) error {
	taken := make([]int, len(l.players))
	for _, t := range r.updates {
		taken[t.player]++
	}
	count := func(t update, loss float64) { losses[t.player] += loss / float64(taken[t.player]) }
	if r.rule == Alternating {
		for _, t := range r.updates {
			loss, err := l.runUpdate(t, s)
			if err != nil {
				return err
			}
			count(t, loss)
		}
		return nil
	}
	at := s.Params
	if r.rule == ExtraGradient {
		l.lookahead = s.workingCopy(l.lookahead)
		l.lookahead.Done = s.Done
		if err := l.runTogether(r, s.Params, l.lookahead, func(update, float64) {}); err != nil {
			return err
		}
		at = l.lookahead.Params
	}
	return l.runTogether(r, at, s, count)
}

// runUpdate runs one update.
func (l *loop) runUpdate(t update, s *State) (float64, error) {
	if err := l.watch(t, s); err != nil {
		return 0, err
	}
	got, err := l.gradient(s.Params, t, s)
	if err != nil {
		return 0, err
	}
	return got.loss, l.apply(t.player, got, s)
}

// runTogether computes every player's gradient at the same weights, then applies them to
// the state.
func (l *loop) runTogether(r trainStep, at nn.Params, s *State, count func(update, float64)) error {
	got := make([]stepGradient, len(r.updates))
	for len(l.updateGrads) < len(got) {
		l.updateGrads = append(l.updateGrads, nil)
	}
	for i, t := range r.updates {
		g, err := l.gradient(at, t, s)
		if err != nil {
			return err
		}
		got[i] = g.cloneIn(l.updateGrads[i])
		l.updateGrads[i] = got[i].grads
		count(t, g.loss)
	}
	for i, t := range r.updates {
		if err := l.apply(t.player, got[i], s); err != nil {
			return err
		}
	}
	return nil
}

// stepGradient is an objective's value and gradient, with the batches' statistics for the
// model's state.
type stepGradient struct {
	gradientSum
	states [][][]float32
}

func (s stepGradient) clone() stepGradient { return s.cloneIn(nil) }

// cloneIn returns a copy in the memory of spare, which has the same shapes, or in new
// memory if that is nil.
func (s stepGradient) cloneIn(spare [][]float64) stepGradient {
	grads := make([][]float64, len(s.grads))
	for i, g := range s.grads {
		if g == nil {
			continue
		}
		if spare != nil {
			grads[i] = spare[i][:0]
		}
		grads[i] = append(grads[i], g...)
	}
	s.grads = grads
	return s
}

// gradient returns the gradient of an update at the weights p, after the transforms.
func (l *loop) gradient(p nn.Params, t update, s *State) (stepGradient, error) {
	l.g.player = t.player
	got, err := l.combined(p, t, l.drawKey(t, s))
	if err != nil {
		return stepGradient{}, err
	}
	if got.float32s != nil {
		l.chain.inFloat32()(got.float32s)
		return got, nil
	}
	step := l.gradientStep(t, s.steps())
	step.Params, step.Grads, step.Loss = p, got.grads, got.loss
	if err := l.chain.Apply(&step); err != nil {
		return stepGradient{}, fmt.Errorf("train: epoch %d: %w", s.Done, err)
	}
	got.loss = step.Loss
	return got, nil
}

// gradientStep returns a step, after so many updates, without its gradient.
func (l *loop) gradientStep(t update, updates int) GradientStep {
	records := t.rate * float64(t.objective[0].X.Rows)
	return GradientStep{Epoch: l.g.epoch, Epochs: l.Epochs, Step: updates, Seed: t.seed, records: records}
}

// drawKey returns the function that gives the keys of an update's random inputs.
func (l *loop) drawKey(t update, s *State) func(term, layer int) uint64 {
	step := uint64(s.steps())
	return func(term, layer int) uint64 {
		return t.seed.Counter(engine.StreamDropout, step, uint64(term), uint64(layer))
	}
}

// combined returns the gradient of an update's objective. If the plan has a Combiner and the
// objective several terms, it is the combination of the terms' gradients.
func (l *loop) combined(p nn.Params, t update, key func(term, layer int) uint64) (stepGradient, error) {
	if l.plan.Combiner == nil || len(t.batches) == 1 {
		got, states, err := l.g.step(p, t.objective, t.batches, key)
		return stepGradient{got, states}, err
	}
	var parts []stepGradient
	for _, b := range t.batches {
		got, states, err := l.g.step(p, t.objective, []batch{b}, key)
		if err != nil {
			return stepGradient{}, err
		}
		parts = append(parts, stepGradient{got, states}.clone())
	}
	return combine(l.plan.Combiner, parts)
}

// apply updates a player's weights by a gradient.
func (l *loop) apply(player int, got stepGradient, s *State) error {
	m := l.players[player]
	for _, state := range got.states {
		updateStatistics(s.Params, state)
	}
	var after []func()
	for _, t := range l.chain {
		if t, ok := t.(StepTransform); ok {
			after = append(after, t.BeforeStep(s.Params, s.Optimizers[player]))
		}
	}
	err := panics.Catch("the optimiser "+m.optimizer.Name(), func() error {
		return got.step(m.optimizer, s.Params, s.Optimizers[player], l.rates(player, s.Done-1))
	})
	if err != nil {
		return fmt.Errorf("train %s: epoch %d: %w", l.g.runner.Arch.Name(), s.Done, err)
	}
	for _, f := range after {
		f()
	}
	return nil
}

// rates returns the learning rate factors of a player's tensors in an epoch (0, 1, ...).
func (l *loop) rates(player, epoch int) []float64 {
	rates, factor := slices.Clone(l.players[player].rates), l.Schedule.Factor(epoch, l.Epochs)
	for i := range rates {
		rates[i] *= factor
	}
	return rates
}
