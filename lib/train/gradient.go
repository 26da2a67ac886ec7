package train

import (
	"fmt"
	"sync"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
)

// lanes is the number of partial sums that gradients are added up in. It is a
// constant, not the number of cores, so that results do not depend on cores.
const lanes = 16

// gradients evaluates an objective and its gradient. A step is cut into chunks
// that the engine runs side by side; lane l adds up chunks l, l+lanes, ... in
// float64, and the lanes are added in order, so every sum is in a fixed order.
//
// A coupled architecture (model.Coupled) has its batches whole, one execution
// each on the engine's wide backend: cutting a batch would need the statistics
// of every normalisation to travel between chunks twice per layer, and the
// batches of its models fit into memory.
type gradients struct {
	runner   *model.Runner
	engine   *engine.Engine // that of the runner, or its wide form
	training bool           // as opposed to inference
	whole    bool           // whether a batch is one execution
	masks    []nn.Mask
	rates    bool         // whether any dropout layer is active
	epoch    int          // that augmentation draws for, from 0
	stop     func() error // asked before every chunk; nil: never stops

	mu    sync.Mutex
	execs map[int]*graph.Exec            // by number of targets
	spare map[int][][]*tensors.Tensor    // mask tensors by chunk size
	fixed map[fixedKey][]*tensors.Tensor // inputs of whole terms, uploaded once
	lanes []sum                          // memory of the last step's sums
}

type fixedKey struct{ term, chunk int }

func newGradients(r *model.Runner) (*gradients, error) { return newGradientsIn(r, true) }

// newGradientsIn tells training from inference, in which records do not mix.
func newGradientsIn(r *model.Runner, training bool) (*gradients, error) {
	g := &gradients{
		runner: r, engine: r.Engine, training: training, whole: training && model.IsCoupled(r.Arch), masks: r.Arch.Masks(),
		execs: map[int]*graph.Exec{}, spare: map[int][][]*tensors.Tensor{}, fixed: map[fixedKey][]*tensors.Tensor{},
	}
	for _, m := range g.masks {
		g.rates = g.rates || training && m.Rate > 0
	}
	if !g.whole {
		return g, nil
	}
	var err error
	if g.engine, err = r.Engine.Wide(); err != nil {
		return nil, fmt.Errorf("train %s: %w", r.Arch.Name(), err)
	}
	return g, nil
}

// close frees the uploaded data.
func (g *gradients) close() {
	g.forget()
	for _, sets := range g.spare {
		for _, ts := range sets {
			model.Finalize(ts)
		}
	}
}

// forget frees the inputs that were kept, before another objective.
func (g *gradients) forget() {
	for _, ts := range g.fixed {
		model.Finalize(ts)
	}
	clear(g.fixed)
}

// exec returns the compiled step for a number of targets. Inputs: weights, x,
// masks, then per target its probabilities, temperature and record weights.
// Outputs: the summed loss, then per tensor its gradient or, for state, what the
// batch says of it.
func (g *gradients) exec(targets int) (*graph.Exec, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if e := g.execs[targets]; e != nil {
		return e, nil
	}
	like := g.runner.Arch.Init(engine.Root(0).Stream(engine.StreamInit))
	n := len(like)
	e, err := graph.NewExec(g.engine.Backend(), func(in []*graph.Node) []*graph.Node {
		p, x, rest := in[:n], in[n], in[n+1:]
		var masks []*graph.Node
		if g.rates {
			masks, rest = rest[:len(g.masks)], rest[len(g.masks):]
		}
		t := &nn.Tape{Training: g.training}
		tr := g.runner.Arch.Forward(t, p, x, masks)
		var losses, adjoint *graph.Node
		for k := 0; k < len(rest); k += 3 {
			l, a := nn.Distill(tr.Logits, rest[k], rest[k+1], rest[k+2])
			if k == 0 {
				losses, adjoint = l, a
			} else {
				losses, adjoint = graph.Add(losses, l), graph.Add(adjoint, a)
			}
		}
		out := append([]*graph.Node{engine.Sum(losses)}, t.Backward(tr.Logits, adjoint, p)...)
		for i, v := range like {
			if v.State && g.training {
				out[1+i] = statistic(t, p[i], v.Name)
			}
		}
		return out
	})
	if err != nil {
		return nil, fmt.Errorf("train %s: %w", g.runner.Arch.Name(), err)
	}
	g.execs[targets] = e.SetMaxCache(-1)
	return e, nil
}

func statistic(t *nn.Tape, p *graph.Node, name string) *graph.Node {
	s := t.Statistic(p)
	if s == nil {
		panic(fmt.Errorf("no layer reports a statistic for %s", name))
	}
	return s
}

// task is one chunk of one batch.
type task struct {
	batch
	model.Chunk
	index int // of the chunk within its batch
}

// chunks cuts a batch of n records.
func (g *gradients) chunks(n int) []model.Chunk {
	if g.whole {
		return []model.Chunk{{N: n, Padded: n}}
	}
	return model.Chunks(n, g.engine.ChunkRows())
}

// at returns the objective's value and gradient on the batches of a step, whose
// dropout masks are drawn under key.
func (g *gradients) at(p nn.Params, o Objective, batches []batch, key func(term, layer int) uint64) (float64, [][]float64, error) {
	s, _, err := g.step(p, o, batches, key)
	return s.loss, s.grads, err
}

