package loss

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/array"
)

// ZeroInflated is NegativeBinomial with dropout of counts: with probability
// w = sigmoid(logit) a count is 0,
//
//	-sum_j log (w_j 1[x_j = 0] + (1 - w_j) NB(x_j; m_j, d_j))
//
// This is the zero-inflated likelihood of scvi-tools (Lopez et al. 2018).
type ZeroInflated struct{}

var _ Loss = ZeroInflated{}

// Name implements Loss.
func (ZeroInflated) Name() string { return "zero-inflated" }

// About implements Loss.
func (ZeroInflated) About() string {
	return "a cell's counts under a zero-inflated negative binomial distribution"
}

// Inputs implements Loss.
func (l ZeroInflated) Inputs(outputs map[string]int) (map[string]int, error) {
	return cellInputs(l, outputs, Proportion, LogDispersion, DropoutLogits)
}

// Check implements Loss.
func (ZeroInflated) Check(in map[string]array.Matrix[float32]) error { return checkCounts(in) }

// Graph implements Loss. With the logit z, the negative binomial log-likelihood l, and the
// probability r that an observed count is not a dropout,
//
//	x > 0:  l - softplus(z)                     r = 1
//	x = 0:  softplus(l - z) - softplus(-z)      r = sigmoid(l - z)
//
// the derivatives are r by l and sigmoid(-z) - r by z.
func (ZeroInflated) Graph(g Batch) Value {
	nb, z := newBinomial(g), double(g.Outputs[DropoutLogits])
	zero := Equal(g.Inputs[Target], ZerosLike(g.Inputs[Target]))
	log := Where(zero, Sub(softplus(Sub(nb.log, z)), softplus(Neg(z))), Sub(nb.log, softplus(z)))
	own := Where(zero, Sigmoid(Sub(nb.log, z)), OnesLike(z))
	return Value{
		Losses: single(Neg(ReduceAndKeep(log, ReduceSum, 0))),
		Adjoints: map[string]*Node{
			Proportion:    single(Neg(Mul(Mul(own, nb.dMean), nb.library))),
			LogDispersion: single(Neg(Mul(own, nb.dLogDispersion))),
			DropoutLogits: single(Sub(own, Sigmoid(Neg(z)))),
		},
	}
}

// softplus is log(1 + exp(x)).
func softplus(x *Node) *Node { return Add(MaxScalar(x, 0), Log1P(Exp(Neg(Abs(x))))) }
