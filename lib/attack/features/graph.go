package features

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/nn"
)

// Nodes are a Posterior inside a graph, of a batch of n records: Recon and KL are
// [1, n], Mu and LogVar [d, n].
type Nodes struct{ Recon, KL, Mu, LogVar *Node }

// Full is the vector of the function Full with a record per column, [2d+5, n], on
// the tape: a derivative by the features goes on to the posterior. Its step back is
// written out, because the divergence is itself computed from mu and logvar.
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

// columnNorms are those of columns. The bound, a normal number, keeps a column of zeros
// from becoming NaN, as padding may be.
func columnNorms(x *Node) *Node {
	return Sqrt(MaxScalar(ReduceAndKeep(Square(x), ReduceSum, 0), 1e-30))
}

// Counts are how many columns Full, WithoutNorms and Losses have for a number of
// latent axes; each is the beginning of the one before.
func Counts(axes int) (full, withoutNorms, losses int) { return 2*axes + 5, 2*axes + 3, 3 }
