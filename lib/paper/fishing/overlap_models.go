package fishing

// The models whose Fisher information is compared.

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/lethe-ml/lethe/datasets"
	datacells "github.com/lethe-ml/lethe/datasets/cells"
	"github.com/lethe-ml/lethe/lib/defaults"
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

// The models whose Fisher information is compared.
const (
	ModelVAE         = "VAE"                        // the paper's autoencoder
	ModelRetrained   = "VAE, retrained"             // on the retain set
	ModelConditional = "VAE, conditional"           // given the cells' types
	ModelNarrow      = "VAE, narrow"                // with a quarter of the latent variables
	ModelNarrowAgain = "VAE, narrow, retrained"     // on the retain set
	ModelDeep        = "deep classifier"            // of the cells' types
	ModelDeepAgain   = "deep classifier, retrained" // on the retain set
	ModelLinear      = "linear classifier"          // of the types, on latent means
)

// The groups of tensors in which the Fisher information of a model is compared.
const (
	LayerEncoder    = "encoder"
	LayerBottleneck = "bottleneck"
	LayerDecoder    = "decoder, hidden"
	LayerOutput     = "output"
	LayerClusters   = "output, cluster columns"
	LayerHidden     = "hidden"
)

// head is the weight tensor of the decoder's mean.
const head = "proportion.weight"

// deepClassifier is the paper's deep classifier of cell types.
var deepClassifier = tabular.Blocks{}

// comparedModel is a model with the objective of its information.
type comparedModel struct {
	name    string
	control bool
	*lab.Problem
	goal    lab.Goal
	weights nn.Params
	layer   func(tensor string) string
	columns int // columns of the decoder's head that take hidden units; 0: all
}

// objective is the loss over rows of the train part, as unlearning methods minimise it.
func (s comparedModel) objective(rows []int) (train.Objective, error) {
	return s.goal.Objective(s.Problem, rows)
}

// splitDiagonal splits the head of a conditional network in two tensors.
func (s comparedModel) splitDiagonal(d fisher.Diagonal) (fisher.Diagonal, error) {
	if s.columns == 0 {
		return d, nil
	}
	return d.Split(head, s.columns)
}

// comparedModels are the models of a case.
func comparedModels(ctx context.Context, c *lab.Case, of Case) ([]comparedModel, error) {
	var out []comparedModel
	deep, err := c.Lab.Case(ctx, of.deep(c.Seed-c.Shift))
	if err != nil {
		return nil, err
	}
	narrow, err := c.Lab.Case(ctx, of.narrow(c.Seed-c.Shift))
	if err != nil {
		return nil, err
	}
	for _, m := range []struct {
		name   string
		c      *lab.Case
		layer  func(string) string
		method unlearn.Method
	}{
		{ModelVAE, c, autoencoderLayer, unlearn.NoOp{}}, {ModelRetrained, c, autoencoderLayer, unlearn.Retrain{}},
		{ModelNarrow, narrow, autoencoderLayer, unlearn.NoOp{}}, {ModelNarrowAgain, narrow, autoencoderLayer, unlearn.Retrain{}},
		{ModelDeep, deep, classifierLayer, unlearn.NoOp{}}, {ModelDeepAgain, deep, classifierLayer, unlearn.Retrain{}},
	} {
		w, _, err := m.c.Weights(ctx, m.method)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.name, err)
		}
		_, again := m.method.(unlearn.Retrain)
		out = append(out, comparedModel{name: m.name, control: again, Problem: m.c.Problem, goal: finalGoal(m.c.Goal), weights: w, layer: m.layer})
	}
	conditional, err := conditionalModel(ctx, c, of)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", ModelConditional, err)
	}
	linear, err := linearModel(ctx, c, out[0].weights)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", ModelLinear, err)
	}
	return slices.Insert(append(out, linear), 2, conditional), nil
}

// finalGoal is a goal at the end of its schedule.
func finalGoal(g lab.Goal) lab.Goal {
	if s, ok := g.(lab.FinalGoal); ok {
		return s.FinalGoal()
	}
	return g
}

