package flower

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/lethe-ml/lethe/lib/federated"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/store/safetensors"
)

// historyKey is where a file of weights keeps, in its metadata, the rounds that they
// came from.
const historyKey = "lethe.federated"

// WriteWeights writes weights and the rounds that they came from to a safetensors
// file, in one step.
func WriteWeights(path string, p nn.Params, history []federated.Round) error {
	f := p.File("")
	if history != nil {
		text, err := json.Marshal(history)
		if err != nil {
			return err
		}
		f.Metadata = map[string]string{historyKey: string(text)}
	}
	return safetensors.Write(path, f)
}

// ReadWeights reads weights of the study's network and the rounds that they came
// from, nil where the file has none.
func (s Study) ReadWeights(path string) (nn.Params, []federated.Round, error) {
	like, err := s.Initial()
	if err != nil {
		return nil, nil, err
	}
	f, err := safetensors.ReadExpected(path, func(f *safetensors.File) error {
		for _, t := range f.Tensors {
			if !slices.ContainsFunc(like, func(p nn.Param) bool { return p.Name == t.Name }) {
				return fmt.Errorf("weights: tensor %s belongs to no part of the network", t.Name)
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
		}
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return p, history, nil
}
