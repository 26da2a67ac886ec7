package fishing

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/tabular"
	"github.com/lethe-ml/lethe/lib/model/vae"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
	"github.com/lethe-ml/lethe/lib/verify/fisher"
)

// The models whose Fisher information is compared, and the layers of theirs.
const (
	ModelVAE         = "VAE"
	ModelRetrained   = "VAE, retrained"
	ModelConditional = "VAE, conditional"
	ModelNarrow      = "VAE, narrow"
	ModelNarrowAgain = "VAE, narrow, retrained"
	ModelDeep        = "deep classifier"
	ModelDeepAgain   = "deep classifier, retrained"
	ModelLinear      = "linear classifier"

	LayerEncoder    = "encoder"
	LayerBottleneck = "bottleneck"
	LayerDecoder    = "decoder, hidden"
	LayerOutput     = "output"
	LayerClusters   = "output, cluster columns"
	LayerHidden     = "hidden"
)

// head is the weight tensor of the decoder's mean.
const head = "proportion.weight"

func deepClassifier(features, classes int) model.Architecture {
	return tabular.Blocks{Features: features, Outputs: classes}
}

// subject is a model with what its information is of.
type subject struct {
	name    string
	control bool
	*lab.Problem
	goal    lab.Goal
	weights nn.Params
	layer   func(tensor string) string
	columns int // of the decoder's head that hidden units feed; 0: all
}

// objective is over rows of the train part: what unlearning methods minimise.
func (s subject) objective(rows []int) (train.Objective, error) {
	return s.goal.Objective(s.Problem, rows)
}

// parted cuts the head of a conditional network in two.
func (s subject) parted(d fisher.Diagonal) (fisher.Diagonal, error) {
	if s.columns == 0 {
		return d, nil
	}
	return d.Split(head, s.columns)
}

// subjects are the models of a case.
func subjects(ctx context.Context, c *lab.Case, of Case) ([]subject, error) {
	var out []subject
	deep, err := c.Lab.Case(ctx, of.deep(c.Seed-c.Shift))
	if err != nil {
		return nil, err
	}
	narrow, err := c.Lab.Case(ctx, of.narrow(c.Seed-c.Shift))
	if err != nil {
		return nil, err
	}
	for _, m := range []struct {
		name  string
		c     *lab.Case
		layer func(string) string
		arm   unlearn.Method
	}{
		{ModelVAE, c, layerOfCells, unlearn.DoNothing{}}, {ModelRetrained, c, layerOfCells, unlearn.Retrain{}},
		{ModelNarrow, narrow, layerOfCells, unlearn.DoNothing{}}, {ModelNarrowAgain, narrow, layerOfCells, unlearn.Retrain{}},
		{ModelDeep, deep, layerOfBlocks, unlearn.DoNothing{}}, {ModelDeepAgain, deep, layerOfBlocks, unlearn.Retrain{}},
	} {
		w, _, err := m.c.Weights(ctx, m.arm)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.name, err)
		}
		_, again := m.arm.(unlearn.Retrain)
		out = append(out, subject{name: m.name, control: again, Problem: m.c.Problem, goal: settled(m.c.Goal), weights: w, layer: m.layer})
	}
	conditional, err := conditionalOf(ctx, c, of)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", ModelConditional, err)
	}
	linear, err := linearOf(ctx, c, out[0].weights)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", ModelLinear, err)
	}
	return slices.Insert(append(out, linear), 2, conditional), nil
}

// settled is a goal after its schedule.
func settled(g lab.Goal) lab.Goal {
	if s, ok := g.(lab.Settling); ok {
		return s.Settled()
	}
	return g
}

func layerOfCells(tensor string) string {
	if tensor == fisher.SecondOf(head) {
		return LayerClusters
	}
	switch part := (vae.Cells{}).Part(tensor); part {
	case "decoder":
		return LayerDecoder
	case "encoder":
		return LayerEncoder
	case "bottleneck":
		return LayerBottleneck
	}
	return LayerOutput
}

func layerOfBlocks(tensor string) string {
	if (tabular.Blocks{}).Part(tensor) == "output" {
		return LayerOutput
	}
	return LayerHidden
}

// conditional is a case of the paper's conditional autoencoder, of the same cells with
// their types behind the genes. (The paper gives it the Leiden cluster.)
func (c Case) conditional() Case {
	arch := c.Arch
	c.Cells.Types = true
	c.Arch = func(features, types int) model.Architecture {
		m, ok := arch(features-types, types).(vae.Cells)
		if !ok {
			return arch(features, types)
		}
		m.Clusters = types
		return m
	}
	return c
}

// conditionalOf is the conditional autoencoder.
func conditionalOf(ctx context.Context, c *lab.Case, of Case) (subject, error) {
	with, err := c.Lab.Case(ctx, of.conditional().at(c.Seed-c.Shift))
	if err != nil {
		return subject{}, err
	}
	m, ok := with.Problem.Arch.Resolved().(vae.Cells)
	if !ok {
		return subject{}, fmt.Errorf("%s cannot be made conditional", c.Problem.Arch.Name())
	}
	w, _, err := with.Weights(ctx, unlearn.DoNothing{})
	if err != nil {
		return subject{}, err
	}
	last := m.Latent
	if len(m.Hidden) > 0 {
		last = m.Hidden[0]
	}
	return subject{name: ModelConditional, Problem: with.Problem, goal: settled(with.Goal), weights: w, layer: layerOfCells, columns: last}, nil
}

// linearOf trains the paper's linear classifier: of the means of an autoencoder's
// latent variables, 200 full-batch steps of Adam at 0.01.
func linearOf(ctx context.Context, c *lab.Case, autoencoder nn.Params) (subject, error) {
	m := c.Model(ModelVAE, autoencoder)
	o, err := m.Outputs()
	if err != nil {
		return subject{}, err
	}
	data := *c.Prepared
	data.Train.X, data.Test.X, data.Hash = o.Train.Embedding, o.Test.Embedding, derived(c.Hash, autoencoder.Hash())
	p, err := c.Lab.JoinDerived(&data, tabular.Blocks{Features: data.Train.X.Cols, Outputs: c.Classes(), Linear: true})
	if err != nil {
		return subject{}, err
	}
	s := subject{name: ModelLinear, Problem: p, goal: lab.Labels{}, layer: layerOfBlocks}
	fit := train.Config{Epochs: 200, Optimizer: nn.Adam{LR: 1e-2}, Seed: engine.Root(c.Seed)}
	t, err := c.Lab.Train(ctx, lab.Training{Problem: p, Fit: fit, Rows: everyone(data.Train)})
	if err != nil {
		return subject{}, err
	}
	s.weights = t.Final
	return s, nil
}

func derived(hash, what string) string {
	h := sha256.Sum256([]byte(hash + " " + what))
	return hex.EncodeToString(h[:])
}

func everyone(p datasets.Part) []int {
	out := make([]int, p.X.Rows)
	for i := range out {
		out[i] = i
	}
	return out
}

// accuracy is a classifier's on the cells that it was trained on, 0 of other models.
func (s subject) accuracy() (float64, error) {
	if _, ok := s.Arch.(model.Classifier); !ok {
		return 0, nil
	}
	p, err := s.Runner.Predict(s.weights, s.Train.X)
	if err != nil {
		return 0, err
	}
	return train.Accuracy(p.Logits(), s.Train.Y), nil
}
