package train

import (
	"fmt"
	"maps"
	"slices"

	"github.com/gomlx/gomlx/core/tensors"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
)

// Augmenter changes training records, as random crops and flips do. What it
// writes may depend on the record, the epoch (0, 1, ...) and the record's
// number (Term.IDs) and on nothing else, so that it is the same however an
// epoch is cut into batches and chunks, and after a stop. A record that enters
// several steps of an epoch therefore enters them in the same form, where
// PyTorch draws a new one each time it reads a record.
//
// Several goroutines call it at once. A struct of plain data makes the
// augmentation part of a store key.
type Augmenter interface {
	// Augment writes the record of the epoch to dst; it must not write to src.
	Augment(dst, src []float32, epoch, id int) error
}

// AugmentFunc is a function as an Augmenter.
type AugmentFunc func(dst, src []float32, epoch, id int) error

// Augment implements Augmenter.
func (f AugmentFunc) Augment(dst, src []float32, epoch, id int) error {
	return f(dst, src, epoch, id)
}

// NoiseAugmenter is an Augmenter that makes the loss's inputs too, and may give the
// network a record of another width: the noise of a denoiser, whose level the
// network is told and whose target depends on it. Its Augment writes the record
// alone.
type NoiseAugmenter interface {
	Augmenter
	// Widths are those of what is made of a record of so many features.
	Widths(features int) (record int, inputs map[string]int)
	// Corrupt writes the record of the epoch to dst and the loss's inputs to in.
	Corrupt(dst []float32, in map[string][]float32, src []float32, epoch, id int) error
}

// chunk holds the records of a chunk as they enter a step.
type chunk struct {
	x          *tensors.Tensor
	lossInputs map[string]*tensors.Tensor // loss inputs that a Corrupter made
}

// inputIsX tells whether a loss's input is what enters the network, as it is for autoencoders:
// then it is laid out once.
func (t Term) inputIsX(in array.Matrix[float32]) bool {
	same := in.Rows == t.X.Rows && in.Cols == t.X.Cols && len(in.Data) > 0 && &in.Data[0] == &t.X.Data[0]
	return t.Augment == nil && same
}

// chunkRecords is a chunk of the records listed in rows, nil for all.
func (t Term) chunkRecords(e *engine.Engine, rows []int, c model.Chunk, epoch int) (chunk, error) {
	if t.Augment == nil {
		x, err := model.FeatureMajor(e, t.X, rows, c)
		return chunk{x: x}, err
	}
	corrupter, corrupts := t.Augment.(NoiseAugmenter)
	width, widths := t.X.Cols, map[string]int(nil)
	if corrupts {
		width, widths = corrupter.Widths(t.X.Cols)
	}
	x, made := array.New[float32](c.N, width), map[string]array.Matrix[float32]{}
	for name, w := range widths {
		made[name] = array.New[float32](c.N, w)
	}
	in := map[string][]float32{}
	for k := range c.N {
		row := c.First + k
		if rows != nil {
			row = rows[row]
		}
		id := row
		if t.IDs != nil {
			id = t.IDs[row]
		}
		var err error
		if corrupts {
			for name, m := range made {
				in[name] = m.Row(k)
			}
			err = corrupter.Corrupt(x.Row(k), in, t.X.Row(row), epoch, id)
		} else {
			err = t.Augment.Augment(x.Row(k), t.X.Row(row), epoch, id)
		}
		if err != nil {
			return chunk{}, fmt.Errorf("term %q: augmenting record %d in epoch %d: %w", t.Name, id, epoch+1, err)
		}
	}
	return t.toTensors(e, x, made, c, epoch)
}

func (t Term) toTensors(e *engine.Engine, x array.Matrix[float32], made map[string]array.Matrix[float32], c model.Chunk, epoch int) (chunk, error) {
	if err := x.Check("augmented data"); err != nil {
		return chunk{}, fmt.Errorf("term %q, epoch %d: %w", t.Name, epoch+1, err)
	}
	for _, name := range slices.Sorted(maps.Keys(made)) {
		if err := made[name].Check(name); err != nil {
			return chunk{}, fmt.Errorf("term %q, epoch %d: %w", t.Name, epoch+1, err)
		}
	}
	whole := model.Chunk{N: c.N, Padded: c.Padded}
	laid, err := model.FeatureMajor(e, x, nil, whole)
	out := chunk{x: laid, lossInputs: map[string]*tensors.Tensor{}}
	for name, m := range made {
		if err != nil {
			return chunk{}, err
		}
		out.lossInputs[name], err = model.FeatureMajor(e, m, nil, whole)
	}
	return out, err
}
