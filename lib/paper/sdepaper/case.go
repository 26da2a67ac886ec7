package sdepaper

// One case, opened step by step, for notebooks.

import (
	"context"
	"fmt"

	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
	"github.com/lethe-ml/lethe/lib/verify/sde"
)

// Case is one seed of a scale's first setting and first fraction, for notebooks: the models of
// the tables and the sets that are judged in them. It draws the same records and subsets as the
// tables.
type Case struct {
	Study
	Seed           int
	Forget, Retain []int // rows of the training part
	HeldOut        int   // test images
	// Draw is the number of the draw of references and targets; the tables have draws 0 ...
	// Draws-1.
	Draw int

	labEnv     *labEnv
	set        *prepared
	env        *paper.Env
	inner      *lab.Case
	original   nn.Params
	trajectory map[int]nn.Params // weights of the retraining, by per cent of the epochs
	fraction   float64
}

// OpenCase trains the models of a seed, or finds them in the store.
func OpenCase(ctx context.Context, e *paper.Env, scale string, seed int) (*Case, error) {
	s, err := StudyAt(scale)
	if err != nil {
		return nil, err
	}
	return openCase(ctx, e, s, seed)
}

func openCase(ctx context.Context, e *paper.Env, s Study, seed int) (*Case, error) {
	if seed < 0 || seed >= s.Seeds {
		return nil, fmt.Errorf("seed %d is not one of 0 ... %d of scale %s", seed, s.Seeds-1, s.Scale)
	}
	d := newLabEnv(e)
	p, err := d.openSetting(ctx, s.Settings[0])
	if err != nil {
		return nil, err
	}
	c := &Case{Study: s, Seed: seed, env: e, labEnv: d, set: p, fraction: s.Fractions[0], HeldOut: p.Test.X.Rows}
	if c.inner, err = d.openCase(ctx, s, p.Setting, c.fraction, seed); err != nil {
		return nil, err
	}
	c.Forget, c.Retain = c.inner.Forget, c.inner.Retain
	if c.original, _, err = c.inner.Weights(ctx, unlearn.NoOp{}); err != nil {
		return nil, err
	}
	trained, err := c.inner.TrainedModel(ctx, c.inner.Oracle())
	if err != nil {
		return nil, err
	}
	c.trajectory = map[int]nn.Params{0: p.untrained(seed), 100: trained.Final}
	for _, percent := range s.Checkpoints {
		c.trajectory[percent] = trained.AtEpoch[p.epochAt(percent)]
	}
	return c, nil
}

// Source is the source line of figures of the case.
func (c *Case) Source() string { return c.source(c.Seed) }

// SourceOfAll is the source line for the cases of all seeds.
func (c *Case) SourceOfAll() string { return c.source(seedsBelow(c.Seeds)...) }

func (c *Case) source(seeds ...int) string {
	p := c.env.Provenance("", c.Scale, Results, seeds, map[string]string{c.set.About.Name: c.set.Hash}, nil)
	return fmt.Sprintf("%s, R = %s \u00b7 %s", c.set.Label, percent(c.fraction), p.Line())
}

// Network is one model of a case.
type Network struct {
	Label   string
	weights nn.Params
	layers  map[string]*layerData
}

// Original is the model that was trained on all images.
func (c *Case) Original() *Network {
	return &Network{Label: "original", weights: c.original}
}

// Retrained is the model that never saw the forgotten images, after some per cent of its epochs:
// one of the study's Checkpoints, 0 for the untrained network or 100 for the end.
func (c *Case) Retrained(percent int) (*Network, error) {
	w, ok := c.trajectory[percent]
	if !ok {
		return nil, fmt.Errorf("no weights were kept after %d %% of the epochs; there are 0, %v and 100", percent, c.Checkpoints)
	}
	return &Network{Label: fmt.Sprintf("retrained, %d %% of the epochs", percent), weights: w}, nil
}

// Unlearn applies a method to the original, or finds the result in the store.
func (c *Case) Unlearn(ctx context.Context, label string, m unlearn.Method) (*Network, error) {
	w, _, err := c.inner.Weights(ctx, m)
	if err != nil {
		return nil, err
	}
	return &Network{Label: label, weights: w}, nil
}

// Row measures a variant of table 4 in this case, or finds the result in the store. Variants
// that are not in Variants are allowed: a method in another setting under its own label.
func (c *Case) Row(ctx context.Context, a Variant) (*Unlearned, error) {
	row, _, err := c.labEnv.unlearned(ctx, c.Study, c.set, c.fraction, c.Seed, a)
	return row, err
}

// Accuracy is the accuracy on the three parts of the images, with Wilson's 95 % interval over
// images.
func (c *Case) Accuracy(n *Network) (lab.Accuracy, error) {
	onTrain, err := c.set.Runner.Predict(n.weights, c.set.Train.X)
	if err != nil {
		return lab.Accuracy{}, err
	}
	onTest, err := c.set.Runner.Predict(n.weights, c.set.Test.X)
	if err != nil {
		return lab.Accuracy{}, err
	}
	share := func(p float64, images int) stats.Estimate {
		e := stats.Wilson(p, images, 0.95)
		e.Over, e.Better = "images", stats.HigherIsBetter
		return e
	}
	on := func(rows []int) stats.Estimate {
		return share(train.Accuracy(onTrain.Logits().Gather(rows), c.set.Records(rows).Y), len(rows))
	}
	return lab.Accuracy{Retain: on(c.Retain), Forget: on(c.Forget), Test: share(train.Accuracy(onTest.Logits(), c.set.Test.Y), c.HeldOut)}, nil
}

// Bandwidth is the paper's bandwidth for a layer.
func (c *Case) Bandwidth(layer string) sde.Bandwidth { return c.set.bandwidth(layer) }

// layerData are the activations of a layer, computed once per model.
func (n *Network) layerData(c *Case, layer string) (*layerData, error) {
	if s, ok := n.layers[layer]; ok {
		return s, nil
	}
	s, err := c.newJudgeRun().layerData(n.weights, layer)
	if err != nil {
		return nil, err
	}
	if n.layers == nil {
		n.layers = map[string]*layerData{}
	}
	n.layers[layer] = s
	return s, nil
}
