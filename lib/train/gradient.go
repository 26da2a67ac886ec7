// The gradient of an objective on the batches of a step: chunks in parallel, sums in a fixed order.

package train

import (
	"errors"
	"fmt"
	"sync"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
)

// lanes is the number of partial sums of a gradient. It is a constant and not the number of
// cores, so that results do not depend on the machine.
const lanes = 16

// gradients evaluates an objective and its gradient. A step is cut into chunks that the
// engine runs in parallel. Lane l adds up chunks l, l+lanes, ... in float64, and the lanes
// are added in order, so every sum has a fixed order.
//
// An architecture that uses batch statistics (model.UsesBatchStats) runs each batch as one
// execution, because every normalisation needs the statistics of the whole batch.
type gradients struct {
	runner    *model.Runner
	training  bool // as opposed to inference
	whole     bool // whether a batch is one execution
	draws     []nn.RandomInput
	random    bool         // whether any random input is active
	clip      *Private     // if set, the gradient is the sum of the records' clipped gradients
	valueOnly bool         // compute no gradient
	squares   bool         // compute the sum of the records' squared gradients instead, each of its undivided loss
	norms     []float64    // if not nil, filled with the norms of the records' gradients, instead of a gradient
	player    int          // number of the player that updates
	rates     [][]float64  // rate of each tensor, by player: no gradient by a tensor of rate 0 is computed; nil: all are
	epoch     int          // epoch of the augmentation, from 0
	warmUp    bool         // whether warm-up weights are those of the epoch
	single    bool         // whether the float32 gradient of a single execution is used without a sum
	weights   []any        // uploaded weights; nil: every step uploads its own
	stop      func() error // called before every chunk; an error stops; nil: never stops

	mu    sync.Mutex
	execs map[compiledKey]*graph.Exec    // compiled steps
	spare map[int][][]*tensors.Tensor    // tensors for random inputs, by chunk size
	fixed map[fixedKey][]*tensors.Tensor // inputs of Whole terms, uploaded once
	lanes []gradientSum                  // memory of the partial sums
}

type fixedKey struct{ player, term, chunk int }

// compiledKey identifies a compiled step: its player, number of records and losses.
type compiledKey struct {
	player, records int
	losses          string
}

func newGradients(r *model.Runner) *gradients { return newGradientsIn(r, true) }

// newGradientsIn returns gradients in training or inference mode.
func newGradientsIn(r *model.Runner, training bool) *gradients {
	g := &gradients{
		runner: r, training: training, whole: training && model.HasBatchStats(r.Arch), draws: r.RandomInputs(),
		execs: map[compiledKey]*graph.Exec{}, spare: map[int][][]*tensors.Tensor{}, fixed: map[fixedKey][]*tensors.Tensor{},
	}
	for _, d := range g.draws {
		g.random = g.random || training && d.Active()
	}
	return g
}

// close frees all tensors.
func (g *gradients) close() {
	g.dropInputs()
	for _, sets := range g.spare {
		for _, ts := range sets {
			model.Finalize(ts)
		}
	}
}

// dropInputs frees the kept inputs, before another objective.
func (g *gradients) dropInputs() {
	for _, ts := range g.fixed {
		model.Finalize(ts)
	}
	clear(g.fixed)
}

// compiled returns the compiled step for the losses of a term on chunks of this number of
// records.
func (g *gradients) compiled(term Term, records int) (*graph.Exec, error) {
	signature, err := lossKey(term.losses())
	if err != nil {
		return nil, fmt.Errorf("train %s: %w", g.runner.Arch.Name(), err)
	}
	key := compiledKey{g.player, records, signature}
	g.mu.Lock()
	defer g.mu.Unlock()
	if e := g.execs[key]; e != nil {
		return e, nil
	}
	program, err := g.program(term)
	if err != nil {
		return nil, err
	}
	e, err := g.runner.Program(fmt.Sprintf("train %s on %d: %s", program.flags(), records, signature), program.build)
	if err != nil {
		return nil, fmt.Errorf("train %s: %w", g.runner.Arch.Name(), err)
	}
	g.execs[key] = e
	return e, nil
}

// program returns the program of a step for a term.
func (g *gradients) program(term Term) (*program, error) {
	inputs, err := term.inputs(g.runner.Arch)
	if err != nil {
		return nil, err
	}
	out := &program{runner: g.runner, training: g.training, random: g.random, result: g.result(), inputs: inputs, losses: term.losses()}
	if g.rates != nil {
		for _, rate := range g.rates[g.player] {
			out.frozen = append(out.frozen, rate == 0)
		}
	}
	return out, nil
}

// result returns the kind of output of a step.
func (g *gradients) result() result {
	switch {
	case g.norms != nil:
		return resultNorms
	case g.valueOnly:
		return resultValue
	case g.squares:
		return resultSquares
	case g.clip != nil:
		return resultClipped
	}
	return resultGradient
}

