// An upper bound for Gaussian encoders.

package information

import (
	"errors"
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/stats"
)

// GaussianBound is an upper bound on the mutual information between a record x and its code
// z, for a normal encoder with mean mu_k and log variance s_k per latent variable, one row
// per record:
//
//	I(X; Z) <= E[KL(q(z|x) || N(0, I))] = E[1/2 sum over k of (mu_k^2 + exp(s_k) - s_k - 1)]
//
// In nats, summed over the variables; null 0; lower means that less is revealed. It equals
// I(X; Z) + KL(q(z) || N(0, I)), so it is also large where the codes as a whole are not
// standard normal. The interval is over records. A variance that float64 cannot represent,
// beyond e^709, is an error.
func GaussianBound(mean, logVariance array.Matrix[float64]) (*Reading, error) {
	err := errors.Join(mean.Check("means"), logVariance.Check("log variances"))
	switch {
	case err != nil:
	case mean.Rows != logVariance.Rows || mean.Cols != logVariance.Cols:
		err = fmt.Errorf("means of %d x %d, log variances of %d x %d", mean.Rows, mean.Cols, logVariance.Rows, logVariance.Cols)
	case mean.Rows == 0:
		err = errors.New("no records")
	}
	if err != nil {
		return nil, fmt.Errorf("information: Gaussian bound: %w", err)
	}
	each := make([]float64, mean.Rows)
	for i := range each {
		s := logVariance.Row(i)
		for k, mu := range mean.Row(i) {
			each[i] += 0.5 * (float64(mu*mu) + math.Exp(s[k]) - s[k] - 1)
		}
		if math.IsInf(each[i], 1) {
			return nil, fmt.Errorf("information: Gaussian bound: the bound of record %d overflows float64", i)
		}
	}
	return newReading(stats.MeanInterval(each, 0.95, "records")), nil
}
