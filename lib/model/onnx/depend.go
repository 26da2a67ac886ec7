package onnx

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/gomlx/gomlx/core/tensors"

	"github.com/lethe-ml/lethe/lib/array"
)

// again runs up to rows of the records a second time, among others, at other places, and in
// smaller batches where the file leaves their size free. It refuses a value that differs.
func (r *run) again(ctx context.Context, first *program, out map[string]array.Matrix[float32]) error {
	n, _ := r.x.Shape()
	if n == 1 {
		return r.beside(first, out)
	}
	if first.records == 1 && r.m.input.batch == 1 {
		return nil // there are no others
	}
	some := shuffled(n)
	at := max(1, min(first.records, n)/2)
	p := first
	if r.m.input.batch == 0 {
		if first.records == 1 { // large records: two at a time
			at = 2
		}
		var err error
		if p, err = r.compile(at); err != nil {
			return err
		}
		defer p.g.Finalize()
	}
	second, err := r.all(ctx, p, some, at)
	if err != nil {
		return err
	}
	for i, name := range r.names {
		if p.widths[i] != first.widths[i] {
			return fmt.Errorf("the value %q has %d numbers for a record among %d records and %d among %d: %s",
				name, first.widths[i], first.records, p.widths[i], p.records, apart)
		}
		for k, record := range some {
			if !r.same(out[name].Row(record), second[name].Row(k)) {
				return fmt.Errorf("the value %q of record %d depends on the records beside it: %s", name, record, apart)
			}
		}
	}
	return nil
}

// apart is what is asked of every value.
const apart = "what a network says of a record must not depend on the others in its batch"

// shuffled are up to rows of n records, from all parts of the table: the odd ones from the
// last to the first, and then the even ones.
func shuffled(n int) (out []int) {
	k := min(rows, n)
	for i := k - 1; i >= 0; i-- {
		if i%2 == 1 {
			out = append(out, i*n/k)
		}
	}
	for i := k - 1; i >= 0; i-- {
		if i%2 == 0 {
			out = append(out, i*n/k)
		}
	}
	return out
}

// beside runs a single record once more behind another that is made up: its own mirror
// image, or zeros where the network takes whole numbers. A network that takes neither is run
// beside the record itself.
func (r *run) beside(first *program, out map[string]array.Matrix[float32]) error {
	size := r.m.input.batch
	if size == 1 {
		return nil
	}
	p := first
	if size == 0 {
		size = 2
		var err error
		if p, err = r.compile(size); err != nil {
			return err
		}
		defer p.g.Finalize()
	}
	last := map[string]array.Matrix[float32]{}
	for i, name := range r.names {
		if p.widths[i] != first.widths[i] {
			return fmt.Errorf("the value %q has %d numbers for a record alone and %d beside another: %s", name, first.widths[i], p.widths[i], apart)
		}
		last[name] = array.New[float32](size, p.widths[i])
	}
	err := r.attempt(p, size, true, last)
	if err != nil {
		err = r.attempt(p, size, false, last)
	}
	if err != nil {
		return err
	}
	for _, name := range r.names {
		if !r.same(out[name].Row(0), last[name].Row(size-1)) {
			return fmt.Errorf("the value %q depends on the records beside it: %s", name, apart)
		}
	}
	return nil
}

// attempt runs the record as the last of a batch, behind others that are made up or itself.
func (r *run) attempt(p *program, size int, madeUp bool, out map[string]array.Matrix[float32]) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%v", v)
		}
	}()
	_, cols := r.x.Shape()
	mine := slices.Clone(r.x.Read(make([]float64, cols), 0))
	other := slices.Clone(mine)
	if madeUp {
		for i, v := range other {
			if other[i] = 0; r.m.input.elem.float() {
				other[i] = 1 - v
			}
		}
	}
	flat := slices.Concat(slices.Repeat(other, size-1), mine)
	var in *tensors.Tensor
	if in, err = r.typed(flat, func(int) int { return 0 }, size); err != nil {
		return err
	}
	return r.batch(p, in, 0, size, out)
}

// same reports whether two rows are one, but for rounding: that of the largest number in
// a row counts for each, and floats of two bytes are rounded coarsely.
func (r *run) same(a, b []float32) bool {
	largest := 0.0
	for _, v := range a {
		if f := math.Abs(float64(v)); !math.IsInf(f, 0) {
			largest = max(largest, f)
		}
	}
	rounding := 1e-4
	if r.coarse() {
		rounding = 2e-2
	}
	for i, v := range a {
		x, y := float64(v), float64(b[i])
		if x != y && !(math.Abs(x-y) <= rounding*largest) && !(math.IsNaN(x) && math.IsNaN(y)) {
			return false
		}
	}
	return true
}

// coarse reports whether the network computes in floats of two bytes.
func (r *run) coarse() bool {
	for _, v := range r.weights.values {
		if v.elem.short() {
			return true
		}
	}
	return r.m.input.elem.short()
}
