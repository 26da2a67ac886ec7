// Training an autoencoder against critics.

package unlearn

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/attack/features"
	"github.com/lethe-ml/lethe/lib/attack/learned"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/train"
)

// criticGame is a request's autoencoder together with critics, to be trained against each
// other.
type criticGame struct {
	Request
	runner *model.Runner // of a criticModel
	// start are the original's weights, followed by the critics'.
	start nn.Params
}

// CriticConfig says how the three critics of the adversarial methods of "Fishing for
// Privacy" are trained: perceptrons with two hidden layers, spectral norm and dropout 0.3,
// one on all features of the autoencoder's outputs for a record, one on all but the two
// norms, one on the three losses. They are trained on the original's features, with nothing
// drawn.
type CriticConfig struct {
	Hidden int      `json:"hidden,omitempty" default:"256"` // units per layer
	Steps  int      `json:"steps,omitempty" default:"100"`
	Batch  int      `json:"batch,omitempty" default:"64"` // non-members per step
	LR     float64  `json:"lr,omitempty" default:"1e-3"`
	Decay  *float64 `json:"decay,omitempty" default:"1e-4"` // new(0.0): none
}

// newCriticGame combines the original with critics that were trained to distinguish the
// forget set from others. Standardised critics see features of mean 0 and variance 1 over
// both. Frozen ones are fixed as in inference.
func (r Request) newCriticGame(ctx context.Context, c CriticConfig, others Data, standardised, frozen bool) (*criticGame, error) {
	w, err := r.newFeatureModel()
	if err != nil {
		return nil, err
	}
	known, err := w.attackRecords(w.start, others)
	if err != nil {
		return nil, err
	}
	arch, view := w.runner.Arch.(criticModel), w.start[len(w.start)-2:]
	if standardised {
		mean, factor := []float64(nil), []float64(nil)
		known, mean, factor = known.Standardised()
		for j := range mean {
			view[0].Data[j], view[1].Data[j] = float32(mean[j]), float32(factor[j])
		}
	}
	p := slices.Clone(w.start)
	full, withoutNorms, losses := features.Counts(model.OutputWidths(arch)[loss.LatentMean])
	for k, n := range []int{full, withoutNorms, losses} {
		net := learned.Network{Features: n, Hidden: []int{c.Hidden, c.Hidden}, Dropout: 0.3, Spectral: true}
		q, err := r.trainCritic(ctx, c, net, known.First(n), k)
		if err != nil {
			return nil, fmt.Errorf("critic %d: %w", k+1, err)
		}
		if net.Dropout = 0; frozen {
			net, q = net.Folded(q)
		}
		arch.Critics, p = append(arch.Critics, net), append(p, criticParams(k, q)...)
	}
	w.start = p
	w.runner, err = model.NewRunner(r.Runner.Engine, arch)
	return w, err
}

// trainCritic trains one critic.
func (r Request) trainCritic(ctx context.Context, c CriticConfig, net learned.Network, known learned.Records, k int) (nn.Params, error) {
	runner, err := model.NewRunner(r.Runner.Engine, net)
	if err != nil {
		return nil, err
	}
	d := learned.CriticTraining{Steps: c.Steps, Batch: c.Batch, LR: c.LR, Decay: *c.Decay}
	return d.Fit(ctx, runner, known, engine.Root(r.Seed.Counter(engine.StreamCritic, 0, uint64(k))))
}

// newFeatureModel returns the original with its features as an output, without critics.
func (r Request) newFeatureModel() (*criticGame, error) {
	recon, err := r.reconstructionTarget(r.Forget)
	if err != nil {
		return nil, err
	}
	arch := criticModel{Of: r.Runner.Arch, Recon: recon.Loss}
	runner, err := model.NewRunner(r.Runner.Engine, arch)
	if err != nil {
		return nil, err
	}
	p := model.InitialWeights(arch, engine.Root(0).Stream(engine.StreamInit))
	copy(p, r.Original.Clone())
	return &criticGame{Request: r, runner: runner, start: p}, nil
}

// reconstructionTarget returns the part of the original's objective that compares an output
// with a target.
func (r Request) reconstructionTarget(d Data) (train.Target, error) {
	o, err := r.objective("records", d, false, 1)
	if err != nil {
		return train.Target{}, err
	}
	if r.Augment != nil {
		return train.Target{}, errors.New("critics need unchanged records, but the request augments them")
	}
	var found []train.Target
	for _, t := range o {
		for _, g := range t.Targets {
			if _, ok := g.Inputs[loss.Target]; ok {
				found = append(found, g)
			}
		}
	}
	if len(o) != 1 || len(found) != 1 {
		return train.Target{}, fmt.Errorf("needs a variational autoencoder that was trained for one term with one reconstruction, not %d terms with %d",
			len(o), len(found))
	}
	return found[0], nil
}

