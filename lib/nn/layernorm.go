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
// for gamma and beta of [d]. A column is a record, or a token of one of so many
// records. All sums over features and all broadcasts are products with ones.
func LayerNorm(t *Tape, x, gamma, beta *Node, eps float64, records int) *Node {
	d, n := x.Shape().Dimensions[0], x.Shape().Dimensions[1]
	down := ones(x.Graph(), d, 1)
	average := DivScalar(ones(x.Graph(), 1, d), float64(d))
	centred := Sub(x, Dot(down, Dot(average, x).Product()).Product())
	variance := Dot(average, Square(centred)).Product()
	scale := Dot(down, Inverse(Sqrt(AddScalar(variance, eps)))).Product()
	unit := Mul(centred, scale)
	y := Add(Mul(unit, spread(gamma, n)), spread(beta, n))
	t.uses = append(t.uses, normUse{unit: unit, gamma: gamma, beta: beta, y: y, n: records})
	return t.Op(y, []*Node{x, gamma, beta}, func(v *Node) []*Node {
		product := Mul(v, unit)
		weighted := DivScalar(Reshape(gamma, 1, d), float64(d))
		mean := Dot(down, Dot(weighted, v).Product()).Product()
		slope := Dot(down, Dot(weighted, product).Product()).Product()
		dx := Mul(Sub(Sub(Mul(v, spread(gamma, n)), mean), Mul(unit, slope)), scale)
		return []*Node{dx, sumColumns(product), sumColumns(v)}
	})
}

func zeros(g *Graph, dims ...int) *Node { return Zeros(g, shapes.Make(dtypes.Float32, dims...)) }

// normUse: gain and offset have one gradient per record and feature.
type normUse struct {
	unit, gamma, beta, y *Node
	n                    int
}

func (u normUse) params() []*Node { return []*Node{u.gamma, u.beta} }
func (u normUse) output() *Node   { return u.y }

func (u normUse) squared(v *Node) (gamma, beta *Node) {
	return Square(sumTokens(Mul(v, u.unit), u.n)), Square(sumTokens(v, u.n))
}

func (u normUse) normSquared(v *Node) *Node {
	gamma, beta := u.squared(v)
	return ReduceAndKeep(Add(gamma, beta), ReduceSum, 0)
}

func (u normUse) squares(v, weight *Node) []*Node {
	gamma, beta := u.squared(v)
	return []*Node{sumColumns(Mul(gamma, weight)), sumColumns(Mul(beta, weight))}
}
