// Package outside defines what a network trained in another framework has to provide,
// whatever file it came in (packages onnx and torch), and writes its outputs and
// activations as the folder that an audit reads.
package outside

import (
	"context"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
)

// Network is a network trained in another framework, ready to run on records.
type Network interface {
	// Output is the name of the output that is evaluated.
	Output() string
	// Embedding is the name of the input of the last linear layer, which representation
	// metrics read; ok is false where there is none.
	Embedding() (name string, ok bool)
	// Run computes the named values for records, one per row of x, whose columns are the
	// axes of a record in row-major order. Each result has one row per record.
	Run(ctx context.Context, e *engine.Engine, x array.Rows, names ...string) (map[string]array.Matrix[float32], error)
}