// attackRecords returns the features of the forget set, as members, and of others.
func (w *criticGame) attackRecords(p nn.Params, others Data) (learned.Records, error) {
	members, err := w.features(p, w.Forget)
	if err != nil {
		return learned.Records{}, err
	}
	out, err := w.features(p, others)
	return learned.Records{Members: members, Nonmembers: out}, err
}

// features returns the features of the autoencoder with weights p for records, with nothing
// drawn.
func (w *criticGame) features(p nn.Params, d Data) (array.Matrix[float64], error) {
	x, err := w.appendTargets(d)
	if err != nil {
		return array.Matrix[float64]{}, err
	}
	out, err := w.runner.PredictOutputs(p, x, featuresOutput)
	if err != nil {
		return array.Matrix[float64]{}, err
	}
	return array.Convert[float64](out.Outputs[featuresOutput]), nil
}

// appendTargets returns records followed by the inputs of their reconstruction loss.
func (w *criticGame) appendTargets(d Data) (array.Matrix[float32], error) {
	g, err := w.reconstructionTarget(d)
	if err != nil {
		return array.Matrix[float32]{}, err
	}
	arch := w.runner.Arch.(criticModel)
	names, _ := arch.extraInputs()
	out := array.New[float32](d.X.Rows, arch.Inputs())
	for i := range d.X.Rows {
		row := append(out.Row(i)[:0], d.X.Row(i)...)
		for _, name := range names {
			row = append(row, g.Inputs[name].Row(i)...)
		}
	}
	return out, nil
}

// term returns a term of records for the critics.
func (w *criticGame) term(name string, d Data, whole bool, targets ...train.Target) (train.Term, error) {
	x, err := w.appendTargets(d)
	return train.Term{Name: name, X: x, IDs: d.IDs, Whole: whole, Targets: targets}, err
}

// criticTerm returns the critics' mean cross-entropy with one label for all records.
func (w *criticGame) criticTerm(name string, d Data, whole bool, answer float32, weight float64) (train.Term, error) {
	n := len(w.runner.Arch.(criticModel).Critics)
	return w.term(name, d, whole, train.Target{
		Loss: loss.BinaryCrossEntropy{}, Weight: weight / float64(n),
		Inputs: map[string]array.Matrix[float32]{loss.Probabilities: learned.ConstantTargets(d.X.Rows, n, answer)},
	})
}

// utilityTerm returns the original's objective on the retain set, with the weights of the
// reconstruction and of everything else multiplied.
func (w *criticGame) utilityTerm(recon, rest float64) (train.Term, error) {
	o, err := w.objective("retain", w.Retain, false, 1)
	if err != nil {
		return train.Term{}, err
	}
	targets := slices.Clone(o[0].Targets)
	for k, g := range targets {
		if _, ok := g.Inputs[loss.Target]; ok {
			targets[k].Weight *= recon
		} else {
			targets[k].Weight *= rest
		}
	}
	return w.term("retain", w.Retain, false, targets...)
}

// elements returns the number of a reconstruction's elements, and of latent variables.
func (w *criticGame) elements() (genes, latent float64) {
	arch := w.runner.Arch.(criticModel)
	_, widths := arch.extraInputs()
	return float64(widths[loss.Target]), float64(model.OutputWidths(arch)[loss.LatentMean])
}

// play trains the model against its critics and returns the model.
func (w *criticGame) play(ctx context.Context, plan train.Plan, c train.Config) (*Outcome, error) {
	p, history, err := train.FitPlan(ctx, w.runner, w.start, plan, c, w.Hooks)
	if err != nil {
		return nil, err
	}
	return &Outcome{Params: p[:len(w.Original)], History: history}, nil
}

// modelPlayer returns the player who owns the autoencoder's weights.
func (w *criticGame) modelPlayer(o train.Objective, lr float64) train.Player {
	p := train.Player{Name: "model", Objective: o, Optimizer: nn.Adam{LR: lr}}
	for _, v := range w.Original {
		p.Owns = append(p.Owns, v.Name)
	}
	return p
}
