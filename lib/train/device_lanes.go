// An epoch of one fit, or of several side by side, on the device.

package train

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/engine/stacked"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/progress"
)

// lane is an epoch of one fit. Lanes of one form run side by side.
type lane struct {
	*loop
	ctx   context.Context
	s     *State // before the epoch
	steps []trainStep
	runs  []deviceRun
	task  *progress.Task
	name  string // of its form, in a group

	taken     []int     // updates by player so far
	notFinite bool      // whether a loss, a gradient or a weight is not finite
	losses    []float64 // by player: sums, in the end means
	next      *State    // after the epoch; nil: it has to run on the host
	err       error
}

// errNotRun is the error of a lane whose epoch a panic ended.
var errNotRun = errors.New("the epoch was not finished, because a fit of the group panicked")

func newLane(ctx context.Context, l *loop, s *State, steps []trainStep, task *progress.Task) *lane {
	return &lane{loop: l, ctx: ctx, s: s, steps: steps, runs: l.cutRuns(steps), task: task, err: errNotRun}
}

// begin sets what steps count to the start of the epoch, which may begin again.
func (a *lane) begin() {
	a.task.Set(0)
	a.notFinite, a.losses, a.taken = false, make([]float64, len(a.players)), nil
	for _, o := range a.s.Optimizers {
		a.taken = append(a.taken, o.T)
	}
}

// form returns a text that is the same for lanes that can run side by side.
func (a *lane) form() (string, error) {
	var out strings.Builder
	fmt.Fprintf(&out, "%p", a.g.runner)
	for k := range a.runs {
		r := a.runs[k]
		g, _, err := a.graphOf(r)
		if err != nil {
			return "", err
		}
		if !a.g.whole { // batches of other sizes are padded, runs of other lengths wait
			g.hideSizes()
		}
		text, err := g.signature()
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&out, "\n%s", text)
	}
	return out.String(), nil
}

// window is how long an execution should take, so that an interrupt is answered soon.
const window = time.Second

// lanesEpoch runs the epochs of lanes of one form.
type lanesEpoch struct {
	lanes  []*lane
	memory *deviceMemory
	start  *deviceState // before the epoch
	state  *deviceState
}

// runEpoch runs an epoch of lanes, those of one form side by side. Each has its result or its error
// afterwards. Records that no lane uses any more leave the device.
func runEpoch(forms [][]*lane, memory *deviceMemory) {
	memory.begin()
	for _, lanes := range forms {
		runLanes(lanes, memory)
	}
	memory.freeUnused()
}

// runLanes runs the epochs of lanes of one form side by side. If the device's memory is too small
// for all, or the network has no form for several, halves of them run one after the other, in this
// epoch and in those that follow.
func runLanes(lanes []*lane, memory *deviceMemory) {
	n, name := len(lanes), lanes[0].name
	if most, is := memory.atOnce[name]; !is || n <= most {
		err := runTogether(lanes, memory)
		if n == 1 || !engine.IsOutOfMemory(err) && !errors.Is(err, compute.ErrNotImplemented) {
			for _, a := range lanes {
				a.err = err
			}
			return
		}
		memory.atOnce[name] = n - n/2
		memory.free() // the records of all are in the way
	}
	runLanes(lanes[:n/2], memory)
	runLanes(lanes[n/2:], memory)
}

func runTogether(lanes []*lane, memory *deviceMemory) error {
	first := lanes[0]
	states := make([]*State, len(lanes))
	for k, a := range lanes {
		a.begin()
		states[k] = a.s
	}
	start, err := commonState(first.g.runner.Engine, states, first.device.owned)
	if err != nil {
		return err
	}
	e := &lanesEpoch{lanes: lanes, memory: memory, start: start, state: start}
	for r := range first.runs {
		if err := e.run(r); err != nil {
			e.replace(nil)
			return err
		}
	}
	e.finish()
	return nil
}

// finish gives every lane its state after the epoch. One with a number that is not finite has
// none.
func (e *lanesEpoch) finish() {
	held := false
	for k, a := range e.lanes {
		if a.notFinite {
			continue
		}
		for p := range a.losses {
			a.losses[p] /= float64(len(a.steps))
			a.taken[p] -= a.s.Optimizers[p].T
		}
		a.next, held = a.s.afterDevice(e.state, k, a.taken), true
	}
	if !held {
		e.replace(nil)
	}
}

// replace takes the state after an execution; nil: none. That of the epoch's start belongs to the
// lanes' states.
func (e *lanesEpoch) replace(next *deviceState) {
	if e.state != e.start && e.state != nil {
		e.state.free()
	}
	e.state = next
}

