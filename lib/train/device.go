// Which fits run on the engine's device, and what stays on the host.

package train

import (
	"context"
	"fmt"

	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/progress"
)

// device is what a fit keeps for its epochs on the engine's device. Records and targets are copied
// there once per fit. An epoch is one execution of a loop over its steps, or several where an
// interrupt or the memory of the steps' arrays asks for it. The host draws the order of the records;
// the graph draws random inputs. Weights and slots stay on the device between epochs.
//
// docs/xla.md lists what stays on the host, with the reasons.
// A Validation and a checkpoint copy the weights to the host.
type device struct {
	optimizers []nn.GraphOptimizer // by player
	chain      []GraphForm         // of the transforms
	memory     *deviceMemory
	owned      [][]int // by player: tensors that it updates in this epoch
}

// newDevice returns nil for a fit that runs on the host.
func newDevice(l *loop, p nn.Params) *device {
	e := l.g.runner.Engine
	if !e.SeparateMemory() || !e.HasWhile() || l.plan.Watch != nil {
		return nil
	}
	d := &device{memory: newDeviceMemory()}
	for _, m := range l.players {
		o, ok := m.optimizer.(nn.GraphOptimizer)
		if !ok {
			return nil
		}
		d.optimizers = append(d.optimizers, o)
	}
	for _, t := range l.chain {
		g, ok := t.(GraphTransform)
		if !ok {
			return nil
		}
		form := g.Graph(p)
		form.Key = fmt.Sprintf("%T %s", t, form.Key)
		d.chain = append(d.chain, form)
	}
	return d
}

// close frees all tensors; d may be nil.
func (d *device) close() {
	if d != nil {
		d.memory.free()
	}
}

// ruleShape returns the shape of the step parameters of a player's tensors.
func (d *device) ruleShape(player int) []int {
	return []int{len(d.owned[player]), len(d.optimizers[player].StepParams(1, 1))}
}

// prepare finds the tensors that each player updates in the epoch after s. It returns false if the
// epoch has to run on the host.
func (d *device) prepare(l *loop, s *State, steps []trainStep) bool {
	if !l.canCombine(steps) {
		return false
	}
	d.owned = nil
	for k := range l.players {
		var owned []int
		for i, rate := range l.rates(k, s.Done) {
			if !s.Params[i].State && rate != 0 {
				owned = append(owned, i)
			}
		}
		if len(owned) == 0 { // nothing to update
			return false
		}
		d.owned = append(d.owned, owned)
	}
	return true
}

// canCombine reports whether the gradients of every update can be combined in a graph.
func (l *loop) canCombine(steps []trainStep) bool {
	if l.plan.Combiner == nil {
		return true
	}
	c, ok := l.plan.Combiner.(GraphCombiner)
	for _, s := range steps {
		for _, t := range s.updates {
			if n := len(t.batches); n > 1 && !(ok && c.GraphTerms(n)) {
				return false
			}
		}
	}
	return true
}

// deviceEpoch runs an epoch on the device and returns the state after it with every player's mean
// loss. The state is nil, without an error, if the epoch has to run on the host. A fit of a Group
// waits for the others.
func (l *loop) deviceEpoch(ctx context.Context, s *State, steps []trainStep, task *progress.Task) (*State, []float64, error) {
	if !l.device.prepare(l, s, steps) {
		return nil, nil, nil
	}
	a := newLane(ctx, l, s, steps, task)
	if m := memberOf(ctx); m.group != nil {
		m.group.epoch(m.number, a)
	} else {
		runEpoch([][]*lane{{a}}, l.device.memory)
	}
	return a.next, a.losses, explain(a.err)
}
