// Records on the device, which fits upload once, and how long executions took.

package train

import (
	"fmt"
	"math"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gomlx/gomlx/core/tensors"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/engine/kernels"
	"github.com/lethe-ml/lethe/lib/model"
)

// source is a matrix of the host as a fixed array of a run: records, or 1 for open and 0 for
// closed weights.
type source struct {
	m        array.Matrix[float32]
	features bool  // one row per feature, for a batch of all records
	rows     int   // with padding
	shape    []int // of one model's array, if it is not that of the matrix
}

// same reports whether two sources are the same memory.
func (s source) same(o source) bool {
	return &s.m.Data[0] == &o.m.Data[0] && s.m.Rows == o.m.Rows && s.m.Cols == o.m.Cols && s.features == o.features
}

// deviceMemory has the records of fits that run side by side. One epoch at a time uses it.
type deviceMemory struct {
	records map[string]*resident
	paces   map[string]pace // by program
	atOnce  map[string]int  // by form: how many models may run at once, where all were too many
}

// resident is an array on the device. It keeps the memory of its matrices in use, whose addresses
// are its name.
type resident struct {
	t    *tensors.Tensor
	of   []source
	sum  uint64 // of the numbers, if passes may change them
	used bool   // in this epoch
}

// checksum returns a sum of the matrices' numbers and their places.
func checksum(of []source) uint64 {
	var total atomic.Uint64
	first := uint64(0)
	for _, s := range of {
		array.Split(len(s.m.Data), func(from, to int) {
			var sum uint64
			for i, v := range s.m.Data[from:to] {
				sum += kernels.SplitMix64(uint64(math.Float32bits(v))<<32 ^ (first + uint64(from+i)))
			}
			total.Add(sum)
		})
		first += uint64(len(s.m.Data))
	}
	return total.Load()
}

func newDeviceMemory() *deviceMemory {
	return &deviceMemory{records: map[string]*resident{}, paces: map[string]pace{}, atOnce: map[string]int{}}
}

func (d *deviceMemory) free() {
	for _, r := range d.records {
		_ = r.t.FinalizeAll()
	}
	clear(d.records)
}

// begin begins an epoch.
func (d *deviceMemory) begin() {
	for _, r := range d.records {
		r.used = false
	}
}

// freeUnused frees what the epoch did not use: passes may have other objectives.
func (d *deviceMemory) freeUnused() {
	for name, r := range d.records {
		if !r.used {
			_ = r.t.FinalizeAll()
			delete(d.records, name)
		}
	}
}

// upload returns an array on the device: one for all models if their sources are the same memory,
// otherwise one with a leading axis of the models. If mayChange, numbers that changed since an epoch
// before are copied again.
func (d *deviceMemory) upload(e *engine.Engine, of []source, mayChange bool) (t *tensors.Tensor, shared bool, err error) {
	shared = true
	for _, s := range of[1:] {
		shared = shared && s.same(of[0])
	}
	if shared {
		of = of[:1]
	}
	var name strings.Builder
	for _, s := range of {
		fmt.Fprintf(&name, "%p %d x %d %t %d;", &s.m.Data[0], s.m.Rows, s.m.Cols, s.features, s.rows)
	}
	r, sum := d.records[name.String()], uint64(0)
	if mayChange && (r == nil || !r.used) {
		sum = checksum(of)
	}
	if r != nil && (r.used || r.sum == sum) {
		r.used = true
		return r.t, shared, nil
	}
	if r != nil {
		_ = r.t.FinalizeAll()
	}
	if t, err = uploadSources(e, of); err != nil {
		delete(d.records, name.String())
		return nil, false, err
	}
	d.records[name.String()] = &resident{t, of, sum, true}
	return t, shared, nil
}

// uploadSources copies matrices to the device, with a leading axis if there are several.
func uploadSources(e *engine.Engine, of []source) (*tensors.Tensor, error) {
	first := of[0]
	dims := []int{first.rows, first.m.Cols}
	if first.features {
		dims = []int{first.m.Cols, first.rows}
	}
	if first.shape != nil {
		dims = first.shape
	}
	if len(of) == 1 && !first.features && first.rows == first.m.Rows {
		return e.Wrap(first.m.Data, dims...)
	}
	size := first.rows * first.m.Cols
	flat := make([]float32, len(of)*size)
	for k, s := range of {
		dst := flat[k*size : (k+1)*size]
		if s.features {
			model.TransposeInto(dst, s.m, s.rows)
		} else {
			copy(dst, s.m.Data)
		}
	}
	if len(of) > 1 {
		dims = append([]int{len(of)}, dims...)
	}
	return e.Wrap(flat, dims...)
}

// pace is how long the executions of a program took.
type pace struct {
	first   time.Duration // the first, with one step; the program may have been compiled meanwhile
	perStep time.Duration // the last one after it; 0: there was none
}

// stepsAtOnce returns the number of steps of the next execution of a program, so that it takes a
// second, or at most two. The first has one step, the second a few to measure them.
func (d *deviceMemory) stepsAtOnce(program string) int {
	p, ran := d.paces[program]
	switch {
	case !ran:
		return 1
	case p.perStep == 0:
		return int(max(1, min(8, 2*window/p.first)))
	}
	return int(max(1, min(math.MaxInt32, window/p.perStep)))
}

// measure records the time of an execution of so many steps.
func (d *deviceMemory) measure(program string, took time.Duration, steps int) {
	p, ran := d.paces[program]
	if perStep := max(1, took/time.Duration(steps)); ran {
		p.perStep = perStep
	} else {
		p.first = perStep
	}
	d.paces[program] = p
}
