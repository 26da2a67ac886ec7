// Convolutions: models become groups, records or channels.

package stacked

import (
	"slices"

	"github.com/gomlx/compute"
)

// convolution has the arguments of ConvGeneral.
type convolution struct {
	axes                            compute.ConvolveAxesConfig
	strides                         []int
	paddings                        [][2]int
	inputDilations, kernelDilations []int
	channelGroups, batchGroups      int // at least 1
}

// ConvGeneral implements compute.Function.
func (f *function) ConvGeneral(input, kernel compute.Value, axes compute.ConvolveAxesConfig, strides []int, paddings [][2]int,
	inputDilations, kernelDilations []int, channelGroups, batchGroups int) (compute.Value, error) {
	c := convolution{axes.Clone(), slices.Clone(strides), slices.Clone(paddings), slices.Clone(inputDilations), slices.Clone(kernelDilations),
		max(1, channelGroups), max(1, batchGroups)}
	return f.recordOne(&operation{
		name: compute.OpTypeConvGeneral.String(),
		one: func(on compute.Function, in []compute.Value) ([]compute.Value, error) {
			return asList(c.call(on, in[0], in[1]))
		},
		many: func(e *emission, in []operand, out []*value) []compute.Value {
			return []compute.Value{c.emit(e, in[0], in[1], out[0].shape.Dimensions)}
		},
	}, input, kernel)
}

func (c convolution) call(on compute.Function, input, kernel compute.Value) (compute.Value, error) {
	return on.ConvGeneral(input, kernel, c.axes, c.strides, c.paddings, c.inputDilations, c.kernelDilations, c.channelGroups, c.batchGroups)
}

// emit emits the convolution. out are the dims of one model's result.
//   - Both stacked: the models are groups of channels, or of records if the convolution has
//     such groups already, and the result has them among its channels.
//   - Input only: the models are more records.
//   - Kernel only: the models are more channels of the result.
func (c convolution) emit(e *emission, input, kernel operand, out []int) compute.Value {
	x, k := input.value, kernel.value
	in, window := input.shape.Dimensions, kernel.shape.Dimensions
	resultAxis, groups := c.axes.OutputChannels, 1
	switch {
	case input.stacked && kernel.stacked && c.batchGroups > 1:
		x, c.batchGroups = e.merge(x, in, c.axes.InputBatch, 1), e.models*c.batchGroups
		k = e.merge(k, window, c.axes.KernelOutputChannels, 1)
	case input.stacked && kernel.stacked:
		x, c.channelGroups = e.merge(x, in, c.axes.InputChannels, 1), e.models*c.channelGroups
		k = e.merge(k, window, c.axes.KernelOutputChannels, 1)
	case input.stacked:
		x = e.merge(x, in, c.axes.InputBatch, c.batchGroups)
		resultAxis = c.axes.OutputBatch
	default:
		groups = c.channelGroups * c.batchGroups
		k = e.merge(k, window, c.axes.KernelOutputChannels, groups)
	}
	y := e.try(func() (compute.Value, error) { return c.call(e.on, x, k) })
	return e.unmerge(y, out, resultAxis, groups)
}
