// Saving and resuming a run.

package federated

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/store/safetensors"
)

// State is everything that the rest of a run depends on. Random numbers are functions of
// the seed and the round and need no state.
type State struct {
	Params  nn.Params // the shared weights after the last complete round
	History []Round
}

// RoundsDone returns the number of complete rounds.
func (s *State) RoundsDone() int { return len(s.History) }

// record is the part of a state that is saved as JSON.
type record struct {
	History []Round `json:"history"`
}

const weightPrefix = "weights."

// File returns what a checkpoint holds: tensors and a value that marshals to JSON.
// LoadState restores the same state from them, bit for bit.
func (s *State) File() (*safetensors.File, any) {
	return s.Params.File(weightPrefix), record{s.History}
}

// LoadState restores a state from what File returned. The weights must have the names and
// shapes of like, which it does not change; an error names the tensor or the field that
// does not fit.
func LoadState(f *safetensors.File, state []byte, like nn.Params) (*State, error) {
	s, err := load(f, state, like)
	if err == nil {
		err = s.check(like, len(s.History))
	}
	if err != nil {
		return nil, fmt.Errorf("federated: saved state: %w", err)
	}
	return s, nil
}

func load(f *safetensors.File, state []byte, like nn.Params) (*State, error) {
	var rec record
	d := json.NewDecoder(bytes.NewReader(state))
	d.DisallowUnknownFields()
	if err := d.Decode(&rec); err != nil {
		return nil, err
	}
	p, err := nn.FromFile(f, weightPrefix, like)
	return &State{Params: p, History: rec.History}, err
}

// check returns an error for a state that cannot be continued to this many rounds with
// weights like like.
func (s *State) check(like nn.Params, rounds int) error {
	if s.RoundsDone() > rounds {
		return fmt.Errorf("%d rounds are done, only %d were requested", s.RoundsDone(), rounds)
	}
	for i, r := range s.History {
		if r.Round != i+1 {
			return fmt.Errorf("the record of round %d says that it is of round %d", i+1, r.Round)
		}
	}
	if err := nn.SameShape(s.Params, like); err != nil {
		return fmt.Errorf("of another model: %w", err)
	}
	return s.Params.Check()
}