// task is one chunk of one batch.
type task struct {
	batch
	model.Chunk
	index int // of the chunk within its batch
}

// chunks cuts a batch of n records into chunks.
func (g *gradients) chunks(n int) []model.Chunk {
	if g.whole {
		return []model.Chunk{{N: n, Padded: n}}
	}
	return model.Chunks(n, g.runner.Engine.ChunkRows())
}

// valueAndGradient returns the objective's value and gradient on the batches of a step. key
// gives the random key of each term and layer.
func (g *gradients) valueAndGradient(p nn.Params, o Objective, batches []batch, key func(term, layer int) uint64) (float64, [][]float64, error) {
	s, _, err := g.step(p, o, batches, key)
	return s.loss, s.grads, err
}

// step returns the objective's value and gradient, and for each batch the statistics for
// the model's state: one slice per tensor, nil for a weight. The next step overwrites the
// gradient.
func (g *gradients) step(p nn.Params, o Objective, batches []batch, key func(term, layer int) uint64) (gradientSum, [][][]float32, error) {
	var tasks []task
	for _, b := range batches {
		for i, c := range g.chunks(b.size(o)) {
			tasks = append(tasks, task{b, c, i})
		}
	}
	weights := g.weights
	if weights == nil {
		var err error
		if weights, err = model.Upload(g.runner.Engine, p); err != nil {
			return gradientSum{}, nil, err
		}
		defer model.Finalize(weights)
	}
	if g.single && len(tasks) == 1 {
		s, state, err := g.runSingle(tasks[0], p, o, weights, key)
		return s, [][][]float32{state}, err
	}
	n := max(1, min(lanes, len(tasks))) // an empty batch needs a lane too
	apart := !g.whole && n == len(tasks)
	if g.whole || apart {
		n = 1 // an execution uses all cores by itself, or every lane has one chunk
	}
	for len(g.lanes) < n {
		if g.valueOnly || g.norms != nil {
			p = nil
		}
		g.lanes = append(g.lanes, newGradientSum(p))
	}
	if apart {
		states, err := g.runTogether(tasks, o, weights, key, &g.lanes[0])
		return g.lanes[0], states, err
	}
	sums, states := g.lanes[:n], make([][][]float32, len(tasks))
	err := g.runner.Engine.Parallel(n, func(l int) error {
		sums[l].reset()
		for i := l; i < len(tasks); i += n {
			state, err := g.run(tasks[i], o, weights, key, &sums[l])
			if err != nil {
				return err
			}
			states[i] = state
		}
		return nil
	})
	if err != nil {
		return gradientSum{}, nil, fmt.Errorf("train %s: %w", g.runner.Arch.Name(), err)
	}
	for _, s := range sums[1:] {
		sums[0].add(s)
	}
	if !sums[0].nonEmpty {
		sums[0].clear()
	}
	return sums[0], states, nil
}

// runSingle returns the gradient of a step with one task, which needs no sum.
func (g *gradients) runSingle(t task, p nn.Params, o Objective, weights []any, key func(term, layer int) uint64) (s gradientSum, state [][]float32, err error) {
	err = g.runner.Engine.Parallel(1, func(int) error {
		s.outputs, err = g.execute(t, o, weights, key)
		return err
	})
	if err == nil {
		state, err = s.takeOutputs(p)
	}
	if err != nil {
		return gradientSum{}, nil, fmt.Errorf("train %s: %w", g.runner.Arch.Name(), err)
	}
	return s, state, nil
}

// runTogether executes the tasks in parallel and adds up their outputs in order. The result
// is that of one lane per task, without the memory for the lanes.
func (g *gradients) runTogether(
	tasks []task, o Objective, weights []any, key func(term, layer int) uint64, into *gradientSum,
) (states [][][]float32, err error) {
	outs := make([][]*tensors.Tensor, len(tasks))
	defer func() {
		for _, out := range outs {
			model.Finalize(out)
		}
	}()
	err = g.runner.Engine.Parallel(len(tasks), func(i int) (err error) {
		outs[i], err = g.execute(tasks[i], o, weights, key)
		return err
	})
	if err == nil {
		states, err = into.sumOutputs(outs)
	}
	if err != nil {
		return nil, fmt.Errorf("train %s: %w", g.runner.Arch.Name(), err)
	}
	return states, nil
}

// run executes a task, adds its loss and gradient to a sum, and returns its statistics for
// the model's state.
func (g *gradients) run(t task, o Objective, weights []any, key func(term, layer int) uint64, into *gradientSum) ([][]float32, error) {
	out, err := g.execute(t, o, weights, key)
	if err != nil {
		return nil, err
	}
	defer model.Finalize(out)
	return into.addTensors(out)
}

