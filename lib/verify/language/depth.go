// The unlearning depth score, from arrays of patched layers.

package language

import (
	"errors"
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/lib/array"
)

// Depth is the unlearning depth score, UDS (gnueaj/unlearning-depth-score, 2026): how much of what a
// document's layers carry in the full model is gone.
//
// A layer's state in the full model is replaced by that of a source model S, and the drop is
//
//	D_l = mean_t (s_t of the full model - s_t with layer l from S)
//
// with s_t the log-probability of the answer's tokens. With S the retrained model, layers with
// D_l > Threshold are those that carry the knowledge; per document, over these layers,
//
//	UDS = sum_l D_l(retrained) clip(D_l(unlearned)/D_l(retrained), 0, 1) / sum_l D_l(retrained)
//
// Needs both matrices of drops, documents x layers (Drops makes them). Null: 1, as much is erased as
// by retraining; 0 is intact. Direction: higher. A model that drops more than the retrained one
// counts as 1: over-unlearning is not seen. A document without such a layer has no value, and the
// program's mean leaves it out, as does this; how many are left is part of the result.
//
// The score rests on one retrained model: a layer that differs from the full model's by chance
// counts as knowledge from the threshold on. Differences from compute_uds.py: (1) without any
// such document the program's mean is 0, as if nothing were forgotten; here that is an error. (2) The program computes the drops itself.
type Depth struct {
	Threshold float64 // 0: 0.05 in the unit of log-probabilities
}

// DepthEvidence holds drops, documents x layers, by the source of the layers.
type DepthEvidence struct {
	Retrained, Unlearned array.Matrix[float64]
}

// DepthValue is a UDS and the documents behind it.
type DepthValue struct {
	Value     float64   // the mean of Each
	Documents []int     // that have a layer above the threshold
	Each      []float64 // their values, in [0, 1]
}

// Measure returns the score.
func (d Depth) Measure(e DepthEvidence) (DepthValue, error) {
	threshold := d.Threshold
	if threshold == 0 {
		threshold = 0.05
	}
	if !(threshold > 0) || math.IsInf(threshold, 0) {
		return DepthValue{}, fmt.Errorf("UDS: the threshold is %v, want a number above 0", threshold)
	}
	if err := errors.Join(e.Retrained.Check("drops of the retrained model"), e.Unlearned.Check("drops of the unlearned model")); err != nil {
		return DepthValue{}, fmt.Errorf("UDS: %w", err)
	}
	if e.Retrained.Rows != e.Unlearned.Rows || e.Retrained.Cols != e.Unlearned.Cols {
		return DepthValue{}, fmt.Errorf("UDS: %d documents x %d layers of the retrained model, %d x %d of the unlearned one",
			e.Retrained.Rows, e.Retrained.Cols, e.Unlearned.Rows, e.Unlearned.Cols)
	}
	var out DepthValue
	for i := range e.Retrained.Rows {
		if v, ok := depth(e.Retrained.Row(i), e.Unlearned.Row(i), threshold); ok {
			out.Documents, out.Each = append(out.Documents, i), append(out.Each, v)
		}
	}
	if len(out.Each) == 0 {
		return DepthValue{}, fmt.Errorf("UDS: none of %d documents has a layer with a drop above %v from the retrained model", e.Retrained.Rows, threshold)
	}
	out.Value = mean(out.Each)
	return out, nil
}

// depth returns a document's value; false if no layer is above the threshold.
func depth(retrained, unlearned []float64, threshold float64) (float64, bool) {
	sum, erased := 0.0, 0.0
	for l, d := range retrained {
		if d > threshold {
			sum += d
			erased += min(max(unlearned[l], 0), d)
		}
	}
	return erased / sum, sum > 0
}

// FullScores are the mean log-probabilities of documents under the full model, without a patch.
type FullScores []float64

// Drops returns D, documents x layers, of the mean log-probabilities with each layer patched.
func Drops(full FullScores, patched array.Matrix[float64]) (array.Matrix[float64], error) {
	if err := patched.Check("patched scores"); err != nil {
		return patched, err
	}
	if len(full) != patched.Rows {
		return patched, fmt.Errorf("%d scores of the full model, %d rows of patched ones", len(full), patched.Rows)
	}
	out := array.New[float64](patched.Rows, patched.Cols)
	for i, s := range full {
		if what := notLogarithm(s); what != "" {
			return patched, fmt.Errorf("document %d: the full model's log-probability is %s%s", i, what, withValue(what, s, false))
		}
		for l, p := range patched.Row(i) {
			if p > 0 {
				return patched, fmt.Errorf("document %d, layer %d: the patched log-probability is %v, above 0", i, l, p)
			}
			out.Row(i)[l] = s - p
		}
	}
	return out, nil
}
