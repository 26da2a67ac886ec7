package unlearn

import (
	"fmt"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/nn/loss"
)

// latents returns the original's mean and log variance of the records' latent variables, by
// the names of the outputs, with nothing drawn.
func (r Request) latents(d Data) (map[string]array.Matrix[float32], error) {
	pred, err := r.Runner.PredictOutputs(r.Original, d.X, loss.LatentMean, loss.LatentLogVar)
	if err != nil {
		return nil, fmt.Errorf("needs a variational autoencoder: %w", err)
	}
	return map[string]array.Matrix[float32]{
		loss.LatentMean: pred.Outputs[loss.LatentMean], loss.LatentLogVar: pred.Outputs[loss.LatentLogVar],
	}, nil
}