// execute runs a task and returns its outputs.
func (g *gradients) execute(t task, o Objective, weights []any, key func(term, layer int) uint64) ([]*tensors.Tensor, error) {
	if g.stop != nil {
		if err := g.stop(); err != nil {
			return nil, err
		}
	}
	term := o[t.term]
	exec, err := g.compiled(term, t.Padded)
	if err != nil {
		return nil, err
	}
	records := t.size(o)
	if g.squares || g.norms != nil || g.clip != nil { // of each record alone: no mean
		records = 1
	}
	data, free, err := g.inputs(t, term, records)
	if err != nil {
		return nil, err
	}
	defer free()
	in := append(weights[:len(weights):len(weights)], data[0])
	if g.random {
		draws, err := g.getRandomInputs(t.Padded)
		if err != nil {
			return nil, err
		}
		defer g.putRandomInputs(t.Padded, draws)
		for k, d := range g.draws {
			err := tensors.MutableFlatData(draws[k], func(flat []float32) {
				d.Fill(flat, key(t.term, k), t.First, t.Padded)
			})
			if err != nil {
				return nil, err
			}
			in = append(in, draws[k])
		}
	}
	for _, d := range data[1:] {
		in = append(in, d)
	}
	if g.clip != nil {
		bound := tensors.FromScalar(float32(g.clip.Norm))
		defer bound.FinalizeAll()
		in = append(in, bound)
	}
	out, err := exec.Call(in...)
	if err == nil && g.norms != nil {
		err = t.copyValues(g.norms, out[1])
	}
	return out, explain(err)
}

// explain is engine.Explain; of the failure to build a network that loses a gradient the network's fault
// alone is told.
func explain(err error) error {
	var lost *nn.LostGradient
	if errors.As(err, &lost) {
		return lost
	}
	return engine.Explain(err)
}

// copyValues copies one value per record of the chunk into dst, which has one per record of
// the term.
func (t task) copyValues(dst []float64, from *tensors.Tensor) error {
	return tensors.ConstFlatData(from, func(flat []float32) {
		for i := range t.N {
			dst[t.First+i] = float64(flat[i])
		}
	})
}

// inputs returns x and the targets of a chunk as tensors. Those of Whole terms are kept for
// the next step unless they change from epoch to epoch; free frees the others.
func (g *gradients) inputs(t task, term Term, records int) (in []*tensors.Tensor, free func(), err error) {
	if t.rows != nil || term.changesPerEpoch() {
		in, err = g.upload(term, t.rows, t.Chunk, records)
		return in, func() { model.Finalize(in) }, err
	}
	k := fixedKey{g.player, t.term, t.index}
	g.mu.Lock()
	in = g.fixed[k]
	g.mu.Unlock()
	if in == nil {
		if in, err = g.upload(term, nil, t.Chunk, records); err != nil {
			return nil, nil, err
		}
		g.mu.Lock()
		g.fixed[k] = in
		g.mu.Unlock()
	}
	return in, func() {}, nil
}

func (g *gradients) upload(term Term, rows []int, c model.Chunk, records int) ([]*tensors.Tensor, error) {
	data, err := term.chunkRecords(g.runner.Engine, rows, c, g.epoch)
	if err != nil {
		return nil, err
	}
	names, err := term.inputs(g.runner.Arch)
	if err != nil {
		return nil, err
	}
	in := []*tensors.Tensor{data.x}
	for k, t := range term.Targets {
		for _, name := range names[k] {
			made := data.lossInputs[name]
			if made == nil && term.inputIsX(t.Inputs[name]) {
				made = data.x
			}
			if made == nil {
				if made, err = model.FeatureMajor(g.runner.Engine, t.Inputs[name], rows, c); err != nil {
					return nil, err
				}
			}
			in = append(in, made)
		}
		w, weight := array.New[float32](1, c.Padded), t.Weight
		if g.warmUp {
			weight = t.weightAt(g.epoch)
		}
		for i := range c.N {
			w.Data[i] = float32(weight / float64(records))
		}
		in = append(in, tensors.FromFlatDataAndDimensions(w.Data, 1, c.Padded))
	}
	return in, nil
}

func (g *gradients) getRandomInputs(n int) ([]*tensors.Tensor, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if s := g.spare[n]; len(s) > 0 {
		g.spare[n] = s[:len(s)-1]
		return s[len(s)-1], nil
	}
	var set []*tensors.Tensor
	for _, m := range g.draws {
		t, err := g.runner.Engine.Zeros(m.Units, n)
		if err != nil {
			return nil, err
		}
		set = append(set, t)
	}
	return set, nil
}

func (g *gradients) putRandomInputs(n int, set []*tensors.Tensor) {
	g.mu.Lock()
	g.spare[n] = append(g.spare[n], set)
	g.mu.Unlock()
}
