// Batch normalisation: the models become more features.

package stacked

import (
	"github.com/gomlx/compute"
	"github.com/gomlx/compute/shapes"
)

// perFeature records a batch normalisation. Its operands and results have either all axes,
// among them that of the features, or one number per feature.
func (f *function) perFeature(op compute.OpType, axis int, one oneForm, in ...compute.Value) ([]compute.Value, error) {
	featureAxis := func(s shapes.Shape) int {
		if s.Rank() == 1 {
			return 0
		}
		return axis
	}
	return f.record(&operation{
		name: op.String(),
		one:  one,
		many: func(e *emission, in []operand, out []*value) []compute.Value {
			merged := make([]compute.Value, len(in))
			for i, x := range in {
				merged[i] = e.merge(e.stack(x), x.shape.Dimensions, featureAxis(x.shape), 1)
			}
			results := e.tryAll(func() ([]compute.Value, error) { return one(e.on, merged) })
			for i, v := range results {
				results[i] = e.unmerge(v, out[i].shape.Dimensions, featureAxis(out[i].shape), 1)
			}
			return results
		},
	}, in...)
}

// BatchNormForInference implements compute.Function.
func (f *function) BatchNormForInference(x, scale, offset, mean, variance compute.Value, epsilon float32, axis int) (compute.Value, error) {
	out, err := f.perFeature(compute.OpTypeBatchNormForInference, axis, func(on compute.Function, in []compute.Value) ([]compute.Value, error) {
		return asList(on.BatchNormForInference(in[0], in[1], in[2], in[3], in[4], epsilon, axis))
	}, x, scale, offset, mean, variance)
	if err != nil {
		return nil, err
	}
	return out[0], nil
}

// BatchNormForTraining implements compute.Function.
func (f *function) BatchNormForTraining(x, scale, offset compute.Value, epsilon float32, axis int) (
	normalized, mean, variance compute.Value, err error) {
	return three(f.perFeature(compute.OpTypeBatchNormForTraining, axis, func(on compute.Function, in []compute.Value) ([]compute.Value, error) {
		return asList3(on.BatchNormForTraining(in[0], in[1], in[2], epsilon, axis))
	}, x, scale, offset))
}

// BatchNormGradient implements compute.Function.
func (f *function) BatchNormGradient(x, scale, mean, variance, adjoint compute.Value, epsilon float32, axis int) (
	byX, byScale, byOffset compute.Value, err error) {
	return three(f.perFeature(compute.OpTypeBatchNormGradient, axis, func(on compute.Function, in []compute.Value) ([]compute.Value, error) {
		return asList3(on.BatchNormGradient(in[0], in[1], in[2], in[3], in[4], epsilon, axis))
	}, x, scale, mean, variance, adjoint))
}

// asList3 turns three results into a list.
func asList3(a, b, c compute.Value, err error) ([]compute.Value, error) {
	return []compute.Value{a, b, c}, err
}

// three is the inverse of asList3.
func three(out []compute.Value, err error) (a, b, c compute.Value, _ error) {
	if err != nil {
		return nil, nil, nil, err
	}
	return out[0], out[1], out[2], nil
}
