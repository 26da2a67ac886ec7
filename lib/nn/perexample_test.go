package nn

import (
	"math"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// oneRecord cuts record i out of a feature-major tensor.
func oneRecord(t *testing.T, x *tensors.Tensor, i int) *tensors.Tensor {
	t.Helper()
	rows, n := x.Shape().Dimensions[0], x.Shape().Dimensions[1]
	data := make([]float32, rows)
	err := tensors.ConstFlatData(x, func(flat []float32) {
		for r := range rows {
			data[r] = flat[r*n+i]
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return tensors.FromFlatDataAndDimensions(data, rows, 1)
}

// Every record's own gradient, from a batch of one and plain sums in float64, is
// what the factorised norms and squares must give.
func TestPerExampleNormsAndSquaresAreThoseOfABatchOfOneLoop(t *testing.T) {
	const n = 10
	in := networkInputs(n)
	weights := normal(generator(30), 1, n)
	got := execute(t, func(in []*Node) []*Node {
		p, x, masks, probs, w := in[:6], in[6], in[7:9], in[9], in[11]
		tape := &Tape{}
		z, _ := network(tape, p, x, masks)
		_, adjoint := Distill(z, probs, 2)
		return append([]*Node{tape.PerExampleNorms(Adjoints{z: adjoint})}, tape.PerExampleSquares(Adjoints{z: adjoint}, w, p)...)
	}, append(in, weights)...)
	var norms []float64
	squares := make([][]float64, 6)
	for i := range n {
		alone := append([]*tensors.Tensor(nil), in[:6]...)
		for _, k := range []int{6, 7, 8, 9} {
			alone = append(alone, oneRecord(t, in[k], i))
		}
		grads := execute(t, func(in []*Node) []*Node {
			tape := &Tape{}
			z, _ := network(tape, in[:6], in[6], in[7:9])
			_, adjoint := Distill(z, in[9], 2)
			return tape.Backward(Adjoints{z: adjoint}, in[:6])
		}, alone...)
		w := float64(scalarAt(t, weights, i))
		var norm float64
		for k, g := range grads {
			if squares[k] == nil {
				squares[k] = make([]float64, len(g))
			}
			for j, v := range g {
				norm += v * v
				squares[k][j] += w * v * v
			}
		}
		norms = append(norms, math.Sqrt(norm))
	}
	checkClose(t, "norms", got[0], norms, 1e-6)
	for k := range squares {
		checkClose(t, "squares", got[1+k], squares[k], 2e-6)
	}
}

func scalarAt(t *testing.T, x *tensors.Tensor, i int) (v float32) {
	t.Helper()
	if err := tensors.ConstFlatData(x, func(flat []float32) { v = flat[i] }); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestPerExampleSquaresOfAnUnusedWeightAreZero(t *testing.T) {
	rng := generator(31)
	out := execute(t, func(in []*Node) []*Node {
		x, w, b, unused := in[0], in[1], in[2], in[3]
		tape := &Tape{}
		y := Dense(tape, x, w, b)
		return tape.PerExampleSquares(Adjoints{y: OnesLike(y)}, fillLike(x, 1, 1, 4), []*Node{unused, b})
	}, normal(rng, 3, 4), normal(rng, 2, 3), normal(rng, 2), normal(rng, 5))
	checkClose(t, "unused", out[0], make([]float64, 5), 0)
	checkClose(t, "bias", out[1], []float64{4, 4}, 0)
}
