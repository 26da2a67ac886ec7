package nn

import (
	"math"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// waveTensor returns a tensor of distinct numbers, with norm 1 if normed.
func waveTensor(at float64, normed bool, dims ...int) *tensors.Tensor {
	data, square := make([]float32, shapeSize(dims)), 0.0
	for k := range data {
		data[k] = float32(math.Sin(at + 1.7*float64(k)))
		square += float64(data[k]) * float64(data[k])
	}
	for k := range data {
		if normed {
			data[k] /= float32(math.Sqrt(square))
		}
	}
	return tensors.FromFlatDataAndDimensions(data, dims...)
}

// PyTorch 2.15.0: torch.nn.utils.spectral_norm of a Linear(3, 2) in eval, then in
// training, and the gradient of <G, W/sigma> there.
func TestSpectralNormIsPyTorchs(t *testing.T) {
	in := func() []*tensors.Tensor {
		return []*tensors.Tensor{waveTensor(0, false, 2, 3), waveTensor(0.1, true, 2), waveTensor(0.2, true, 3), waveTensor(2, false, 2, 3)}
	}
	got := execute(t, func(in []*Node) []*Node {
		return []*Node{SpectralNorm(&Tape{}, in[0], in[1], in[2])}
	}, in()...)
	checkClose(t, "eval", got[0], []float64{0, 27.82633399963379, -7.170539855957031, -25.97856330871582, 13.86492919921875, 22.405723571777344}, 1e-5)
	got = execute(t, func(in []*Node) []*Node {
		tape := &Tape{Training: true}
		out := SpectralNorm(tape, in[0], in[1], in[2])
		grad := tape.Backward(Adjoints{out: in[3]}, in[:1])
		return []*Node{out, grad[0], tape.Statistic(in[1]), tape.Statistic(in[2])}
	}, in()...)
	for k, want := range [][]float64{
		{0, 0.7362164855003357, -0.18971489369869232, -0.6873290538787842, 0.36683201789855957, 0.592800498008728},
		{0.5583427548408508, -0.3182395398616791, -0.47633594274520874, 0.01663684844970703, 0.7718015909194946, -0.2155216932296753},
		{0.2172078639268875, 0.9761253595352173},
		{-0.6884357929229736, 0.44301700592041016, 0.5742751955986023},
	} {
		checkClose(t, []string{"training", "gradient", "u", "v"}[k], got[k], want, 2e-6)
	}
}

func TestPowerIterationsFindTheLargestSingularValue(t *testing.T) {
	p := SpectralInit(generator(3), "w", 5, 4)
	for _, v := range p {
		square := 0.0
		for _, x := range v.Data {
			square += float64(x) * float64(x)
		}
		if !v.State || !v.Latest || math.Abs(square-1) > 1e-6 {
			t.Errorf("%s has length %v, state %v, latest %v", v.Name, math.Sqrt(square), v.State, v.Latest)
		}
	}
	w := normal(generator(4), 4, 5)
	u, v := p[0].Data, p[1].Data
	iterate := compiled(t, func(in []*Node) []*Node {
		tape := &Tape{Training: true}
		out := SpectralNorm(tape, in[0], in[1], in[2])
		// The Frobenius norm of W/sigma, and of its product with v.
		return []*Node{out, tape.Statistic(in[1]), tape.Statistic(in[2]), Dot(out, Reshape(tape.Statistic(in[2]), 5, 1)).Product()}
	})
	var last []float64
	for range 200 {
		got := iterate(w, tensors.FromFlatDataAndDimensions(u, 4), tensors.FromFlatDataAndDimensions(v, 5))
		for k := range u {
			u[k] = float32(got[1][k])
		}
		for k := range v {
			v[k] = float32(got[2][k])
		}
		last = got[3]
	}
	// At the largest singular value (W/sigma) v = u.
	want := make([]float64, len(u))
	for k := range u {
		want[k] = float64(u[k])
	}
	checkClose(t, "(W/sigma) v", last, want, 1e-5)
}
