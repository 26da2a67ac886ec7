package unlearn

import (
	"fmt"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/nn/loss"
)

// latents are the original's mean and log variance of records' latent variables,
// by the names of the outputs, with nothing drawn.
func (r Request) latents(d Data) (map[string]array.Matrix[float32], error) {
	pred, err := r.Runner.Predict(r.Original, d.X)
	if err != nil {
		return nil, fmt.Errorf("the original: %w", err)
	}
	out := map[string]array.Matrix[float32]{}
	for _, name := range []string{loss.LatentMean, loss.LatentLogVar} {
		m, ok := pred.Outputs[name]
		if !ok {
			return nil, fmt.Errorf("needs a variational autoencoder; %s has no output %q", r.Runner.Arch.Name(), name)
		}
		out[name] = m
	}
	return out, nil
}
