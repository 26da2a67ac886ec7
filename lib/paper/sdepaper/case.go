package sdepaper

// One case, opened step by step, for notebooks.

import (
	"context"
	"fmt"
	"slices"

	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/stats"
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

	env      *paper.Env
	run      *judgeRun
	original nn.Params
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
	p, err := planned(s, firstFraction)
	if err != nil {
		return nil, err
	}
	k := p.cells[seed]
	inner, err := e.Lab().Case(ctx, k.labSetting())
	if err != nil {
		return nil, err
	}
	c := &Case{Study: s, Seed: seed, env: e, HeldOut: inner.Test.X.Rows, Forget: inner.Forget, Retain: inner.Retain}
	if c.original, _, err = inner.Weights(ctx, unlearn.NoOp{}); err != nil {
		return nil, err
	}
	trained, err := inner.TrainedModel(ctx, inner.Oracle())
	if err != nil {
		return nil, err
	}
	c.run = &judgeRun{k, inner, trained}
	return c, nil
}

// firstFraction are the cells of a study's first setting and first fraction.
func firstFraction(s Study) []cell {
	s.Settings = s.Settings[:1]
	return cells(s, s.Fractions[:1])
}

// Source is the source line of figures of the case.
func (c *Case) Source() string { return c.source(c.Seed) }

// SourceOfAll is the source line for the cases of all seeds.
func (c *Case) SourceOfAll() string {
	var seeds []int
	for seed := range c.Seeds {
		seeds = append(seeds, seed)
	}
	return c.source(seeds...)
}

func (c *Case) source(seeds ...int) string {
	about := c.run.c.About
	p := c.env.Provenance("", c.Scale, Results, seeds, map[string]string{about.Name: c.run.c.Hash}, nil)
	return fmt.Sprintf("%s, R = %s \u00b7 %s", c.run.Label, percent(c.run.fraction), p.Line())
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
	if percent != 0 && percent != 100 && !slices.Contains(c.Checkpoints, percent) {
		return nil, fmt.Errorf("no weights were kept after %d %% of the epochs; there are 0, %v and 100", percent, c.Checkpoints)
	}
	return &Network{Label: fmt.Sprintf("retrained, %d %% of the epochs", percent), weights: c.run.weightsAt(percent)}, nil
}

// Unlearn applies a method to the original, or finds the result in the store.
func (c *Case) Unlearn(ctx context.Context, label string, m unlearn.Method) (*Network, error) {
	w, _, err := c.run.c.Weights(ctx, m)
	if err != nil {
		return nil, err
	}
	return &Network{Label: label, weights: w}, nil
}

// Row measures a variant of table 4 in this case, or finds the result in the store. Variants
// that are not in Variants are allowed: a method in another setting under its own label.
func (c *Case) Row(ctx context.Context, a Variant) (*Unlearned, error) {
	found, err := paper.Collect(ctx, c.env, []paper.Measurement[Unlearned]{c.run.variant(c.env, a)})
	if err != nil {
		return nil, err
	}
	return &found.Rows[0], nil
}

// Accuracy is the accuracy on the three parts of the images, with Wilson's 95 % interval over
// images.
func (c *Case) Accuracy(n *Network) (lab.Accuracy, error) {
	onTrain, onTest, err := c.run.outputs(n.weights)
	if err != nil {
		return lab.Accuracy{}, err
	}
	share := func(p float64, images int) stats.Estimate {
		e := stats.Wilson(p, images, 0.95)
		e.Over, e.Better = "images", stats.HigherIsBetter
		return e
	}
	a := c.run.accuracies(onTrain, onTest)
	return lab.Accuracy{Retain: share(a.Retain, len(c.Retain)), Forget: share(a.Forget, len(c.Forget)), Test: share(a.Test, c.HeldOut)}, nil
}

// Bandwidth is the paper's bandwidth for a layer.
func (c *Case) Bandwidth(layer string) sde.Bandwidth { return c.run.bandwidth(layer) }

// layerData are the activations of a layer, computed once per model.
func (n *Network) layerData(c *Case, layer string) (*layerData, error) {
	if s, ok := n.layers[layer]; ok {
		return s, nil
	}
	s, err := c.run.layerData(n.weights, layer)
	if err != nil {
		return nil, err
	}
	if n.layers == nil {
		n.layers = map[string]*layerData{}
	}
	n.layers[layer] = s
	return s, nil
}
