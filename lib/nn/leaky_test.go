package nn

import (
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// By definition, at 0 with the slope of the negative side.
func TestLeakyReLUAndItsSlope(t *testing.T) {
	in := []*tensors.Tensor{
		tensors.FromFlatDataAndDimensions([]float32{-2, 0, 3, -0.5}, 1, 4),
		tensors.FromFlatDataAndDimensions([]float32{1, 2, 3, 4}, 1, 4),
	}
	out := execute(t, func(in []*Node) []*Node {
		tape := &Tape{}
		y := LeakyReLU(tape, in[0], 0.2)
		return []*Node{y, tape.Backward(Adjoints{y: in[1]}, in[:1])[0]}
	}, in...)
	checkClose(t, "output", out[0], []float64{-0.4, 0, 3, -0.1}, 1e-6)
	checkClose(t, "gradient", out[1], []float64{0.2, 0.4, 3, 0.8}, 1e-6)
}
