// Checks of the suite: mini-batches and augmented records.

package unlearntest

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/model/text"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// miniBatch is smaller than every set of the toy, so that a training in such batches takes more steps.
const miniBatch = 4

func (s *suite) worksOnMiniBatches(t *testing.T) {
	r := s.toy.request()
	r.Batch, r.Fit.Batch = miniBatch, miniBatch
	p, rep := s.apply(t, r)
	again, _ := s.apply(t, r)
	if p.Hash() != again.Hash() {
		t.Error("the same request gives another result the second time")
	}
	if !s.trains() {
		return
	}
	if !s.epochsByBatch && rep.Epochs != s.report.Epochs {
		t.Errorf("%d epochs, %d with full batches", rep.Epochs, s.report.Epochs)
	}
	same := p.Hash() == s.want.Hash() || !s.epochsByBatch && rep.Steps <= s.report.Steps
	switch {
	case same && !s.ownBatches:
		t.Errorf("%d steps in batches of %d (Request.Batch), %d in full batches: the method does not use the request's batch size; "+
			"one that has batches of its own says so with OwnBatches", rep.Steps, miniBatch, s.report.Steps)
	case !same && s.ownBatches:
		t.Error("another Request.Batch gives another result, but the method is declared to have OwnBatches")
	}
}

// trainsOnAugmentedRecords checks that a method that trains uses the request's augmenter, or refuses the request. Where
// nothing is trained there is nothing to augment.
func (s *suite) trainsOnAugmentedRecords(t *testing.T) {
	if !s.trains() {
		t.Skip("it does not train")
	}
	r := s.toy.request()
	r.Augment = s.toy.augmenter()
	p, _, err := unlearn.Apply(context.Background(), s.method, r)
	switch {
	case errors.Is(err, errOtherWidth):
		t.Errorf("Request.Augment gets records that are not those of the request: %v", err)
	case err != nil && !strings.Contains(err.Error(), "augments"):
		t.Errorf("a request with Augment: %v; the error of a method that needs unchanged records says that the request augments them", err)
	case err == nil && p.Hash() == s.want.Hash():
		t.Error("with records that Request.Augment changes it gives the same weights; a method that needs unchanged records refuses the " +
			"request, in an error that says that it augments them")
	}
}

var errOtherWidth = errors.New("a record of another width")

// augmenter changes the first feature of every record: another token in a text, a larger number in other records.
func (y *Toy) augmenter() train.Augmenter {
	width, vocabulary := y.Request.Retain.X.Cols, 0
	if m, is := y.Request.Runner.Arch.(text.Decoder); is {
		vocabulary = m.Vocabulary
	}
	return train.AugmentFunc(func(dst, src []float32, _, _ int) error {
		if len(src) != width {
			return errOtherWidth
		}
		copy(dst, src)
		dst[0]++
		if vocabulary > 0 {
			dst[0] = float32(int(dst[0]) % vocabulary)
		}
		return nil
	})
}
