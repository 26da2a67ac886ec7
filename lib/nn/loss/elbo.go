package loss

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/nn"
)

// The outputs of a variational autoencoder: mean and log variance of a record's latent
// variables. The reconstruction is nn.Output.
const (
	LatentMean   = "latent_mean"
	LatentLogVar = "latent_log_variance"
)

// GaussianELBO is the negative evidence lower bound of a variational autoencoder
// (Kingma and Welling 2014) whose decoder has unit variance, up to a constant,
//
//	1/2 sum_j (x_j - out_j)^2 + Beta 1/2 sum_k (mu_k^2 + exp(s_k) - s_k - 1)
//
// where mu and s are the mean and log variance of the latent variables: reconstruction
// error plus divergence from a standard normal prior. GoMLX differentiates it.
type GaussianELBO struct {
	Beta float64 `json:"beta,omitempty"` // 0: 1
}

var _ Loss = GaussianELBO{}

// Name implements Loss.
func (GaussianELBO) Name() string { return "gaussian-elbo" }

// About implements Loss.
func (GaussianELBO) About() string {
	return "the negative evidence lower bound of a variational autoencoder with a Gaussian decoder"
}

// Inputs implements Loss.
func (l GaussianELBO) Inputs(outputs map[string]int) (map[string]int, error) {
	for _, name := range []string{LatentMean, LatentLogVar} {
		if _, err := OutputWidth(l, outputs, name); err != nil {
			return nil, err
		}
	}
	w, err := OutputWidth(l, outputs, nn.Output)
	return map[string]int{Target: w}, err
}

// Check implements Loss.
func (l GaussianELBO) Check(map[string]array.Matrix[float32]) error {
	return checkPositive("beta", l.beta())
}

func (l GaussianELBO) beta() float64 {
	if l.Beta == 0 {
		return 1
	}
	return l.Beta
}

// Graph implements Loss.
func (l GaussianELBO) Graph(g Batch) Value {
	mu, s := g.Outputs[LatentMean], g.Outputs[LatentLogVar]
	reconstruction := ReduceAndKeep(Square(Sub(g.Outputs[nn.Output], g.Inputs[Target])), ReduceSum, 0)
	divergence := ReduceAndKeep(AddScalar(Sub(Add(Square(mu), Exp(s)), s), -1), ReduceSum, 0)
	return Value{Losses: MulScalar(Add(reconstruction, MulScalar(divergence, l.beta())), 0.5)}
}
