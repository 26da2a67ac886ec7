// Training on the engine's device: records go there once, and an epoch is one execution.

package train

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/progress"
)

// device runs the epochs of a fit on the engine's device. Records and targets are copied there
// once per fit. An epoch is one execution of a loop over its steps, or several where an interrupt
// or the memory of the steps' arrays asks for it. The host draws the order of the records; the
// graph draws random inputs. Weights and slots stay on the device between epochs.
//
// What stays on the host, and why:
//
//   - a Watch, because it reads the weights before every step;
//   - transforms without a GraphTransform (AddNoise, ReleaseGradients: their noise comes from
//     random streams that a graph cannot draw), combiners without a GraphCombiner, and MGDA for
//     three terms or more (its active set is a search with an unknown number of steps);
//   - optimisers without a graph (nn.GraphOptimizer);
//   - an epoch with a number that is not finite: it is repeated on the host, which says where.
//
// A Validation and a checkpoint copy the weights to the host.
type device struct {
	like      nn.Params
	graphs    []nn.GraphOptimizer // by player
	records   map[source]*tensors.Tensor
	used      map[source]bool // in this epoch
	masks     []*tensors.Tensor
	owned     [][]int // by player: tensors that it updates in this epoch
	ruleSizes [][]int // by player: shape of its rule, see runGraph
	perStep   map[*graph.Exec]time.Duration
}

// source identifies records on the device: a matrix and its layout there. It keeps the memory
// of the matrix in use.
type source struct {
	data       *float32
	rows, cols int
	features   bool // one row per feature, for a batch of all records
}

// newDevice returns nil for a fit that runs on the host.
func newDevice(l *loop, p nn.Params) *device {
	e := l.g.runner.Engine
	if !e.SeparateMemory() || !e.HasWhile() || l.plan.Watch != nil {
		return nil
	}
	d := &device{like: p, records: map[source]*tensors.Tensor{}, perStep: map[*graph.Exec]time.Duration{}}
	for _, m := range l.players {
		o, ok := m.optimizer.(nn.GraphOptimizer)
		if !ok {
			return nil
		}
		d.graphs = append(d.graphs, o)
	}
	for _, t := range l.plan.Transforms {
		if _, ok := t.(GraphTransform); !ok {
			return nil
		}
	}
	return d
}

// close frees all tensors; d may be nil.
func (d *device) close() {
	if d == nil {
		return
	}
	for _, t := range d.records {
		_ = t.FinalizeAll()
	}
	model.Finalize(d.masks)
}

// canCombine reports whether the gradients of every update can be combined in a graph.
func (l *loop) canCombine(steps []trainStep) bool {
	if l.plan.Combiner == nil {
		return true
	}
	c, ok := l.plan.Combiner.(GraphCombiner)
	for _, s := range steps {
		for _, t := range s.updates {
			if n := len(t.batches); n > 1 && !(ok && c.GraphTerms(n)) {
				return false
			}
		}
	}
	return true
}

// deviceEpoch runs an epoch on the device and returns the state after it with every player's mean
// loss. The state is nil, without an error, if the epoch has to run on the host.
func (l *loop) deviceEpoch(ctx context.Context, s *State, steps []trainStep, task *progress.Task) (*State, []float64, error) {
	d := l.device
	if !l.canCombine(steps) || !d.begin(l, s) {
		return nil, nil, nil
	}
	if err := l.uploadTo(s); err != nil {
		return nil, nil, err
	}
	e := deviceRunner{loop: l, state: s.device, losses: make([]float64, len(l.players)), task: task}
	for _, o := range s.Optimizers {
		e.taken = append(e.taken, o.T)
	}
	for _, run := range l.cutRuns(steps) {
		if err := e.run(ctx, run, s.device); err != nil || e.notFinite {
			e.drop(s.device)
			return nil, nil, err
		}
	}
	d.freeUnused()
	for k := range e.losses {
		e.losses[k] /= float64(len(steps))
		e.taken[k] -= s.Optimizers[k].T
	}
	return s.afterDevice(e.state, e.taken), e.losses, nil
}

// begin prepares an epoch after the state s. It returns false if a player has nothing to update.
func (d *device) begin(l *loop, s *State) bool {
	d.used, d.owned, d.ruleSizes = map[source]bool{}, nil, nil
	for k := range l.players {
		var owned []int
		for i, rate := range l.rates(k, s.Done) {
			if !s.Params[i].State && rate != 0 {
				owned = append(owned, i)
			}
		}
		if len(owned) == 0 {
			return false
		}
		d.owned = append(d.owned, owned)
		d.ruleSizes = append(d.ruleSizes, []int{len(owned), len(d.graphs[k].StepParams(1, 1))})
	}
	return true
}

