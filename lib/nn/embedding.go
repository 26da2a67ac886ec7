package nn

import (
	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
)

// Embedding looks up a row of the table w [K, d] for each record's code, a whole number 0
// ... K-1 in codes [1, n]. The result is [d, n]. No gradient flows to codes.
func Embedding(t *Tape, codes, w *Node) *Node {
	k := w.Shape().Dimensions[0]
	hot := Transpose(OneHot(ConvertDType(Reshape(codes, -1), dtypes.Int32), k, w.DType()), 0, 1) // [K, n]
	y := Dot(Transpose(w, 0, 1), hot).Product()
	t.uses = append(t.uses, lookupUse{hot: hot, w: w, y: y})
	return t.Op(y, []*Node{w}, func(v *Node) []*Node { return []*Node{matMulT(hot, v)} })
}

// lookupUse is the paramUse of an embedding: a record's gradient is its adjoint, in the
// row of its code.
type lookupUse struct{ hot, w, y *Node }

func (u lookupUse) params() []*Node { return []*Node{u.w} }
func (u lookupUse) output() *Node   { return u.y }

func (u lookupUse) normSquared(v *Node) *Node { return ReduceAndKeep(Square(v), ReduceSum, 0) }

func (u lookupUse) squares(v, weight *Node) []*Node {
	return []*Node{matMulT(u.hot, Mul(Square(v), weight))}
}
