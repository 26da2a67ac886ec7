// The perceptron attacker of "Fishing for Privacy" (section 4.1), with spectral norm and dropout.

package learned

import (
	"context"
	"fmt"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/train"
)

// MLP is the attacker of "Fishing for Privacy" (section 4.1): a perceptron with one logit,
//
//	d -> 256 -> 256 -> 1,  ReLU and dropout 0.3 after each hidden layer,
//	every weight divided by its spectral norm (nn.SpectralNorm), in inference too
//
// trained for 50 epochs of Adam at 1e-3 on shuffled batches of 128 with the binary cross-entropy.
// The score is the logit.
//
// Difference from the published program: PyTorch's random numbers are not reproduced. Spectral
// normalisation bounds the attacker so strongly that it is weak on unscaled features, as the paper uses
// them (a reconstruction loss near 350 beside latent means near 0.4). The paper does not say so.
type MLP struct {
	Hidden  []int   `json:"hidden,omitempty"` // nil: 256, 256
	Plain   bool    `json:"plain,omitempty"`  // without spectral norm
	Dropout float64 `json:"dropout,omitempty" default:"0.3"`
	Epochs  int     `json:"epochs,omitempty" default:"50"`
	Batch   int     `json:"batch,omitempty" default:"128"` // WholeBatch: all records
	LR      float64 `json:"lr,omitempty" default:"1e-3"`
	Decay   float64 `json:"decay,omitempty"` // L2, added to the gradient
}

// WholeBatch makes every step use all records.
const WholeBatch = -1

var _ Attacker = MLP{}

// Name implements Attacker.
func (MLP) Name() string { return "mlp" }

// About implements Attacker.
func (MLP) About() string { return "a perceptron on features, weights divided by their spectral norms" }

// SetDefaults implements defaults.Setter.
func (a *MLP) SetDefaults() {
	if a.Hidden == nil {
		a.Hidden = []int{256, 256}
	}
}

// Fit implements Attacker.
func (a MLP) Fit(ctx context.Context, e *engine.Engine, known Records, seed engine.Root) (Scorer, error) {
	if err := known.Check(); err != nil {
		return nil, err
	}
	if a.Batch < WholeBatch {
		return nil, fmt.Errorf("learned: batches of %d records", a.Batch)
	}
	a = defaults.Fill(a)
	arch := Network{Features: known.Members.Cols, Hidden: a.Hidden, Dropout: a.Dropout, Spectral: !a.Plain}
	r, err := model.NewRunner(e, arch)
	if err != nil {
		return nil, fmt.Errorf("learned: %w", err)
	}
	plan := train.Plan{Passes: func(int) ([]train.Objective, error) { return []train.Objective{a.objective(known)}, nil }}
	if a.Decay != 0 {
		plan.Transforms = train.Chain{train.Decay{Rate: a.Decay}}
	}
	c := train.Config{Epochs: a.Epochs, Batch: max(a.Batch, 0), Optimizer: nn.Adam{LR: a.LR}, Seed: seed}
	p, _, err := train.FitPlan(ctx, r, model.InitialWeights(arch, seed.Stream(engine.StreamInit)), plan, c, train.Hooks{})
	if err != nil {
		return nil, fmt.Errorf("learned: %w", err)
	}
	return func(x array.Matrix[float64]) ([]float64, error) {
		out, err := r.Predict(p, array.Convert[float32](x))
		if err != nil {
			return nil, fmt.Errorf("learned: %w", err)
		}
		return array.Convert[float64](out.Logits()).Data, nil
	}, nil
}

func (a MLP) objective(known Records) train.Objective {
	answers := array.New[float32](known.size(), 1)
	for i := range known.Members.Rows {
		answers.Data[i] = 1
	}
	return train.Objective{{
		Name: "membership", X: array.Convert[float32](known.stacked()),
		Targets: []train.Target{{
			Loss: loss.BinaryCrossEntropy{}, Inputs: map[string]array.Matrix[float32]{loss.Probabilities: answers}, Weight: 1,
		}},
	}}
}
