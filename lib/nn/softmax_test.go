package nn

import (
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

func TestSoftmaxOverFeaturesAddsUpToOne(t *testing.T) {
	x := tensors.FromFlatDataAndDimensions([]float32{0, 100, 1.0986123, -100}, 2, 2) // log 3
	layer := func(tape *Tape, in []*Node) *Node { return SoftmaxFeatures(tape, in[0]) }
	out := execute(t, func(in []*Node) []*Node { return []*Node{layer(&Tape{}, in)} }, x)
	checkClose(t, "proportions", out[0], []float64{0.25, 1, 0.75, 0}, 1e-6)
	checkVJP(t, "softmax", layer, tensors.FromFlatDataAndDimensions([]float32{0.3, 1, -2, 0.5, 0.1, 0.7}, 3, 2))
}

func TestAConstantIsTheSameForEveryRecord(t *testing.T) {
	b := tensors.FromFlatDataAndDimensions([]float32{1, 2, 3}, 3)
	layer := func(tape *Tape, in []*Node) *Node { return Constant(tape, in[0], 2) }
	out := execute(t, func(in []*Node) []*Node { return []*Node{layer(&Tape{}, in)} }, b)
	checkClose(t, "constant", out[0], []float64{1, 1, 2, 2, 3, 3}, 0)
	checkVJP(t, "constant", layer, b)
}
