// Weights and optimiser slots on the engine's device, and their way back to the host.

package train

import (
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/gomlx/gomlx/core/tensors"

	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
)

// deviceState holds weights and optimisers' slots on the device: of one model, or of several side
// by side, then with a leading axis of their number.
type deviceState struct {
	models  int
	owned   [][]int // by player: numbers of the tensors that it updates
	weights []*tensors.Tensor
	slots   [][]*tensors.Tensor // by player: slot by slot, the tensors that it updates
	users   atomic.Int32        // states that hold it
}

// uploadState copies weights and slots of the models to the device. All have the shapes and
// optimisers of the first.
func uploadState(e *engine.Engine, of []*State, owned [][]int) (*deviceState, error) {
	d := &deviceState{models: len(of), owned: owned}
	first := of[0]
	for i := range first.Params {
		t, err := uploadStacked(e, of, func(s *State) nn.Param { return s.Params[i] })
		if err != nil {
			d.free()
			return nil, err
		}
		d.weights = append(d.weights, t)
	}
	for k, o := range first.Optimizers {
		d.slots = append(d.slots, nil)
		for j := range o.Slots {
			for _, i := range owned[k] {
				t, err := uploadStacked(e, of, func(s *State) nn.Param { return s.Optimizers[k].Slots[j][i] })
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

// uploadStacked copies one tensor of every state to the device.
func uploadStacked(e *engine.Engine, of []*State, which func(*State) nn.Param) (*tensors.Tensor, error) {
	first := which(of[0])
	if len(of) == 1 {
		return e.Wrap(first.Data, first.Shape...)
	}
	all := make([]float32, 0, len(of)*len(first.Data))
	for _, s := range of {
		all = append(all, which(s).Data...)
	}
	return e.Wrap(all, append([]int{len(of)}, first.Shape...)...)
}

// all returns the tensors in order: weights, then the slots of every player.
func (d *deviceState) all() []*tensors.Tensor {
	out := d.weights[:len(d.weights):len(d.weights)]
	for _, slots := range d.slots {
		out = append(out, slots...)
	}
	return out
}

// withTensors returns the state with other tensors, in the order of all.
func (d *deviceState) withTensors(ts []*tensors.Tensor) *deviceState {
	out := &deviceState{models: d.models, owned: d.owned, weights: ts[:len(d.weights):len(d.weights)]}
	ts = ts[len(d.weights):]
	for _, slots := range d.slots {
		out.slots = append(out.slots, ts[:len(slots):len(slots)])
		ts = ts[len(slots):]
	}
	return out
}

func (d *deviceState) free() { model.Finalize(d.all()) }

// For tests: the number of uses of weights on devices.
var holds atomic.Int64

// hold makes the state use model number k of those on the device.
func (s *State) hold(d *deviceState, k int) {
	d.users.Add(1)
	holds.Add(1)
	s.device, s.model = d, k
}

// release ends the use of the device; what is newer there is lost.
func (s *State) release() {
	if s.device == nil {
		return
	}
	holds.Add(-1)
	if s.device.users.Add(-1) == 0 {
		s.device.free()
	}
	s.device = nil
}

// fetch copies weights and slots from the device to new memory of the host, if those on the
// device are newer.
func (s *State) fetch() error {
	if !s.stale {
		return nil
	}
	p, optimizers := s.Params.Clone(), make([]*nn.OptimizerState, len(s.Optimizers))
	for i, w := range p {
		if err := s.read(w.Data, s.device.weights[i]); err != nil {
			return fmt.Errorf("train: %s from the device: %w", w.Name, err)
		}
	}
	for k, o := range s.Optimizers {
		optimizers[k] = o.Clone()
		from := s.device.slots[k]
		for _, slot := range optimizers[k].Slots {
			for _, i := range s.device.owned[k] {
				if err := s.read(slot[i].Data, from[0]); err != nil {
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

// read copies the state's part of a tensor of the device.
func (s *State) read(dst []float32, from *tensors.Tensor) error {
	return tensors.ConstFlatData(from, func(flat []float32) { copy(dst, flat[s.model*len(dst):]) })
}

// afterDevice returns the state after an epoch on the device, whose weights and slots stay there
// as those of model k. taken is the number of updates by player.
func (s *State) afterDevice(d *deviceState, k int, taken []int) *State {
	next := &State{Params: s.Params, Done: s.Done + 1, History: s.History[:len(s.History):len(s.History)], Best: s.Best, stale: true}
	next.hold(d, k)
	for player, o := range s.Optimizers {
		o := *o
		o.T += taken[player]
		next.Optimizers = append(next.Optimizers, &o)
	}
	return next
}

// commonState returns the states' common place on the device. If they have none, weights and slots
// are copied there. owned are the tensors that each player updates next.
func commonState(e *engine.Engine, states []*State, owned [][]int) (*deviceState, error) {
	d := states[0].device
	same := d != nil && d.models == len(states) && slices.EqualFunc(d.owned, owned, slices.Equal[[]int])
	for k, s := range states {
		same = same && s.device == d && s.model == k
	}
	if same {
		return d, nil
	}
	for _, s := range states {
		if err := s.fetch(); err != nil {
			return nil, err
		}
	}
	d, err := uploadState(e, states, owned)
	if err != nil {
		return nil, err
	}
	for k, s := range states {
		s.release()
		s.hold(d, k)
	}
	return d, nil
}
