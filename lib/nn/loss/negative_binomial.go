// The negative log-likelihood of counts of genes under negative binomial distributions.

package loss

import (
	"fmt"
	"math"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/array"
)

// NegativeBinomial is the negative log-likelihood of a cell's counts x of the
// genes j,
//
//	-sum_j log NB(x_j; m_j, d_j),  m = L p,
//	log NB(x; m, d) = lgamma(x+d) - lgamma(d) - lgamma(x+1) + d log(d/(d+m)) + x log(m/(d+m))
//
// with the proportions p, the library size L > 0, such as the cell's total count, and the
// inverse dispersion d: the variance is m + m^2/d. It is the likelihood of scvi-tools (Lopez
// et al. 2018) without the small numbers inside the logarithms.
//
// It is computed in float64 by differences of log-gammas, which stay exact for large d,
// where the terms above cancel. log d is clipped to [-20, 20], a mean to at least 1e-30.
type NegativeBinomial struct{}

var _ Loss = NegativeBinomial{}

// Name implements Loss.
func (NegativeBinomial) Name() string { return "negative-binomial" }

// About implements Loss.
func (NegativeBinomial) About() string {
	return "a cell's counts under a negative binomial distribution"
}

// Inputs implements Loss.
func (l NegativeBinomial) Inputs(outputs map[string]int) (map[string]int, error) {
	return cellInputs(l, outputs, Proportion, LogDispersion)
}

// Check implements Loss.
func (NegativeBinomial) Check(in map[string]array.Matrix[float32]) error { return checkCounts(in) }

// checkCounts returns an error for a target that is not a count or a library size that is
// not positive.
func checkCounts(in map[string]array.Matrix[float32]) error {
	x, library := in[Target], in[Library]
	for i := range x.Rows {
		for j, v := range x.Row(i) {
			if v < 0 || v != float32(math.Trunc(float64(v))) {
				return fmt.Errorf("the target of record %d has %v at gene %d, not a count", i, v, j)
			}
		}
	}
	for i, v := range library.Data {
		if !(v > 0) {
			return fmt.Errorf("the library size of record %d is %v, not a positive number", i, v)
		}
	}
	return nil
}

// Graph implements Loss.
func (NegativeBinomial) Graph(g Batch) Value {
	nb := newBinomial(g)
	return Value{
		Losses: single(Neg(ReduceAndKeep(nb.log, ReduceSum, 0))),
		Adjoints: map[string]*Node{
			Proportion:    single(Neg(Mul(nb.dMean, nb.library))),
			LogDispersion: single(Neg(nb.dLogDispersion)),
		},
	}
}

// binomial is the log-likelihood of every count with its derivatives by the mean and by the
// log dispersion, in float64.
type binomial struct{ log, dMean, dLogDispersion, library *Node }