// run runs run r of every lane.
func (e *lanesEpoch) run(r int) error {
	runs, longest := make([]deviceRun, len(e.lanes)), 0
	for k, a := range e.lanes {
		runs[k] = a.runs[r].clone()
		longest = max(longest, len(runs[k].steps))
	}
	padRuns(runs)
	capacity := longest
	for k, a := range e.lanes {
		capacity = min(capacity, max(1, stepBytes/(len(e.lanes)*a.bytesPerStep(runs[k]))))
	}
	for first := 0; first < longest; first += capacity {
		parts := make([][]trainStep, len(runs))
		for k, run := range runs {
			n := len(run.steps)
			parts[k] = run.steps[min(first, n):min(first+capacity, n)]
		}
		if err := e.runParts(runs, parts, capacity); err != nil {
			return err
		}
	}
	return nil
}

// runParts runs steps of a run, at most capacity of every lane.
func (e *lanesEpoch) runParts(runs []deviceRun, parts [][]trainStep, capacity int) error {
	uneven := slices.ContainsFunc(parts, func(p []trainStep) bool { return len(p) != len(parts[0]) })
	arrays, longest := make([]stepArrays, len(e.lanes)), 0
	for k, a := range e.lanes {
		var err error
		if arrays[k], err = a.fill(runs[k], parts[k], capacity, a.taken, uneven); err != nil {
			return err
		}
		longest = max(longest, len(parts[k]))
	}
	p, err := e.program(runs, arrays)
	if err != nil {
		return err
	}
	defer model.Finalize(p.own)
	for from := 0; from < longest; {
		if err := e.interrupted(); err != nil {
			return err
		}
		to := min(longest, from+e.memory.stepsAtOnce(p.name))
		began := time.Now()
		finite, losses, err := e.execute(p, from, to)
		if err != nil {
			return err
		}
		e.memory.measure(p.name, timeSince(began), to-from)
		each := len(losses) / len(e.lanes)
		for k, a := range e.lanes {
			a.notFinite = a.notFinite || finite[k] != 1
			a.count(parts[k], from, to, losses[k*each:(k+1)*each])
		}
		if !slices.ContainsFunc(e.lanes, func(a *lane) bool { return !a.notFinite }) {
			return nil
		}
		from = to
	}
	return nil
}

// interrupted returns the error of a context when those of all lanes have ended. The others finish
// their epoch.
func (e *lanesEpoch) interrupted() error {
	for _, a := range e.lanes {
		if a.ctx.Err() == nil {
			return nil
		}
	}
	return e.lanes[0].ctx.Err()
}

// deviceProgram is a compiled run with the arrays of its steps.
type deviceProgram struct {
	name  string
	call  func(in []*tensors.Tensor, donate int) ([]*tensors.Tensor, error) // the first donate inputs after two may be overwritten
	fixed []*tensors.Tensor                                                 // belong to the memory
	own   []*tensors.Tensor                                                 // belong to the program
}

// For tests: the number of executions, what fails before one of so many models, and how long one took.
var (
	executions      atomic.Int64
	beforeExecution func(models int) error
	timeSince       = time.Since
)

