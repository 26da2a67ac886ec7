// Both estimators of the diagonal from a matrix of gradients, a record per row.

package fisher

import (
	"cmp"
	"fmt"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/nn"
)

// FromGradients returns the exact information from gradients, a record per row and a weight per
// column.
func FromGradients(g array.Matrix[float64]) (Diagonal, error) {
	return Coded{Batch: 1, Damping: nn.Zero}.FromGradients(g)
}

// FromGradients is Coded from gradients, a record per row in their order.
func (c Coded) FromGradients(g array.Matrix[float64]) (Diagonal, error) {
	batch, damping, err := c.withDefaults()
	if err != nil {
		return Diagonal{}, err
	}
	if err := g.Check("gradients"); err != nil {
		return Diagonal{}, err
	}
	if g.Rows == 0 || g.Cols == 0 {
		return Diagonal{}, fmt.Errorf("fisher: gradients of %d records by %d weights", g.Rows, g.Cols)
	}
	t := Tensor{Name: "weights", Shape: []int{g.Cols}, Values: make([]float64, g.Cols)}
	for j := range t.Values {
		t.Values[j] = damping
	}
	for first := 0; first < g.Rows; first += batch {
		sum := make([]float64, g.Cols)
		for i := first; i < min(first+batch, g.Rows); i++ {
			for j, v := range g.Row(i) {
				sum[j] += v
			}
		}
		for j, v := range sum {
			t.Values[j] += v * v / float64(g.Rows)
		}
	}
	return Diagonal{Tensors: []Tensor{t}, Damping: damping}, nil
}

// withDefaults replaces zeros by the defaults.
func (c Coded) withDefaults() (batch int, damping float64, err error) {
	batch, damping = cmp.Or(c.Batch, 256), cmp.Or(c.Damping, 1e-8)
	if damping == nn.Zero {
		damping = 0
	}
	if batch < 1 || !(damping >= 0) {
		return 0, 0, fmt.Errorf("fisher: batches of %d and a damping of %v", c.Batch, c.Damping)
	}
	return batch, damping, nil
}