// newBinomial computes the log-likelihood. With P(z) = z (z+1) ... (z+7), a = d + 8,
// b = x + 9 and S the remainder of Stirling's series,
//
//	lgamma(z) = (z+8-1/2) log(z+8) - (z+8) + log(2 pi)/2 + S(z+8) - log P(z)
//
// the three log-gammas and the other logarithms become a sum of terms of the size of x and
// m, not of d:
//
//	(x+a-1/2) log1p(x/a) - d log1p(m/d) + x log(m a / ((d+m) b))
//	+ log(P(d) P(x+1) / (P(x+d) b^(17/2))) + S(x+a) - S(a) - S(b) + 9 - log(2 pi)/2
func newBinomial(g Batch) binomial {
	x, library := double(g.Inputs[Target]), double(g.Inputs[Library])
	m := MaxScalar(Mul(double(g.Outputs[Proportion]), library), 1e-30) // the library size of padding is 0
	d := Exp(ClipScalar(double(g.Outputs[LogDispersion]), -20, 20))
	upper, lower, count := shiftArg(Add(x, d)), shiftArg(d), shiftArg(AddScalar(x, 1))
	over, beyond := Inverse(Add(d, m)), Sub(x, m)
	byCount, byMean := Log1P(Mul(x, lower.inverse)), Log1P(Div(m, d))

	log := Sub(Mul(AddScalar(upper.shifted, -0.5), byCount), Mul(d, byMean))
	log = Add(log, Mul(x, Log(Mul(Mul(m, lower.shifted), Mul(over, count.inverse)))))
	factorial := Mul(count.product, Mul(Square(Square(Square(count.inverse))), Sqrt(count.inverse)))
	log = Add(log, Log(Mul(Div(lower.product, upper.product), factorial)))
	log = Add(log, Sub(upper.stirlingRest(), Add(lower.stirlingRest(), count.stirlingRest())))
	log = AddScalar(log, shift+1-0.5*math.Log(2*math.Pi))

	psi := Add(byCount, Sub(upper.digammaRest(), lower.digammaRest()))
	return binomial{
		log:            log,
		dMean:          Mul(Mul(d, over), Div(beyond, m)),
		dLogDispersion: Mul(d, Sub(psi, Add(byMean, Mul(beyond, over)))),
		library:        library,
	}
}

func double(x *Node) *Node { return ConvertDType(x, dtypes.Float64) }
func single(x *Node) *Node { return ConvertDType(x, dtypes.Float32) }

// shift is added to the argument of Stirling's series: from 8 on, four of its terms are
// exact to 1e-11.
const shift = 8

// shiftedArg has z, z + 8 and the numbers that connect their gamma functions.
type shiftedArg struct {
	z, shifted, inverse *Node // z, z + 8, 1/(z+8)
	pairs               *Node // u = z (z+7)
	product             *Node // z (z+1) ... (z+7) = u (u+6) (u+10) (u+12)
}

func shiftArg(z *Node) shiftedArg {
	to, u := AddScalar(z, shift), Mul(z, AddScalar(z, shift-1))
	return shiftedArg{z, to, Inverse(to), u, Mul(u, monic(u, 28, 252, 720))}
}

// stirlingRest returns S(a) = 1/12a - 1/360a^3 + 1/1260a^5 - 1/1680a^7, a = z + 8, which is
// lgamma(a) minus (a-1/2) log a - a + 1/2 log 2 pi.
func (r shiftedArg) stirlingRest() *Node {
	return Mul(r.inverse, series(Square(r.inverse), 1.0/12, -1.0/360, 1.0/1260, -1.0/1680))
}

// digammaRest returns digamma(z) - log a, a = z + 8:
//
//	-1/2a - 1/12a^2 + 1/120a^4 - 1/252a^6 + 1/240a^8 - (2z+7) P'(u)/P(u)
//
// with P(u) the product.
func (r shiftedArg) digammaRest() *Node {
	r2 := Square(r.inverse)
	tail := Add(MulScalar(r.inverse, 0.5), Mul(r2, series(r2, 1.0/12, -1.0/120, 1.0/252, -1.0/240)))
	inner := MulScalar(AddScalar(r.z, 0.5*(shift-1)), 8) // 4 (2z+7): P' is four times a monic polynomial
	return Neg(Add(tail, Mul(inner, Div(monic(r.pairs, 21, 126, 180), r.product))))
}

// series returns c[0] + c[1] x + c[2] x^2 + ...
func series(x *Node, c ...float64) *Node {
	out := MulScalar(x, c[len(c)-1])
	for k := len(c) - 2; k > 0; k-- {
		out = Mul(x, AddScalar(out, c[k]))
	}
	return AddScalar(out, c[0])
}

// monic returns ((x + c[0]) x + c[1]) x + ..., without cancellation for positive x and c.
func monic(x *Node, c ...float64) *Node {
	out := AddScalar(x, c[0])
	for _, v := range c[1:] {
		out = AddScalar(Mul(x, out), v)
	}
	return out
}