func autoencoderLayer(tensor string) string {
	if tensor == fisher.SecondPartName(head) {
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

func classifierLayer(tensor string) string {
	if (tabular.Blocks{}).Part(tensor) == "output" {
		return LayerOutput
	}
	return LayerHidden
}

// conditional is the case of the paper's conditional autoencoder: the same cells with their
// types behind the genes. (The paper uses the Leiden cluster.)
func (c Case) conditional() Case {
	c.prepare(func(p *datacells.Preparation) { p.Types = true })
	if m, ok := c.Model.(vae.Cells); ok {
		c.Model = conditionalCells{m}
	}
	return c
}

// conditionalCells is an autoencoder that is given the type of a cell.
type conditionalCells struct{ of vae.Cells }

// ForData implements model.Network.
func (n conditionalCells) ForData(s model.Sizes) (model.Architecture, error) {
	n.of.Clusters = s.Classes
	return n.of.ForData(s)
}

// conditionalModel is the conditional autoencoder.
func conditionalModel(ctx context.Context, c *lab.Case, of Case) (comparedModel, error) {
	with, err := c.Lab.Case(ctx, of.conditional().setting(c.Seed-c.Shift))
	if err != nil {
		return comparedModel{}, err
	}
	m, ok := defaults.Fill(with.Problem.Arch).(vae.Cells)
	if !ok {
		return comparedModel{}, fmt.Errorf("%s cannot be made conditional", c.Problem.Arch.Name())
	}
	w, _, err := with.Weights(ctx, unlearn.NoOp{})
	if err != nil {
		return comparedModel{}, err
	}
	last := m.Latent
	if len(m.Hidden) > 0 {
		last = m.Hidden[0]
	}
	return comparedModel{name: ModelConditional, Problem: with.Problem, goal: finalGoal(with.Goal), weights: w, layer: autoencoderLayer, columns: last}, nil
}

// linearModel trains the paper's linear classifier on the latent means of an autoencoder: 200
// full-batch steps of Adam at 0.01.
func linearModel(ctx context.Context, c *lab.Case, autoencoder nn.Params) (comparedModel, error) {
	m := c.NewModel(ModelVAE, autoencoder)
	o, err := m.Outputs()
	if err != nil {
		return comparedModel{}, err
	}
	data := *c.Prepared
	data.Train.X, data.Test.X, data.Hash = o.Train.Embedding, o.Test.Embedding, derivedHash(c.Hash, autoencoder.Hash())
	p, err := c.Lab.JoinDerived(&data, tabular.Blocks{Features: data.Train.X.Cols, Outputs: c.Classes(), Linear: true})
	if err != nil {
		return comparedModel{}, err
	}
	s := comparedModel{name: ModelLinear, Problem: p, goal: lab.Labels{}, layer: classifierLayer}
	fit := train.Config{Epochs: 200, Optimizer: nn.Adam{LR: 1e-2}, Seed: engine.Root(c.Seed)}
	t, err := c.Lab.Train(ctx, lab.Training{Problem: p, Fit: fit, Rows: allRows(data.Train)})
	if err != nil {
		return comparedModel{}, err
	}
	s.weights = t.Final
	return s, nil
}

func derivedHash(hash, what string) string {
	h := sha256.Sum256([]byte(hash + " " + what))
	return hex.EncodeToString(h[:])
}

func allRows(p datasets.Part) []int {
	out := make([]int, p.X.Rows)
	for i := range out {
		out[i] = i
	}
	return out
}

// accuracy is a classifier's accuracy on its training cells, 0 for other models.
func (s comparedModel) accuracy() (float64, error) {
	if _, ok := s.Arch.(model.Classifier); !ok {
		return 0, nil
	}
	p, err := s.Runner.Predict(s.weights, s.Train.X)
	if err != nil {
		return 0, err
	}
	return train.Accuracy(p.Logits(), s.Train.Y), nil
}
