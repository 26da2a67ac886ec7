// Package outside says what a network that another framework trained is to the rest
// of the house, whatever file it came in (packages onnx and torch): something that
// makes outputs and activations of records, of which an audit's folder is written.
package outside

import (
	"context"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
)

// Network is a network with the weights that it was trained to.
type Network interface {
	// Output is the name of the output that is judged.
	Output() string
	// Embedding is the name of what goes into the last linear layer: what
	// representation metrics read. It is false where there is nothing of the kind.
	Embedding() (name string, ok bool)
	// Run computes values for records, one per row of x, whose columns are the axes
	// of a record laid out as NumPy does. Each of the results has a row per record.
	Run(ctx context.Context, e *engine.Engine, x array.Rows, names ...string) (map[string]array.Matrix[float32], error)
}
