package train

import (
	"errors"
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
)

// Diverged says that weights, a gradient or a loss stopped being numbers: a
// learning rate that is too large, as a rule. It is a finding about a method on
// a model, so that whoever fills a table writes it down and goes on.
type Diverged struct {
	Epoch  int    `json:"epoch"`            // 1, 2, ...; 0: outside of any
	Tensor string `json:"tensor,omitempty"` // whose numbers they were; "" for a loss or an output
	What   string `json:"what"`
}

// Error implements error.
func (d *Diverged) Error() string {
	if d.Epoch == 0 {
		return "diverged: " + d.What
	}
	return fmt.Sprintf("diverged in epoch %d: %s", d.Epoch, d.What)
}

// AsDiverged turns an error about numbers that are none into Diverged, where it
// is not one already; every other error stays as it is.
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

// checkFinite refuses a state that no number can come of.
func (s *State) checkFinite(e Epoch) error {
	if math.IsNaN(e.Loss) || math.IsInf(e.Loss, 0) {
		return nn.NotFinitef("", "the loss is %v", e.Loss)
	}
	return s.Params.Check()
}

// CheckOutputs reports a model whose weights are numbers and whose outputs or
// embeddings are none, as [Diverged]: nothing can be measured on it.
func CheckOutputs(of ...*model.Prediction) error {
	for _, p := range of {
		if err := errors.Join(p.Logits().Check("outputs"), p.Embedding.Check("embeddings")); err != nil {
			return &Diverged{What: err.Error()}
		}
	}
	return nil
}
