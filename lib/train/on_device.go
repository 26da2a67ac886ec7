package train

import (
	"fmt"
	"slices"

	"github.com/gomlx/gomlx/core/tensors"

	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
)

// minDeviceSteps is how many steps an epoch has to have: at its begin and at its end
// everything travels, an optimiser's memory too, in between nothing does.
const minDeviceSteps = 4

// device are the weights of a training and what its optimiser remembers, on the engine's
// device for the time of an epoch. A step there is one execution, from the batch to moved
// weights; the state that the epoch works on is that of the epoch's begin until they are
// brought ashore.
type onDevice struct {
	optimizer nn.GraphOptimizer
	rates     []float64 // of tensors, in this epoch
	trainable []bool    // tensors that the optimiser moves; state and frozen ones it does not
	weights   []*tensors.Tensor
	slots     [][]*tensors.Tensor // by slot and tensor; nil of one that has none
}

// upload puts a state aboard for an epoch of these rounds; nil where it stays ashore: where
// weights lie in the engine's own memory anyway, where something happens to a gradient on
// its way to the optimiser, where somebody watches the weights, or where a step is more than
// one execution.
func (l *loop) upload(s *State, rounds []trainStep) (*onDevice, error) {
	optimizer, ok := l.Optimizer.(nn.GraphOptimizer)
	if !ok || l.plan.Watch != nil || !l.g.runner.Engine.SeparateMemory() || !l.plan.leavesGradients() || l.Clip != 0 || !l.singleExecutions(rounds) {
		return nil, nil
	}
	a := &onDevice{optimizer: optimizer, rates: l.rates(0, s.Done-1)}
	for i, w := range s.Params {
		a.trainable = append(a.trainable, !w.State && a.rates[i] != 0)
	}
	if !slices.Contains(a.trainable, true) { // a step counts, and that is all
		return nil, nil
	}
	if err := a.upload(l.g.runner, s); err != nil {
		a.free()
		return nil, fmt.Errorf("train %s: %w", l.g.runner.Arch.Name(), err)
	}
	return a, nil
}

// singleExecutions tells whether there are enough steps, and each is one execution.
func (l *loop) singleExecutions(rounds []trainStep) bool {
	steps := 0
	for _, r := range rounds {
		for _, t := range r.updates {
			if len(t.batches) != 1 || len(l.g.chunks(t.batches[0].size(t.objective))) != 1 {
				return false
			}
			steps++
		}
	}
	return steps >= minDeviceSteps
}

func (a *onDevice) upload(r *model.Runner, s *State) error {
	up := func(i int, data []float32) (*tensors.Tensor, error) {
		return r.Engine.Wrap(data, s.Params[i].Shape...)
	}
	for i, w := range s.Params {
		t, err := up(i, w.Data)
		if err != nil {
			return err
		}
		a.weights = append(a.weights, t)
	}
	for k, slot := range s.Optimizers[0].Slots {
		a.slots = append(a.slots, make([]*tensors.Tensor, len(slot)))
		for i := range slot {
			if !a.trainable[i] {
				continue
			}
			t, err := up(i, slot[i].Data)
			if err != nil {
				return err
			}
			a.slots[k][i] = t
		}
	}
	return nil
}

// free frees what is aboard, if anything is.
func (a *onDevice) free() {
	if a == nil {
		return
	}
	model.Finalize(a.weights)
	for _, slot := range a.slots {
		model.Finalize(slot)
	}
}

// copyToHost writes what is aboard to the state.
func (a *onDevice) copyToHost(s *State) error {
	read := func(dst []float32, from *tensors.Tensor) error {
		return tensors.ConstFlatData(from, func(flat []float32) { copy(dst, flat) })
	}
	for i, w := range s.Params {
		if w.State || a.trainable[i] {
			if err := read(w.Data, a.weights[i]); err != nil {
				return err
			}
		}
	}
	for k, slot := range s.Optimizers[0].Slots {
		for i := range slot {
			if a.slots[k][i] == nil {
				continue
			}
			if err := read(slot[i].Data, a.slots[k][i]); err != nil {
				return err
			}
		}
	}
	s.Optimizers[0].SlotsChanged()
	return nil
}

// sync brings what is aboard ashore, if anything is.
func (l *loop) sync(s *State) error {
	a := l.device
	if l.device = nil; a == nil {
		return nil
	}
	defer a.free()
	return a.copyToHost(s)
}

// stepOnDevice takes a turn's step. Where the gradient of what moves is not finite nothing has
// happened, and ok is false.
func (l *loop) stepOnDevice(t update, s *State) (loss float64, ok bool, err error) {
	a, o, g := l.device, s.Optimizers[0], l.g
	only := task{t.batches[0], g.chunks(t.batches[0].size(t.objective))[0], 0}
	var rules []float32
	for _, rate := range a.rates {
		rules = append(rules, a.optimizer.StepParams(o.T+1, rate)...)
	}
	rule := tensors.FromFlatDataAndDimensions(rules, len(a.rates), len(rules)/len(a.rates))
	defer rule.FinalizeAll()
	g.device, g.player = a, t.player
	defer func() { g.device = nil }()
	var out []*tensors.Tensor
	err = g.runner.Engine.Parallel(1, func(int) error {
		out, err = g.execute(only, t.objective, toAny(a.weights), l.drawKey(t, s), a.stepInputs(rule)...)
		return err
	})
	if err != nil {
		return 0, false, fmt.Errorf("train %s: %w", g.runner.Arch.Name(), err)
	}
	defer out[0].FinalizeAll()
	said, err := tensors.CopyFlatData[float32](out[0])
	if err != nil {
		model.Finalize(out[1:])
		return 0, false, fmt.Errorf("train %s: %w", g.runner.Arch.Name(), err)
	}
	if finite := said[1] == 1; !finite {
		model.Finalize(out[1:])
		return 0, false, nil
	}
	a.setOutputs(out[1:], s.Params)
	o.T++
	return float64(said[0]), true, nil
}

// stepInputs are the inputs of a step beside those of a gradient: the rule, and the slots of
// what moves.
func (a *onDevice) stepInputs(rule *tensors.Tensor) []any {
	out := []any{rule}
	for _, slot := range a.slots {
		for _, t := range slot {
			if t != nil {
				out = append(out, t)
			}
		}
	}
	return out
}

// setOutputs puts what comes out of a step in the place of what went in.
func (a *onDevice) setOutputs(out []*tensors.Tensor, like nn.Params) {
	replace := func(place **tensors.Tensor) {
		old := *place
		*place, out = out[0], out[1:]
		_ = old.FinalizeAll()
	}
	for i := range a.weights {
		if like[i].State || a.trainable[i] {
			replace(&a.weights[i])
		}
	}
	for _, slot := range a.slots {
		for i := range slot {
			if slot[i] != nil {
				replace(&slot[i])
			}
		}
	}
}

func toAny(ts []*tensors.Tensor) []any {
	out := make([]any, len(ts))
	for i, t := range ts {
		out[i] = t
	}
	return out
}
