package train

import (
	"fmt"

	"github.com/gomlx/gomlx/core/tensors"

	"github.com/lethe-ml/lethe/lib/array"
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

// records is the tensor of a chunk of the records listed in rows, nil for all.
func (t Term) records(rows []int, c model.Chunk, epoch int) (*tensors.Tensor, error) {
	if t.Augment == nil {
		return model.FeatureMajor(t.X, rows, c), nil
	}
	changed := array.New[float32](c.N, t.X.Cols)
	for k := range c.N {
		row := c.First + k
		if rows != nil {
			row = rows[row]
		}
		id := row
		if t.IDs != nil {
			id = t.IDs[row]
		}
		if err := t.Augment.Augment(changed.Row(k), t.X.Row(row), epoch, id); err != nil {
			return nil, fmt.Errorf("term %q: augmenting record %d in epoch %d: %w", t.Name, id, epoch+1, err)
		}
	}
	if err := changed.Check("augmented data"); err != nil {
		return nil, fmt.Errorf("term %q, epoch %d: %w", t.Name, epoch+1, err)
	}
	return model.FeatureMajor(changed, nil, model.Chunk{N: c.N, Padded: c.Padded}), nil
}
