// The error of a training whose loss, gradient or weights are no longer finite.

package train

import (
	"errors"
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
)

// Diverged is the error of a training whose weights, gradient or loss became NaN or
// infinite, usually because the learning rate is too large. It is a result about a method
// on a model: a table records it and goes on.
type Diverged struct {
	Epoch  int    `json:"epoch"`            // 1, 2, ...; 0: outside an epoch
	Tensor string `json:"tensor,omitempty"` // name of the tensor; "" for a loss or an output
	What   string `json:"what"`
}

// Error implements error.
func (d *Diverged) Error() string {
	if d.Epoch == 0 {
		return "diverged: " + d.What
	}
	return fmt.Sprintf("diverged in epoch %d: %s", d.Epoch, d.What)
}

// AsDiverged turns an error about a number that is not finite into Diverged, unless it
// is one already. It returns every other error unchanged.
func AsDiverged(err error, epoch int) error {
	if already := (*Diverged)(nil); errors.As(err, &already) {
		return err
	}
	bad := (*nn.NotFinite)(nil)
	if !errors.As(err, &bad) {
		return err
	}
	return &Diverged{Epoch: epoch, Tensor: bad.Tensor, What: err.Error()}
}

// checkFinite returns an error if the epoch's loss or a weight is not finite. Weights on a device
// were checked there.
func (s *State) checkFinite(e Epoch) error {
	if math.IsNaN(e.Loss) || math.IsInf(e.Loss, 0) {
		return nn.NotFinitef("", "the loss is %v", e.Loss)
	}
	if s.stale {
		return nil
	}
	return s.Params.Check()
}

// CheckOutputs returns [Diverged] for a model whose outputs or embeddings are not
// finite, even if its weights are.
func CheckOutputs(of ...*model.Prediction) error {
	for _, p := range of {
		if err := errors.Join(p.Logits().Check("outputs"), p.Embedding.Check("embeddings")); err != nil {
			return &Diverged{What: err.Error()}
		}
	}
	return nil
}
