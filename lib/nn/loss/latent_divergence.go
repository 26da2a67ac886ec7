// The KL divergence of latent variables from a standard normal prior, with free bits.

package loss

import (
	"fmt"
	"math"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/array"
)

// LatentDivergence is the divergence of a record's latent variables from a
// standard normal prior, over the variables k,
//
//	sum_k max(1/2 (mu_k^2 + exp(s_k) - s_k - 1), FreeBits)
//
// where mu and s are their mean and log variance. A variable below the free bits has no
// gradient (Kingma et al. 2016, here per record and variable). Together with a
// reconstruction loss in a term it is a negative evidence lower bound; beta is the weight
// of its target.
type LatentDivergence struct {
	FreeBits float64 `json:"free_bits,omitempty"` // in nats per variable; 0: none
}

var _ Loss = LatentDivergence{}

// Name implements Loss.
func (LatentDivergence) Name() string { return "latent-divergence" }

// About implements Loss.
func (LatentDivergence) About() string {
	return "the divergence of latent variables from a standard normal prior"
}

// Inputs implements Loss.
func (l LatentDivergence) Inputs(outputs map[string]int) (map[string]int, error) {
	_, err := latentWidth(l, outputs)
	return map[string]int{}, err
}

// latentWidth returns the number of latent variables.
func latentWidth(l Loss, outputs map[string]int) (int, error) {
	if _, err := OutputWidth(l, outputs, LatentLogVar); err != nil {
		return 0, err
	}
	return OutputWidth(l, outputs, LatentMean)
}

// Check implements Loss.
func (l LatentDivergence) Check(map[string]array.Matrix[float32]) error {
	if !(l.FreeBits >= 0) || math.IsInf(l.FreeBits, 1) {
		return fmt.Errorf("its free bits are %v", l.FreeBits)
	}
	return nil
}

// Graph implements Loss. With no free bits nothing is below them: a divergence
// that rounds to below 0 keeps its gradient.
func (l LatentDivergence) Graph(g Batch) Value {
	mu, s := g.Outputs[LatentMean], g.Outputs[LatentLogVar]
	variance := Exp(s)
	each := MulScalar(AddScalar(Sub(Add(Square(mu), variance), s), -1), 0.5)
	dmu, ds := mu, MulScalar(AddScalar(variance, -1), 0.5)
	if l.FreeBits > 0 {
		free := ConvertDType(GreaterThan(each, Scalar(each.Graph(), each.DType(), l.FreeBits)), each.DType())
		each, dmu, ds = MaxScalar(each, l.FreeBits), Mul(dmu, free), Mul(ds, free)
	}
	return Value{
		Losses:   ReduceAndKeep(each, ReduceSum, 0),
		Adjoints: map[string]*Node{LatentMean: dmu, LatentLogVar: ds},
	}
}
