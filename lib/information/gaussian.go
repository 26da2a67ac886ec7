package information

import (
	"errors"
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/stats"
)

// GaussianBound is a bound from above of what a code z says of the record that it was
// drawn for, where the encoder is normal with mean mu_k and log variance s_k per
// variable, a row per record:
//
//	I(X; Z) <= E[KL(q(z|x) || N(0, I))] = E[1/2 sum over k of (mu_k^2 + exp(s_k) - s_k - 1)]
//
// In nats, sums over the variables; null 0; lower says that less is revealed. It is
// I(X; Z) + KL(q(z) || N(0, I)): large too where the codes as a whole are not standard
// normal. The interval is over records. A variance that float64 does not hold, beyond
// e^709, is an error.
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
		return nil, fmt.Errorf("information: a bound from above: %w", err)
	}
	each := make([]float64, mean.Rows)
	for i := range each {
		s := logVariance.Row(i)
		for k, mu := range mean.Row(i) {
			each[i] += 0.5 * (float64(mu*mu) + math.Exp(s[k]) - s[k] - 1)
		}
		if math.IsInf(each[i], 1) {
			return nil, fmt.Errorf("information: a bound from above: record %d has more information than float64 holds", i)
		}
	}
	return newReading(stats.MeanInterval(each, 0.95, "records")), nil
}