// execute runs steps from to to-1 of every lane. It returns 1 for lanes whose weights are finite, and
// the losses of all lanes, one lane after another.
func (e *lanesEpoch) execute(p *deviceProgram, from, to int) (finite, losses []float32, err error) {
	state, donate := e.state.all(), 0
	if e.state != e.start {
		donate = len(state)
	}
	ends := []*tensors.Tensor{tensors.FromScalar(int32(from)), tensors.FromScalar(int32(to))}
	defer model.Finalize(ends)
	var out []*tensors.Tensor
	executions.Add(1)
	if beforeExecution != nil {
		if err := beforeExecution(len(e.lanes)); err != nil {
			return nil, nil, err
		}
	}
	err = e.lanes[0].g.runner.Engine.Parallel(1, func(int) (err error) {
		out, err = p.call(slices.Concat(ends, state, p.fixed, p.own), donate)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	n := len(out) - 2
	defer model.Finalize(out[n:])
	e.replace(e.state.withTensors(out[:n]))
	if finite, err = tensors.CopyFlatData[float32](out[n]); err != nil {
		return nil, nil, err
	}
	losses, err = tensors.CopyFlatData[float32](out[n+1])
	return finite, losses, err
}

// program returns the compiled run for the lanes' arrays.
func (e *lanesEpoch) program(runs []deviceRun, arrays []stepArrays) (*deviceProgram, error) {
	g, sources, err := e.lanes[0].graphOf(runs[0])
	if err != nil {
		return nil, err
	}
	g.arrays, g.uneven = arrays[0].names(), arrays[0].uneven
	p, shared, err := e.fixedArrays(g, sources, runs)
	if err != nil {
		return nil, err
	}
	p.own = stackArrays(arrays)
	name, err := g.signature()
	if err != nil {
		return nil, err
	}
	p.name = fmt.Sprintf("%d of %s", len(e.lanes), name)
	if len(e.lanes) == 1 {
		return p, e.compileSingle(p, g)
	}
	return p, e.compileStacked(p, g, shared)
}

// fixedArrays returns a program with its fixed arrays on the device, and which of them all lanes
// share.
func (e *lanesEpoch) fixedArrays(g *runGraph, first []source, runs []deviceRun) (*deviceProgram, []bool, error) {
	p, all := &deviceProgram{}, make([][]source, len(e.lanes))
	all[0] = first
	for k := range e.lanes[1:] {
		_, sources, err := e.lanes[k+1].graphOf(runs[k+1])
		if err != nil {
			return nil, nil, err
		}
		all[k+1] = sources
	}
	var shared []bool
	for i := range first {
		of, rows := make([]source, len(e.lanes)), 0
		for k := range e.lanes {
			of[k] = all[k][i]
			rows = max(rows, of[k].rows)
		}
		for k := range of { // a set with fewer records gets some that no index points to
			of[k].rows = rows
		}
		t, same, err := e.memory.upload(e.lanes[0].g.runner.Engine, of, e.lanes[0].plan.changes)
		if err != nil {
			return nil, nil, err
		}
		p.fixed, shared = append(p.fixed, t), append(shared, same)
	}
	return p, shared, nil
}

// compileSingle compiles the run of one lane.
func (e *lanesEpoch) compileSingle(p *deviceProgram, g *runGraph) error {
	r := e.lanes[0].g.runner
	exec, err := r.Program(p.name, g.build)
	p.call = func(in []*tensors.Tensor, donate int) ([]*tensors.Tensor, error) {
		args := make([]any, len(in))
		for k, t := range in {
			args[k] = t
			if k >= 2 && k < 2+donate {
				given, err := graph.DonateTensorBuffer(t, r.Engine.Backend(), 0)
				if err != nil {
					return nil, err
				}
				args[k] = given
			}
		}
		return exec.Call(args...)
	}
	return err
}

// compileStacked compiles the run of several lanes.
func (e *lanesEpoch) compileStacked(p *deviceProgram, g *runGraph, shared []bool) error {
	var inputs []stacked.Input
	add := func(name string, s shapes.Shape, all bool) {
		if !all { // the leading axis is that of the models
			s = shapes.Make(s.DType, s.Dimensions[1:]...)
		}
		inputs = append(inputs, stacked.Input{Name: name, Shape: s, Shared: all})
		p.name += fmt.Sprintf(" %s shared %t", s, all)
	}
	for _, name := range []string{"from", "to"} {
		add(name, tensors.FromScalar(int32(0)).Shape(), true)
	}
	for k, t := range e.state.all() {
		add(fmt.Sprint("state", k), t.Shape(), false)
	}
	for k, t := range p.fixed {
		add(fmt.Sprint("fixed", k), t.Shape(), shared[k])
	}
	for k, t := range p.own {
		add(g.arrays[k], t.Shape(), false)
	}
	r := e.lanes[0].g.runner
	compiled, err := r.Compiled(p.name, func() (any, error) { return stacked.Compile(r.Engine.Backend(), len(e.lanes), inputs, g.build) })
	if err != nil {
		return err
	}
	p.call = func(in []*tensors.Tensor, _ int) ([]*tensors.Tensor, error) {
		return compiled.(*stacked.Program).Run(in...)
	}
	return nil
}

// count adds the losses of the updates of steps from to to-1.
func (a *lane) count(steps []trainStep, from, to int, losses []float32) {
	for s := from; s < min(to, len(steps)); s++ {
		updates, step := make([]int, len(a.players)), steps[s]
		for _, t := range step.updates {
			updates[t.player]++
		}
		for i, t := range step.updates {
			loss := float64(losses[s*len(step.updates)+i])
			a.notFinite = a.notFinite || math.IsNaN(loss) || math.IsInf(loss, 0)
			a.losses[t.player] += loss / float64(updates[t.player])
			a.taken[t.player]++
		}
		a.task.Add(1)
	}
}
