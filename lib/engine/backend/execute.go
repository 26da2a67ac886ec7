// Executables: a plan's steps, and their runs on input buffers by a worker pool.

package backend

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/shapes"

	"github.com/lethe-ml/lethe/lib/engine/kernels"
)

// step is a part of an execution.
type step interface{ run(x *execution) }

// executable is a planned computation. It may run several times at once.
type executable struct {
	backend *Backend
	f       *function
	steps   []step
	fixed   map[int]*constant // slots of constants
	offsets map[int]int       // slots in the arena
	outputs []int             // slots
	slots   int
	size    int // of the arena, in bytes
}

var _ compute.Executable = (*executable)(nil)

// execution is one run.
type execution struct {
	slots   []unsafe.Pointer
	workers int
	failed  *atomic.Pointer[error] // the first error of a step
}

// check records the error of a kernel, which Execute returns.
func (x *execution) check(err error) {
	if err != nil {
		kept := err // err itself would be on the heap in every call
		x.failed.CompareAndSwap(nil, &kept)
	}
}

// viewPtr returns the address of element i of a view, counted from its first.
func (x *execution) viewPtr(v view, i int) unsafe.Pointer {
	return unsafe.Add(x.slots[v.slot], (v.start+i)*int(v.dtype.Size()))
}

// elementPtr returns the address of the element i after e.
func (x *execution) elementPtr(e element, i int) unsafe.Pointer {
	return unsafe.Add(x.slots[e.slot], (e.start+i)*e.bytes)
}

// parallel runs f on pieces of 0 ... n-1 on the workers; see kernels.Pool.
func (x *execution) parallel(n, grain int, f func(from, to int)) { x.pool().Run(n, grain, f) }

func (x *execution) pool() kernels.Pool { return kernels.Pool{Workers: x.workers} }

// compile plans a function and prepares its steps.
func compile(b *Backend, f *function) (*executable, error) {
	p, err := plan(f)
	if err != nil {
		return nil, err
	}
	e := &executable{backend: b, f: f, fixed: map[int]*constant{}, offsets: map[int]int{}}
	for _, n := range p.nodes {
		if c, ok := n.attr.(constant); ok {
			e.fixed[n.id] = &c
		}
	}
	a := newArena()
	for i, u := range p.units {
		for _, slot := range p.slotsRead(u) {
			a.use(slot, i)
		}
	}
	if err := e.build(p, a); err != nil {
		return nil, err
	}
	e.slots = p.extra
	e.size = a.assignOffsets(e.offsets)
	return e, nil
}

// build makes the steps and records in the arena what they write.
func (e *executable) build(p *planner, a *arena) error {
	for i, u := range p.units {
		steps, scratch, err := p.steps(u)
		if err != nil {
			return err
		}
		e.steps = append(e.steps, steps...)
		for _, n := range p.nodesStored(u) {
			if p.views[n].slot == n.id {
				a.define(n.id, i, n.size()*int(n.shape.DType.Size()))
			}
		}
		for slot, bytes := range scratch {
			a.define(slot, i, bytes)
			a.use(slot, i)
		}
	}
	for _, n := range e.f.outputs {
		// The step writes directly to the caller's buffer.
		if p.views[n].slot == n.id && p.unitOf[n] != nil && !slices.Contains(e.outputs, n.id) {
			e.outputs = append(e.outputs, n.id)
			a.remove(n.id)
			continue
		}
		e.outputs = append(e.outputs, p.extra)
		to := denseView(p.extra, n.shape.DType, n.shape.Dimensions)
		p.extra++
		a.use(p.views[n].slot, len(p.units))
		e.steps = append(e.steps, denseCopy(p.views[n], to))
	}
	return nil
}

// denseCopy returns the step that copies a view to a dense one.
func denseCopy(from, to view) step {
	if _, strides := mergeAxes(from.dims, from.strides); !from.dense() && !slices.Contains(strides[0], 0) {
		return viewCopy{from, to} // each element once
	}
	w := newProgramBuilder(from.size())
	w.store(w.load(from), to)
	w.assignRegisters(-1)
	return &w.program
}

// Inputs implements compute.Executable.
func (e *executable) Inputs() ([]string, []shapes.Shape) { return e.f.names, shapesOf(e.f.params) }

// Outputs implements compute.Executable.
func (e *executable) Outputs() []shapes.Shape { return shapesOf(e.f.outputs) }