// uploadTo copies weights and slots to the device, if they are not there, and the mask.
func (l *loop) uploadTo(s *State) (err error) {
	d, e := l.device, l.g.runner.Engine
	if s.device != nil && !slices.EqualFunc(s.device.owned, d.owned, slices.Equal[[]int]) {
		if err := s.fetch(); err != nil {
			return err
		}
		s.device.free()
		s.device = nil
	}
	if s.device == nil {
		if s.device, err = uploadState(e, s, d.owned); err != nil {
			return err
		}
	}
	if l.plan.Mask == nil || d.masks != nil {
		return nil
	}
	for i, w := range s.Params {
		if w.State {
			continue
		}
		open := make([]float32, len(w.Data))
		for j, is := range l.plan.Mask.Open[i] {
			if is {
				open[j] = 1
			}
		}
		t, err := e.Wrap(open, w.Shape...)
		if err != nil {
			return err
		}
		d.masks = append(d.masks, t)
	}
	return nil
}

// recordsOf returns the number of a matrix among the fixed arrays of a run, which it uploads if
// it is not on the device.
func (d *device) recordsOf(e *engine.Engine, fixed *[]source, m array.Matrix[float32], whole bool) (int, error) {
	at := source{&m.Data[0], m.Rows, m.Cols, whole}
	d.used[at] = true
	if k := slices.Index(*fixed, at); k >= 0 {
		return k, nil
	}
	if d.records[at] == nil {
		t, err := uploadRecords(e, m, whole)
		if err != nil {
			return 0, err
		}
		d.records[at] = t
	}
	*fixed = append(*fixed, at)
	return len(*fixed) - 1, nil
}

func uploadRecords(e *engine.Engine, m array.Matrix[float32], whole bool) (*tensors.Tensor, error) {
	if whole {
		return model.FeatureMajor(e, m, nil, model.Chunk{N: m.Rows, Padded: m.Rows})
	}
	return e.Wrap(m.Data, m.Rows, m.Cols)
}

// freeUnused frees records that the epoch did not use: passes may have other objectives.
func (d *device) freeUnused() {
	for at, t := range d.records {
		if !d.used[at] {
			_ = t.FinalizeAll()
			delete(d.records, at)
		}
	}
}

// graphOf returns the graph of a run and its fixed arrays.
func (l *loop) graphOf(r deviceRun, a stepArrays) (*runGraph, []*tensors.Tensor, error) {
	d := l.device
	out := &runGraph{runner: l.g.runner, plan: l.plan, clip: l.Clip, rule: r.rule, owned: d.owned, arrays: a.names()}
	for _, o := range d.graphs {
		out.slots = append(out.slots, len(o.Slots()))
	}
	var fixed []source
	for _, u := range r.updates {
		ug := updateGraph{player: u.player, optimizer: d.graphs[u.player]}
		l.g.player = u.player
		for _, t := range u.terms {
			tg, err := l.termGraph(u.objective[t.term], t, &fixed)
			if err != nil {
				return nil, nil, err
			}
			ug.terms = append(ug.terms, tg)
		}
		out.updates = append(out.updates, ug)
	}
	var in []*tensors.Tensor
	for _, at := range fixed {
		in = append(in, d.records[at])
	}
	in = append(in, d.masks...)
	out.fixed = len(in)
	return out, in, nil
}

// termGraph returns the graph of a term. Its records and loss inputs are fixed arrays, or those
// that its augmenter makes.
func (l *loop) termGraph(term Term, form runTerm, fixed *[]source) (termGraph, error) {
	p, err := l.g.program(term)
	if err != nil {
		return termGraph{}, err
	}
	e, out := l.g.runner.Engine, termGraph{program: p, form: form, x: -1}
	out.augmenter, _ = term.Augment.(GraphAugmenter)
	if term.Augment == nil || out.augmenter != nil {
		if out.x, err = l.device.recordsOf(e, fixed, term.X, form.whole); err != nil {
			return out, err
		}
	}
	_, noisy := term.Augment.(NoiseAugmenter)
	for k, names := range p.inputs {
		for _, name := range names {
			at := -1
			if !noisy {
				if at, err = l.device.recordsOf(e, fixed, term.Targets[k].Inputs[name], form.whole); err != nil {
					return out, err
				}
			}
			out.inputs, out.made = append(out.inputs, at), append(out.made, "in."+name)
		}
	}
	return out, nil
}

