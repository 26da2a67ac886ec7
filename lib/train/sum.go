package train

import (
	"slices"

	"github.com/gomlx/gomlx/core/tensors"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine/kernels"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
)

// gradientSum is a loss with its gradient; tensors that are state have none.
type gradientSum struct {
	loss     float64
	grads    [][]float64
	nonEmpty bool // whether anything was added, without which grads hold anything

	// The gradient as the only execution left it, and what it left: there are no grads then.
	float32s [][]float32
	outputs  []*tensors.Tensor
}

// apply takes the gradient from what is held as it is, and returns what that says of the
// state.
func (s *gradientSum) takeOutputs(p nn.Params) ([][]float32, error) {
	s.loss, s.float32s = float64(tensors.ToScalar[float32](s.outputs[0])), make([][]float32, len(p))
	var state [][]float32
	for i, v := range p {
		flat, err := tensorOutput(s.outputs, i)
		switch {
		case err != nil:
			return nil, err
		case v.State:
			state = setState(state, len(p), i, flat)
		case len(flat) == len(v.Data): // else nothing is said of it
			s.float32s[i] = flat
		}
	}
	return state, nil
}

// tensorOutput is what an execution says of tensor i, which lies there until out is freed: of a weight
// its gradient, or nothing, if no loss depends on it or it is another player's.
func tensorOutput(out []*tensors.Tensor, i int) (flat []float32, err error) {
	err = tensors.ConstFlatData(out[1+i], func(there []float32) { flat = there })
	return flat, err
}

// setState adds a copy of what is said of tensor i of n, which is state, to the others' of an
// execution; nil are those of none.
func setState(state [][]float32, n, i int, flat []float32) [][]float32 {
	if state == nil {
		state = make([][]float32, n)
	}
	state[i] = slices.Clone(flat)
	return state
}

// step moves weights by the gradient, and frees what is held.
func (s *gradientSum) step(o nn.Optimizer, p nn.Params, state *nn.OptimizerState, rates []float64) error {
	if s.float32s == nil {
		return o.Step(p, s.grads, state, rates)
	}
	defer model.Finalize(s.outputs)
	return o.(nn.Float32Optimizer).StepFloat32(p, s.float32s, state, rates)
}

// reset makes the sum 0 without touching its memory, which for millions of
// weights costs as much as an addition.
func (s *gradientSum) reset() { s.loss, s.nonEmpty = 0, false }

// clear makes it the sum of nothing, whatever the memory holds of another step.
func (s *gradientSum) clear() {
	for _, g := range s.grads {
		clear(g)
	}
}

func newGradientSum(p nn.Params) gradientSum {
	s := gradientSum{grads: make([][]float64, len(p))}
	for i := range p {
		if !p[i].State {
			s.grads[i] = make([]float64, len(p[i].Data))
		}
	}
	return s
}

func (s *gradientSum) add(o gradientSum) {
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

// sumOutputs makes s the sum of executions' losses and gradients, in their order, and returns
// what each says of the state.
func (s *gradientSum) sumOutputs(outs [][]*tensors.Tensor) ([][][]float32, error) {
	s.loss, s.nonEmpty = 0, true
	states := make([][][]float32, len(outs))
	for _, out := range outs {
		s.loss += float64(tensors.ToScalar[float32](out[0]))
	}
	for i, dst := range s.grads {
		var grads [][]float32
		for k, out := range outs {
			flat, err := tensorOutput(out, i)
			switch {
			case err != nil:
				return nil, err
			case dst == nil:
				states[k] = setState(states[k], len(s.grads), i, flat)
			case len(flat) == len(dst): // else nothing is said of it
				grads = append(grads, flat)
			}
		}
		sumGradients(dst, grads, len(outs))
	}
	return states, nil
}

// sumGradients sets dst to the sum of so many gradients, of which those that are not given are 0. A
// block of dst stays in the first-level cache until all are added to it.
func sumGradients(dst []float64, grads [][]float32, n int) {
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
func (s *gradientSum) addTensors(out []*tensors.Tensor) ([][]float32, error) {
	s.loss += float64(tensors.ToScalar[float32](out[0]))
	var state [][]float32
	for i, dst := range s.grads {
		flat, err := tensorOutput(out, i)
		switch {
		case err != nil:
			return nil, err
		case dst == nil:
			state = setState(state, len(s.grads), i, flat)
		case len(flat) == len(dst):
			s.addGradient(dst, flat)
		case !s.nonEmpty: // and nothing is said of it
			clear(dst)
		}
	}
	s.nonEmpty = true
	return state, nil
}

// upload adds a gradient to dst, or replaces what is left there of another step.
func (s *gradientSum) addGradient(dst []float64, grad []float32) {
	first := !s.nonEmpty
	array.Split(len(dst), func(from, to int) {
		if first {
			kernels.Widen(dst[from:to], grad[from:to])
		} else {
			kernels.AddRows(dst[from:to], grad[from:to], to-from, 1)
		}
	})
}
