// Checkpoints: the state of a fit as safetensors and JSON, restored bit for bit.

package train

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/store/safetensors"
)

// Name prefixes of the tensors of a saved state; the weight's name follows.
const (
	weightPrefix = "weights."
	bestPrefix   = "best."
)

// slotPrefix returns the name prefix of a slot of player k's optimiser.
func slotPrefix(k int, slot string) string { return fmt.Sprintf("optimizer%d.%s.", k, slot) }

// stateRecord is the part of a state that is saved as JSON. Go prints a float64 with
// enough digits to read the same bits back.
type stateRecord struct {
	Done       int               `json:"done"`
	Optimizers []optimizerRecord `json:"optimizers"` // one per player
	History    []Epoch           `json:"history"`
	Best       *bestRecord       `json:"best,omitempty"`
}

type optimizerRecord struct {
	Optimizer string   `json:"of"`
	Slots     []string `json:"slots"`
	Steps     int      `json:"steps"`
}

type bestRecord struct {
	Epoch int     `json:"epoch"`
	Value float64 `json:"value"`
}

// File returns the content of a checkpoint: tensors and a value that marshals to JSON.
// LoadState restores the same state, bit for bit.
func (s *State) File() (*safetensors.File, any) {
	f := s.Params.File(weightPrefix)
	rec := stateRecord{Done: s.Done, History: s.History}
	for k, o := range s.Optimizers {
		for i, slot := range o.Slots {
			f.Tensors = append(f.Tensors, slot.File(slotPrefix(k, o.Names[i])).Tensors...)
		}
		rec.Optimizers = append(rec.Optimizers, optimizerRecord{o.Optimizer, o.Names, o.T})
	}
	if s.Best != nil {
		f.Tensors = append(f.Tensors, s.Best.Params.File(bestPrefix).Tensors...)
		rec.Best = &bestRecord{s.Best.Epoch, s.Best.Value}
	}
	return f, rec
}

// LoadState reads a state that File made. The weights must have the names and shapes of
// like; an error names the tensor or the field that does not fit. Other weights in the
// file, those of other players, follow in any order; the fit checks them.
func LoadState(f *safetensors.File, state []byte, like nn.Params) (*State, error) {
	like = append(like[:len(like):len(like)], extraWeights(f, like)...)
	s, err := decodeState(f, state, like)
	if err == nil {
		err = s.check(like)
	}
	if err != nil {
		return nil, fmt.Errorf("train: saved state: %w", err)
	}
	return s, nil
}

// extraWeights returns the weights in a file that like does not have.
func extraWeights(f *safetensors.File, like nn.Params) (out nn.Params) {
	for _, t := range f.Tensors {
		name, ours := strings.CutPrefix(t.Name, weightPrefix)
		if ours && !slices.ContainsFunc(like, func(p nn.Param) bool { return p.Name == name }) {
			out = append(out, nn.Param{Name: name, Shape: t.Shape})
		}
	}
	return out
}

// reordered returns the state with its tensors in the order of like and with the kinds
// (weight or state) of like, because a file has neither for the extra weights.
func (s *State) reordered(like nn.Params) *State {
	sorted := func(p nn.Params) nn.Params {
		at := map[string]int{}
		for i, v := range p {
			at[v.Name] = i
		}
		out := make(nn.Params, len(like))
		for i, v := range like {
			k, there := at[v.Name]
			if !there || len(p) != len(like) {
				return p // for check to refuse
			}
			out[i] = p[k]
			out[i].State, out[i].Latest = v.State, v.Latest
		}
		return out
	}
	out := *s
	out.Params, out.Optimizers = sorted(s.Params), nil
	for _, o := range s.Optimizers {
		c := *o
		c.Slots = nil
		for _, slot := range o.Slots {
			c.Slots = append(c.Slots, sorted(slot))
		}
		out.Optimizers = append(out.Optimizers, &c)
	}
	if s.Best != nil {
		out.Best = &Best{Params: sorted(s.Best.Params), Epoch: s.Best.Epoch, Value: s.Best.Value}
	}
	return &out
}

func decodeState(f *safetensors.File, state []byte, like nn.Params) (*State, error) {
	var rec stateRecord
	d := json.NewDecoder(bytes.NewReader(state))
	d.DisallowUnknownFields()
	if err := d.Decode(&rec); err != nil {
		return nil, err
	}
	s := &State{Done: rec.Done, History: rec.History}
	var err error
	if s.Params, err = nn.FromFile(f, weightPrefix, like); err != nil {
		return nil, err
	}
	for k, o := range rec.Optimizers {
		into := &nn.OptimizerState{Optimizer: o.Optimizer, Names: o.Slots, T: o.Steps}
		for _, slot := range o.Slots {
			p, err := nn.FromFile(f, slotPrefix(k, slot), like)
			if err != nil {
				return nil, err
			}
			into.Slots = append(into.Slots, p)
		}
		s.Optimizers = append(s.Optimizers, into)
	}
	if rec.Best == nil {
		return s, nil
	}
	s.Best = &Best{Epoch: rec.Best.Epoch, Value: rec.Best.Value}
	s.Best.Params, err = nn.FromFile(f, bestPrefix, like)
	return s, err
}

// check returns an error if a model with weights like cannot resume from the state.
func (s *State) check(like nn.Params) error {
	if len(s.Optimizers) == 0 {
		return errors.New("the optimiser's part is missing")
	}
	if s.Done < 0 || s.Done != len(s.History) {
		return fmt.Errorf("%d epochs are finished, the history has %d", s.Done, len(s.History))
	}
	steps := 0
	if s.Done > 0 {
		steps = s.History[s.Done-1].Steps
	}
	if s.steps() != steps {
		return fmt.Errorf("the optimisers took %d steps, the history has %d", s.steps(), steps)
	}
	parts := map[string]nn.Params{"weights": s.Params}
	for k, o := range s.Optimizers {
		for i, slot := range o.Slots {
			parts[slotPrefix(k, o.Names[i])] = slot
		}
	}
	if s.Best != nil {
		parts["best weights"] = s.Best.Params
		if s.Best.Epoch < 1 || s.Best.Epoch > s.Done {
			return fmt.Errorf("the best epoch is %d of %d", s.Best.Epoch, s.Done)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		if err := nn.SameShape(parts[name], like); err != nil {
			return fmt.Errorf("%s: of another model: %w", name, err)
		}
		if err := parts[name].Check(); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}
