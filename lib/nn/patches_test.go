package nn

import (
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// Two records of 2 channels of 2 x 4 pixels, numbered 100 record + 10 channel + pixel.
func TestPatchesAreCutRowByRow(t *testing.T) {
	flat := make([]float32, 32)
	for i := range flat {
		feature, record := i/2, i%2
		flat[i] = float32(100*record + feature/8*10 + feature%8)
	}
	out := execute(t, func(in []*Node) []*Node { return []*Node{Patches(&Tape{}, in[0], 2, 2, 4, 2)} }, tensors.FromFlatDataAndDimensions(flat, 16, 2))
	checkClose(t, "patches", out[0], []float64{
		0, 100, 2, 102, 1, 101, 3, 103, 4, 104, 6, 106, 5, 105, 7, 107,
		10, 110, 12, 112, 11, 111, 13, 113, 14, 114, 16, 116, 15, 115, 17, 117,
	}, 0)
	checkVJP(t, "patches", func(tape *Tape, in []*Node) *Node { return Patches(tape, in[0], 3, 4, 6, 2) }, wave(0.1, 72, 3))
}

// A dense layer on patches is the convolution that moves by its own size.
func TestADenseLayerOnPatchesIsAConvolution(t *testing.T) {
	out := execute(t, func(in []*Node) []*Node {
		tape := &Tape{}
		conv := Conv2D{Stride: 2}.Apply(tape, NewImage(tape, in[0], 3, 4, 6), in[1], in[2]).Join(tape) // [5 * tokens, n]
		dense := DenseTokens(tape, Patches(tape, in[0], 3, 4, 6, 2), Reshape(in[1], 5, 12), in[2], 2)
		return []*Node{conv, dense}
	}, wave(0.1, 72, 2), wave(0.2, 5, 3, 2, 2), wave(0.3, 5))
	checkClose(t, "a dense layer on patches", out[1], out[0], 1e-6)
}

func TestTokensGetTheirPlacesAndOneMoreToken(t *testing.T) {
	x := tensors.FromFlatDataAndDimensions([]float32{1, 2, 3, 4, 5, 6, 7, 8}, 2, 4) // 2 tokens of 2 records
	table := tensors.FromFlatDataAndDimensions([]float32{10, 20, 30, 40, 50, 60}, 3, 2)
	out := execute(t, func(in []*Node) []*Node { return []*Node{PlaceTokens(&Tape{}, in[0], in[1], 2)} }, x, table)
	checkClose(t, "placed", out[0], []float64{11, 12, 33, 34, 50, 50, 25, 26, 47, 48, 60, 60}, 0)
	checkVJP(t, "places", func(tape *Tape, in []*Node) *Node { return PlaceTokens(tape, in[0], in[1], 3) }, wave(0.1, 4, 6), wave(0.2, 3, 4))
}
