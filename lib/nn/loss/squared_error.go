// The squared error of an output, summed over its elements.

package loss

import (
	"cmp"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/nn"
)

// Target is the name of the input of losses that compare an output with numbers.
const Target = "target"

// SquaredError is the sum over the elements of an output of the squared differences from
// the target,
//
//	sum_j (out_j - target_j)^2
//
// For a mean over the elements set the weight of the target.
type SquaredError struct {
	Output string `json:"output,omitempty"` // "": nn.Output
}

var _ Loss = SquaredError{}

// Name implements Loss.
func (SquaredError) Name() string { return "squared-error" }

func (l SquaredError) output() string { return cmp.Or(l.Output, nn.Output) }

// About implements Loss.
func (SquaredError) About() string {
	return "an output against numbers, summed over its elements"
}

// Inputs implements Loss.
func (l SquaredError) Inputs(outputs map[string]int) (map[string]int, error) {
	w, err := OutputWidth(l, outputs, l.output())
	return map[string]int{Target: w}, err
}

// Check implements Loss.
func (SquaredError) Check(map[string]array.Matrix[float32]) error { return nil }

// Graph implements Loss.
func (l SquaredError) Graph(g Batch) Value {
	diff := Sub(g.Outputs[l.output()], g.Inputs[Target])
	return Value{
		Losses:   ReduceAndKeep(Square(diff), ReduceSum, 0),
		Adjoints: map[string]*Node{l.output(): MulScalar(diff, 2)},
	}
}
