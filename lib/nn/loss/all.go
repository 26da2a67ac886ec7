package loss

import (
	"fmt"
	"math"
)

// All lists every loss at its default; it is what `lethe list` prints and what
// the suite runs. A new loss adds one line.
func All() []Loss {
	return []Loss{
		CrossEntropy{},
		Distillation{},
		SquaredError{},
		GaussianELBO{},
		BinaryCrossEntropy{},
		MaxLogit{},
		LatentDivergence{},
		LatentMatch{},
		LibrarySquaredError{},
		NegativeBinomial{},
		ZeroInflated{},
		DonskerVaradhan{},
		InfoNCE{},
	}
}

// checkPositive reports a setting that is no positive number.
func checkPositive(name string, v float64) error {
	if !(v > 0) || math.IsInf(v, 1) {
		return fmt.Errorf("its %s is %v, not a positive number", name, v)
	}
	return nil
}
