// The KL divergence of latent variables from those of a teacher.

package loss

import (
	"math"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/array"
)

// LatentMatch is the divergence of a record's latent variables from those of a teacher, over
// the variables k,
//
//	KL(q || q') = 1/2 sum_k (s'_k - s_k + (exp(s_k) + (mu_k - mu'_k)^2) / exp(s'_k) - 1)
//
// with the teacher's mean mu' and log variance s' as inputs, under the names of the outputs.
// With both 0 it is LatentDivergence.
//
// A standard deviation below 2^-24, the resolution of float32, counts as 2^-24: if s' is
// below MinLogVar, s' and a smaller s are set to MinLogVar. The divergence of a code from
// itself is then 0, and no precision overflows.
type LatentMatch struct{}

// MinLogVar is the log variance of a standard deviation of 2^-24.
const MinLogVar = -48 * math.Ln2

var _ Loss = LatentMatch{}

// Name implements Loss.
func (LatentMatch) Name() string { return "latent-match" }

// About implements Loss.
func (LatentMatch) About() string { return "the divergence of latent variables from a teacher's" }

// Inputs implements Loss.
func (l LatentMatch) Inputs(outputs map[string]int) (map[string]int, error) {
	w, err := latentWidth(l, outputs)
	return map[string]int{LatentMean: w, LatentLogVar: w}, err
}

// Check implements Loss.
func (LatentMatch) Check(map[string]array.Matrix[float32]) error { return nil }

// Graph implements Loss.
func (LatentMatch) Graph(g Batch) Value {
	given, own := g.Inputs[LatentLogVar], g.Outputs[LatentLogVar]
	teacher := MaxScalar(given, MinLogVar)
	own = Where(LessThan(given, teacher), MaxScalar(own, MinLogVar), own)
	ahead, precision := Sub(g.Outputs[LatentMean], g.Inputs[LatentMean]), Exp(Neg(teacher))
	wider := Sub(own, teacher)
	ratio, slope := Exp(wider), Mul(ahead, precision)
	each := AddScalar(Sub(Add(ratio, Mul(ahead, slope)), wider), -1)
	return Value{
		Losses:   MulScalar(ReduceAndKeep(each, ReduceSum, 0), 0.5),
		Adjoints: map[string]*Node{LatentMean: slope, LatentLogVar: MulScalar(AddScalar(ratio, -1), 0.5)},
	}
}
