// RMU: the activations of forgotten texts are misdirected.

package unlearn

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/text"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/train"
)

// RMU is representation misdirection for unlearning (Li et al. 2024, section 4, equations 1 and 2):
// the activations h of a layer at the tokens of forgotten answers are drawn to one random direction,
// those of retained answers to what they were. In TextFit, with D numbers per token, F and R are the
// means over records and their answers' tokens of
//
//	||h - Coefficient u||^2 / D    and    ||h - h_0||^2 / D
//
// where u is uniform in [0, 1)^D divided by its norm, and h_0 the original's activations.
//
// Differences from open-unlearning: (1) Layer is the middle one, where the program takes the eighth
// of Llama's; the others are those of TextFit. Differences from the authors' program: (2) all weights
// are trained, where it trains three matrices; (3) every token of an answer counts, and no token of a
// question, where it has texts without questions. KL has no meaning here and is refused.
type RMU struct {
	Layer       int     `json:"layer,omitempty"` // from 1; 0: the middle one
	Coefficient float64 `json:"coefficient,omitempty" default:"2"`
	TextFit
}

// Info implements Method.
func (RMU) Info() Info {
	return Info{
		Name: "rmu", Sees: Sees{Original: true, Forget: true, Retain: true}, NextToken: true,
		Does: "draws the activations of forgotten texts to a random direction and keeps those of retained ones",
		From: "Li et al. 2024, in the setting of open-unlearning",
	}
}

// SetDefaults implements defaults.Setter.
func (m *RMU) SetDefaults() { m.setDefaults(10, 1) }

// activationModel is a language model that can show the activations of a layer; layer 0 is the middle
// one. It returns their number for a token.
type activationModel interface {
	WithActivations(layer int) (a model.Architecture, width int, err error)
}

// AtRate implements Rated.
func (m RMU) AtRate(lr float64) RMU {
	m.LR = lr
	return m
}

// Unlearn implements Method.
func (m RMU) Unlearn(ctx context.Context, r Request) (*Outcome, error) {
	if m.KL {
		return nil, errors.New("compares activations, and has no form with KL")
	}
	shows, is := r.Runner.Arch.(activationModel)
	if !is {
		return nil, fmt.Errorf("needs a network that shows the activations of a layer, and %s does not", r.Runner.Arch.Name())
	}
	arch, width, err := shows.WithActivations(m.Layer)
	if err != nil {
		return nil, err
	}
	if r.Runner, err = model.NewRunner(r.Runner.Engine, arch); err != nil {
		return nil, err
	}
	u := m.direction(r.Seed, width)
	away := func(_ Request, n text.NextTokenModel, d Data) (train.Target, error) {
		in, err := n.NextInputs(d.X)
		if err != nil {
			return train.Target{}, err
		}
		to := array.New[float32](d.X.Rows, width)
		for i := range to.Rows {
			copy(to.Row(i), u)
		}
		inputs := map[string]array.Matrix[float32]{loss.NextWeights: in[loss.NextWeights], loss.Target: to}
		return train.Target{Loss: loss.ActivationDistance{Width: width}, Inputs: inputs, Weight: 1}, nil
	}
	stay := func(_ Request, n text.NextTokenModel, d Data) (train.Target, error) {
		in, err := n.NextInputs(d.X)
		inputs := map[string]array.Matrix[float32]{loss.NextWeights: in[loss.NextWeights]}
		return train.Target{Loss: loss.ActivationDistance{Width: width, Teacher: true}, Inputs: inputs, Weight: 1}, err
	}
	return m.run(ctx, r, away, stay, true)
}

// direction draws Coefficient u.
func (m RMU) direction(seed engine.Root, width int) []float32 {
	rng, u, norm := seed.Stream(engine.StreamDirection), make([]float64, width), 0.0
	for i := range u {
		u[i] = rng.Float64()
		norm = math.Hypot(norm, u[i])
	}
	out := make([]float32, width)
	for i, v := range u {
		out[i] = float32(m.Coefficient * v / norm)
	}
	return out
}