// step is at together with what each of the batches, in order, says of the
// model's state: one slice per tensor, nil for a weight. The next step uses the
// memory of the gradient again.
func (g *gradients) step(p nn.Params, o Objective, batches []batch, key func(term, layer int) uint64) (sum, [][][]float32, error) {
	var tasks []task
	for _, b := range batches {
		for i, c := range g.chunks(b.size(o)) {
			tasks = append(tasks, task{b, c, i})
		}
	}
	weights, err := model.Upload(g.engine, p)
	if err != nil {
		return sum{}, nil, err
	}
	defer model.Finalize(weights)
	n := min(lanes, len(tasks))
	if g.whole {
		n = 1 // an execution uses all cores by itself
	}
	for len(g.lanes) < n {
		g.lanes = append(g.lanes, newSum(p))
	}
	sums, states := g.lanes[:n], make([][][]float32, len(tasks))
	err = g.engine.Parallel(n, func(l int) error {
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
		return sum{}, nil, fmt.Errorf("train %s: %w", g.runner.Arch.Name(), err)
	}
	for _, s := range sums[1:] {
		sums[0].add(s)
	}
	return sums[0], states, nil
}

func (g *gradients) run(t task, o Objective, weights []any, key func(term, layer int) uint64, into *sum) ([][]float32, error) {
	if g.stop != nil {
		if err := g.stop(); err != nil {
			return nil, err
		}
	}
	term := o[t.term]
	exec, err := g.exec(len(term.Targets))
	if err != nil {
		return nil, err
	}
	data, free, err := g.inputs(t, term, t.size(o))
	if err != nil {
		return nil, err
	}
	defer free()
	in := append(weights[:len(weights):len(weights)], data[0])
	if g.rates {
		masks := g.take(t.Padded)
		defer g.give(t.Padded, masks)
		for k, m := range g.masks {
			err := tensors.MutableFlatData(masks[k], func(flat []float32) {
				m.Fill(flat, key(t.term, k), t.First, t.Padded)
			})
			if err != nil {
				return nil, err
			}
			in = append(in, masks[k])
		}
	}
	for _, d := range data[1:] {
		in = append(in, d)
	}
	out, err := exec.Call(in...)
	if err != nil {
		return nil, err
	}
	defer model.Finalize(out)
	return into.addTensors(out)
}

// inputs returns x and the targets of a chunk as tensors. Those of whole terms
// are kept for the next step unless they are augmented; the others are freed
// after use.
func (g *gradients) inputs(t task, term Term, records int) (in []*tensors.Tensor, free func(), err error) {
	if t.rows != nil || term.Augment != nil {
		in, err = g.upload(term, t.rows, t.Chunk, records)
		return in, func() { model.Finalize(in) }, err
	}
	k := fixedKey{t.term, t.index}
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
	x, err := term.records(rows, c, g.epoch)
	if err != nil {
		return nil, err
	}
	in := []*tensors.Tensor{x}
	for _, t := range term.Targets {
		temperature := t.Temperature
		if temperature == 0 {
			temperature = 1
		}
		w := array.New[float32](1, c.Padded)
		for i := range c.N {
			w.Data[i] = float32(t.Weight / float64(records))
		}
		in = append(in, model.FeatureMajor(t.Probs, rows, c),
			tensors.FromScalar(float32(temperature)),
			tensors.FromFlatDataAndDimensions(w.Data, 1, c.Padded))
	}
	return in, nil
}

func (g *gradients) take(n int) []*tensors.Tensor {
	g.mu.Lock()
	defer g.mu.Unlock()
	if s := g.spare[n]; len(s) > 0 {
		g.spare[n] = s[:len(s)-1]
		return s[len(s)-1]
	}
	var set []*tensors.Tensor
	for _, m := range g.masks {
		set = append(set, tensors.FromFlatDataAndDimensions(make([]float32, m.Units*n), m.Units, n))
	}
	return set
}

func (g *gradients) give(n int, set []*tensors.Tensor) {
	g.mu.Lock()
	g.spare[n] = append(g.spare[n], set)
	g.mu.Unlock()
}

// sum is a loss with its gradient; tensors that are state have none.
type sum struct {
	loss  float64
	grads [][]float64
	some  bool // whether anything was added, without which grads hold anything
}

// reset makes the sum 0 without touching its memory, which for millions of
// weights costs as much as an addition.
func (s *sum) reset() { s.loss, s.some = 0, false }

func newSum(p nn.Params) sum {
	s := sum{grads: make([][]float64, len(p))}
	for i := range p {
		if !p[i].State {
			s.grads[i] = make([]float64, len(p[i].Data))
		}
	}
	return s
}

func (s *sum) add(o sum) {
	s.loss += o.loss
	for i, g := range o.grads {
		for j, v := range g {
			s.grads[i][j] += v
		}
	}
}

// addTensors adds an execution's loss and gradients, and returns what it says of
// the state.
func (s *sum) addTensors(out []*tensors.Tensor) ([][]float32, error) {
	s.loss += float64(tensors.ToScalar[float32](out[0]))
	var state [][]float32
	for i, dst := range s.grads {
		err := tensors.ConstFlatData(out[1+i], func(flat []float32) {
			if dst == nil {
				if state == nil {
					state = make([][]float32, len(s.grads))
				}
				state[i] = append([]float32(nil), flat...)
				return
			}
			s.put(dst, flat)
		})
		if err != nil {
			return nil, err
		}
	}
	s.some = true
	return state, nil
}

// put adds a gradient to dst, or replaces what is left there of another step.
func (s *sum) put(dst []float64, grad []float32) {
	first := !s.some
	array.Split(len(dst), func(from, to int) {
		if first {
			for j := from; j < to; j++ {
				dst[j] = float64(grad[j])
			}
			return
		}
		for j := from; j < to; j++ {
			dst[j] += float64(grad[j])
		}
	})
}
