// Reductions over windows, their gradients, and batch normalisation.

package stacked

import "github.com/gomlx/compute"

// ReduceWindow implements compute.Function.
func (f *function) ReduceWindow(x compute.Value, kind compute.ReduceOpType, window, strides, inputDilations, windowDilations []int, paddings [][2]int) (compute.Value, error) {
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

func (f *function) selectAndScatter(op compute.OpType,
	method func(on compute.Function, x, source compute.Value, window, strides []int, paddings [][2]int) (compute.Value, error),
	x, source compute.Value, window, strides []int, paddings [][2]int) (compute.Value, error) {
	return f.recordOne(&operation{
		name: op.String(),
		one: func(on compute.Function, in []compute.Value) ([]compute.Value, error) {
			return asList(method(on, in[0], in[1], window, strides, paddings))
		},
		many: func(e *emission, in []operand, _ []*value) []compute.Value {
			return e.tryAll(func() ([]compute.Value, error) {
				return asList(method(e.on, e.stack(in[0]), e.stack(in[1]), prepend(1, window), prependIfAny(1, strides), prependIfAny([2]int{}, paddings)))
			})
		},
	}, x, source)
}

// perFeature records a batch normalisation: the models become more features. full says which
// operands and results have all axes; the others have one number per feature.
func (f *function) perFeature(op compute.OpType, axis int, fullIn, fullOut []bool,
	one func(on compute.Function, in []compute.Value) ([]compute.Value, error), in ...compute.Value) ([]compute.Value, error) {
	featureAxis := func(full bool) int {
		if full {
			return axis
		}
		return 0
	}
	return f.record(&operation{
		name: op.String(),
		one:  one,
		many: func(e *emission, in []operand, out []*value) []compute.Value {
			merged := make([]compute.Value, len(in))
			for i, x := range in {
				merged[i] = e.merge(e.stack(x), x.shape.Dimensions, featureAxis(fullIn[i]), 1)
			}
			results := e.tryAll(func() ([]compute.Value, error) { return one(e.on, merged) })
			for i, v := range results {
				results[i] = e.unmerge(v, out[i].shape.Dimensions, featureAxis(fullOut[i]), 1)
			}
			return results
		},
	}, in...)
}

// BatchNormForInference implements compute.Function.
func (f *function) BatchNormForInference(x, scale, offset, mean, variance compute.Value, epsilon float32, axis int) (compute.Value, error) {
	out, err := f.perFeature(compute.OpTypeBatchNormForInference, axis, []bool{true, false, false, false, false}, []bool{true},
		func(on compute.Function, in []compute.Value) ([]compute.Value, error) {
			return asList(on.BatchNormForInference(in[0], in[1], in[2], in[3], in[4], epsilon, axis))
		}, x, scale, offset, mean, variance)
	if err != nil {
		return nil, err
	}
	return out[0], nil
}

// BatchNormForTraining implements compute.Function.
func (f *function) BatchNormForTraining(x, scale, offset compute.Value, epsilon float32, axis int) (normalized, mean, variance compute.Value, err error) {
	out, err := f.perFeature(compute.OpTypeBatchNormForTraining, axis, []bool{true, false, false}, []bool{true, false, false},
		func(on compute.Function, in []compute.Value) ([]compute.Value, error) {
			return asThree(on.BatchNormForTraining(in[0], in[1], in[2], epsilon, axis))
		}, x, scale, offset)
	if err != nil {
		return nil, nil, nil, err
	}
	return out[0], out[1], out[2], nil
}

// BatchNormGradient implements compute.Function.
func (f *function) BatchNormGradient(x, scale, mean, variance, adjoint compute.Value, epsilon float32, axis int) (byX, byScale, byOffset compute.Value, err error) {
	out, err := f.perFeature(compute.OpTypeBatchNormGradient, axis, []bool{true, false, false, false, true}, []bool{true, false, false},
		func(on compute.Function, in []compute.Value) ([]compute.Value, error) {
			return asThree(on.BatchNormGradient(in[0], in[1], in[2], in[3], in[4], epsilon, axis))
		}, x, scale, mean, variance, adjoint)
	if err != nil {
		return nil, nil, nil, err
	}
	return out[0], out[1], out[2], nil
}

// asThree turns three results into a list.
func asThree(a, b, c compute.Value, err error) ([]compute.Value, error) {
	return []compute.Value{a, b, c}, err
}
