// Both estimators of the diagonal from a matrix of gradients, a record per row.

package fisher

import (
	"fmt"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/defaults"
)

// FromGradients returns the exact information from gradients, a record per row and a weight per
// column.
func FromGradients(g array.Matrix[float64]) (Diagonal, error) {
	return Coded{Batch: 1, Damping: new(0.0)}.FromGradients(g)
}

// FromGradients is Coded from gradients, a record per row in their order.
func (c Coded) FromGradients(g array.Matrix[float64]) (Diagonal, error) {
	c = defaults.Fill(c)
	if err := c.check(); err != nil {
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
		t.Values[j] = *c.Damping
	}
	for first := 0; first < g.Rows; first += c.Batch {
		sum := make([]float64, g.Cols)
		for i := first; i < min(first+c.Batch, g.Rows); i++ {
			for j, v := range g.Row(i) {
				sum[j] += v
			}
		}
		for j, v := range sum {
			t.Values[j] += v * v / float64(g.Rows)
		}
	}
	return Diagonal{Tensors: []Tensor{t}, Damping: *c.Damping}, nil
}

func (c Coded) check() error {
	if c.Batch < 1 || !(*c.Damping >= 0) {
		return fmt.Errorf("fisher: batches of %d and a damping of %v", c.Batch, *c.Damping)
	}
	return nil
}