// window is how long an execution should take, so that an interrupt is answered soon.
const window = time.Second

// deviceRunner runs the runs of an epoch.
type deviceRunner struct {
	*loop
	state     *deviceState
	taken     []int     // updates by player, before the next step
	losses    []float64 // by player: the sum over steps
	notFinite bool
	task      *progress.Task
}

// replace takes the state after an execution. That of the epoch's start is kept.
func (e *deviceRunner) replace(next, start *deviceState) {
	e.drop(start)
	e.state = next
}

func (e *deviceRunner) drop(start *deviceState) {
	if e.state != start {
		e.state.free()
	}
	e.state = start
}

// run runs the steps of a run. start is the state at the start of the epoch.
func (e *deviceRunner) run(ctx context.Context, r deviceRun, start *deviceState) error {
	capacity := e.capacity(r)
	for first := 0; first < len(r.steps) && !e.notFinite; first += capacity {
		steps := r.steps[first:min(first+capacity, len(r.steps))]
		arrays, err := e.fill(r, steps, capacity, e.taken)
		if err != nil {
			return err
		}
		if err := e.runFilled(ctx, r, steps, arrays, start); err != nil {
			return err
		}
	}
	return nil
}

// runFilled executes steps whose arrays are filled.
func (e *deviceRunner) runFilled(ctx context.Context, r deviceRun, steps []trainStep, arrays stepArrays, start *deviceState) error {
	g, fixed, err := e.graphOf(r, arrays)
	if err != nil {
		return err
	}
	name, err := g.signature()
	if err != nil {
		return err
	}
	exec, err := e.g.runner.Program(name, g.build)
	if err != nil {
		return err
	}
	own := arrays.tensors()
	defer model.Finalize(own)
	for from := 0; from < len(steps); {
		if err := ctx.Err(); err != nil {
			return err
		}
		to := min(len(steps), from+e.device.stepsAtOnce(exec))
		began := time.Now()
		out, err := e.execute(exec, from, to, slices.Concat(fixed, own), e.state != start)
		if err != nil {
			return err
		}
		e.device.measure(exec, time.Since(began), to-from)
		said, err := tensors.CopyFlatData[float32](out[len(out)-1])
		e.replace(e.state.with(out[:len(out)-1]), start)
		_ = out[len(out)-1].FinalizeAll()
		if err != nil {
			return err
		}
		for k, step := range steps[from:to] {
			e.count(step, said[2*(from+k)*len(r.updates):])
		}
		if e.notFinite {
			return nil
		}
		e.task.Add(to - from)
		from = to
	}
	return nil
}

// execute runs steps from to to-1. With donate the execution may use the memory of the state.
func (e *deviceRunner) execute(exec *graph.Exec, from, to int, in []*tensors.Tensor, donate bool) (out []*tensors.Tensor, err error) {
	args := []any{int32(from), int32(to)}
	for _, t := range e.state.all() {
		var arg any = t
		if donate {
			if arg, err = graph.DonateTensorBuffer(t, e.g.runner.Engine.Backend(), 0); err != nil {
				return nil, err
			}
		}
		args = append(args, arg)
	}
	for _, t := range in {
		args = append(args, t)
	}
	err = e.g.runner.Engine.Parallel(1, func(int) error {
		out, err = exec.Call(args...)
		return err
	})
	return out, err
}

// stepsAtOnce returns the number of steps of the next execution. The first has one, because it
// may have to be compiled, the second a few to measure them.
func (d *device) stepsAtOnce(exec *graph.Exec) int {
	took, measured := d.perStep[exec]
	switch {
	case !measured:
		return 1
	case took == 0:
		return 8
	}
	return int(max(1, min(math.MaxInt32, window/took)))
}

// measure records the time of an execution of so many steps; that of the first is unknown.
func (d *device) measure(exec *graph.Exec, took time.Duration, steps int) {
	if _, measured := d.perStep[exec]; !measured {
		d.perStep[exec] = 0
		return
	}
	d.perStep[exec] = max(1, took/time.Duration(steps))
}

// count adds what a step said: the loss and the finiteness of every update.
func (e *deviceRunner) count(step trainStep, said []float32) {
	updates := make([]int, len(e.players))
	for _, t := range step.updates {
		updates[t.player]++
	}
	for i, t := range step.updates {
		loss, finite := float64(said[2*i]), said[2*i+1] == 1
		e.notFinite = e.notFinite || !finite || math.IsNaN(loss) || math.IsInf(loss, 0)
		e.losses[t.player] += loss / float64(updates[t.player])
		e.taken[t.player]++
	}
}
