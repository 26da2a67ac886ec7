// Products of tensors: batched if both operands are stacked, otherwise with the models among
// the rows or columns.

package stacked

import (
	"slices"

	"github.com/gomlx/compute"
)

// productAxes are the axes of a product's operands.
type productAxes struct{ lhsSum, lhsBatch, rhsSum, rhsBatch []int }

// stacked returns the axes if an operand has a leading axis of the models, or both do.
func (a productAxes) stacked(lhs, rhs bool) productAxes {
	if lhs {
		a.lhsSum, a.lhsBatch = shifted(a.lhsSum), shifted(a.lhsBatch)
	}
	if rhs {
		a.rhsSum, a.rhsBatch = shifted(a.rhsSum), shifted(a.rhsBatch)
	}
	if lhs && rhs {
		a.lhsBatch, a.rhsBatch = prepend(0, a.lhsBatch), prepend(0, a.rhsBatch)
	}
	return a
}

// DotGeneral implements compute.Function.
func (f *function) DotGeneral(lhs compute.Value, lhsSum, lhsBatch []int, rhs compute.Value, rhsSum, rhsBatch []int,
	config compute.DotGeneralConfig) (compute.Value, error) {
	call := func(on compute.Function, in []compute.Value, a productAxes) (compute.Value, error) {
		return on.DotGeneral(in[0], a.lhsSum, a.lhsBatch, in[1], a.rhsSum, a.rhsBatch, config)
	}
	axes := productAxes{slices.Clone(lhsSum), slices.Clone(lhsBatch), slices.Clone(rhsSum), slices.Clone(rhsBatch)}
	return f.recordOne(&operation{
		name: compute.OpTypeDotGeneral.String(),
		one: func(on compute.Function, in []compute.Value) ([]compute.Value, error) {
			return asList(call(on, in, axes))
		},
		many: func(e *emission, in []operand, out []*value) []compute.Value {
			l, r := in[0], in[1]
			v := e.try(func() (compute.Value, error) {
				return call(e.on, plainValues(in), axes.stacked(l.stacked, r.stacked))
			})
			// The result has the axes of the batch, then the other axes of lhs, then those of rhs.
			models := 0
			switch {
			case !r.stacked:
				models = len(axes.lhsBatch)
			case !l.stacked:
				models = l.shape.Rank() - len(axes.lhsSum)
			}
			return []compute.Value{e.moveToFront(v, 1+out[0].shape.Rank(), models)}
		},
	}, lhs, rhs)
}
