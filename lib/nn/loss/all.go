package loss

import (
	"fmt"
	"math"
)

// All returns every loss, at its defaults if it has any, for `lethe list` and the conformance
// suite.
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
		MaskedLanguage{Vocabulary: 3}, // it has no default; the suite's network has three tokens
		MaskedDistillation{Vocabulary: 3},
		NextToken{Vocabulary: 3},
		NextDistillation{Vocabulary: 3},
		NegativePreference{Vocabulary: 3, Beta: 0.1},
		DirectPreference{Vocabulary: 3, Beta: 0.1},
		WeightedAscent{Vocabulary: 3, Saturation: 1},
		ActivationDistance{Width: 3},
	}
}

// checkPositive returns an error if a setting is not a positive number.
func checkPositive(name string, v float64) error {
	if !(v > 0) || math.IsInf(v, 1) {
		return fmt.Errorf("%s is %v, not a positive number", name, v)
	}
	return nil
}
