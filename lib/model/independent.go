// Checking that the answer for a record does not depend on others.

package model

import (
	"fmt"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/nn"
)

// probedRecords is the number of records that CheckRecords asks for.
const probedRecords = 8

// moreRecords is a number of records that are padded to more than probedRecords are; see Chunks.
const moreRecords = 33

// CheckRecords returns an error for a network whose answer for a record depends, in inference, on the
// other records of its batch, on its place among them or on how many there are. It runs some of the
// records x (other records than zeros), with the weights p: each among others and alone. Every attack
// and metric reads answers of single records.
func (r *Runner) CheckRecords(p nn.Params, x array.Matrix[float32]) error {
	k := min(probedRecords, x.Rows)
	rows := make([]int, k)
	for i := range rows {
		rows[i] = i
	}
	want, err := r.Predict(p, x.Gather(rows))
	if err != nil {
		return err
	}
	for _, batch := range otherBatches(k) {
		got, err := r.Predict(p, x.Gather(batch))
		if err != nil {
			return err
		}
		for i, record := range batch {
			if name := differs(want, got, record, i); name != "" {
				return fmt.Errorf("model %s: the %s of a record depends on the other records of its batch, on its place among them or on their number; "+
					"a network answers for every record alone, such as with means over its features and not over records", r.Arch.Name(), name)
			}
		}
	}
	return nil
}

// otherBatches returns the first k records in other batches: each alone, and all several times in the
// opposite order, so that there are more records in a batch.
func otherBatches(k int) (out [][]int) {
	for i := range k {
		out = append(out, []int{i})
	}
	var many []int
	for len(many) < moreRecords {
		for i := range k {
			many = append(many, k-1-i)
		}
	}
	return append(out, many)
}

// differs returns the name of an output for which record a of one prediction is not record b of
// another, up to rounding; "" for none.
func differs(one, other *Prediction, a, b int) string {
	const rounding = 1e-4
	same := func(m, o array.Matrix[float32]) bool {
		return array.SameUpTo(rounding, m.Row(a), o.Row(b), array.Magnitude(m.Data))
	}
	for name, m := range one.Outputs {
		if !same(m, other.Outputs[name]) {
			return fmt.Sprintf("output %q", name)
		}
	}
	if !same(one.Embedding, other.Embedding) {
		return "embedding"
	}
	return ""
}
