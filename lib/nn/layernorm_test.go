package nn

import (
	"math"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// Golden values: torch 2.15.0, functional.layer_norm in float32. Deviations of
// about 0.01 make the result depend on epsilon.
func TestLayerNormIsPyTorchs(t *testing.T) {
	x := make([]float32, 10) // feature-major: 5 features of 2 records
	for k := range x {
		x[k%5*2+k/5] = float32(math.Cos(1.1*float64(k)+0.2)) * 1e-2
	}
	par := func(i float64) *tensors.Tensor {
		data := make([]float32, 5)
		for k := range data {
			data[k] = float32(0.8 * math.Sin(0.7*float64(k)+1.3*i+0.5))
		}
		return tensors.FromFlatDataAndDimensions(data, 5)
	}
	for _, c := range []struct {
		eps  float64
		want []float64 // record by record
	}{
		{LayerNormEps, []float64{1.144601, -0.2539191, -0.7434601, -0.1087677, -0.2944466, 0.8289342, 0.01964364, -0.7797974, -0.1027726, 0.4475736}},
		{1e-3, []float64{0.2950229, -0.4340021, -0.7729409, -0.5659149, -0.298005, 0.2348139, -0.3605197, -0.78146, -0.553768, -0.1099627}},
	} {
		out := execute(t, func(in []*Node) []*Node {
			return []*Node{Transpose(LayerNorm(&Tape{}, in[0], in[1], in[2], c.eps, 2), 0, 1)}
		}, tensors.FromFlatDataAndDimensions(x, 5, 2), par(1), par(2))
		checkClose(t, "layer norm", out[0], c.want, 1e-5)
	}
}

func TestLayerNormsBackwardStepIsItsDerivative(t *testing.T) {
	layer := func(tape *Tape, in []*Node) *Node { return LayerNorm(tape, in[0], in[1], in[2], 1e-2, 3) }
	checkVJP(t, "layer norm", layer, wave(0.1, 7, 6), wave(0.2, 7), wave(0.3, 7))
}

// Padding is a column of zeros: its variance is 0, and nothing may become NaN.
func TestLayerNormOfAConstantColumnIsItsOffset(t *testing.T) {
	x := tensors.FromFlatDataAndDimensions([]float32{0, 3, 0, 3, 0, 3}, 3, 2)
	out := execute(t, func(in []*Node) []*Node {
		tape := &Tape{}
		y := LayerNorm(tape, in[0], in[1], in[2], LayerNormEps, 2)
		return append([]*Node{y}, tape.Backward(Adjoints{y: OnesLike(y)}, in)...)
	}, x, wave(0.2, 3), tensors.FromFlatDataAndDimensions([]float32{1, 2, 3}, 3))
	checkClose(t, "output", out[0], []float64{1, 1, 2, 2, 3, 3}, 1e-6)
	for _, g := range out[1:] {
		for _, v := range g {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Fatalf("gradient %v", g)
			}
		}
	}
}
