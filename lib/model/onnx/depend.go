// Checking that records do not depend on others in their batch.

package onnx

import (
	"context"
	"fmt"

	"github.com/gomlx/gomlx/core/tensors"

	"github.com/lethe-ml/lethe/lib/array"
)

// dependentReason is the reason for refusing a value that depends on other records.
const dependentReason = "the values of a record must not depend on the other records in its batch"

// maxProbeRecords is the maximum number of records run at once to see whether more records
// change the values of each.
const maxProbeRecords = 4 * rows

// probeBatch is the batch size of the second run.
const probeBatch = 32

// probe is one execution of the second run: the record at each position.
type probe []probeRecord

// probeRecord is a record, or a synthetic one made from it whose values are ignored.
type probeRecord struct {
	record    int
	synthetic bool
}

// checkIndependence runs the records a second time, with other records next to them: in
// smaller batches and at other positions or, where the file's fixed batch holds the whole
// table, at the same positions; and up to maxProbeRecords at once where memory allows it.
// It refuses a value that differs. A change that needs still more records at once is not
// found.
func (r *run) checkIndependence(ctx context.Context, first *program, out map[string]array.Matrix[float32]) error {
	n, _ := r.x.Shape()
	fixed := r.m.input.batch
	if fixed == 1 {
		return nil // there are no other records
	}
	p := first
	if fixed == 0 {
		var err error
		if p, err = r.compile(otherBatchSize(first.records)); err != nil {
			return err
		}
		defer p.close()
	}
	if err := r.sameWidths(first, p); err != nil {
		return err
	}
	probes := reorderedProbes(n, p.records)
	if fixed >= n {
		probes = replacedProbes(n, p.records)
	}
	for _, q := range probes {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := r.compare(ctx, p, q, out); err != nil {
			return err
		}
	}
	if fixed == 0 && n > first.records {
		return r.runLarger(ctx, first, min(n, maxProbeRecords), out)
	}
	return nil
}

// runLarger runs more records at once than the first program, from all parts of the table.
// It does nothing where they need too much memory.
func (r *run) runLarger(ctx context.Context, first *program, records int, out map[string]array.Matrix[float32]) error {
	n, _ := r.x.Shape()
	p := r.attempt(records)
	if p == nil {
		return nil
	}
	defer p.close()
	if p.peak > maxExecutionBytes {
		return nil
	}
	if err := p.compile(); err != nil {
		return err
	}
	if err := r.sameWidths(first, p); err != nil {
		return err
	}
	q := make(probe, records)
	for i := range q {
		q[i].record = i * n / records
	}
	return r.compare(ctx, p, q, out)
}

// otherBatchSize returns a batch size other than n.
func otherBatchSize(n int) int {
	switch {
	case n < 3:
		return n + 1
	case n < 5:
		return n - 1
	}
	return min(n/2, probeBatch)
}

// sameWidths refuses values that grow with the batch.
func (r *run) sameWidths(a, b *program) error {
	for i, name := range r.names {
		if a.widths[i] != b.widths[i] {
			return fmt.Errorf("the value %q has %d numbers for one of %d records and %d for one of %d: %s",
				name, a.widths[i], a.records, b.widths[i], b.records, dependentReason)
		}
	}
	return nil
}

// reorderedProbes returns probes of all n records, the odd ones from the last to the first
// and then the even ones; and of some of them alone, among synthetic ones. All are needed,
// because a dependence may show in a single record.
func reorderedProbes(n, size int) (out []probe) {
	var order []int
	for _, odd := range []int{1, 0} {
		for i := n - 1; i >= 0; i-- {
			if i%2 == odd {
				order = append(order, i)
			}
		}
	}
	for from := 0; from < n; from += size {
		q := make(probe, size)
		for i := range q {
			q[i].record = order[min(from+i, n-1)]
		}
		out = append(out, q)
	}
	few := max(2, min(n, rows)/64)
	for i := range few { // at the last place, the one before, ...
		q, place := make(probe, size), size-1-i%size
		for at := range q {
			q[at] = probeRecord{order[(i*n/few+at)%n], at != place}
		}
		out = append(out, q)
	}
	return out
}

// replacedProbes returns probes of the n records at their positions with every other one
// synthetic; then the others; then some of them with all others synthetic.
func replacedProbes(n, size int) (out []probe) {
	at := func(kept func(i int) bool) {
		q := make(probe, size)
		for i := range q {
			q[i] = probeRecord{min(i, n-1), !kept(i)}
		}
		out = append(out, q)
	}
	at(func(i int) bool { return i%2 == 0 })
	at(func(i int) bool { return i%2 == 1 })
	for k := range min(n, 8) {
		at(func(i int) bool { return i == k*n/min(n, 8) })
	}
	return out
}

// compare runs a probe. A network that does not accept synthetic records gets copies of the
// record that is checked.
func (r *run) compare(ctx context.Context, p *program, q probe, out map[string]array.Matrix[float32]) error {
	found, err := r.runProbe(ctx, p, q, true)
	if err != nil && ctx.Err() == nil {
		found, err = r.runProbe(ctx, p, q, false)
	}
	if err != nil {
		return err
	}
	for _, name := range r.names {
		largest := array.Magnitude(out[name].Data)
		for i, g := range q {
			if !g.synthetic && !r.equalRows(out[name].Row(g.record), found[name].Row(i), largest) {
				return fmt.Errorf("the value %q of record %d depends on the other records in its batch, or on its position among them: %s",
					name, g.record, dependentReason)
			}
		}
	}
	return nil
}

// runProbe runs the records of a probe.
func (r *run) runProbe(ctx context.Context, p *program, q probe, makeUp bool) (out map[string]array.Matrix[float32], err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%v", v)
		}
	}()
	kept := 0
	for _, g := range q {
		if !g.synthetic {
			kept = g.record
		}
	}
	_, cols := r.x.Shape()
	buffer := make([]float64, cols)
	flat := make([]float64, 0, len(q)*cols)
	for _, g := range q {
		switch {
		case !g.synthetic:
			flat = append(flat, r.x.Read(buffer, g.record)...)
		case makeUp:
			flat = append(flat, r.syntheticRecord(r.x.Read(buffer, g.record))...)
		default:
			flat = append(flat, r.x.Read(buffer, kept)...)
		}
	}
	var in *tensors.Tensor
	if in, err = r.convertRecords(flat, func(i int) int { return q[i].record }, len(q)); err != nil {
		return nil, err
	}
	out = map[string]array.Matrix[float32]{}
	for i, name := range r.names {
		out[name] = array.New[float32](len(q), p.widths[i])
	}
	return out, r.runBatch(ctx, p, in, 0, len(q), out)
}

// syntheticRecord turns a record into a different one: floats are negated and scaled,
// integers become zero.
func (r *run) syntheticRecord(record []float64) []float64 {
	out := make([]float64, len(record))
	if r.m.input.elem.isFloat() {
		for i, v := range record {
			out[i] = 1 - 3*v
		}
	}
	return out
}

// equalRows is array.SameUpTo; for two-byte floats the tolerance is larger.
func (r *run) equalRows(a, b []float32, largest float64) bool {
	rounding := 1e-4
	if r.usesHalfFloats() {
		rounding = 2e-2
	}
	return array.SameUpTo(rounding, a, b, largest)
}

// usesHalfFloats reports whether the network computes in two-byte floats.
func (r *run) usesHalfFloats() bool {
	for _, v := range r.weights.values {
		if v.elem.isHalfFloat() {
			return true
		}
	}
	return r.m.input.elem.isHalfFloat()
}
