// Package train fits models. An Objective says what is minimised, a Config how, and a Plan
// what else belongs to a training: passes, games of several players, gradient transforms,
// differential privacy, validation. A fit resumes from a checkpoint with the same bits.
package train

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn/loss"
)

// Objective is the sum of its terms. A fit minimises it.
type Objective []Term

// Term is the mean of weighted losses over a set of records.
type Term struct {
	Name    string
	X       array.Matrix[float32] // one record per row
	Targets []Target
	// IDs are the records' row numbers in the training data, for the order Paired and
	// for Augment; nil: 0, 1, ...
	IDs []int
	// Whole terms enter every mini-batch step with all records; the others in
	// shuffled batches. Without mini-batches there is no difference.
	Whole bool
	// Sampled terms give a batch to every step and do not decide how many steps an epoch has:
	// each epoch begins a new order of their records and takes as many batches as it has steps.
	// Without mini-batches there is no difference.
	Sampled bool
	// Augment changes the records in every epoch; nil: no augmentation.
	Augment Augmenter
}

// Target is one loss of a term: Weight times the mean of the loss over the records. A
// negative weight maximises the loss.
type Target struct {
	Loss   loss.Loss
	Inputs map[string]array.Matrix[float32] // inputs of the loss, one row per record
	Weight float64
	// WarmUp increases the weight linearly: in epoch e = 0, 1, ... of a training it is
	// Weight min(1, e/WarmUp); 0: no warm-up. Evaluate and Gradient use the full Weight.
	WarmUp int
}

// weightAt returns the weight in an epoch (0, 1, ...).
func (g Target) weightAt(epoch int) float64 {
	if epoch >= g.WarmUp {
		return g.Weight
	}
	return g.Weight * float64(epoch) / float64(g.WarmUp)
}

// CrossEntropy returns the cross-entropy target for labels y.
func CrossEntropy(y []int, classes int, weight float64) Target {
	return probabilityTarget(loss.CrossEntropy{}, loss.Labels(y, classes), weight)
}

// Distillation returns the distillation target for a teacher's logits at temperature t; 0: 1. A negative one is
// refused when the objective is used.
func Distillation(logits array.Matrix[float32], t, weight float64) Target {
	return probabilityTarget(loss.Distillation{Temperature: t}, softmaxAt(logits, cmp.Or(t, 1)), weight)
}

func probabilityTarget(l loss.Loss, p array.Matrix[float32], weight float64) Target {
	return Target{Loss: l, Inputs: map[string]array.Matrix[float32]{loss.Probabilities: p}, Weight: weight}
}

// OutputTarget returns a target for a loss that compares an output with numbers, such as
// a squared error. target has one row per record.
func OutputTarget(l loss.Loss, target array.Matrix[float32], weight float64) Target {
	return Target{Loss: l, Inputs: map[string]array.Matrix[float32]{loss.Target: target}, Weight: weight}
}

func (o Objective) check(a model.Architecture) error {
	if len(o) == 0 {
		return fmt.Errorf("train: the objective has no terms")
	}
	for _, t := range o {
		if err := t.check(a); err != nil {
			return fmt.Errorf("train: term %q: %w", t.Name, err)
		}
	}
	return nil
}

func (t Term) check(a model.Architecture) error {
	if t.X.Rows == 0 {
		return fmt.Errorf("no records")
	}
	if w := t.features(); w != a.Inputs() {
		return fmt.Errorf("%d features, the model takes %d", w, a.Inputs())
	}
	if t.IDs != nil && len(t.IDs) != t.X.Rows {
		return fmt.Errorf("%d record numbers for %d records", len(t.IDs), t.X.Rows)
	}
	if len(t.Targets) == 0 {
		return fmt.Errorf("no targets")
	}
	for i, g := range t.Targets {
		if err := g.check(a, t); err != nil {
			return fmt.Errorf("target %d: %w", i, err)
		}
	}
	return t.X.Check("data")
}

// Scaled returns the term with the weights of its targets multiplied by factor.
func (t Term) Scaled(factor float64) Term {
	t.Targets = slices.Clone(t.Targets)
	for k := range t.Targets {
		t.Targets[k].Weight *= factor
	}
	return t
}

// changesPerEpoch reports whether the inputs of the network or the losses differ from
// epoch to epoch.
func (t Term) changesPerEpoch() bool {
	return t.Augment != nil || slices.ContainsFunc(t.Targets, func(g Target) bool { return g.WarmUp > 0 })
}

// features returns the number of features of a record as it enters the network.
func (t Term) features() int {
	if c, ok := t.Augment.(NoiseAugmenter); ok {
		w, _ := c.Widths(t.X.Cols)
		return w
	}
	return t.X.Cols
}

func (g Target) check(a model.Architecture, t Term) error {
	if g.Loss == nil {
		return fmt.Errorf("no loss")
	}
	if math.IsNaN(g.Weight) || math.IsInf(g.Weight, 0) {
		return fmt.Errorf("the weight is %v", g.Weight)
	}
	if g.WarmUp < 0 {
		return fmt.Errorf("the warm-up has %d epochs", g.WarmUp)
	}
	if c, ok := t.Augment.(NoiseAugmenter); ok {
		return g.checkNoiseInputs(c, a, t.X.Cols)
	}
	return loss.CheckInputs(g.Loss, model.OutputWidths(a), g.Inputs, t.X.Rows)
}

// checkNoiseInputs returns an error if the NoiseAugmenter does not make the inputs of the
// loss.
func (g Target) checkNoiseInputs(c NoiseAugmenter, a model.Architecture, features int) error {
	want, err := g.Loss.Inputs(model.OutputWidths(a))
	if err != nil {
		return err
	}
	_, makes := c.Widths(features)
	for name, w := range want {
		if makes[name] != w {
			return fmt.Errorf("the loss %s needs %q of width %d, the augmenter makes width %d", g.Loss.Name(), name, w, makes[name])
		}
	}
	if len(g.Inputs) > 0 {
		return fmt.Errorf("inputs are given, but the augmenter makes them in every epoch")
	}
	return g.Loss.Check(nil)
}
