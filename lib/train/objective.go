// Package train fits models: one loop for training and unlearning alike, full
// batch or mini-batch, with paired seeds, checkpoints that resume bit for bit,
// and a clean stop.
package train

import (
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/lib/array"
)

// Objective is what is minimised: the sum of its terms.
type Objective []Term

// Term is the mean, over a set of records, of weighted losses against targets.
type Term struct {
	Name    string
	X       array.Matrix[float32] // one record per row
	Targets []Target
	// IDs are the records' row numbers in the training data, for paired batch
	// orders; nil numbers them 0, 1, ...
	IDs []int
	// Whole terms enter every mini-batch step entirely; the others are swept in
	// shuffled batches. Without mini-batches there is no difference.
	Whole bool
	// Augment changes the records anew in every epoch; nil leaves them alone.
	Augment Augmenter
}

// Target is one loss of a term: Weight times the mean over the records of
// T^2 KL(Probs_i || softmax(logits_i / T)). With one-hot Probs and T = 1 it is
// the cross-entropy; a negative weight ascends.
type Target struct {
	Probs       array.Matrix[float32] // one row per record, one column per class
	Temperature float64               // 0: 1
	Weight      float64
}

// CrossEntropy returns the target of labels y with the weight given.
func CrossEntropy(y []int, classes int, weight float64) Target {
	return Target{Probs: OneHot(y, classes), Weight: weight}
}

// OneHot turns class numbers into rows of probabilities. A number that is no
// class gives a row of zeros, which Fit refuses by name.
func OneHot(y []int, classes int) array.Matrix[float32] {
	m := array.New[float32](len(y), classes)
	for i, c := range y {
		if c >= 0 && c < classes {
			m.Row(i)[c] = 1
		}
	}
	return m
}

// Distillation returns the target of a teacher's logits at temperature t.
func Distillation(logits array.Matrix[float32], t, weight float64) Target {
	return Target{Probs: Softmax(logits, t), Temperature: t, Weight: weight}
}

func (o Objective) check(features, classes int) error {
	if len(o) == 0 {
		return fmt.Errorf("train: the objective has no terms")
	}
	for _, t := range o {
		if err := t.check(features, classes); err != nil {
			return fmt.Errorf("train: term %q: %w", t.Name, err)
		}
	}
	return nil
}

func (t Term) check(features, classes int) error {
	if t.X.Rows == 0 {
		return fmt.Errorf("no records")
	}
	if t.X.Cols != features {
		return fmt.Errorf("%d features, the model takes %d", t.X.Cols, features)
	}
	if t.IDs != nil && len(t.IDs) != t.X.Rows {
		return fmt.Errorf("%d record numbers for %d records", len(t.IDs), t.X.Rows)
	}
	if len(t.Targets) == 0 {
		return fmt.Errorf("no targets")
	}
	for i, g := range t.Targets {
		if err := g.check(t.X.Rows, classes); err != nil {
			return fmt.Errorf("target %d: %w", i, err)
		}
	}
	return t.X.Check("data")
}

// check reports a target that is no distribution over the classes: the gradient
// of the loss is softmax minus target only for one that adds up to 1.
func (g Target) check(records, classes int) error {
	if g.Probs.Rows != records || g.Probs.Cols != classes {
		return fmt.Errorf("%d x %d probabilities, needed are %d x %d", g.Probs.Rows, g.Probs.Cols, records, classes)
	}
	if math.IsNaN(g.Weight) || math.IsInf(g.Weight, 0) {
		return fmt.Errorf("its weight is %v", g.Weight)
	}
	if !(g.Temperature >= 0) || math.IsInf(g.Temperature, 0) {
		return fmt.Errorf("its temperature is %v", g.Temperature)
	}
	if err := g.Probs.Check("probabilities"); err != nil {
		return err
	}
	for i := range records {
		var total float64
		for c, p := range g.Probs.Row(i) {
			if p < 0 {
				return fmt.Errorf("record %d has probability %v of class %d", i, p, c)
			}
			total += float64(p)
		}
		if math.Abs(total-1) > 1e-3 {
			return fmt.Errorf("the probabilities of record %d add up to %v, not 1", i, total)
		}
	}
	return nil
}
