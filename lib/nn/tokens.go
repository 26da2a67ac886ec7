package nn

import (
	. "github.com/gomlx/gomlx/core/graph"
)

// A batch of n records with T tokens of width d is a [d, T n] node. Column t n + i is token
// t of record i, so a dense layer or a normalisation treats tokens like records, and a
// dropout mask of d T units per record fits by a reshape. The layers below need n only for
// gradients per record.

// DenseTokens is Dense on the tokens of n records: W x + b for x [in, T n]. A nil b is a
// layer without bias.
func DenseTokens(t *Tape, x, w, b *Node, records int) *Node {
	y := Dot(w, x).Product()
	if b != nil {
		y = Add(y, broadcastColumn(b, x.Shape().Dimensions[1]))
	}
	t.uses = append(t.uses, tokenUse{x: x, w: w, b: b, y: y, n: records})
	inputs := []*Node{x, w}
	if b != nil {
		inputs = append(inputs, b)
	}
	return t.Op(y, inputs, func(v *Node) []*Node {
		grads := []*Node{Dot(Transpose(w, 0, 1), v).Product(), matMulT(v, x)}
		if b != nil {
			grads = append(grads, sumColumns(v))
		}
		return grads
	})
}

// tokenUse is the paramUse of DenseTokens: the weight gradient G of record i is a sum of
// outer products over its tokens, V X^T. It does not factorise, so it is computed, [n, out,
// in]. Its norm also follows from two matrices with one row per token, |G|^2 = sum (V^T V)
// (X^T X), which is used if these are smaller.
type tokenUse struct {
	x, w, b, y *Node
	n          int
}

func (u tokenUse) params() []*Node {
	if u.b == nil {
		return []*Node{u.w}
	}
	return []*Node{u.w, u.b}
}

func (u tokenUse) output() *Node { return u.y }

// squared returns every record's squared weight gradient, [n, out, in].
func (u tokenUse) squared(v *Node) *Node {
	return Square(Dot(byToken(v, u.n), byToken(u.x, u.n)).General([]int{1}, []int{2}, []int{1}, []int{2}))
}

// gram returns, for each record, the inner products of all pairs of its tokens, [n, T, T].
func (u tokenUse) gram(x *Node) *Node {
	x = byToken(x, u.n)
	return Dot(x, x).General([]int{0}, []int{2}, []int{0}, []int{2})
}

func (u tokenUse) normSquared(v *Node) *Node {
	out, in := v.Shape().Dimensions[0], u.x.Shape().Dimensions[0]
	var g2 *Node
	if tokens := v.Shape().Dimensions[1] / u.n; tokens*tokens < out*in {
		g2 = Mul(u.gram(v), u.gram(u.x))
	} else {
		g2 = u.squared(v)
	}
	d := g2.Shape().Dimensions
	// Two short sums: one long sum would lose digits.
	rows := Reshape(sumColumns(Reshape(g2, d[0]*d[1], d[2])), d[0], d[1])
	total := Reshape(sumColumns(rows), 1, u.n)
	if u.b == nil {
		return total
	}
	return Add(total, ReduceAndKeep(Square(sumTokens(v, u.n)), ReduceSum, 0))
}

func (u tokenUse) squares(v, weight *Node) []*Node {
	g2 := u.squared(v)
	d := g2.Shape().Dimensions
	w := Reshape(Dot(weight, Reshape(g2, d[0], d[1]*d[2])).Product(), d[1], d[2])
	if u.b == nil {
		return []*Node{w}
	}
	return []*Node{w, sumColumns(Mul(Square(sumTokens(v, u.n)), weight))}
}

// byToken views x [d, T n] as [d, T, n].
func byToken(x *Node, n int) *Node {
	d := x.Shape().Dimensions
	return Reshape(x, d[0], d[1]/n, n)
}

// sumTokens adds up the tokens of every record: [d, T n] to [d, n].
func sumTokens(x *Node, n int) *Node {
	if x.Shape().Dimensions[1] == n {
		return x
	}
	return ReduceSum(byToken(x, n), 1)
}

// Residual is x + y.
func Residual(t *Tape, x, y *Node) *Node {
	return t.Op(Add(x, y), []*Node{x, y}, func(v *Node) []*Node { return []*Node{v, v} })
}

// Token returns token k of x [d, T n] as [d, n].
func Token(t *Tape, x *Node, k, records int) *Node {
	d := x.Shape().Dimensions
	y := Slice(x, AxisRange(), AxisRange(k*records, (k+1)*records))
	return t.Op(y, []*Node{x}, func(v *Node) []*Node {
		parts := make([]*Node, 0, 3)
		if k > 0 {
			parts = append(parts, zeros(v.Graph(), d[0], k*records))
		}
		parts = append(parts, v)
		if rest := d[1] - (k+1)*records; rest > 0 {
			parts = append(parts, zeros(v.Graph(), d[0], rest))
		}
		return []*Node{Concatenate(parts, 1)}
	})
}

// ReGLU is value * max(gate, 0) times a dropout mask (see ReLUDropout), for
// value and gate of [h, T n] and a mask of [h T, n].
func ReGLU(t *Tape, value, gate, mask *Node, rate float64) *Node {
	open := MaxScalar(gate, 0)
	scale := 1.0
	if mask != nil {
		open = Mul(open, Reshape(mask, gate.Shape().Dimensions...))
		scale = 1 / (1 - rate)
	}
	return t.Op(Mul(value, open), []*Node{value, gate}, func(v *Node) []*Node {
		return []*Node{Mul(v, open), Mul(Mul(v, value), MinScalar(MulScalar(open, huge), scale))}
	})
}
