// Fisher scrubbing of "Fishing for Privacy".

package unlearn

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/train"
)

// FisherScrub is the Fisher scrubbing of "Fishing for Privacy" as coded (section 4.2,
// appendix B; after Golatkar et al. 2020). With S the sum of the original's objective over
// records, and batches b of 256 retained ones,
//
//	F = Damping + 1/n sum over b of (grad S(b))^2
//
// at the original, each of 100 steps moves every weight by
//
//	Rate grad S(Df) / F, but at most by Bound up or down
//
// with Damping 0.1, Rate 1e-4 and Bound 1e-3. Then 10 epochs of Adam at 1e-4 on the retain
// set lower the mean, over records and elements, of its reconstruction and of the
// divergence of its latent variables; the last weights are returned. Dropout and latent
// variables are drawn throughout.
//
// Consequences: (1) F is the retain set's, where the paper says the forget set's, and it is
// the squared gradient of a batch's sum, not a Fisher information. (2) Nearly every step
// reaches the bound: 100 steps move a weight by 0.1, which destroys the network. (3) The
// mean over elements weights the divergence as if beta were the number of genes, so that
// the latent variables collapse to the prior. With Sum the fine-tuning uses the original's
// objective.
type FisherScrub struct {
	Damping float64 `json:"damping,omitempty" default:"0.1"`
	Rate    float64 `json:"rate,omitempty" default:"1e-4"`
	Bound   float64 `json:"bound,omitempty" default:"1e-3"`
	Steps   int     `json:"steps,omitempty" default:"100"`
	Epochs  int     `json:"epochs,omitempty" default:"10"` // of the fine-tuning
	LR      float64 `json:"lr,omitempty" default:"1e-4"`   // of the fine-tuning
	Batch   int     `json:"batch,omitempty" default:"256"` // in the fine-tuning a request's own batch size has priority
	Sum     bool    `json:"sum,omitempty"`
	Untuned bool    `json:"untuned,omitempty"`
}

// Info implements Method.
func (FisherScrub) Info() Info {
	return Info{
		Name: "fisher-scrub", Sees: Sees{Original: true, Forget: true, Retain: true}, General: true,
		Does: "raises the loss of the forget set where the retain set's gradients are small, then goes on training on the retain set",
		From: "Fishing for Privacy, as coded, after Golatkar et al. 2020",
	}
}

// Unlearn implements Method.
func (m FisherScrub) Unlearn(ctx context.Context, r Request) (*Outcome, error) {
	if !(m.Damping > 0 && m.Rate > 0 && m.Bound > 0) || m.Batch < 1 {
		return nil, fmt.Errorf("damping %v, rate %v, bound %v and batches of %d; all must be positive", m.Damping, m.Rate, m.Bound, m.Batch)
	}
	p, err := m.scrub(ctx, r)
	if err != nil {
		return nil, err
	}
	note := "scrubbing moved the weights by " + distanceText(p, r.Original)
	if m.Untuned {
		return &Outcome{Params: p, Note: note}, nil
	}
	o, err := r.objective("retain", r.Retain, false, 1)
	if err != nil {
		return nil, err
	}
	if !m.Sum {
		o = perElement(o)
	}
	c := train.Config{Batch: cmp.Or(r.Batch, m.Batch), Optimizer: nn.Adam{LR: m.LR}, Seed: r.Seed}
	c.Epochs = r.stepScale.epochs(m.Epochs, c, o)
	p, history, err := train.Fit(ctx, r.Runner, p, o, c, r.Hooks)
	if err != nil {
		return nil, err
	}
	return &Outcome{Params: p, History: history, Note: note}, nil
}

// scrub is the first stage.
func (m FisherScrub) scrub(ctx context.Context, r Request) (nn.Params, error) {
	n := float64(r.Forget.X.Rows)
	up, err := r.objective("forget", r.Forget, false, -n)
	if err != nil {
		return nil, err
	}
	retain, err := r.objective("retain", r.Retain, false, 1)
	if err != nil {
		return nil, err
	}
	f, err := train.BatchSquaredGradients(ctx, r.Runner, r.Original, retain, m.Batch, train.Mode{Training: true, Seed: r.Seed})
	if err != nil {
		return nil, err
	}
	plan := train.Plan{Passes: singlePass(up), Transforms: train.Chain{scrubTransform{m, f}}}
	c := train.Config{Epochs: m.Steps, Optimizer: nn.SGD{LR: 1}, Seed: r.Seed}
	p, _, err := train.FitPlan(ctx, r.Runner, r.Original, plan, c, train.Hooks{})
	return p, err
}

// scrubTransform turns a gradient into the step that is taken.
type scrubTransform struct {
	FisherScrub
	squares [][]float64
}

// Transform implements train.GradientTransform.
func (t scrubTransform) Transform(s *train.GradientStep) error {
	for i, g := range s.Grads {
		for j, v := range g {
			step := t.Rate * v / (t.squares[i][j] + t.Damping)
			g[j] = math.Max(-t.Bound, math.Min(t.Bound, step))
		}
	}
	return nil
}

var _ train.GraphTransform = scrubTransform{}

// Graph implements train.GraphTransform.
func (t scrubTransform) Graph(like nn.Params) train.GraphForm {
	rates := make([][]float32, len(like))
	for i, w := range like {
		rates[i] = make([]float32, len(w.Data))
		for j := range t.squares[i] { // none for a tensor that is state
			rates[i][j] = float32(t.Rate / (t.squares[i][j] + t.Damping))
		}
	}
	return train.GraphForm{
		Key: fmt.Sprint(t.Bound), Fixed: rates,
		Transform: func(s *train.GraphStep) {
			s.Change(func(i int, g *graph.Node) *graph.Node {
				return graph.ClipScalar(graph.Mul(g, s.Fixed[i]), -t.Bound, t.Bound)
			})
		},
	}
}

// perElement divides every loss that compares an output with a target by the number of the
// target's elements.
func perElement(o train.Objective) train.Objective {
	for i := range o {
		o[i].Targets = slices.Clone(o[i].Targets)
		for k, t := range o[i].Targets {
			if target, ok := t.Inputs[loss.Target]; ok {
				o[i].Targets[k].Weight /= float64(target.Cols)
			}
		}
	}
	return o
}
