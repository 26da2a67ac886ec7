package nn

import (
	"math"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// wave is a tensor of smooth numbers that are all different.
func wave(phase float64, dims ...int) *tensors.Tensor {
	data := make([]float32, shapeSize(dims))
	for k := range data {
		data[k] = float32(math.Sin(0.7*float64(k) + phase))
	}
	return tensors.FromFlatDataAndDimensions(data, dims...)
}

func flat(t *testing.T, x *tensors.Tensor) []float64 {
	t.Helper()
	var out []float64
	err := tensors.ConstFlatData(x, func(f []float32) {
		for _, v := range f {
			out = append(out, float64(v))
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// checkVJP compares a layer's own backward step, for an adjoint that differs
// from element to element, with the library's automatic derivative.
func checkVJP(t *testing.T, what string, layer func(tape *Tape, in []*Node) *Node, in ...*tensors.Tensor) {
	t.Helper()
	out := execute(t, func(nodes []*Node) []*Node {
		tape := &Tape{}
		y := layer(tape, nodes)
		v := Sin(AddScalar(MulScalar(IotaFull(y.Graph(), y.Shape()), 0.9), 0.3))
		return append(tape.Backward(Adjoints{y: v}, nodes), Gradient(ReduceAllSum(Mul(y, v)), nodes...)...)
	}, in...)
	for i := range in {
		checkClose(t, what, out[i], out[len(in)+i], 1e-5)
	}
}

func TestADenseLayerOnTokensIsADenseLayer(t *testing.T) {
	x, w, b := wave(0.1, 3, 8), wave(0.2, 5, 3), wave(0.3, 5)
	out := execute(t, func(in []*Node) []*Node {
		tape := &Tape{}
		return []*Node{DenseTokens(tape, in[0], in[1], in[2], 4), Dense(tape, in[0], in[1], in[2]),
			DenseTokens(tape, in[0], in[1], nil, 4), Dense(tape, in[0], in[1], ZerosLike(in[2]))}
	}, x, w, b)
	checkClose(t, "with a bias", out[0], out[1], 0)
	checkClose(t, "without a bias", out[2], out[3], 0)
	checkVJP(t, "dense", func(tape *Tape, in []*Node) *Node { return DenseTokens(tape, in[0], in[1], in[2], 4) }, x, w, b)
	checkVJP(t, "dense without bias", func(tape *Tape, in []*Node) *Node { return DenseTokens(tape, in[0], in[1], nil, 4) }, x, w)
}

func TestTokenPicksOneColumnPerRecord(t *testing.T) {
	for k := range 3 {
		out := execute(t, func(in []*Node) []*Node {
			return []*Node{Token(&Tape{}, in[0], k, 2)}
		}, tensors.FromFlatDataAndDimensions([]float32{0, 1, 10, 11, 20, 21}, 1, 6))
		checkClose(t, "token", out[0], []float64{float64(10 * k), float64(10*k + 1)}, 0)
		checkVJP(t, "token", func(tape *Tape, in []*Node) *Node { return Token(tape, in[0], k, 2) }, wave(0.1, 4, 6))
	}
}

func TestReGLUGatesAndDrops(t *testing.T) {
	const kept = 1.25 // a kept unit's mask at rate 0.2
	value := tensors.FromFlatDataAndDimensions([]float32{1, 2, 3, 4}, 1, 4)
	gate := tensors.FromFlatDataAndDimensions([]float32{2, -1, 0, 3}, 1, 4)
	mask := tensors.FromFlatDataAndDimensions([]float32{kept, kept, kept, 0}, 2, 2)
	out := execute(t, func(in []*Node) []*Node {
		tape := &Tape{}
		plain := ReGLU(tape, in[0], in[1], nil, 0.2)
		masked := ReGLU(tape, in[0], in[1], in[2], 0.2)
		one := OnesLike(plain)
		return append([]*Node{plain, masked}, append(tape.Backward(Adjoints{plain: one}, in[:2]), tape.Backward(Adjoints{masked: one}, in[:2])...)...)
	}, value, gate, mask)
	checkClose(t, "plain", out[0], []float64{2, 0, 0, 12}, 0)
	checkClose(t, "masked", out[1], []float64{2.5, 0, 0, 0}, 0)
	checkClose(t, "plain, d value", out[2], []float64{2, 0, 0, 3}, 0)
	checkClose(t, "plain, d gate, 0 at 0", out[3], []float64{1, 0, 0, 4}, 0)
	checkClose(t, "masked, d value", out[4], []float64{2.5, 0, 0, 0}, 0)
	checkClose(t, "masked, d gate", out[5], []float64{1.25, 0, 0, 0}, 1e-6)
}

func TestAResidualSumSendsItsAdjointBothWays(t *testing.T) {
	checkVJP(t, "residual", func(tape *Tape, in []*Node) *Node {
		h := Residual(tape, in[0], in[1])
		return Residual(tape, h, in[0])
	}, wave(0.1, 2, 3), wave(0.2, 2, 3))
}
