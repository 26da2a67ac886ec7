// Weights and optimiser slots on the engine's device, and their way back to the host.

package train

import (
	"fmt"

	"github.com/gomlx/gomlx/core/tensors"

	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
)

// deviceState holds the weights and the optimisers' slots after an epoch on the device.
type deviceState struct {
	owned   [][]int // by player: numbers of the tensors that it updates
	weights []*tensors.Tensor
	slots   [][]*tensors.Tensor // by player: slot by slot, the tensors that it updates
}

// uploadState copies weights and slots to the device.
func uploadState(e *engine.Engine, s *State, owned [][]int) (*deviceState, error) {
	d := &deviceState{owned: owned}
	for _, w := range s.Params {
		t, err := e.Wrap(w.Data, w.Shape...)
		if err != nil {
			d.free()
			return nil, err
		}
		d.weights = append(d.weights, t)
	}
	for k, o := range s.Optimizers {
		d.slots = append(d.slots, nil)
		for _, slot := range o.Slots {
			for _, i := range owned[k] {
				t, err := e.Wrap(slot[i].Data, slot[i].Shape...)
				if err != nil {
					d.free()
					return nil, err
				}
				d.slots[k] = append(d.slots[k], t)
			}
		}
	}
	return d, nil
}

// all returns the tensors in order: weights, then the slots of every player.
func (d *deviceState) all() []*tensors.Tensor {
	out := d.weights[:len(d.weights):len(d.weights)]
	for _, slots := range d.slots {
		out = append(out, slots...)
	}
	return out
}

// with returns the state with other tensors, in the order of all.
func (d *deviceState) with(ts []*tensors.Tensor) *deviceState {
	out := &deviceState{owned: d.owned, weights: ts[:len(d.weights):len(d.weights)]}
	ts = ts[len(d.weights):]
	for _, slots := range d.slots {
		out.slots = append(out.slots, ts[:len(slots):len(slots)])
		ts = ts[len(slots):]
	}
	return out
}

// free releases the tensors; d may be nil.
func (d *deviceState) free() {
	if d != nil {
		model.Finalize(d.all())
	}
}

// fetch copies weights and slots from the device to new memory of the host, if those on the
// device are newer.
func (s *State) fetch() error {
	if !s.stale {
		return nil
	}
	p, optimizers := s.Params.Clone(), make([]*nn.OptimizerState, len(s.Optimizers))
	for i, w := range p {
		if err := read(w.Data, s.device.weights[i]); err != nil {
			return fmt.Errorf("train: %s from the device: %w", w.Name, err)
		}
	}
	for k, o := range s.Optimizers {
		optimizers[k] = o.Clone()
		from := s.device.slots[k]
		for _, slot := range optimizers[k].Slots {
			for _, i := range s.device.owned[k] {
				if err := read(slot[i].Data, from[0]); err != nil {
					return fmt.Errorf("train: the optimiser's part for %s from the device: %w", slot[i].Name, err)
				}
				from = from[1:]
			}
		}
		optimizers[k].SlotsChanged()
	}
	s.Params, s.Optimizers, s.stale = p, optimizers, false
	return nil
}

func read(dst []float32, from *tensors.Tensor) error {
	return tensors.ConstFlatData(from, func(flat []float32) { copy(dst, flat) })
}

// afterDevice returns the state after an epoch on the device, whose weights and slots stay
// there. taken is the number of updates by player.
func (s *State) afterDevice(d *deviceState, taken []int) *State {
	next := &State{
		Params: s.Params, Done: s.Done + 1, History: s.History[:len(s.History):len(s.History)], Best: s.Best,
		device: d, stale: true,
	}
	for k, o := range s.Optimizers {
		o := *o
		o.T += taken[k]
		next.Optimizers = append(next.Optimizers, &o)
	}
	return next
}
