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
// with the proportions p, the library size L, a positive number such as the cell's
// total count, and the dispersion d, whose inverse is what the variance m + m^2/d
// has over that of a Poisson law. It is scvi-tools' likelihood (Lopez et al.
// 2018) without its small numbers inside the logarithms.
//
// It is computed in float64, and no log-gamma is taken: its differences are, which
// stay exact where d is large and the terms above cancel. log d is taken to be at
// most 20 away from 0, a mean to be at least 1e-30.
type NegativeBinomial struct{}

var _ Loss = NegativeBinomial{}

// Name implements Loss.
func (NegativeBinomial) Name() string { return "negative-binomial" }

// About implements Loss.
func (NegativeBinomial) About() string { return "a cell's counts under a negative binomial law" }

// Inputs implements Loss.
func (l NegativeBinomial) Inputs(outputs map[string]int) (map[string]int, error) {
	return ofCells(l, outputs, Proportion, LogDispersion)
}

// Check implements Loss.
func (NegativeBinomial) Check(in map[string]array.Matrix[float32]) error { return counts(in) }

// counts reports a count that is none, and a library size that is not positive.
func counts(in map[string]array.Matrix[float32]) error {
	x, library := in[Target], in[Library]
	for i := range x.Rows {
		for j, v := range x.Row(i) {
			if v < 0 || v != float32(math.Trunc(float64(v))) {
				return fmt.Errorf("the target of record %d has %v at gene %d, which is no count", i, v, j)
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
func (NegativeBinomial) Graph(g Given) Value {
	nb := newBinomial(g)
	return Value{
		Losses: single(Neg(ReduceAndKeep(nb.log, ReduceSum, 0))),
		Adjoints: map[string]*Node{
			Proportion:    single(Neg(Mul(nb.byMean, nb.library))),
			LogDispersion: single(Neg(nb.byLog)),
		},
	}
}

// binomial is the log-likelihood of every count, with its derivatives by the mean
// and by the logarithm of the dispersion, in float64.
type binomial struct{ log, byMean, byLog, library *Node }

// newBinomial computes, with a = d + 8 and c the rest of Stirling's series,
//
//	lgamma(x+d) - lgamma(d) = (x+a-1/2) log1p(x/a) + x log a - x + c(x+a) - c(a)
//	                          - log prod_{k<8} (1 + x/(d+k))
//
// and, with the other logarithms taken together, the log-likelihood as a sum of
// terms of the size of x and m, never of that of d.
func newBinomial(g Given) binomial {
	x, library := double(g.Inputs[Target]), double(g.Inputs[Library])
	m := MaxScalar(Mul(double(g.Outputs[Proportion]), library), 1e-30) // a batch's padding has no library
	d := Exp(ClipScalar(double(g.Outputs[LogDispersion]), -20, 20))
	a, both := AddScalar(d, shift), Add(d, m)
	steps, byD := risingSteps(x, d)
	log := Mul(AddScalar(Add(x, a), -0.5), Log1P(Div(x, a)))
	log = Add(log, Mul(x, Log(Div(Mul(m, a), both))))
	log = Sub(Add(log, Sub(stirling(Add(x, a)), stirling(a))), Add(x, steps))
	log = Sub(log, Add(Mul(d, Log1P(Div(m, d))), logFactorial(x)))
	psi := Add(Add(Log1P(Div(x, a)), Sub(stirlingSlope(Add(x, a)), stirlingSlope(a))), byD)
	slope := Add(Sub(psi, Log1P(Div(m, d))), Div(Sub(m, x), both))
	return binomial{log, Div(Mul(d, Sub(Div(x, m), OnesLike(x))), both), Mul(d, slope), library}
}

func double(x *Node) *Node { return ConvertDType(x, dtypes.Float64) }
func single(x *Node) *Node { return ConvertDType(x, dtypes.Float32) }

// shift is by how much the argument of Stirling's series is raised: from 8 on four
// of its terms are exact to 1e-11.
const shift = 8

// risingSteps is log prod_{k<8} (1 + x/(d+k)), and minus its derivative by d.
func risingSteps(x, d *Node) (log, slope *Node) {
	product := OnesLike(d)
	for k := range shift {
		at := AddScalar(d, float64(k))
		product = Mul(product, AddScalar(Div(x, at), 1))
		step := Div(x, Mul(at, Add(at, x)))
		if slope == nil {
			slope = step
		} else {
			slope = Add(slope, step)
		}
	}
	return Log(product), slope
}

// stirling is 1/12a - 1/360a^3 + 1/1260a^5 - 1/1680a^7: lgamma(a) without
// (a-1/2) log a - a + 1/2 log 2 pi.
func stirling(a *Node) *Node {
	r := Inverse(a)
	return Mul(r, series(Square(r), 1.0/12, -1.0/360, 1.0/1260, -1.0/1680))
}

// stirlingSlope is -1/2a - 1/12a^2 + 1/120a^4 - 1/252a^6 + 1/240a^8: digamma(a)
// without log a.
func stirlingSlope(a *Node) *Node {
	r := Inverse(a)
	r2 := Square(r)
	return Sub(MulScalar(r, -0.5), Mul(r2, series(r2, 1.0/12, -1.0/120, 1.0/252, -1.0/240)))
}

// series is c[0] + c[1] x + c[2] x^2 + ...
func series(x *Node, c ...float64) *Node {
	out := MulScalar(x, c[len(c)-1])
	for k := len(c) - 2; k > 0; k-- {
		out = Mul(x, AddScalar(out, c[k]))
	}
	return AddScalar(out, c[0])
}

// logFactorial is log x! = lgamma(x+1) = lgamma(x+9) - log((x+1) ... (x+8)).
func logFactorial(x *Node) *Node {
	product := OnesLike(x)
	for k := range shift {
		product = Mul(product, AddScalar(x, float64(k+1)))
	}
	a := AddScalar(x, shift+1)
	out := Sub(Mul(AddScalar(a, -0.5), Log(a)), a)
	return Sub(Add(AddScalar(out, 0.5*math.Log(2*math.Pi)), stirling(a)), Log(product))
}
