package train

import (
	"slices"

	"github.com/gomlx/gomlx/core/tensors"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine/kernels"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
)

// sum is a loss with its gradient; tensors that are state have none.
type sum struct {
	loss  float64
	grads [][]float64
	some  bool // whether anything was added, without which grads hold anything

	// The gradient as the only execution left it, and what it left: there are no grads then.
	single [][]float32
	held   []*tensors.Tensor
}

// hold takes the gradient from what is held as it is, and returns what that says of the
// state.
func (s *sum) hold(p nn.Params) ([][]float32, error) {
	s.loss, s.single = float64(tensors.ToScalar[float32](s.held[0])), make([][]float32, len(p))
	var state [][]float32
	for i, v := range p {
		flat, err := said(s.held, i)
		switch {
		case err != nil:
			return nil, err
		case v.State:
			state = keep(state, len(p), i, flat)
		case len(flat) == len(v.Data): // else nothing is said of it
			s.single[i] = flat
		}
	}
	return state, nil
}

// said is what an execution says of tensor i, which lies there until out is freed: of a weight
// its gradient, or nothing, if no loss depends on it or it is another player's.
func said(out []*tensors.Tensor, i int) (flat []float32, err error) {
	err = tensors.ConstFlatData(out[1+i], func(there []float32) { flat = there })
	return flat, err
}

// keep adds a copy of what is said of tensor i of n, which is state, to the others' of an
// execution; nil are those of none.
func keep(state [][]float32, n, i int, flat []float32) [][]float32 {
	if state == nil {
		state = make([][]float32, n)
	}
	state[i] = slices.Clone(flat)
	return state
}

// step moves weights by the gradient, and frees what is held.
func (s *sum) step(o nn.Optimizer, p nn.Params, state *nn.OptimizerState, rates []float64) error {
	if s.single == nil {
		return o.Step(p, s.grads, state, rates)
	}
	defer model.Finalize(s.held)
	return o.(nn.Single).StepSingle(p, s.single, state, rates)
}

// reset makes the sum 0 without touching its memory, which for millions of
// weights costs as much as an addition.
func (s *sum) reset() { s.loss, s.some = 0, false }

// clear makes it the sum of nothing, whatever the memory holds of another step.
func (s *sum) clear() {
	for _, g := range s.grads {
		clear(g)
	}
}

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
		array.Split(len(g), func(from, to int) {
			dst := s.grads[i][from:to]
			for j, v := range g[from:to] {
				dst[j] += v
			}
		})
	}
}

// gather makes s the sum of executions' losses and gradients, in their order, and returns
// what each says of the state.
func (s *sum) gather(outs [][]*tensors.Tensor) ([][][]float32, error) {
	s.loss, s.some = 0, true
	states := make([][][]float32, len(outs))
	for _, out := range outs {
		s.loss += float64(tensors.ToScalar[float32](out[0]))
	}
	for i, dst := range s.grads {
		var grads [][]float32
		for k, out := range outs {
			flat, err := said(out, i)
			switch {
			case err != nil:
				return nil, err
			case dst == nil:
				states[k] = keep(states[k], len(s.grads), i, flat)
			case len(flat) == len(dst): // else nothing is said of it
				grads = append(grads, flat)
			}
		}
		addUp(dst, grads, len(outs))
	}
	return states, nil
}

// addUp sets dst to the sum of so many gradients, of which those that are not given are 0. A
// block of dst stays in the first-level cache until all are added to it.
func addUp(dst []float64, grads [][]float32, n int) {
	const block = 1 << 11
	array.Split(len(dst), func(from, to int) {
		for ; from < to; from += block {
			end, rest := min(from+block, to), grads
			if len(grads) == n {
				kernels.Widen(dst[from:end], grads[0][from:end])
				rest = grads[1:]
			} else {
				clear(dst[from:end]) // and not the first one's -0, which is 0 when a 0 is added
			}
			for _, g := range rest {
				kernels.AddRows(dst[from:end], g[from:end], end-from, 1)
			}
		}
	})
}

// addTensors adds an execution's loss and gradients, and returns what it says of
// the state.
func (s *sum) addTensors(out []*tensors.Tensor) ([][]float32, error) {
	s.loss += float64(tensors.ToScalar[float32](out[0]))
	var state [][]float32
	for i, dst := range s.grads {
		flat, err := said(out, i)
		switch {
		case err != nil:
			return nil, err
		case dst == nil:
			state = keep(state, len(s.grads), i, flat)
		case len(flat) == len(dst):
			s.put(dst, flat)
		case !s.some: // and nothing is said of it
			clear(dst)
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
			kernels.Widen(dst[from:to], grad[from:to])
		} else {
			kernels.AddRows(dst[from:to], grad[from:to], to-from, 1)
		}
	})
}
