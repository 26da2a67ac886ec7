package train

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/store/safetensors"
)

// The tensors of a saved state are named after the weights they belong to.
const (
	weightPrefix = "weights."
	firstPrefix  = "adam.m."
	secondPrefix = "adam.v."
)

// record is the part of a state that is saved as JSON. Go prints a float64 with
// as many digits as it takes to read the same bits back.
type record struct {
	Done    int     `json:"done"`
	Steps   int     `json:"steps"` // taken by the optimiser
	History []Epoch `json:"history"`
}

// File turns the state into what a checkpoint holds, tensors and a value that
// marshals to JSON, from which LoadState makes the same state bit for bit.
func (s *State) File() (*safetensors.File, any) {
	f := &safetensors.File{}
	f.Tensors = append(f.Tensors, s.Params.File(weightPrefix).Tensors...)
	f.Tensors = append(f.Tensors, s.Adam.M.File(firstPrefix).Tensors...)
	f.Tensors = append(f.Tensors, s.Adam.V.File(secondPrefix).Tensors...)
	return f, record{Done: s.Done, Steps: s.Adam.T, History: s.History}
}

// LoadState reads a state that File made. The weights must have the names and
// shapes of like, which it leaves alone; an error names the tensor or the field
// that does not fit.
func LoadState(f *safetensors.File, state []byte, like nn.Params) (*State, error) {
	var rec record
	d := json.NewDecoder(bytes.NewReader(state))
	d.DisallowUnknownFields()
	if err := d.Decode(&rec); err != nil {
		return nil, fmt.Errorf("train: saved state: %w", err)
	}
	s := &State{Adam: &nn.AdamState{T: rec.Steps}, Done: rec.Done, History: rec.History}
	for _, part := range []struct {
		prefix string
		into   *nn.Params
	}{{weightPrefix, &s.Params}, {firstPrefix, &s.Adam.M}, {secondPrefix, &s.Adam.V}} {
		if part.prefix == secondPrefix && !has(f, secondPrefix) {
			continue // SGD has none
		}
		p, err := nn.FromFile(f, part.prefix, like)
		if err != nil {
			return nil, fmt.Errorf("train: saved state: %w", err)
		}
		*part.into = p
	}
	if err := s.check(like); err != nil {
		return nil, fmt.Errorf("train: saved state: %w", err)
	}
	return s, nil
}

// has tells whether the name of any tensor begins with prefix.
func has(f *safetensors.File, prefix string) bool {
	for _, t := range f.Tensors {
		if strings.HasPrefix(t.Name, prefix) {
			return true
		}
	}
	return false
}

// check reports a state from which a model with weights like cannot go on.
func (s *State) check(like nn.Params) error {
	if s.Adam == nil {
		return errors.New("the optimiser's part is missing")
	}
	if s.Done < 0 || s.Done != len(s.History) {
		return fmt.Errorf("%d epochs are done, the history has %d", s.Done, len(s.History))
	}
	steps := 0
	if s.Done > 0 {
		steps = s.History[s.Done-1].Steps
	}
	if s.Adam.T != steps {
		return fmt.Errorf("the optimiser took %d steps, the history has %d", s.Adam.T, steps)
	}
	for _, part := range []struct {
		name string
		p    nn.Params
	}{{"weights", s.Params}, {"first moments", s.Adam.M}, {"second moments", s.Adam.V}} {
		if part.p == nil && part.name == "second moments" {
			continue
		}
		if err := nn.SameShape(part.p, like); err != nil {
			return fmt.Errorf("%s: of another model: %w", part.name, err)
		}
		if err := part.p.Check(); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
	}
	return nil
}
