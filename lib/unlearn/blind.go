// Requests to a server that has no records of the forget set.

package unlearn

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/ib"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/privacy"
	"github.com/lethe-ml/lethe/lib/train"
)

// Erasure is all that a server learns of the records to forget: codes that their owner made
// (see NewErasure), and labels.
type Erasure struct {
	Codes array.Matrix[float32] // one record per row
	Y     []int
}

// BlindRequest asks a server that has no record of the forget set to forget it. It is all
// that the server gets, and nothing in it can hold such a record.
type BlindRequest struct {
	Runner   *model.Runner // of an ib.Bottleneck
	Original nn.Params
	Erasure  Erasure
	// Auxiliary are other records with labels on which the server goes on training.
	Auxiliary Data
	// Trained is the original's objective on the auxiliary records: one term, in their
	// order. It is built before the request, because code that can build it for any record
	// can read any record.
	Trained train.Objective
	Seed    engine.Root
	Batch   int
	Hooks   train.Hooks
}

// NewErasure returns what the owner of records uploads: each record is masked (if mask is
// not nil), compressed by the first half of the model, and replaced by a random code. Codes
// are drawn once; a record's mask and code depend only on the seed and its number.
func NewErasure(r *model.Runner, p nn.Params, records Data, mask *privacy.Masking, seed engine.Root) (Erasure, error) {
	if _, is := r.Arch.(ib.Bottleneck); !is {
		return Erasure{}, fmt.Errorf("needs an information bottleneck, %s is not one", r.Arch.Name())
	}
	records, err := records.mask(mask, seed)
	if err != nil {
		return Erasure{}, err
	}
	prediction, err := r.Predict(p, records.X)
	if err != nil {
		return Erasure{}, err
	}
	codes, err := ib.SampleCodes(prediction, func(row int) *rand.Rand { return seed.Stream(engine.StreamCode, uint64(records.IDs[row])) })
	return Erasure{Codes: codes, Y: records.Y}, err
}

// mask returns the records as their owner masks them; nil: unchanged.
func (d Data) mask(mask *privacy.Masking, seed engine.Root) (Data, error) {
	if mask == nil {
		return d, nil
	}
	x, _, err := mask.Mask(d.X, d.IDs, func(record int) *rand.Rand { return seed.Stream(engine.StreamMask, uint64(record)) })
	d.X = x
	return d, err
}

// bottleneck returns the network of the request.
func (b BlindRequest) bottleneck() (ib.Bottleneck, error) {
	m, is := defaults.Fill(b.Runner.Arch).(ib.Bottleneck)
	switch n := b.Erasure.Codes.Rows; {
	case !is:
		return m, fmt.Errorf("needs an information bottleneck, %s is not one", b.Runner.Arch.Name())
	case n == 0 || n != len(b.Erasure.Y):
		return m, fmt.Errorf("%d codes with %d labels are to be forgotten", n, len(b.Erasure.Y))
	case b.Erasure.Codes.Cols != m.Latent:
		return m, fmt.Errorf("the codes have %d variables, those of the model %d", b.Erasure.Codes.Cols, m.Latent)
	case b.Auxiliary.X.Rows == 0:
		return m, errors.New("there are no auxiliary records")
	case len(b.Trained) != 1 || b.Trained[0].X.Rows != b.Auxiliary.X.Rows:
		return m, fmt.Errorf("the original was trained for %d terms; needed is one of the %d auxiliary records", len(b.Trained), b.Auxiliary.X.Rows)
	}
	for i, y := range b.Erasure.Y {
		if y < 0 || y >= m.Outputs {
			return m, fmt.Errorf("code %d has label %d, the model has classes 0 to %d", i, y, m.Outputs-1)
		}
	}
	return m, b.Erasure.Codes.Check("the codes")
}

// stopWhenForgotten stops a server at the end of an epoch when the approximator finds the
// labels of no more codes than chance.
func (b BlindRequest) stopWhenForgotten(m ib.Bottleneck) (*train.Validation, error) {
	half, err := model.NewRunner(b.Runner.Engine, ib.Approximator{Of: m})
	if err != nil {
		return nil, err
	}
	compressing, approximating := m.TensorCounts()
	all, chance := compressing+approximating, 1/float64(m.Outputs)
	return &train.Validation{KeepLast: true, StopBelow: &chance, Score: func(_ context.Context, p nn.Params, _ int) (float64, error) {
		prediction, err := half.Predict(p[compressing:all], b.Erasure.Codes)
		if err != nil {
			return 0, err
		}
		return train.Accuracy(prediction.Logits(), b.Erasure.Y), nil
	}}, nil
}

// blindRequest returns the server's part of a request, with the owner's upload in place of
// the records.
func (r Request) blindRequest(mask *privacy.Masking, auxiliary Data) (BlindRequest, error) {
	if r.Augment != nil {
		return BlindRequest{}, errors.New("codes need unchanged records, but the request augments them")
	}
	e, err := NewErasure(r.Runner, r.Original, r.Forget, mask, r.Seed)
	if err != nil {
		return BlindRequest{}, fmt.Errorf("the upload: %w", err)
	}
	trained, err := r.objective("auxiliary", auxiliary, false, 1)
	if err != nil {
		return BlindRequest{}, err
	}
	return BlindRequest{
		Runner: r.Runner, Original: r.Original, Erasure: e, Auxiliary: auxiliary, Trained: trained, Seed: r.Seed, Batch: r.Batch, Hooks: r.Hooks,
	}, nil
}
