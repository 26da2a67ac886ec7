package nn

import (
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
)

// LayerNormEps is PyTorch's epsilon; GoMLX's own default is 1e-3.
const LayerNormEps = 1e-5

// LayerNorm normalises every column of x [d, T n] to mean 0 and variance 1 (of
// the population) and rescales it:
//
//	y = gamma (x - mean) / sqrt(var + eps) + beta
//
// for gamma and beta of [d]. A column is a token of one of the records, or a record. With
// c = x - mean and r = 1/sqrt(var+eps) the adjoint of x is
//
//	r (gamma v - mean(gamma v)) - r^3 c mean(gamma v c)
func LayerNorm(t *Tape, x, gamma, beta *Node, eps float64, records int) *Node {
	d := x.Shape().Dimensions[0]
	column := func(w *Node) *Node { return BroadcastToShape(Reshape(w, d, 1), x.Shape()) }
	average := func(x *Node) *Node { return ReduceAndKeep(x, ReduceMean, 0) }
	centred := Sub(x, average(x))
	r := Inverse(Sqrt(AddScalar(average(Square(centred)), eps)))
	y := Add(Mul(Mul(centred, r), column(gamma)), column(beta))
	t.uses = append(t.uses, normUse{centred: centred, r: r, gamma: gamma, beta: beta, y: y, n: records})
	return t.Op(y, []*Node{x, gamma, beta}, func(v *Node) []*Node {
		weighted := Mul(v, column(gamma))
		slope := Mul(average(Mul(weighted, centred)), Square(r))
		dx := Mul(Sub(Sub(weighted, average(weighted)), Mul(centred, slope)), r)
		return []*Node{dx, sumColumns(Mul(Mul(v, centred), r)), sumColumns(v)}
	})
}

// LayerNormInit returns the initial parameters of a layer normalisation called name: gains
// 1, offsets 0.
func LayerNormInit(name string, width int) Params {
	p := Params{NewParam(name+".weight", width), NewParam(name+".bias", width)}
	FillOnes(nil, p[0].Data)
	return p
}

func zeros(g *Graph, dims ...int) *Node { return Zeros(g, shapes.Make(dtypes.Float32, dims...)) }

// normUse is the paramUse of a layer normalisation: gain and offset have one gradient per
// record and feature.
type normUse struct {
	centred, r, gamma, beta, y *Node
	n                          int
}

func (u normUse) params() []*Node { return []*Node{u.gamma, u.beta} }
func (u normUse) output() *Node   { return u.y }

func (u normUse) squared(v *Node) (gamma, beta *Node) {
	return Square(sumTokens(Mul(Mul(v, u.centred), u.r), u.n)), Square(sumTokens(v, u.n))
}

func (u normUse) normSquared(v *Node) *Node {
	gamma, beta := u.squared(v)
	return ReduceAndKeep(Add(gamma, beta), ReduceSum, 0)
}

func (u normUse) squares(v, weight *Node) []*Node {
	gamma, beta := u.squared(v)
	return []*Node{sumColumns(Mul(gamma, weight)), sumColumns(Mul(beta, weight))}
}
