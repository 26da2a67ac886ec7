// Reductions over windows, and their gradients.

package stacked

import (
	"slices"

	"github.com/gomlx/compute"
)

// ReduceWindow implements compute.Function.
func (f *function) ReduceWindow(x compute.Value, kind compute.ReduceOpType, window, strides, inputDilations, windowDilations []int,
	paddings [][2]int) (compute.Value, error) {
	window, strides, paddings = slices.Clone(window), slices.Clone(strides), slices.Clone(paddings)
	inputDilations, windowDilations = slices.Clone(inputDilations), slices.Clone(windowDilations)
	return f.recordOne(&operation{
		name: compute.OpTypeReduceWindow.String(),
		one: func(on compute.Function, in []compute.Value) ([]compute.Value, error) {
			return asList(on.ReduceWindow(in[0], kind, window, strides, inputDilations, windowDilations, paddings))
		},
		many: func(e *emission, in []operand, _ []*value) []compute.Value {
			return e.tryAll(func() ([]compute.Value, error) {
				return asList(e.on.ReduceWindow(in[0].value, kind, prepend(1, window), prependIfAny(1, strides),
					prependIfAny(1, inputDilations), prependIfAny(1, windowDilations), prependIfAny([2]int{}, paddings)))
			})
		},
	}, x)
}

// SelectAndScatterMax implements compute.Function.
func (f *function) SelectAndScatterMax(x, source compute.Value, window, strides []int, paddings [][2]int) (compute.Value, error) {
	return f.selectAndScatter(compute.OpTypeSelectAndScatterMax, compute.Function.SelectAndScatterMax, x, source, window, strides, paddings)
}

// SelectAndScatterMin implements compute.Function.
func (f *function) SelectAndScatterMin(x, source compute.Value, window, strides []int, paddings [][2]int) (compute.Value, error) {
	return f.selectAndScatter(compute.OpTypeSelectAndScatterMin, compute.Function.SelectAndScatterMin, x, source, window, strides, paddings)
}

type selectMethod func(on compute.Function, x, source compute.Value, window, strides []int, paddings [][2]int) (compute.Value, error)

func (f *function) selectAndScatter(op compute.OpType, method selectMethod, x, source compute.Value, window, strides []int,
	paddings [][2]int) (compute.Value, error) {
	window, strides, paddings = slices.Clone(window), slices.Clone(strides), slices.Clone(paddings)
	return f.recordOne(&operation{
		name: op.String(),
		one: func(on compute.Function, in []compute.Value) ([]compute.Value, error) {
			return asList(method(on, in[0], in[1], window, strides, paddings))
		},
		many: func(e *emission, in []operand, _ []*value) []compute.Value {
			base, added := e.stack(in[0]), e.stack(in[1])
			return e.tryAll(func() ([]compute.Value, error) {
				return asList(method(e.on, base, added, prepend(1, window), prependIfAny(1, strides), prependIfAny([2]int{}, paddings)))
			})
		},
	}, x, source)
}
