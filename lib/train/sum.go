// Sums of losses and gradients over executions, in float64 and in a fixed order.

package train

import (
	"slices"

	"github.com/gomlx/gomlx/core/tensors"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine/kernels"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
)

// gradientSum is a sum of losses and gradients; tensors that are state have none.
type gradientSum struct {
	loss     float64
	grads    [][]float64
	nonEmpty bool // whether anything was added; otherwise grads are undefined

	// The float32 gradient of a single execution and all its outputs; grads are nil then.
	float32s [][]float32
	outputs  []*tensors.Tensor
}

// takeOutputs sets loss and gradient from outputs, without a copy, and returns the
// statistics for the model's state.
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
		case len(flat) == len(v.Data): // otherwise it has no gradient
			s.float32s[i] = flat
		}
	}
	return state, nil
}

// tensorOutput returns the output of an execution for tensor i: the gradient of a weight,
// or one number if no loss depends on it or another player owns it. It is valid until out
// is freed.
func tensorOutput(out []*tensors.Tensor, i int) (flat []float32, err error) {
	err = tensors.ConstFlatData(out[1+i], func(there []float32) { flat = there })
	return flat, err
}

// setState adds a copy of the statistic of tensor i of n to those of an execution; state
// may be nil.
func setState(state [][]float32, n, i int, flat []float32) [][]float32 {
	if state == nil {
		state = make([][]float32, n)
	}
	state[i] = slices.Clone(flat)
	return state
}

// step updates the weights by the gradient and frees the outputs.
func (s *gradientSum) step(o nn.Optimizer, p nn.Params, state *nn.OptimizerState, rates []float64) error {
	if s.float32s == nil {
		return o.Step(p, s.grads, state, rates)
	}
	defer model.Finalize(s.outputs)
	return o.(nn.Float32Optimizer).StepFloat32(p, s.float32s, state, rates)
}

// reset sets the sum to 0 without clearing its memory.
func (s *gradientSum) reset() { s.loss, s.nonEmpty = 0, false }

// clear sets the gradient to 0.
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

// sumOutputs sets s to the sum of the executions' losses and gradients, in order, and
// returns the statistics of each.
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
			case len(flat) == len(dst): // otherwise it has no gradient
				grads = append(grads, flat)
			}
		}
		sumGradients(dst, grads, len(outs))
	}
	return states, nil
}

// sumGradients sets dst to the sum of n gradients; those not in grads are 0. A block of dst
// stays in the first-level cache until all are added to it.
func sumGradients(dst []float64, grads [][]float32, n int) {
	const block = 1 << 11
	array.Split(len(dst), func(from, to int) {
		for ; from < to; from += block {
			end, rest := min(from+block, to), grads
			if len(grads) == n {
				kernels.Widen(dst[from:end], grads[0][from:end])
				rest = grads[1:]
			} else {
				clear(dst[from:end]) // not a copy of the first: its -0 plus 0 is 0
			}
			for _, g := range rest {
				kernels.AddRows(dst[from:end], g[from:end], end-from, 1)
			}
		}
	})
}

// addTensors adds the loss and gradients of an execution and returns its statistics.
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
		case !s.nonEmpty: // no gradient
			clear(dst)
		}
	}
	s.nonEmpty = true
	return state, nil
}

// addGradient adds a gradient to dst, or overwrites dst if nothing was added yet.
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
