package nn

import (
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

func TestFeatureTokensAreAffineInTheirColumn(t *testing.T) {
	x := tensors.FromFlatDataAndDimensions([]float32{1, 2, 3, 4}, 2, 2) // 2 features, 2 records
	weight := tensors.FromFlatDataAndDimensions([]float32{1, 10, 2, 20}, 2, 2)
	bias := tensors.FromFlatDataAndDimensions([]float32{5, 6, 7, 8}, 2, 2)
	cls := tensors.FromFlatDataAndDimensions([]float32{-1, -2}, 1, 2)
	layer := func(tape *Tape, in []*Node) *Node { return FeatureTokens(tape, in[0], in[1], in[2], in[3]) }
	out := execute(t, func(in []*Node) []*Node { return []*Node{layer(&Tape{}, in)} }, x, weight, bias, cls)
	checkClose(t, "tokens", out[0], []float64{
		1*1 + 5, 2*1 + 5, 3*2 + 7, 4*2 + 7, -1, -1,
		1*10 + 6, 2*10 + 6, 3*20 + 8, 4*20 + 8, -2, -2,
	}, 0)
	fixed := func(tape *Tape, in []*Node) *Node {
		return FeatureTokens(tape, Const(in[0].Graph(), x), in[0], in[1], in[2])
	}
	checkVJP(t, "tokens", fixed, weight, bias, cls)
}