func shapesOf(nodes []*node) []shapes.Shape {
	out := make([]shapes.Shape, len(nodes))
	for i, n := range nodes {
		out[i] = n.shape
	}
	return out
}

// Finalize implements compute.Executable.
func (e *executable) Finalize() { e.steps = nil }

// Execute implements compute.Executable.
func (e *executable) Execute(inputs []compute.Buffer, donate []bool, _ compute.DeviceNum) ([]compute.Buffer, error) {
	if e.steps == nil {
		return nil, fmt.Errorf("backend %s: %q was closed", Name, e.f.builder.name)
	}
	beside := e.backend.running.Add(1)
	defer e.backend.running.Add(-1)
	x := &execution{slots: make([]unsafe.Pointer, e.slots), workers: max(1, e.backend.workers/int(beside)), failed: new(atomic.Pointer[error])}
	if err := e.bindInputs(x, inputs); err != nil {
		return nil, err
	}
	for slot, c := range e.fixed {
		x.slots[slot] = c.data()
	}
	arena, err := ownRoom.arena(e.size, e.outputBytes())
	if err != nil {
		return nil, e.tooLarge(err)
	}
	defer ownRoom.release(arena)
	for slot, at := range e.offsets {
		x.slots[slot] = unsafe.Pointer(&arena[at])
	}
	out := make([]compute.Buffer, len(e.outputs))
	for i, slot := range e.outputs {
		buf, err := e.backend.buffer(e.f.outputs[i].shape)
		if err != nil {
			return nil, e.tooLarge(err)
		}
		out[i], x.slots[slot] = buf, buf.data()
	}
	for _, s := range e.steps {
		s.run(x)
	}
	if err := x.failed.Load(); err != nil {
		return nil, fmt.Errorf("backend %s: %q: %w", Name, e.f.builder.name, *err)
	}
	for i, given := range donate {
		if given {
			if err := inputs[i].Finalize(); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// outputBytes returns the size of all outputs.
func (e *executable) outputBytes() (n int) {
	for _, out := range e.f.outputs {
		n += bytesOf(out.shape)
	}
	return n
}

// TooLargeError is the error of an execution that needs more memory than is free.
type TooLargeError struct {
	Records    int   // of the execution; 0: not known
	Need, Free int64 // bytes
}

// Error implements error. It says what to change.
func (e *TooLargeError) Error() string {
	on := ""
	if e.Records > 0 {
		on = fmt.Sprintf(" on %d records", e.Records)
	}
	return fmt.Sprintf("one step%s needs about %s, and %s are free: use a batch of fewer records, smaller images or a smaller network",
		on, gigabytes(e.Need), gigabytes(e.Free))
}

// tooLarge says of an error for too little memory what to change.
func (e *executable) tooLarge(err error) error {
	var m *memoryError
	if !errors.As(err, &m) {
		return err
	}
	return &TooLargeError{e.f.records(), m.need, m.free}
}

// records returns the number of records of an execution, 0 if that is not known. They are the last
// axis of the last matrix, which has a row per feature (model.FeatureMajor), or the first axis of
// what is called records (package onnx).
func (f *function) records() int {
	if i := slices.Index(f.names, "records"); i >= 0 && f.params[i].shape.Rank() > 0 {
		return f.params[i].shape.Dimensions[0]
	}
	for _, p := range slices.Backward(f.params) {
		if p.shape.Rank() == 2 {
			return p.shape.Dimensions[1]
		}
	}
	return 0
}

// bindInputs sets the slots of the inputs.
func (e *executable) bindInputs(x *execution, inputs []compute.Buffer) error {
	if len(inputs) != len(e.f.params) {
		return fmt.Errorf("backend %s: %q takes %d inputs, not %d", Name, e.f.builder.name, len(e.f.params), len(inputs))
	}
	for i, in := range inputs {
		buf, ok := in.(*buffer)
		want := e.f.params[i]
		if !ok {
			return fmt.Errorf("backend %s: %q: input %d is a %T of another backend", Name, e.f.builder.name, i, in)
		}
		if err := buf.alive(); err != nil {
			return err
		}
		if buf.shape.DType != want.shape.DType || !slices.Equal(buf.shape.Dimensions, want.shape.Dimensions) {
			return fmt.Errorf("backend %s: %q: input %d is %s and should be %s", Name, e.f.builder.name, i, buf.shape, want.shape)
		}
		x.slots[want.id] = buf.data()
	}
	return nil
}
