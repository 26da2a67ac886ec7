// Tests of lookup.go.

package nn

import (
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// codes is a [T, 3] tensor of numbers below 5; 3 occurs in every record.
func codes() *tensors.Tensor {
	return tensors.FromFlatDataAndDimensions([]float32{3, 0, 4, 1, 3, 3, 3, 3, 2, 0, 0, 3}, 4, 3)
}

// The two embeddings are one function with the same gradient.
func TestTokenEmbeddingIsEmbedding(t *testing.T) {
	w, c := wave(0.2, 5, 6), codes()
	out := execute(t, func(in []*Node) []*Node {
		var all []*Node
		for _, f := range []func(tape *Tape) *Node{
			func(tape *Tape) *Node { return TokenEmbedding(tape, in[1], in[0]) },
			func(tape *Tape) *Node { return Embedding(tape, Reshape(in[1], 1, 12), in[0]) },
		} {
			tape := &Tape{}
			y := f(tape)
			v := Sin(IotaFull(y.Graph(), y.Shape()))
			all = append(all, y, tape.Backward(Adjoints{y: v}, in[:1])[0])
		}
		return all
	}, w, c)
	checkClose(t, "rows", out[0], out[2], 0)
	checkClose(t, "gradient", out[1], out[3], 1e-6)
}

func TestGatherTokensReadsEachRecordsOwnTokens(t *testing.T) {
	const n = 3
	x := wave(0.4, 2, 4*n)
	positions := tensors.FromFlatDataAndDimensions([]float32{0, 3, 1, 2, 3, 1}, 2, n)
	out := execute(t, func(in []*Node) []*Node { return []*Node{GatherTokens(&Tape{}, in[0], in[1])} }, x, positions)
	var want []float64
	for e := range 2 {
		for p := range 2 {
			for i := range n {
				k := int(flat(t, positions)[p*n+i])
				want = append(want, flat(t, x)[(e*4+k)*n+i])
			}
		}
	}
	checkClose(t, "tokens", out[0], want, 0)
	checkVJP(t, "tokens", func(tape *Tape, in []*Node) *Node {
		return GatherTokens(tape, in[0], Const(in[0].Graph(), positions))
	}, x)
}

func TestPositionsAndRowsAreAdded(t *testing.T) {
	const d, tokens, n = 2, 3, 4
	for _, rows := range []int{3, 5} {
		x, w := wave(0.1, d, tokens*n), wave(0.7, rows, d)
		out := execute(t, func(in []*Node) []*Node {
			return []*Node{AddPositions(&Tape{}, in[0], in[1], n), AddRow(&Tape{}, in[0], in[1], 1, n)}
		}, x, w)
		position, row := flat(t, x), flat(t, x)
		for e := range d {
			for k := range tokens {
				for i := range n {
					position[(e*tokens+k)*n+i] += flat(t, w)[k*d+e]
					row[(e*tokens+k)*n+i] += flat(t, w)[d+e]
				}
			}
		}
		checkClose(t, "positions", out[0], position, 1e-7)
		checkClose(t, "row", out[1], row, 1e-7)
		checkVJP(t, "positions", func(tape *Tape, in []*Node) *Node { return AddPositions(tape, in[0], in[1], n) }, x, w)
		checkVJP(t, "row", func(tape *Tape, in []*Node) *Node { return AddRow(tape, in[0], in[1], 1, n) }, x, w)
		checkVJP(t, "first row", func(tape *Tape, in []*Node) *Node { return AddRow(tape, in[0], in[1], 0, n) }, x, w)
	}
}

func TestDropoutTokensAndByRecord(t *testing.T) {
	x, mask := wave(0.1, 3, 8), wave(0.5, 6, 4)
	out := execute(t, func(in []*Node) []*Node {
		return []*Node{DropoutTokens(&Tape{}, in[0], in[1]), Mul(in[0], Reshape(in[1], 3, 8)), DropoutTokens(&Tape{}, in[0], nil), in[0], ByRecord(&Tape{}, in[0], 4)}
	}, x, mask)
	checkClose(t, "masked", out[0], out[1], 0)
	checkClose(t, "inference", out[2], out[3], 0)
	checkClose(t, "by record", out[4], out[3], 0)
	checkVJP(t, "dropout", func(tape *Tape, in []*Node) *Node { return DropoutTokens(tape, in[0], Const(in[0].Graph(), mask)) }, x)
	checkVJP(t, "by record", func(tape *Tape, in []*Node) *Node { return ByRecord(tape, in[0], 4) }, x)
}
