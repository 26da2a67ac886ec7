package stats

import (
	"fmt"

	"gonum.org/v1/gonum/stat/distuv"
)

// SignTest returns the probability of at least so many ups among ups and downs if either is as likely, the
// one-sided sign test. Without any it is 1. It refuses numbers below 0.
func SignTest(ups, downs int) (float64, error) {
	if ups < 0 || downs < 0 {
		return 0, fmt.Errorf("stats.SignTest: %d ups and %d downs, want none below 0", ups, downs)
	}
	if ups == 0 {
		return 1, nil
	}
	return distuv.Binomial{N: float64(ups + downs), P: 0.5}.Survival(float64(ups - 1)), nil
}
