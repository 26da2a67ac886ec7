// Augmentation of training records, and the upload of records as the tensors of a chunk.

package train

import (
	"fmt"
	"maps"
	"slices"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
)

// Augmenter changes training records, such as random crops and flips. Its output may
// depend only on the record, the epoch (0, 1, ...) and the record's number (Term.IDs).
// It is then the same however an epoch is cut into batches and chunks, and after a
// resume. A record that enters several steps of an epoch has the same form in all of
// them; PyTorch draws a new one each time it reads a record.
//
// It must be safe for concurrent use. Its JSON is part of the store key, so it should be
// a struct of plain data.
type Augmenter interface {
	// Augment writes the record of the epoch to dst; it must not write to src.
	Augment(dst, src []float32, epoch, id int) error
}

// AugmentFunc is an Augmenter made from a function.
type AugmentFunc func(dst, src []float32, epoch, id int) error

// Augment implements Augmenter.
func (f AugmentFunc) Augment(dst, src []float32, epoch, id int) error {
	return f(dst, src, epoch, id)
}

// GraphAugmenter is an Augmenter whose work can be part of a step's graph on a device. For others
// the host makes the records of every step.
type GraphAugmenter interface {
	Augmenter
	// Moves returns the numbers that say how a record looks in an epoch, always as many.
	Moves(epoch, id int) ([]int32, error)
	// GraphAugment returns records as Augment writes them, from x [records, features] and their
	// moves [records, numbers].
	GraphAugment(x, moves *graph.Node) *graph.Node
	// GraphKey identifies the graph: everything that it depends on besides its arguments.
	GraphKey() string
}

// graphAugmenter returns the term's augmenter if its work can be part of a step's graph, or nil: a
// graph does not make the inputs of losses.
func (t Term) graphAugmenter() GraphAugmenter {
	if _, noisy := t.Augment.(NoiseAugmenter); noisy {
		return nil
	}
	a, _ := t.Augment.(GraphAugmenter)
	return a
}

// NoiseAugmenter is an Augmenter that also makes the inputs of the loss, and may change
// the width of the record. Denoisers use it: the network gets the noise level as an
// input, and the target depends on it. Augment writes the record only.
type NoiseAugmenter interface {
	Augmenter
	// Widths returns the widths of the record and of the loss's inputs that it makes
	// from a record with this number of features.
	Widths(features int) (record int, inputs map[string]int)
	// Corrupt writes the record of the epoch to dst and the loss's inputs to in.
	Corrupt(dst []float32, in map[string][]float32, src []float32, epoch, id int) error
}

// chunk holds the tensors of a chunk of records, as inputs of a step.
type chunk struct {
	x          *tensors.Tensor
	lossInputs map[string]*tensors.Tensor // loss inputs made by a NoiseAugmenter
}

// inputIsX reports whether an input of the loss is the network's input X itself, as for
// autoencoders. It is then uploaded once.
func (t Term) inputIsX(in array.Matrix[float32]) bool {
	same := in.Rows == t.X.Rows && in.Cols == t.X.Cols && len(in.Data) > 0 && &in.Data[0] == &t.X.Data[0]
	return t.Augment == nil && same
}

// chunkRecords returns a chunk of the records listed in rows; nil means all.
func (t Term) chunkRecords(e *engine.Engine, rows []int, c model.Chunk, epoch int) (chunk, error) {
	if t.Augment == nil {
		x, err := model.FeatureMajor(e, t.X, rows, c)
		return chunk{x: x}, err
	}
	x, made, err := t.augmented(rows, c, epoch)
	if err != nil {
		return chunk{}, err
	}
	return toTensors(e, x, made, c)
}

// augmented returns the records of a chunk as the augmenter makes them in an epoch, and the
// inputs of the loss that a NoiseAugmenter makes.
func (t Term) augmented(rows []int, c model.Chunk, epoch int) (array.Matrix[float32], map[string]array.Matrix[float32], error) {
	augmenter, noisy := t.Augment.(NoiseAugmenter)
	width, widths := t.X.Cols, map[string]int(nil)
	if noisy {
		width, widths = augmenter.Widths(t.X.Cols)
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
		id := t.id(row)
		var err error
		if noisy {
			for name, m := range made {
				in[name] = m.Row(k)
			}
			err = augmenter.Corrupt(x.Row(k), in, t.X.Row(row), epoch, id)
		} else {
			err = t.Augment.Augment(x.Row(k), t.X.Row(row), epoch, id)
		}
		if err != nil {
			return x, nil, fmt.Errorf("term %q: augmenting record %d in epoch %d: %w", t.Name, id, epoch+1, err)
		}
	}
	return x, made, t.checkAugmented(x, made, epoch)
}

// id returns the number of a record.
func (t Term) id(row int) int {
	if t.IDs == nil {
		return row
	}
	return t.IDs[row]
}

func (t Term) checkAugmented(x array.Matrix[float32], made map[string]array.Matrix[float32], epoch int) error {
	if err := x.Check("augmented data"); err != nil {
		return fmt.Errorf("term %q, epoch %d: %w", t.Name, epoch+1, err)
	}
	for _, name := range slices.Sorted(maps.Keys(made)) {
		if err := made[name].Check(name); err != nil {
			return fmt.Errorf("term %q, epoch %d: %w", t.Name, epoch+1, err)
		}
	}
	return nil
}

func toTensors(e *engine.Engine, x array.Matrix[float32], made map[string]array.Matrix[float32], c model.Chunk) (chunk, error) {
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
