package features

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/nn"
)

// Nodes is a Posterior inside a graph, for a batch of n records: Recon and KL are [1, n], Mu and
// LogVar [d, n].
type Nodes struct{ Recon, KL, Mu, LogVar *Node }

// Full is the vector of the function Full with a record per column, [2d+5, n], on the tape, so that
// a derivative with respect to the features reaches the posterior. Its backward step is written
// out, because the divergence is itself computed from mu and logvar.
func (p Nodes) Full(t *nn.Tape) *Node {
	d := p.Mu.Shape().Dimensions[0]
	lengthMu, lengthLogVar := columnNorms(p.Mu), columnNorms(p.LogVar)
	out := Concatenate([]*Node{p.Recon, p.KL, Add(p.Recon, p.KL), p.Mu, p.LogVar, lengthMu, lengthLogVar}, 0)
	return t.Op(out, []*Node{p.Recon, p.KL, p.Mu, p.LogVar}, func(v *Node) []*Node {
		rows := func(from, to int) *Node { return Slice(v, AxisRange(from, to)) }
		sum := rows(2, 3)
		return []*Node{
			Add(rows(0, 1), sum), Add(rows(1, 2), sum),
			Add(rows(3, 3+d), Mul(Div(p.Mu, lengthMu), rows(2*d+3, 2*d+4))),
			Add(rows(3+d, 3+2*d), Mul(Div(p.LogVar, lengthLogVar), rows(2*d+4, 2*d+5))),
		}
	})
}

// columnNorms returns the norms of columns. The lower bound keeps columns of zeros, such as
// padding, from becoming NaN.
func columnNorms(x *Node) *Node {
	return Sqrt(MaxScalar(ReduceAndKeep(Square(x), ReduceSum, 0), 1e-30))
}

// Counts returns the numbers of columns of Full, WithoutNorms and Losses for a number of latent
// axes. Each vector is a prefix of the one before.
func Counts(axes int) (full, withoutNorms, losses int) { return 2*axes + 5, 2*axes + 3, 3 }
