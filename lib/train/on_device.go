// Training with weights and optimiser state on the engine's device for a whole epoch.

package train

import (
	"fmt"
	"slices"

	"github.com/gomlx/gomlx/core/tensors"

	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
)

// minDeviceSteps is the smallest number of steps of an epoch that runs on the device.
// Weights and optimiser state are copied once at its start and once at its end.
const minDeviceSteps = 4

// onDevice holds the weights and the optimiser state of a training on the engine's device
// for one epoch. A step is one execution, from the batch to the updated weights. The
// host's state stays that of the start of the epoch until sync copies the device's back.
type onDevice struct {
	optimizer nn.GraphOptimizer
	rates     []float64 // rate factor of each tensor in this epoch
	trainable []bool    // tensors that the optimiser updates: no state, not frozen
	weights   []*tensors.Tensor
	slots     [][]*tensors.Tensor // by slot and tensor; nil for a tensor without one
}

// upload copies a state to the device for an epoch of these steps. It returns nil if the
// epoch runs on the host: if the engine has no separate memory, if gradients are changed
// before the optimiser sees them, if a Watch reads the weights, or if a step takes more than
// one execution.
func (l *loop) upload(s *State, epoch []trainStep) (*onDevice, error) {
	optimizer, ok := l.Optimizer.(nn.GraphOptimizer)
	if !ok || l.plan.Watch != nil || !l.g.runner.Engine.SeparateMemory() || !l.plan.leavesGradients() || l.Clip != 0 || !l.singleExecutions(epoch) {
		return nil, nil
	}
	a := &onDevice{optimizer: optimizer, rates: l.rates(0, s.Done-1)}
	for i, w := range s.Params {
		a.trainable = append(a.trainable, !w.State && a.rates[i] != 0)
	}
	if !slices.Contains(a.trainable, true) { // nothing to update
		return nil, nil
	}
	if err := a.upload(l.g.runner, s); err != nil {
		a.free()
		return nil, fmt.Errorf("train %s: %w", l.g.runner.Arch.Name(), err)
	}
	return a, nil
}

// singleExecutions reports whether every step is one execution and there are at least
// minDeviceSteps of them.
func (l *loop) singleExecutions(epoch []trainStep) bool {
	n := 0
	for _, r := range epoch {
		for _, t := range r.updates {
			if len(t.batches) != 1 || len(l.g.chunks(t.batches[0].size(t.objective))) != 1 {
				return false
			}
			n++
		}
	}
	return n >= minDeviceSteps
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

// free releases the tensors; a may be nil.
func (a *onDevice) free() {
	if a == nil {
		return
	}
	model.Finalize(a.weights)
	for _, slot := range a.slots {
		model.Finalize(slot)
	}
}

// copyToHost copies the tensors into the state.
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

// sync copies the device's weights and optimiser state to the host, if there are any, and
// ends the use of the device.
func (l *loop) sync(s *State) error {
	a := l.device
	if l.device = nil; a == nil {
		return nil
	}
	defer a.free()
	return a.copyToHost(s)
}

// stepOnDevice runs one update on the device. If the gradient is not finite, it changes
// nothing and ok is false.
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
	values, err := tensors.CopyFlatData[float32](out[0])
	if err != nil {
		model.Finalize(out[1:])
		return 0, false, fmt.Errorf("train %s: %w", g.runner.Arch.Name(), err)
	}
	if finite := values[1] == 1; !finite {
		model.Finalize(out[1:])
		return 0, false, nil
	}
	a.setOutputs(out[1:], s.Params)
	o.T++
	return float64(values[0]), true, nil
}

// stepInputs returns the inputs that a step has in addition to those of a gradient: the
// step parameters and the slots of the trainable tensors.
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

// setOutputs replaces weights and slots by the outputs of a step.
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
