// Per-record gradients of one tensor, which serve as codes for a reconstruction attack.

package representation

import (
	"context"
	"fmt"
	"slices"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/train"
)

// Gradients returns the gradient of the objective with respect to one tensor, for every record
// alone, a row each: what a user uploads who shares gradients. They serve as codes for a
// Reconstruction. The objective has one term. A network with batch statistics gets batches of one.
func Gradients(ctx context.Context, r *model.Runner, p nn.Params, o train.Objective, tensor string, m train.Mode) (array.Matrix[float32], error) {
	var out array.Matrix[float32]
	k := slices.IndexFunc(p, func(v nn.Param) bool { return v.Name == tensor && !v.State })
	if k < 0 {
		return out, fmt.Errorf("gradients: %s has no weights %q", r.Arch.Name(), tensor)
	}
	if len(o) != 1 {
		return out, fmt.Errorf("gradients: an objective of %d terms; one is possible", len(o))
	}
	out, row := array.New[float32](o[0].X.Rows, len(p[k].Data)), 0
	err := train.EachGradient(ctx, r, p, o, 1, m, func(grads [][]float64, _ int) {
		for j, v := range grads[k] {
			out.Row(row)[j] = float32(v)
		}
		row++
	})
	return out, err
}
