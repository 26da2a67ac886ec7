// Files of weights with the rounds that produced them.

package flower

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/lethe-ml/lethe/lib/federated"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/store/safetensors"
)

// historyKey is the metadata key for the rounds that produced a file of weights.
const historyKey = "lethe.federated"

// recordsKey is the metadata key of the initial weights for the number of records per user,
// against which the server checks answers.
const recordsKey = "lethe.records"

// WriteWeights writes weights and the rounds that produced them to a safetensors file,
// atomically.
func WriteWeights(path string, p nn.Params, history []federated.Round) error {
	if history == nil {
		return safetensors.Write(path, p.File(""))
	}
	return writeTagged(path, p, historyKey, history)
}

// writeInitial writes the initial weights of a federation with these users.
func writeInitial(path string, p nn.Params, users []Shard) error {
	records := make([]int, len(users))
	for k, u := range users {
		records[k] = len(u.Y)
	}
	return writeTagged(path, p, recordsKey, records)
}

// writeTagged writes weights with a JSON value in the metadata.
func writeTagged(path string, p nn.Params, key string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	f := p.File("")
	f.Metadata = map[string]string{key: string(text)}
	return safetensors.Write(path, f)
}

// checkInitial returns an error for initial weights that a server cannot use.
func (s Study) checkInitial(folder string) error {
	path := filepath.Join(folder, initialFile)
	if _, _, err := s.ReadWeights(path); err != nil {
		return err
	}
	f, err := safetensors.Read(path)
	if err != nil {
		return err
	}
	var records []int
	if err := json.Unmarshal([]byte(f.Metadata[recordsKey]), &records); err != nil || len(records) != s.Users || slices.Min(records) < 1 {
		return fmt.Errorf("%s does not say how many records each of the %d users has: write the federation's folder again", path, s.Users)
	}
	return nil
}

// ReadWeights reads weights of the study's network and the rounds that produced them, nil
// where the file has none.
func (s Study) ReadWeights(path string) (nn.Params, []federated.Round, error) {
	like, err := s.Initial()
	if err != nil {
		return nil, nil, err
	}
	f, err := safetensors.ReadExpected(path, func(f *safetensors.File) error {
		for _, t := range f.Tensors {
			if !slices.ContainsFunc(like, func(p nn.Param) bool { return p.Name == t.Name }) {
				return fmt.Errorf("weights: tensor %s is not part of the network", t.Name)
			}
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	p, err := nn.FromFile(f, "", like)
	if err == nil {
		err = p.Check()
	}
	var history []federated.Round
	if text := f.Metadata[historyKey]; err == nil && text != "" {
		if err = json.Unmarshal([]byte(text), &history); err != nil {
			err = fmt.Errorf("metadata %s: %w", historyKey, err)
		} else {
			err = s.checkHistory(history)
		}
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return p, history, nil
}

// checkHistory returns an error for rounds that cannot come from a run of the study.
func (s Study) checkHistory(history []federated.Round) error {
	if len(history) > s.Federation.Rounds {
		return fmt.Errorf("metadata %s: %d rounds, the study has %d", historyKey, len(history), s.Federation.Rounds)
	}
	for i, h := range history {
		if h.Round != i+1 {
			return fmt.Errorf("metadata %s: the record of round %d says that it is of round %d", historyKey, i+1, h.Round)
		}
		for _, k := range slices.Concat(h.Answered, h.Silent) {
			if k < 0 || k >= s.Users {
				return fmt.Errorf("metadata %s: round %d: user %d, the study has the users 0 to %d", historyKey, h.Round, k, s.Users-1)
			}
		}
	}
	return nil
}
