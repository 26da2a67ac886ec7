// The checks that a loss is of records, not of batches, and that it uses what it asks for.

package losstest

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/nn/loss"
)

// batches are the records of other batches than the one of all: each alone, in another order, and more.
var batches = [][]int{{0}, {1}, {2}, {3}, {4}, {3, 0, 4, 2, 1}, {1, 2, 3, 4, 0, 2, 4, 1}}

// checkPerRecord checks that a record has the same loss and derivatives in every batch, at every place.
// Where the loss were divided by the number of records, the loop would divide it a second time.
func (s *suite) checkPerRecord(t *testing.T) {
	losses, derivatives := s.evaluate(t, s.outputs)
	for _, batch := range batches {
		part := *s
		part.outputs, part.inputs = gather(s.outputs, batch), gather(s.inputs, batch)
		gotLosses, gotDerivatives := part.evaluate(t, part.outputs)
		err := sameRecords("loss", gotLosses, losses, batch)
		for _, name := range slices.Sorted(maps.Keys(derivatives)) {
			if err == nil {
				err = sameRecords("derivative by "+name, gotDerivatives[name], derivatives[name], batch)
			}
		}
		if err != nil {
			t.Errorf("%v; losses and derivatives are of single records: neither how many records a batch has nor in which order they stand may "+
				"count (the loop takes the mean)", err)
			return
		}
	}
}

// gather returns the rows of matrices.
func gather(all map[string]array.Matrix[float32], rows []int) map[string]array.Matrix[float32] {
	out := map[string]array.Matrix[float32]{}
	for name, m := range all {
		out[name] = m.Gather(rows)
	}
	return out
}

// sameRecords compares numbers [width, n] of a batch with those of all records. The engine may round
// batches of other sizes differently.
func sameRecords(what string, got, all []float64, batch []int) error {
	largest := 0.0
	for _, v := range all {
		largest = max(largest, math.Abs(v))
	}
	for k, v := range got {
		i, element := batch[k%len(batch)], k/len(batch)
		if want := all[element*records+i]; !(math.Abs(v-want) <= 1e-4*largest) {
			return fmt.Errorf("the %s, element %d of record %d, is %.6g in a batch of the records %v and %.6g in one of 0 to %d",
				what, element, i, v, batch, want, records-1)
		}
	}
	return nil
}

// partOf are inputs that come with others and say nothing without them: a loss may read the weights of
// positions alone.
var partOf = map[string]string{loss.MaskedTokens: loss.MaskedWeights, loss.NextTokens: loss.NextWeights, loss.SecondTokens: loss.SecondWeights}

// checkInputsUsed checks that every input counts: other records' values of it, or zeros, as in the padding
// of a batch, change a loss or a derivative.
func (s *suite) checkInputsUsed(t *testing.T) {
	losses, derivatives := s.evaluate(t, s.outputs)
	for _, name := range slices.Sorted(maps.Keys(s.inputs)) {
		m, counts := s.inputs[name], false
		for _, values := range []array.Matrix[float32]{m.Gather([]int{1, 2, 3, 4, 0}), array.New[float32](m.Rows, m.Cols)} {
			other := *s
			other.inputs = maps.Clone(s.inputs)
			other.inputs[name] = values
			gotLosses, gotDerivatives := other.evaluate(t, s.outputs)
			counts = counts || !slices.Equal(losses, gotLosses) || !maps.EqualFunc(derivatives, gotDerivatives, slices.Equal[[]float64])
		}
		if _, given := s.inputs[partOf[name]]; !counts && !given {
			t.Errorf("the loss asks for the input %q and ignores it: with the values of other records every loss is the same; "+
				"leave it out of Inputs, or use it", name)
		}
	}
}
