package nn

import (
	"math"
	"math/rand/v2"

	. "github.com/gomlx/gomlx/core/graph"
)

// spectralEps is the smallest divisor of a direction, as in PyTorch; it avoids NaN.
const spectralEps = 1e-12

// SpectralNorm is W / sigma for w [out, in], where sigma estimates the largest
// singular value of W from two directions, u [out] and v [in], that are state
// (Miyato et al. 2018). In training the layer first makes one power iteration,
//
//	v = W^T u / |W^T u|,  u = W v / |W v|,  sigma = u^T W v
//
// and the new directions replace the old ones (Param.Latest). In inference the directions
// do not change. The gradient goes through sigma with u and v fixed: for the adjoint G of
// the result
//
//	dW = G/sigma - <G, W>/sigma^2 u v^T
//
// This is torch.nn.utils.spectral_norm with one power iteration, PyTorch's legacy
// form; the newer parametrization iterates 15 times before the first step.
//
// Gradients per record are not supported for W: they are an error that names the weight.
func SpectralNorm(t *Tape, w, u, v *Node) *Node {
	out, in := w.Shape().Dimensions[0], w.Shape().Dimensions[1]
	left, right := Reshape(u, 1, out), Reshape(v, in, 1)
	if t.Training {
		right = normalize(Reshape(Dot(left, w).Product(), in, 1))
		left = normalize(Reshape(Dot(w, right).Product(), 1, out))
		t.setStatistic(u, Reshape(left, out))
		t.setStatistic(v, Reshape(right, in))
	}
	sigma := Dot(left, Dot(w, right).Product()).Product() // [1, 1]
	return t.Op(Div(w, sigma), []*Node{w}, func(g *Node) []*Node {
		along := Div(Reshape(ReduceAllSum(Mul(g, w)), 1, 1), Square(sigma))
		outer := Dot(Reshape(left, out, 1), Reshape(right, 1, in)).Product()
		return []*Node{Sub(Div(g, sigma), Mul(outer, along))}
	})
}

// normalize returns x divided by its norm.
func normalize(x *Node) *Node { return Div(x, MaxScalar(Sqrt(ReduceAllSum(Square(x))), spectralEps)) }

// SpectralInit draws the two directions u and v of a spectral norm of the weight called
// name, [out, in], uniformly on the unit spheres as in PyTorch. They are state.
func SpectralInit(rng *rand.Rand, name string, in, out int) Params {
	return Params{direction(rng, name+"_u", out), direction(rng, name+"_v", in)}
}

func direction(rng *rand.Rand, name string, n int) Param {
	p := newParam(rng, name, n)
	p.State, p.Latest = true, true
	square := 0.0
	for i := range p.Data {
		x := rng.NormFloat64()
		p.Data[i] = float32(x)
		square += float64(x * x)
	}
	length := math.Max(math.Sqrt(square), spectralEps)
	for i := range p.Data {
		p.Data[i] = float32(float64(p.Data[i]) / length)
	}
	return p
}
